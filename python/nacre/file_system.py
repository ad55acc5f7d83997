"""The file system that a directory is on, and whether it suits parallel I/O."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

_LUSTRE = {"lustre"}
_PARALLEL = {"gpfs", "beegfs", "ceph", "pvfs2", "panfs", "wekafs", "daos", "fuse.dfuse", "orangefs", "bcachefs"}
_INCOHERENT = {"nfs", "nfs4", "cifs", "smb3", "9p", "afs", "fuse.sshfs"}


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
    """Mount points have white space and backslashes as octal codes."""
    for code in ("040", "011", "012", "134"):
        text = text.replace(f"\\{code}", chr(int(code, 8)))
    return text


def judgement(found: FileSystem | None, directory: Path) -> tuple[str, str, str, str]:
    """State, subject, text and advice of a finding."""
    if found is None:
        return "note", "file system", f"the file system of {directory} is unknown", ""
    text = f"{directory} is on {found.kind} ({found.source} at {found.mount_point})"
    if found.kind in _LUSTRE and "localflock" in found.options:
        advice = "On several nodes Nacre refuses atomic mode and shared file pointers. Mount it with -o flock."
        return "note", "file system", f"{text}, whose locks hold on one node only (localflock)", advice
    if found.kind in _LUSTRE:
        return "good", "file system", text, ""
    if found.kind in _PARALLEL:
        return "good", "file system", f"{text}; Nacre uses POSIX calls", ""
    if found.kind in _INCOHERENT:
        advice = "A client does not see another client's writes at once. See docs/run.md before you use several nodes."
        return "note", "file system", text, advice
    return "good", "file system", f"{text}; Nacre uses POSIX calls, for ranks on this node", ""
