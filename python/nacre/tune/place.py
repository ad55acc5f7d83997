"""The directory that a tune works in: what kind of file system, how many OSTs, and the lock against a second tune."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from nacre import file_system, testbed
from nacre.errors import UserError
from nacre.text import amount
from nacre.verbs.stripe import XATTR

WORK = ".nacre-tune"
OWNER = "owner"
DELAY_CREATE = 0o20400  # O_LOV_DELAY_CREATE
ALL_OSTS = 0xFFFF
LOV_USER_MD = struct.Struct("=II16xIHH")  # magic, pattern, object, stripe size, count, first OST
LOV_MAGIC_V1 = 0x0BD10BD0
FREE_SHARE = 4  # a tune needs this many times its bytes free


def host_view(directory: Path) -> Path:
    """The directory as this process sees it. The directory of a testbed stands for the mounts of its nodes."""
    return directory / "0" if testbed.is_up(directory) else directory


def kind_of(directory: Path) -> str:
    with contextlib.suppress(OSError):
        os.getxattr(directory, "testbed.node")
        return "testbed"
    found = file_system.of(directory)
    return found.kind if found else ""


def mount_of(directory: Path) -> str:
    found = file_system.of(directory)
    return found.mount_point if found else ""


def ost_count(work: Path) -> int:
    """The number of OSTs that a file can use; 0 if the file system does not stripe."""
    if kind_of(work) not in ("lustre", "testbed"):
        return 0
    path = work / "layout"
    try:
        file = os.open(path, os.O_CREAT | os.O_WRONLY | DELAY_CREATE, 0o600)
        try:
            os.setxattr(file, XATTR, LOV_USER_MD.pack(LOV_MAGIC_V1, 1, 1 << 16, ALL_OSTS, ALL_OSTS))
            return LOV_USER_MD.unpack_from(os.getxattr(file, XATTR))[3]
        finally:
            os.close(file)
            path.unlink()
    except OSError as error:
        raise UserError(f"cannot stripe a file in {work.parent}: {error.strerror}") from error


def require_space(directory: Path, max_bytes: int) -> None:
    status = os.statvfs(directory)
    free = status.f_bavail * status.f_frsize
    if free < FREE_SHARE * max_bytes:
        raise UserError(
            f"{directory} has {amount(free)} free; a tune that writes up to {amount(max_bytes)} at once needs "
            f"{amount(FREE_SHARE * max_bytes)}",
            "Name another directory, or a smaller --max-bytes.",
        )


@contextlib.contextmanager
def working_in(directory: Path) -> Iterator[Path]:
    """Makes a directory in `directory`, which keeps a second tune out, and removes it with all that is in it."""
    work = directory / WORK
    try:
        _make(work)
    except OSError as error:
        raise UserError(f"cannot create {work}: {error.strerror}", "Name a directory that you can write to.") from error
    try:
        (work / OWNER).write_text(json.dumps({"host": socket.gethostname(), "process": os.getpid()}))
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _make(work: Path) -> None:
    try:
        work.mkdir()
        return
    except FileExistsError:
        owner = _owner(work)
    if not _has_ended(owner):
        raise UserError(
            f"another nacre tune works in {work.parent}: process {owner.get('process', '?')} on "
            f"{owner.get('host', '?')}",
            f"Wait until it ends. If it was killed, remove {work}",
        )
    shutil.rmtree(work)
    work.mkdir()


def _owner(work: Path) -> dict:
    try:
        return json.loads((work / OWNER).read_text())
    except (OSError, json.JSONDecodeError):
        return {}


def _has_ended(owner: dict) -> bool:
    """Whether the tune was on this host and its process is gone."""
    if owner.get("host") != socket.gethostname():
        return False
    try:
        os.kill(owner["process"], 0)
    except OSError as error:
        return error.errno == errno.ESRCH
    return False
