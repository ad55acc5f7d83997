"""The OSTs that hold the data of files, how many they could use, and the lines that a user pastes to change it.

Reports of older libraries have no layout of a file that only independent calls accessed, and no report has the number
of OSTs of the file system. Both are read from the file and its directory, if this machine has them."""

from __future__ import annotations

import bisect
import functools
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from nacre import ceph_client, library, lustre_client, orangefs_client
from nacre.advice import has_lfs, layout_command, ranges, run_with
from nacre.jobs import FileGroup, Job
from nacre.reports import METADATA_TARGET
from nacre.text import amount, parse_bytes, plural

LUSTRES = ("lustre", "testbed")  # file systems of which this machine can ask for layouts
OSTS_PER_NODE = 4  # that one client keeps busy, if nothing is known of the file system
FILE_BYTES_PER_OST = 64 << 20  # of a file that is large enough for one more OST, whatever the time
LEAST_SECONDS_PER_OST = 0.05  # of the file access: a shorter access gains nothing that a user notices
CLOCKS_DIFFER = 10  # seconds, at most, between nodes
SMALL_ACCESS = 256 << 10  # bytes: mostly latency, which more OSTs do not change
HALF = 0.5
# Of the layout of a file that the job wrote, by the word in the report.
ORIGINS = {
    "hints": "set by hints",
    "default": "the default of the directory or of the file system",
    "nacre": "chosen by Nacre",
    "file": "the file had it when it was opened",
}
COUNT_HINTS = ("striping_factor", "nacre_layout")  # set the number of stripes; the last one overrides the first
BY_USERS = ("program", "environment", "user's file", "site's file")  # where a hint comes from
EVEN = 0.75  # of the stripes of a range: as many OSTs share the file


@dataclass(frozen=True)
class Spread:
    """`stripes`: the most stripes of a range of the file. `used`: the bytes of the file divided by those on the OST
    with the most, `fullest` (None: unknown)."""

    stripes: int
    used: float
    fullest: int | None = None

    def __str__(self) -> str:
        if self.used > EVEN * self.stripes:
            return plural(self.stripes, "OST")
        where = "one OST" if self.fullest is None else f"OST {self.fullest}"
        return f"mostly {where} ({1 / self.used:.0%} of it)"


def moved(one: dict) -> int:
    return max(one["bytes_written"], one["bytes_read"])


def folder_of(group: FileGroup) -> str:
    """The directory of the files, as this machine sees it."""
    return _folder(group.name)


def _folder(path: str) -> str:
    return os.path.dirname(lustre_client.as_seen_here(path)) or "."


@functools.cache
def _count_in(folder: str) -> int | None:
    try:
        return lustre_client.ost_count(folder)
    except OSError:
        return None


def count_of(one: dict) -> int | None:
    """The number of OSTs of the file system; None if this machine cannot ask it."""
    if one["file_system"] not in LUSTRES:
        return None
    return _count_in(_folder(one["file"]))


@functools.cache
def _regions_now(path: str, closed_at: int) -> list[dict]:
    """Of a file that was not written since; another job may have made it anew, with another layout."""
    try:
        is_same = os.stat(path).st_mtime <= closed_at + CLOCKS_DIFFER
    except OSError:
        return []
    return lustre_client.regions(path) if is_same else []


def regions(one: dict) -> list[dict]:
    """The striped ranges of a file, from the report, otherwise from the file as it is now; empty if unknown."""
    if one["layout"] or one["file_system"] not in LUSTRES:
        return one["layout"]
    return _regions_now(lustre_client.as_seen_here(one["file"]), one["closed_at"])


def layout_in_words(one: dict) -> str:
    """in_words() of the layout of a file; empty if it is unknown."""
    return in_words(regions(one))


def in_words(found: list[dict]) -> str:
    """For example: 1 OST (OST 6), stripes of 64 KiB; from 1 MiB on 8 OSTs (OST 0-7), stripes of 1 MiB."""
    return "; ".join(_region_in_words(region) for region in found)


def _region_in_words(region: dict) -> str:
    if objects := region.get("object_bytes"):
        return ceph_client.in_words(region["stripe_bytes"], region["stripes"], objects)
    begin = f"from {amount(region['begin'])} on " if region["begin"] else ""
    if region["osts"] == [METADATA_TARGET]:
        return f"{begin}the metadata target"
    numbers, count = _known_osts(region), region["stripes"]
    named = f" (OST {ranges(numbers)})" if numbers else ""
    if numbers and len(numbers) < count == len(region["osts"]):  # overstriped
        return f"{begin}{count} stripes of {amount(region['stripe_bytes'])} on {plural(len(numbers), 'OST')}{named}"
    return f"{begin}{plural(count, 'OST')}{named}, stripes of {amount(region['stripe_bytes'])}"


def _known_osts(region: dict) -> list[int]:
    """The OSTs that the file system has chosen: it chooses those of a component at the first write to it."""
    return sorted({ost for ost in region["osts"] if ost >= 0})


def used(one: dict) -> str:
    """The number of OSTs that have data of the file, for example "5 OSTs"; empty if it is unknown."""
    known = [region for region in regions(one) if _known_osts(region)]
    if not known:
        return ""
    is_listed = all(len(region["osts"]) == region["stripes"] for region in known)
    count = len({ost for region in known for ost in _known_osts(region)})
    return f"{'' if is_listed else 'at least '}{plural(count, 'OST')}"


def origin_in_words(one: dict) -> str:
    """What the layout comes from; empty if it is unknown."""
    return ORIGINS.get(one.get("layout_origin", ""), "")


def stripes(one: dict) -> int:
    """The most stripes of a range of the file; 0: not striped, or unknown, or successive objects of a stripe lie on
    different OSTs (CephFS)."""
    return max((region["stripes"] for region in regions(one) if not region.get("object_bytes")), default=0)


def shared(one: dict, kind: dict) -> set[int]:
    """The OSTs that several ranks accessed by these calls; also those of which this is unknown, since a band of ranks
    accessed them."""
    table = kind["rank_osts"]
    bounds = [*table["first_ranks"], one["ranks"]]
    ranks = [after - first for first, after in zip(bounds, bounds[1:])]
    found = set()
    for ost in (figures["ost"] for figures in kind["osts"] if figures["calls"]):
        column = bisect.bisect_right(table["first_osts"], ost) - 1
        users = sum(count for count, moved in zip(ranks, table["bytes"]) if column < 0 or moved[column])
        if users != 1:
            found.add(ost)
    return found


def _bytes_by_ost(one: dict) -> Counter:
    """The bytes that the calls moved, by OST: counted, otherwise as the layout divides them. OSTs of unknown number
    have negative ones."""
    counted: Counter = Counter()
    for kind in one["kinds"].values():
        for ost in kind["osts"]:
            counted[ost["ost"]] += ost["bytes"]
    if sum(counted.values()) >= HALF * moved(one) > 0:
        return counted
    divided: Counter = Counter()
    for ost, size, _ in _parts(one):
        divided[ost] += size
    return divided


def _parts(one: dict) -> Iterator[tuple[int, float, int]]:
    """Each OST of each striped range, with its bytes in the range and the number of stripes of the range."""
    for region in regions(one):
        end = moved(one) if region["end"] < 0 else min(region["end"], moved(one))
        is_known = len(region["osts"]) == region["stripes"] and min(region["osts"]) >= 0
        names = region["osts"] if is_known else range(-region["stripes"], 0)
        for ost in names:
            yield ost, max(0, end - region["begin"]) / region["stripes"], region["stripes"]


def crowding(one: dict) -> dict[int, float]:
    """By how much the bytes of each OST come denser than on the widest range of the file: bytes of a range with two
    stripes come four times as dense as those of a range with eight. OSTs that are missing have 1."""
    total: Counter = Counter()
    dense: Counter = Counter()
    for ost, size, count in _parts(one):
        total[ost] += size
        dense[ost] += size * stripes(one) / count
    return {ost: dense[ost] / total[ost] for ost in total if total[ost]}


def spread(one: dict) -> Spread | None:
    """How the data of a file is spread over OSTs; None if it is not striped, or the layout is unknown."""
    most, sizes = stripes(one), _bytes_by_ost(one)
    total = sum(sizes.values())
    if not most or not total:
        return None
    fullest, size = max(sizes.items(), key=lambda item: item[1])
    return Spread(most, total / size, fullest if fullest >= 0 else None)


def file_seconds(one: dict) -> float:
    """The time that the slowest rank waits for accesses to the file, of calls whose accesses are not mere latency."""
    large = [kind for kind in one["kinds"].values() if kind["file_bytes"]["sum"] >= SMALL_ACCESS * _accesses(kind)]
    return sum(kind["phases"]["file"]["max"] + kind["phases"]["file_wait"]["max"] for kind in large)


def _accesses(kind: dict) -> int:
    return max(1, kind["file_calls"]["sum"])


def is_most_of_the_time(one: dict) -> bool:
    """Whether the time of the calls is mostly that of the file system."""
    return file_seconds(one) > HALF * sum(kind["seconds"]["max"] for kind in one["kinds"].values())


def possible(one: dict) -> int:
    """How many OSTs would make the accesses of the file faster: as many as `nacre stripe advise` recommends, unless the
    accesses are too short for so many. One node may keep many bytes in its cache: only its time counts."""
    by_size = -(-moved(one) // FILE_BYTES_PER_OST) if one["nodes"] > 1 else 0
    by_time = int(file_seconds(one) / LEAST_SECONDS_PER_OST) if is_most_of_the_time(one) else 0
    most = max(by_size, by_time)
    return most if most <= 1 else min(most, _advised(one)[0])


def _advised(one: dict) -> tuple[int, str]:
    """The number of OSTs and the size of stripes that Nacre would choose for the file, on the machine of the job if
    that is known here. No size: it is unknown."""
    osts = count_of(one) or max(one["nodes"], OSTS_PER_NODE)
    return _advised_for(
        _folder(one["file"]), library.ExpectedFile(moved(one), one["nodes"], one["ranks"], osts), one["machine"]
    )


@functools.cache
def _advised_for(folder: str, file: library.ExpectedFile, machine: str) -> tuple[int, str]:
    for known in (machine, ""):
        try:
            options, _ = library.layout_advice(folder, file, known)
        except ValueError:
            continue  # the machine file of the job is not here
        _, count, _, size = options.split()
        return int(count), size
    return file.osts, ""


def _longer_stripes(group: FileGroup) -> str:
    """The size of stripes that Nacre would choose; empty if those of the files are as long."""
    largest = max(group.reports, key=moved)
    _, size = _advised(largest)
    longest = max((region["stripe_bytes"] for region in regions(largest)), default=0)
    return size if size and 0 < longest < parse_bytes(size) else ""


def is_on_orangefs(group: FileGroup) -> bool:
    """Whether layouts are those of directories, in OrangeFS's own xattrs, and nodes take no locks."""
    return group.reports[0]["file_system"] == "orangefs"


def orangefs_layout(group: FileGroup, count: int, size: str = "") -> str:
    """The commands that give new files `count` data files. No size: stripes as long as those of the files are."""
    longest = max(region["stripe_bytes"] for one in group.reports for region in regions(one))
    return orangefs_client.command(count, parse_bytes(size) if size else longest, folder_of(group))


def run_again_with(group: FileGroup, *hints: str) -> str:
    """The command that runs the job of a file with hints."""
    first = group.reports[0]
    place, found, _ = first["file"].partition(f"/{lustre_client.TESTBED_RANK_MOUNT}/")
    return run_with(*hints, testbed=place if found and first["file_system"] == "testbed" else "")


def more_stripes(group: FileGroup, count: int) -> list[str]:
    """Lines that give new files `count` stripes, and longer ones if theirs are short."""
    size = _longer_stripes(group)
    if is_on_orangefs(group):
        return [f"{orangefs_layout(group, count, size)}      # all new files there; at most as many as servers"]
    hints = [f"striping_factor={count}", *([f"striping_unit={size}"] if size else [])]
    options = f"-c {count} -S {size}" if size else f"-c {count}"
    if all(one["mode"] == "read" for one in group.reports):
        return [f"New stripes, as the job only reads it: lfs migrate {options} FILE", *_copied(options)]
    requesters = {
        name: requester for one in group.reports for name in COUNT_HINTS if (requester := requester_of(one, name))
    }
    if "nacre_layout" in requesters:  # it overrides the other hint and the directory's default
        hints = [f"nacre_layout={options}"]
    migrate = f"; existing ones: lfs migrate {options} FILE" if has_lfs() else ""
    lines = [f"{run_again_with(group, *hints)}      # new files of this job"]
    if not requesters:
        lines.append(f"{layout_command(options, folder_of(group))}      # all new files there{migrate}")
    if "program" in requesters.values():
        lines[0] = f"Program: set {' and '.join(hints)} in its MPI_Info, which overrides other hints"
    return lines


def _copied(options: str) -> list[str]:
    """How to give a file another layout without lfs."""
    return [] if has_lfs() else [f"or, without lfs: nacre stripe set {options} NEW, then cp FILE NEW"]


def requester_of(one: dict, hint: str) -> str:
    """Who set a hint, perhaps to another value than that of the file; empty: nobody."""
    found = one["hints"].get(hint, {})
    return next((who for who in (found.get("requested_by"), found.get("from")) if who in BY_USERS), "")


def without(job: Job, slow: list[int]) -> list[str]:
    """Lines that place new files on the other OSTs."""
    group = max(job.groups, key=lambda group: sum(moved(one) for one in group.reports))
    seen = {ost["ost"] for one in job.reports for kind in one["kinds"].values() for ost in kind["osts"]}
    total = count_of(group.reports[0])
    others = sorted((set(range(total)) if total else seen) - set(slow))
    lines = []
    if total:
        start, count = _longest_run(others, total)
        count = min(count, max(1, *(stripes(one) for one in group.reports)))
        elsewhere = run_again_with(group, f"start_iodevice={start}", f"striping_factor={count}")
        lines = [f"Until then place files elsewhere: {elsewhere}"]
    command = layout_command(f"-o {ranges(others)}", folder_of(group))
    lines.append(f"For a directory of large files: {command}      # each new file there on all of these OSTs")
    return lines


def _longest_run(numbers: list[int], total: int) -> tuple[int, int]:
    """The first and the count of the most successive `numbers`; 0 follows total - 1."""
    kept = set(numbers)
    firsts = [number for number in numbers if (number - 1) % total not in kept] or numbers[:1]

    def length(first: int) -> int:
        return next((count for count in range(total) if (first + count) % total not in kept), total)

    return max(((first, length(first)) for first in firsts), key=lambda run: run[1], default=(0, total))
