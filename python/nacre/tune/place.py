"""The directory that a tune works in: what kind of file system, how many OSTs, and the lock against a second tune."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import shlex
import shutil
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from nacre import file_system, testbed
from nacre.errors import UserError
from nacre.lustre_client import DELAYS_LAYOUT, XATTR, is_emulated
from nacre.text import amount
from nacre.tune.plan import Place, ost_bytes

WORK = ".nacre-tune"
OWNER = "owner"
ALL_OSTS = 0xFFFF
LOV_USER_MD = struct.Struct("=II16xIHH")  # magic, pattern, object, stripe size, count, first OST
LOV_FIRST_OBJECT = struct.Struct("=20xI")  # after it: object, generation, OST
LOV_MAGIC_V1 = 0x0BD10BD0
FREE_SHARE = 4  # a tune needs this many times its bytes free


def host_view(directory: Path) -> Path:
    """The directory as this process sees it. The directory of a testbed stands for the mounts of its nodes."""
    return directory / "0" if testbed.is_up(directory) else directory


def refuse_mount_of_testbed(directory: Path, command: list[str]) -> None:
    """Refuses a directory inside a testbed: it is on the mount of one node, and all ranks would run on that node.
    `command`: of the ranks, for the advice."""
    found = testbed.around(directory)
    if found is not None:
        raise UserError(
            f"{directory} is in the testbed at {found}, on the mount of one node: all ranks would run on that node",
            "Name the directory of the testbed, and the ranks run on its nodes: "
            + shlex.join(["nacre", "tune", str(found), "--", *command]),
        )


def kind_of(directory: Path) -> str:
    """The library's name for the file system; empty if it is unknown to the library."""
    if is_emulated(directory):
        return "testbed"
    found = file_system.of(directory)
    return file_system.name(found.kind) if found else ""


def mount_of(directory: Path) -> str:
    found = file_system.of(directory)
    return found.mount_point if found else ""


def striping(work: Path) -> tuple[int, int]:
    """The number of OSTs that a file can use, and the default stripe size; (0, 0) if the file system does not
    stripe."""
    if kind_of(work) not in ("lustre", "testbed"):
        return 0, 0
    path = work / "layout"
    try:
        with _new_file(path, ALL_OSTS) as file:
            _, _, stripe_size, count, _ = LOV_USER_MD.unpack_from(os.getxattr(file, XATTR))
            return count, stripe_size
    except OSError as error:
        raise UserError(f"cannot stripe a file in {work.parent}: {error.strerror}") from error


@contextlib.contextmanager
def _new_file(path: Path, stripes: int, first: int = ALL_OSTS) -> Iterator[int]:
    """A new file and its descriptor. Removes it at the end. `stripes`: of the default size; 0: the default layout."""
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | (DELAYS_LAYOUT if stripes else 0), 0o600)
    try:
        if stripes:
            os.setxattr(file, XATTR, LOV_USER_MD.pack(LOV_MAGIC_V1, 1, 0, stripes, first))
        yield file
    finally:
        os.close(file)
        path.unlink()


def require_space(directory: Path, max_bytes: int) -> None:
    """Refuses a file system that says that it has too little space."""
    status = os.statvfs(directory)
    free = status.f_bavail * status.f_frsize
    if free < FREE_SHARE * max_bytes:
        raise UserError(
            f"{directory} has {amount(free)} free; a tune that writes up to {amount(max_bytes)} at once needs "
            f"{amount(FREE_SHARE * max_bytes)}",
            "Name another directory, or a smaller --max-bytes.",
        )


def require_reservation(work: Path, where: Place) -> None:
    """Reserves space and frees it again, on each OST in turn and then as a whole: statvfs knows neither a full OST nor
    the quota of the user. A file system that cannot reserve space is not checked."""
    for number in range(where.osts):
        if not _reserve_in_file(work, 1, number, ost_bytes(where)):
            return
    _reserve_in_file(work, ALL_OSTS if where.osts else 0, ALL_OSTS, FREE_SHARE * where.volume)


def _reserve_in_file(work: Path, stripes: int, first: int, byte_count: int) -> bool:
    """False if the file system cannot reserve space."""
    where = f"{work.parent}"
    try:
        with _new_file(work / "space", stripes, first) as file:
            if stripes == 1:
                where = f"OST {_ost_of(file)} of {where}"
            return _reserve(file, byte_count)
    except OSError as error:
        raise UserError(
            f"cannot reserve {amount(byte_count)} on {where}: {error.strerror}",
            "Free space, name another directory, or a smaller --max-bytes.",
        ) from error


def _ost_of(file: int) -> int:
    return LOV_FIRST_OBJECT.unpack_from(os.getxattr(file, XATTR), LOV_USER_MD.size)[0]


def _reserve(file: int, byte_count: int) -> bool:
    """False if the file system cannot reserve space. os.posix_fallocate would then write."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.fallocate(file, 0, ctypes.c_long(0), ctypes.c_long(byte_count)) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EOPNOTSUPP, errno.ENOSYS):
        return False
    raise OSError(number, os.strerror(number))


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
