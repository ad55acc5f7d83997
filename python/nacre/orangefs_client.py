"""What the kernel's client of OrangeFS says about the layouts of files and directories, in extended attributes."""

from __future__ import annotations

import errno
import os
import shlex
import struct
from collections.abc import Iterator
from pathlib import Path

from nacre.file_system import FileSystem, Remark
from nacre.text import amount, plural

DISTRIBUTION = "system.pvfs2.md"
HANDLES = "system.pvfs2.dh"
HANDLE_BYTES = 8
# A directory's layout for new files: xattrs with this prefix.
PREFIX = "user.pvfs2."
OF_DIRECTORY = ("dist_name", "dist_params", "num_dfiles")


def layout_of(path: str) -> dict[str, int | str]:
    """The layout of a file, or that of a directory for its new files, with OrangeFS's own names. OSError: ENODATA if a
    directory has none of its own; ValueError if Nacre does not understand the bytes."""
    return _of_directory(path) if os.path.isdir(path) else _of_file(path)


def regions(path: str) -> list[dict]:
    """The layout of an existing file, with the fields of a report's layout; empty if it is unknown or not striped.
    Data files are numbered from 0 on, as in reports."""
    try:
        layout = _of_file(path)
    except (OSError, ValueError):
        return []
    if "strip_size" not in layout:
        return []
    count = layout["num_dfiles"]
    return [{
        "begin": 0, "end": -1, "stripe_bytes": layout["strip_size"], "stripes": count, "osts": list(range(count)),
    }]  # fmt: skip


def _of_file(path: str) -> dict[str, int | str]:
    distribution, handles = os.getxattr(path, DISTRIBUTION), os.getxattr(path, HANDLES)
    try:
        (length,) = struct.unpack_from("<I", distribution)
        (name,) = struct.unpack_from(f"{length}s", distribution, 4)
        layout: dict[str, int | str] = {"dist_name": name.decode("ascii")}
        if name == b"simple_stripe":
            parameters = (4 + length + 1 + 7) // 8 * 8  # the name ends with a zero byte and is padded
            (layout["strip_size"],) = struct.unpack_from("<q", distribution, parameters)
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"{DISTRIBUTION} has unknown contents: {distribution.hex()}") from error
    return layout | {"num_dfiles": len(handles) // HANDLE_BYTES}


def _of_directory(path: str) -> dict[str, int | str]:
    layout: dict[str, int | str] = {}
    for name in OF_DIRECTORY:
        try:
            text = os.getxattr(path, PREFIX + name).rstrip(b"\0").decode("ascii", "replace")
        except OSError as error:
            if error.errno != errno.ENODATA:
                raise
            continue
        layout[name] = int(text) if text.isdecimal() else text
    if not layout:
        raise OSError(errno.ENODATA, os.strerror(errno.ENODATA), path)
    return layout


def in_words(layout: dict[str, int | str]) -> str:
    """For example: simple_stripe, strip_size 65536, num_dfiles 4."""
    return ", ".join(str(value) if name == "dist_name" else f"{name} {value}" for name, value in layout.items())


def file_remarks(path: str) -> Iterator[Remark]:
    """How the data of a file is placed. OSError or ValueError as layout_of()."""
    layout = _of_file(path)
    files = plural(layout["num_dfiles"], "data file")
    if "strip_size" in layout:
        yield "good", "layout", f"{path}: {files}, stripes of {amount(layout['strip_size'])}", ""
    else:
        yield "note", "layout", f"{path}: {files}, {layout['dist_name']}: Nacre treats the file as not striped", ""


def remarks(directory: Path, mount: FileSystem) -> Iterator[Remark]:
    """What is to be known of a directory before a program writes there."""
    yield "good", "servers", "their number is unknown: clients do not show it. As administrator: pvfs2-statfs", ""
    try:
        text = f"the directory's layout of new files: {in_words(_of_directory(str(directory)))}"
    except OSError as error:
        none = "the directory has no layout of its own: new files have the default of OrangeFS"
        text = none if error.errno == errno.ENODATA else f"the layout of new files is unknown: {error.strerror}"
    yield "good", "layout", text, ""
    if "local_lock" not in mount.options:
        yield (
            "note", "locks",
            "no byte-range locks: Nacre refuses atomic mode, and shared file pointers on several nodes",
            "On one node the mount option local_lock gives locks.",
        )  # fmt: skip


def command(stripes: int, stripe_bytes: int, directory: str) -> str:
    """The commands that give new files in `directory` this layout. Without the zero byte at the end of a value,
    OrangeFS ignores the value, or refuses new files."""
    values = {"num_dfiles": stripes, "dist_name": "simple_stripe", "dist_params": f"strip_size:{stripe_bytes}"}
    where = shlex.quote(directory)
    return " && ".join(rf"""setfattr -n {PREFIX}{name} -v '"{value}\000"' {where}""" for name, value in values.items())
