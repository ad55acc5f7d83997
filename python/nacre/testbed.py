"""Starts, queries and stops the testbed, an emulated Lustre (docs/testbed.md)."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from nacre import library, lustre_client
from nacre.endings import exit_on
from nacre.errors import EXIT_USAGE, UserError

DEFAULT_DIRECTORY = "/mnt/nacre-testbed"
PROGRAM, RANK_PROGRAM = "nacre-testbed", "nacre-testbed-rank"
COUNTERS, MACHINE, FAULT = "testbed.counters", "testbed.machine", "testbed.fault"
# Names in the directory of the testbed, which also contains the mounts 0, 1 and so on.
PROCESS_FILE = "testbed.pid"
RANK_MOUNT = lustre_client.TESTBED_RANK_MOUNT
END_SECONDS = 60


def _prefixes() -> list[Path]:
    """Directories of an installation or a build tree that may contain bin/ and share/."""
    return list(library.directory().parents[:3])


ADVICE = (
    "Wheels, .deb and .rpm packages do not contain it. Install libfuse3-dev and pkg-config (their names on Debian), "
    "and build Nacre from its sources: `pip install .` or `make`."
)


def program(name: str, advice: str = ADVICE) -> str:
    for prefix in _prefixes():
        if (prefix / "bin" / name).exists():
            return str(prefix / "bin" / name)
    found = shutil.which(name)
    if found is None:
        raise UserError(f"program {name} not found", advice)
    return found


def machines() -> dict[str, Path]:
    """The machine files that come with Nacre, by name."""
    for prefix in _prefixes():
        found = sorted((prefix / "share" / "nacre" / "machines").glob("*.toml"))
        if found:
            return {path.stem: path for path in found}
    return {}


def machine_file(name: str) -> str:
    """The path of a machine file: `name` is a machine that comes with Nacre, or the path itself."""
    known = machines()
    if name in known:
        return str(known[name])
    if os.path.exists(name):
        return name
    raise UserError(
        f"--machine {name}: no machine and no file of this name", f"Name one of {', '.join(known)}, or a machine file."
    )


def is_up(directory: Path) -> bool:
    return os.path.ismount(directory / "0")


def around(directory: Path) -> Path | None:
    """The testbed with a mount that `directory` is or lies in; None if there is none."""
    real = Path(os.path.realpath(directory))
    for place in (real, *real.parents):
        is_named_so = place.name.isdecimal() or place.name == RANK_MOUNT
        if is_named_so and is_up(place.parent) and lustre_client.is_emulated(place.parent / "0"):
            return place.parent
    return None


def nodes_of(directory: Path) -> int:
    """The number of nodes of a running testbed."""
    require_up(directory)
    nodes = 0
    while os.path.ismount(directory / str(nodes)):
        nodes += 1
    return nodes


def has_stale_mounts(directory: Path) -> bool:
    """Whether a killed testbed left its mounts."""
    try:
        os.stat(directory / "0")
    except OSError as error:
        return error.errno == errno.ENOTCONN
    return False


def _require_no_stale_mounts(directory: Path) -> None:
    if has_stale_mounts(directory):
        raise UserError(
            f"the testbed at {directory} was killed and left its mounts", f"Run: nacre testbed down {directory}"
        )


def require_up(directory: Path) -> None:
    _require_no_stale_mounts(directory)
    if not is_up(directory):
        raise UserError(f"no testbed runs at {directory}", f"Run: nacre testbed up {directory}")


def up(directory: Path, options: list[str]) -> None:
    """Starts a testbed with `options` of nacre-testbed. Returns when the mounts are ready."""
    if is_up(directory):
        raise UserError(
            f"a testbed already runs at {directory}",
            "Use it, stop it with `nacre testbed down`, or name another directory.",
        )
    _require_no_stale_mounts(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        conflicting = [path for path in directory.iterdir() if path.name.isdecimal() and not path.is_dir()]
    except OSError as error:
        raise UserError(
            f"cannot mount in {directory}: {error.strerror}", "Name a directory that you can write to."
        ) from error
    if conflicting:
        raise UserError(f"cannot mount: {conflicting[0]} exists and is not a directory", "Name an empty directory.")
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [program(PROGRAM), *options, str(directory)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            text=True,
        )
        if process.stdout.readline() != "ready\n":
            refused = process.wait() == EXIT_USAGE
            errors.seek(0)
            advice = "" if refused else "The testbed needs root and /dev/fuse."
            raise UserError(errors.read().strip().removeprefix(f"{PROGRAM}: "), advice)
    (directory / RANK_MOUNT).mkdir(exist_ok=True)
    (directory / PROCESS_FILE).write_text(f"{process.pid}\n")


def down(directory: Path) -> None:
    """Stops a testbed and discards its files."""
    record = directory / PROCESS_FILE
    if has_stale_mounts(directory):
        _unmount_stale(directory)
        _remove_directories(directory)
        return
    require_up(directory)
    process = int(record.read_text())
    try:
        os.kill(process, signal.SIGTERM)
    except PermissionError as error:
        raise UserError(f"the testbed at {directory} is another user's process ({process})") from error
    deadline = time.monotonic() + END_SECONDS
    while _is_running(process):
        if time.monotonic() > deadline:
            raise UserError(
                f"the testbed at {directory} has not stopped after {END_SECONDS} s",
                f"Check why process {process} does not end.",
            )
        time.sleep(0.02)
    _remove_directories(directory)


def _unmount_stale(directory: Path) -> None:
    """Unmounts the mounts that a killed testbed left."""
    for node in itertools.count():
        if subprocess.run(["umount", "-l", str(directory / str(node))], capture_output=True, check=False).returncode:
            break


def _remove_directories(directory: Path) -> None:
    """Removes the files and directories that `up` created in `directory`, and `directory` itself if it is then
    empty."""
    (directory / PROCESS_FILE).unlink(missing_ok=True)
    for made in [directory / RANK_MOUNT, *(path for path in directory.iterdir() if path.name.isdecimal()), directory]:
        with contextlib.suppress(OSError):
            made.rmdir()


def _is_running(process: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process, os.WNOHANG)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@contextlib.contextmanager
def serving(options: list[str], wanted: Path | None = None) -> Iterator[Path]:
    """Runs a testbed during a `with` block, at `wanted` or in a new directory. SIGTERM and SIGHUP stop it too."""
    directory = wanted or Path(tempfile.mkdtemp(prefix="nacre-testbed-"))
    exit_on((signal.SIGTERM, signal.SIGHUP))
    try:
        up(directory, options)
        try:
            yield directory
        finally:
            down(directory)
    finally:
        with contextlib.suppress(OSError):
            directory.rmdir()


def counters(directory: Path) -> dict:
    """{"osts": {"bytes_written": [...], ...}, "nodes": {...}}: one number per OST or node, since the last reset."""
    require_up(directory)
    return json.loads(os.getxattr(directory / "0", COUNTERS))


def reset(directory: Path) -> None:
    require_up(directory)
    os.setxattr(directory / "0", COUNTERS, b"0")


def machine(directory: Path) -> str:
    """The settings of the emulated machine, one per line."""
    require_up(directory)
    return os.getxattr(directory / "0", MACHINE).decode()


def inject(directory: Path, fault: str) -> None:
    """Injects or clears a fault; ValueError if the fault is unknown."""
    require_up(directory)
    try:
        os.setxattr(directory / "0", FAULT, fault.encode())
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise ValueError(fault) from error
        raise


def why_no_namespaces() -> str:
    """Why this process cannot create mount and UTS namespaces, which ranks on nodes need; empty if it can."""
    probe = subprocess.run(["unshare", "--mount", "--uts", "--", "true"], capture_output=True, text=True, check=False)
    return probe.stderr.strip() if probe.returncode else ""


def rank_words(directory: Path, nodes: int, preload: str = "") -> list[str]:
    """The words before a program that place each rank on its node. `preload`: a library that only the program loads,
    and not what places it."""
    why = why_no_namespaces()
    if why:
        raise UserError(
            f"cannot place ranks on nodes: {why}", "Mount and UTS namespaces need root, and do not work in a chroot."
        )
    options = ["--preload", preload] if preload else []
    return [program(RANK_PROGRAM), *options, str(directory), str(nodes)]
