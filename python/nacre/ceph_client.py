"""What a client of CephFS says about a directory: free space, layout, locks.

Everything comes from extended attributes, statvfs and the mount table, which an ordinary user may read. Clients do not
show the OSDs: only an administrator may ask the monitors for their number."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from nacre import layout_text, library
from nacre.errors import UserError
from nacre.file_system import FileSystem, Remark
from nacre.text import amount, plural

XATTR = "ceph.file.layout"
DIRECTORY_XATTR = "ceph.dir.layout"
UNIT_BYTES = 64 << 10  # a stripe unit is a multiple of it
OBJECT_BYTES = 4 << 20  # of the default layout
OBJECT_BYTES_MAX = 128 << 20  # longer objects are refused by OSDs, unless osd_max_object_size is set
NEARLY_FULL = 0.9


def layout_of(path: str) -> bytes:
    """The layout of a file, or that of a directory for its new files. OSError: ENODATA if a directory has none of its
    own."""
    return os.getxattr(path, DIRECTORY_XATTR if os.path.isdir(path) else XATTR)


def regions(path: str) -> list[dict]:
    """The layout of an existing file, with the fields of a report's layout; empty if it is unknown."""
    try:
        layout = layout_text.parse(library.layout_yaml(layout_of(path)))
    except (OSError, ValueError, UserError):
        return []
    return [{
        "begin": 0, "end": -1, "stripe_bytes": layout["stripe_unit"], "stripes": layout["stripe_count"],
        "object_bytes": layout["object_size"], "osts": [],
    }]  # fmt: skip


def in_words(stripe_bytes: int, stripes: int, object_bytes: int) -> str:
    """For example: objects of 4 MiB in turn, each on an OSD that Ceph chooses."""
    if stripes == 1 or stripe_bytes == object_bytes:
        return f"objects of {amount(object_bytes)} in turn, each on an OSD that Ceph chooses"
    objects = f"{plural(stripes, 'object')} of {amount(object_bytes)}"
    return f"stripes of {amount(stripe_bytes)} over {objects} in turn, each on an OSD that Ceph chooses"


def remarks(directory: Path, mount: FileSystem) -> Iterator[Remark]:
    """What is to be known of a directory before a program writes there."""
    yield "good", "OSDs", "their number is unknown: clients do not show it. As administrator: ceph osd stat", ""
    yield _space(directory)
    yield _layout(directory)
    if mount.kind.startswith("fuse."):
        yield (
            "note", "page cache",
            "ceph-fuse lets the kernel keep pages that other nodes have changed; Nacre discards them before each read",
            "If other programs read files while several nodes write them, ask the site's staff to set\n"
            "fuse_disable_pagecache = true in the client's ceph.conf.",
        )  # fmt: skip
    yield "good", "locks", "byte-range locks work between nodes", ""


def _space(directory: Path) -> Remark:
    status = os.statvfs(directory)
    fill = 1 - status.f_bavail / status.f_blocks if status.f_blocks else 0.0
    text = f"{amount(status.f_bavail * status.f_frsize)} free; {fill:.0%} full"
    if fill >= NEARLY_FULL:
        return "note", "fill", f"{text}: Ceph stops all writes when one OSD is full", "Remove files."
    return "good", "fill", text, ""


def _layout(directory: Path) -> Remark:
    try:
        found = layout_text.parse(library.layout_yaml(inherited(directory)))
    except OSError as error:
        if error.errno != errno.ENODATA:
            return "note", "layout", f"the layout of new files is unknown: {error.strerror}", ""
        text = f"new files have the default layout of CephFS: {in_words(OBJECT_BYTES, 1, OBJECT_BYTES)}"
        return "good", "layout", text, ""
    except ValueError as error:
        return "note", "layout", f"the layout of new files is unknown: {error}", ""
    unit, count, size = found["stripe_unit"], found["stripe_count"], found["object_size"]
    pool = f", pool {found['pool']}" if "pool" in found else ""
    text = f"new files inherit {in_words(unit, count, size)}{pool}"
    if count > 1 and unit == size:
        unit_of_more = f"ceph.dir.layout.stripe_unit -v {smaller_unit(size, count)}"
        return (
            "note", "layout", f"{text}. A stripe count of {count} changes nothing, because a stripe is a whole object",
            f"For stripes: setfattr -n {unit_of_more} {shlex.quote(str(directory))}",
        )  # fmt: skip
    return "good", "layout", text, ""


def smaller_unit(size: int, count: int) -> int:
    """The largest stripe unit with which `count` objects of `size` bytes share a stripe: Ceph takes multiples of 64 KiB
    that divide the size of an object."""
    units = size // UNIT_BYTES
    return UNIT_BYTES * max(unit for unit in range(1, max(1, units // count) + 1) if units % unit == 0)


def inherited(directory: Path) -> bytes:
    """The layout of the nearest directory that has one of its own. OSError: ENODATA if none has one."""
    device = os.stat(directory).st_dev
    for folder in (directory.resolve(), *directory.resolve().parents):
        if os.stat(folder).st_dev != device:
            break
        try:
            return layout_of(str(folder))
        except OSError as error:
            if error.errno != errno.ENODATA:
                raise
    raise OSError(errno.ENODATA, os.strerror(errno.ENODATA))


def file_remarks(path: str) -> Iterator[Remark]:
    """How the data of a file is placed."""
    for one in regions(path):
        text = in_words(one["stripe_bytes"], one["stripes"], one["object_bytes"])
        yield "good", "objects", f"{path}: {text}", ""


def setting(stripes: int, stripe_bytes: int) -> str:
    """The value of the xattr that stripes a new file so."""
    unit = min(stripe_bytes, OBJECT_BYTES_MAX)
    size = max(unit, OBJECT_BYTES - OBJECT_BYTES % unit)
    return f"stripe_unit={unit} stripe_count={stripes} object_size={size}"
