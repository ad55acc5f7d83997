"""The file system that a directory is on, and whether it suits parallel I/O."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import glob
import os
from pathlib import Path

from nacre.newer_python import tomllib

# State (good, note, bad), subject, text, advice: as nacre doctor prints it.
Remark = tuple[str, str, str, str]

# The build generates C++ code from the same table. Its comments describe the keys.
_TABLE = "file_systems.toml"


@dataclasses.dataclass(frozen=True)
class FileSystem:
    kind: str
    mount_point: str
    source: str
    options: frozenset[str] = frozenset()


def of(directory: Path, mountinfo: Path = Path("/proc/self/mountinfo")) -> FileSystem | None:
    """The mount that `directory` is on: the last one at its deepest mount point."""
    wanted = os.path.realpath(directory)
    best: FileSystem | None = None
    try:
        lines = mountinfo.read_text(errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(), after.split()
        if len(fields) < 5 or len(kinds) < 2:
            continue
        point = _unescaped(fields[4])
        inside = wanted == point or wanted.startswith(point.rstrip("/") + "/")
        if inside and (best is None or len(point) >= len(best.mount_point)):
            options = frozenset(kinds[2].split(",")) if len(kinds) > 2 else frozenset()
            best = FileSystem(kinds[0], point, _unescaped(kinds[1]), options)
    return best


def _unescaped(text: str) -> str:
    """Decodes the octal codes that mountinfo has for white space and backslashes."""
    for code in ("040", "011", "012", "134"):
        text = text.replace(f"\\{code}", chr(int(code, 8)))
    return text


@functools.cache
def known() -> dict[str, dict]:
    """The rows of the table of file systems, by name."""
    package = Path(__file__).resolve().parent
    installed = package / _TABLE
    table = installed if installed.is_file() else package.parents[1] / "src" / "store" / _TABLE
    return tomllib.loads(table.read_text())


def _row(kind: str) -> dict:
    """The row for a mount type. "fuse.NAME" without its own row has the row of FUSE. Empty if the type is unknown."""
    for wanted in (kind, kind.partition(".")[0]):
        for name, row in known().items():
            if wanted in row.get("mount_types", [name]):
                return row
    return {}


def name(kind: str) -> str:
    """The library's name for the file systems of a mount type; empty if statfs(2) does not tell it this type."""
    row = _row(kind)
    return next((name for name, one in known().items() if one is row and row["magics"]), "")


def machine_class(kind: str) -> str:
    """The class of machine (src/machine/classes) of a mount type or of a row of the table."""
    row = known().get(kind) or _row(kind)
    return row.get("machine") or ("local" if row.get("sharing") == "local" else "remote")


def store(kind: str) -> str:
    """The store of the library (src/store) for a mount type or a row of the table."""
    row = known().get(kind) or _row(kind)
    return row.get("store", "posix")


def has_layouts(name: str) -> bool:
    """Whether files have layouts that can be set, on the file system of a row of the table."""
    return known().get(name, {}).get("has_layouts", False)


def _local_locks_cause(row: dict, options: frozenset[str]) -> str:
    """What limits byte-range locks to one node, as in the library (local_locks_cause_in); empty if nothing does."""
    for option in row.get("local_locks_options", []):
        if option in options:
            return option
    wanted = row.get("global_locks_options", [])
    if wanted and not options.intersection(wanted):
        return f"no {wanted[0]}"
    pattern, line = row.get("local_locks_settings", ("", ""))
    for path in glob.glob(pattern):
        with contextlib.suppress(OSError):
            if line in Path(path).read_text(errors="replace").splitlines():
                return line
    return ""


def judgement(found: FileSystem | None, directory: Path) -> Remark:
    """What `nacre doctor` says about a file system: state, subject, text and advice."""
    if found is None:
        return "note", "file system", f"the file system of {directory} is unknown", ""
    text = f"{directory} is on {found.kind} ({found.source} at {found.mount_point})"
    row = _row(found.kind)
    local_locks = _local_locks_cause(row, found.options)
    if local_locks:
        advice = f"On several nodes Nacre refuses atomic mode and shared file pointers: {row['locks_advice']}."
        return "note", "file system", f"{text}, whose locks work only within one node ({local_locks})", advice
    if row.get("sharing") == "cached":
        advice = "A node may see the writes of other nodes late. See docs/run.md before you use several nodes."
        return "note", "file system", text, advice
    if "store" in row:
        return "good", "file system", text, ""
    if row.get("sharing") == "coherent":
        return "good", "file system", f"{text}; Nacre uses POSIX calls", ""
    return "good", "file system", f"{text}; Nacre uses POSIX calls; only ranks on this node can share its files", ""
