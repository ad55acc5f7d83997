"""Runs phases.c, on one client of a Lustre or on two, and stops it after each phase."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator

ON_CLIENTS = pathlib.Path(__file__).with_name("on_clients.sh").resolve()
PHASES = ("start", "open", "write", "later", "sync", "read", "alone", "close")
PHASE_SECONDS_MAX = 600
ORDINARY_USER = 65534


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Those of add_common_arguments, and those of phases.c."""
    add_common_arguments(parser)
    parser.add_argument("--piece", type=int, default=47008, help="bytes of a piece")


def add_common_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mount", type=pathlib.Path, required=True, help="directory for the files")
    parser.add_argument("--second", type=pathlib.Path, help="the same directory in a second mount on this machine")
    parser.add_argument("--preload", required=True, help="libnacre.so")
    parser.add_argument("--program", action="append", required=True, metavar="NAME=COMMAND", help="repeatable")
    parser.add_argument("--layout", default="-c 4 -S 1m", help="of the directory, for lfs setstripe; empty: none")
    parser.add_argument("--bytes", type=int, default=16 << 20, help="bytes of a collective call")


def programs_of(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> dict[str, list[str]]:
    """The commands of --program, by name."""
    found = {}
    for text in arguments.program:
        name, equals, command = text.partition("=")
        if not equals:
            parser.error(f"--program {text}: expected NAME=COMMAND")
        found[name] = shlex.split(command)
    return found


def run(
    words: list[str],
    arguments: argparse.Namespace,
    preload: str | None,
    after: Callable[[str, str], None],
    as_root: bool = True,
) -> tuple[int, str]:
    """Starts the program; calls `after` with each phase, when all ranks have ended it, and the path of the file.
    Returns the exit status and what the ranks and the launcher printed. `as_root`: otherwise as a user to whom the
    directory of the file belongs."""
    with directory_on(arguments) as directory, tempfile.TemporaryDirectory(prefix="nacre-phases-") as folder:
        if not as_root:
            os.chown(directory, ORDINARY_USER, ORDINARY_USER)
            os.chown(folder, ORDINARY_USER, ORDINARY_USER)
        file = f"{directory}/file"
        ids = f"--reuid={ORDINARY_USER}", f"--regid={ORDINARY_USER}", "--clear-groups", "--reset-env"
        variables = [f"LD_PRELOAD={preload}"] if preload else []
        command = [] if as_root else ["setpriv", *ids]
        command += on_clients(words, "phases", arguments, directory, variables)
        command += [file, folder, str(arguments.piece), str(arguments.bytes)]
        job = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            for phase in PHASES:
                _wait_for(pathlib.Path(folder) / f"{phase}.done", job)
                after(phase, file)
                (pathlib.Path(folder) / f"{phase}.counted").touch()
            printed, _ = job.communicate(timeout=PHASE_SECONDS_MAX)
        finally:
            job.kill()
    return job.returncode, printed


@contextlib.contextmanager
def directory_on(arguments: argparse.Namespace) -> Iterator[str]:
    """A new directory for the files, with the layout of --layout; removed at the end."""
    with tempfile.TemporaryDirectory(prefix="nacre-", dir=arguments.mount) as directory:
        if arguments.layout:
            subprocess.run(["lfs", "setstripe", *shlex.split(arguments.layout), directory], check=True)
        yield directory


def on_clients(
    words: list[str], program: str, arguments: argparse.Namespace, directory: str, variables: list[str]
) -> list[str]:
    """The launcher's words; before the word whose file name begins with `program`, what puts a rank on its client and
    sets the variables (NAME=VALUE)."""
    place = next(at for at, word in enumerate(words) if pathlib.Path(word).name.startswith(program))
    before = ["env", *variables] if variables else []
    if arguments.second:
        second = arguments.second / os.path.relpath(directory, arguments.mount)
        before = [str(ON_CLIENTS), directory, str(second), *before]
    return [*words[:place], *before, *words[place:]]


def _wait_for(path: pathlib.Path, job: subprocess.Popen) -> None:
    end = time.monotonic() + PHASE_SECONDS_MAX
    while not path.exists():
        if job.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"the program did not end the phase {path.stem}: exit status {job.poll()}")
        time.sleep(0.05)
