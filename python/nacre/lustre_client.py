"""What a client of Lustre says about a directory: its OSTs and how full they are, its default layout, its locks.

Everything comes from an ioctl, an extended attribute, the mount table and the client's settings in /sys. An ordinary
user may read all of them."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shlex
import statistics
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nacre import layout_text, library
from nacre.advice import layout_command, ranges
from nacre.errors import UserError
from nacre.file_system import FileSystem, Remark
from nacre.text import amount, plural

XATTR = "lustre.lov"
DELAYS_LAYOUT = os.O_NOCTTY | os.O_ASYNC  # of open(2): Lustre creates the file without a layout
GET_OST_COUNT = 0x800866A8  # the ioctl LL_IOC_GETOBDCOUNT; in: 0 (count OSTs), out: their number
TESTBED_RANK_MOUNT = "node"  # in the directory of a testbed: the mount of its own node in each rank
SYSFS = Path("/sys/fs/lustre")
OST_NAME = re.compile(r"-OST([0-9a-f]{4})-osc-(?!MDT)")
FULL = 0.99  # of an OST: writes may fail with ENOSPC
NEARLY_FULL = 0.9
UNEVEN = 0.2  # fuller than the median by this share


@dataclass(frozen=True)
class Ost:
    """`total`, `available`: bytes; `is_active`: whether the client may use it."""

    number: int
    total: int
    available: int
    is_active: bool = True

    @property
    def fill(self) -> float:
        return 1 - self.available / self.total if self.total else 0.0


def is_emulated(directory: str | Path) -> bool:
    """Whether it is on nacre-testbed."""
    try:
        os.getxattr(directory, library.TESTBED_XATTR)
    except OSError:
        return False
    return True


def as_seen_here(path: str) -> str:
    """A path of a rank as this process sees it. Ranks on a node of a testbed see its mount as DIRECTORY/node, which is
    DIRECTORY/0 here."""
    before, found, after = path.partition(f"/{TESTBED_RANK_MOUNT}/")
    return f"{before}/0/{after}" if found and os.path.ismount(f"{before}/0") and is_emulated(f"{before}/0") else path


def regions(path: str) -> list[dict]:
    """The striped ranges of an existing file, with the fields of a report's layout; empty if it has none."""
    try:
        layout = layout_text.parse(library.layout_yaml(os.getxattr(path, XATTR)))
    except (OSError, ValueError, UserError):
        return []
    return [_region(one) for one in _with_data(layout) if _is_striped(one)]


def _with_data(layout: dict) -> list[dict]:
    """The components of a layout that hold bytes of the file; erasure coding adds components that hold parity."""
    components = layout.get("components", [{"sub_layout": layout}])
    return [one for one in components if "parity" not in str(one.get("lcme_flags", ""))]


def _is_striped(component: dict) -> bool:
    part = component["sub_layout"]
    return part.get("lmm_pattern") != "mdt" and part.get("lmm_stripe_count", 0) > 0


def _region(component: dict) -> dict:
    part, end = component["sub_layout"], component.get("lcme_extent.e_end", "EOF")
    return {
        "begin": component.get("lcme_extent.e_start", 0), "end": -1 if end == "EOF" else end,
        "stripe_bytes": part.get("lmm_stripe_size", 0), "stripes": part["lmm_stripe_count"],
        "osts": [one["l_ost_idx"] for one in part.get("lmm_objects", [])],
    }  # fmt: skip


def set_layout(path: str, lov: bytes) -> None:
    """Sets the default layout of a directory, or creates an empty file with this layout. OSError: FileExistsError if
    the file exists; otherwise the file system refuses the layout, and the file is removed."""
    if os.path.isdir(path):
        os.setxattr(path, XATTR, lov)
        return
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | DELAYS_LAYOUT, 0o666)
    try:
        os.setxattr(descriptor, XATTR, lov)
    except OSError:
        os.unlink(path)
        raise
    finally:
        os.close(descriptor)


def ost_count(directory: str) -> int:
    """OSError if the directory is not on Lustre."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return struct.unpack("i", fcntl.ioctl(descriptor, GET_OST_COUNT, struct.pack("i", 0)))[0]
    finally:
        os.close(descriptor)


def osts(name: str, root: Path = SYSFS) -> list[Ost]:
    """The OSTs of the file system `name` by number; empty where the client does not show them."""
    found: dict[int, Ost] = {}  # a second mount of the file system shows each OST again
    for folder in sorted((root / "osc").glob(f"{name}-OST*")):
        number = OST_NAME.search(folder.name)
        if number is None:
            continue
        try:
            total, available = (int((folder / file).read_text()) << 10 for file in ("kbytestotal", "kbytesavail"))
        except (OSError, ValueError):
            continue
        active = folder / "active"
        is_active = not active.exists() or active.read_text().strip() != "0"
        ost = Ost(int(number[1], 16), total, available, is_active)
        found.setdefault(ost.number, ost)
    return sorted(found.values(), key=lambda ost: ost.number)


def name_of(mount: FileSystem) -> str:
    """Of the file system, from its source: servers:/name[/folder]."""
    return mount.source.rpartition(":/")[2].partition("/")[0]


def remarks(directory: Path, mount: FileSystem, root: Path = SYSFS) -> Iterator[Remark]:
    """What is to be known of a directory before a program writes there."""
    yield from _count_remarks(directory)
    yield from _fill_remarks(osts(name_of(mount), root), str(directory))
    yield from _layout_remarks(directory, mount)
    yield from _lock_remarks(mount)


def _count_remarks(directory: Path) -> Iterator[Remark]:
    try:
        count = ost_count(str(directory))
    except OSError as error:
        yield "note", "OSTs", f"their number is unknown: {error.strerror}", ""
        return
    yield "good", "OSTs", plural(count, "OST"), ""


def _fill_remarks(known: list[Ost], directory: str) -> Iterator[Remark]:
    folder = shlex.quote(directory)
    if not known:
        yield (
            "note",
            "fill",
            "unknown: the client shows no OSTs in /sys/fs/lustre/osc",
            f"As a user: lfs df -h {folder}",
        )
        return
    fills = [ost.fill for ost in known]
    free = amount(sum(ost.available for ost in known))
    text = f"{free} free; OSTs are {min(fills):.0%} to {max(fills):.0%} full, {statistics.median(fills):.0%} (median)"
    yield "good", "fill", text, ""
    active = ranges([ost.number for ost in known if ost.is_active])
    for ost in known:
        name = f"OST {ost.number}"
        if not ost.is_active:
            yield (
                "bad", name, "is deactivated on this client: files that have stripes on it cannot be read",
                f"Ask the site's staff, and place new files elsewhere: {layout_command(f'-o {active}', directory)}",
            )  # fmt: skip
        elif ost.fill >= FULL:
            yield (
                "bad", name, f"is {ost.fill:.1%} full: writes to files with a stripe on it fail (ENOSPC)",
                f"Move large files away: lfs find {folder} --ost {ost.number} -size +1G | lfs_migrate -y",
            )  # fmt: skip
        elif ost.fill >= NEARLY_FULL or ost.fill > statistics.median(fills) + UNEVEN:
            yield (
                "note", name, f"is {ost.fill:.0%} full: it gets slower, and new files should not have stripes on it",
                f"Move large files away: lfs find {folder} --ost {ost.number} -size +1G | lfs_migrate -y",
            )  # fmt: skip


def _layout_remarks(directory: Path, mount: FileSystem) -> Iterator[Remark]:
    remove = layout_command("-d", str(directory))
    try:
        counts = [] if _has_default_of_root(directory, mount) else _default_counts(str(directory))
    except OSError as error:
        if error.errno != errno.ENODATA:
            yield "note", "layout", f"the default layout is unknown: {error.strerror}", ""
            return
        counts = []
    except ValueError as error:
        yield "bad", "layout", f"the default layout is damaged: {error}", f"Remove it: {remove}"
        return
    whose, let_choose = "directory's default layout", remove
    if not counts:
        counts = _counts_of_root(mount)
        whose, let_choose = (
            "default layout of the file system's root",
            "nacre run --hint nacre_choose_layout=enable ...",
        )
    if not counts:
        text = "neither the directory nor the file system's root has a default layout: Nacre chooses that of new files"
        yield "good", "layout", text, ""
        return
    what = f"the {whose}: {' then '.join(map(_stripes, counts))}"
    if counts[-1] == 1:
        yield (
            "note", "layout", f"{what}. New files are on one OST, however many nodes write them",
            f"Let Nacre choose: {let_choose}\n"
            f"or ask for the layout of a file: {_advice(directory)}",
        )  # fmt: skip
    else:
        yield "good", "layout", f"{what}. Nacre keeps it for new files", ""


def _has_default_of_root(directory: Path, mount: FileSystem) -> bool:
    """For a directory without a default layout of its own, newer clients return the root's."""
    root = Path(mount.mount_point)
    try:
        return directory.resolve() != root and os.getxattr(directory, XATTR) == os.getxattr(root, XATTR)
    except OSError:
        return False


def _default_counts(directory: str) -> list[int]:
    """The stripes of each component of a directory's default layout. OSError with ENODATA if it has none; ValueError if
    it is damaged."""
    layout = layout_text.parse(library.layout_yaml(os.getxattr(directory, XATTR)))
    parts = [one["sub_layout"] for one in _with_data(layout)]
    return [part.get("stripe_count", 0) for part in parts if part.get("pattern") != "mdt"]


def _counts_of_root(mount: FileSystem) -> list[int]:
    """As _default_counts(), of the file system, if its root is mounted here; empty if it has no default layout."""
    try:
        return _default_counts(mount.mount_point)
    except (OSError, ValueError):
        return []


def _advice(directory: Path, size: str = "SIZE") -> str:
    """The command that recommends a layout for a file of a job."""
    return f"nacre stripe advise {size} --nodes N --ranks P {shlex.quote(str(directory))}"


def file_remarks(path: str) -> Iterator[Remark]:
    """On how many OSTs a file is."""
    found = regions(path)
    if not found:
        return
    parts = [plural(one["stripes"], "OST") for one in found]
    osts = sorted({ost for one in found for ost in one["osts"]})
    named = f" (OST {ranges(osts)})" if osts else ""
    text = f"{path}: on {' then '.join(parts)}{named}"
    size = os.stat(path).st_size
    behind = [one["stripes"] for one in found if one["begin"] < max(size, 1)]
    if max(behind, default=0) == 1:
        folder = Path(os.path.abspath(path)).parent
        yield (
            "note", "OSTs", f"{text}. If several nodes access it, that OST is their bottleneck",
            f"Ask for its layout: {_advice(folder, str(size))}\n"
            f"and apply the number of stripes: lfs migrate -c COUNT {shlex.quote(path)}",
        )  # fmt: skip
    else:
        yield "good", "OSTs", text, ""


def _stripes(count: int) -> str:
    return {-1: "all OSTs", 0: "as many OSTs as the file system's default"}.get(count, plural(count, "OST"))


def _lock_remarks(mount: FileSystem) -> Iterator[Remark]:
    if "localflock" in mount.options:
        return  # the remark on the file system says it
    if "noflock" in mount.options:
        yield (
            "bad", "locks", "mounted with noflock: atomic mode, shared file pointers and sieving writes fail (ENOSYS)",
            "Ask the site's staff to mount it with -o flock.",
        )  # fmt: skip
    else:
        yield "good", "locks", "byte-range locks work between nodes", ""
