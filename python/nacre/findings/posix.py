"""Findings on calls of POSIX beside MPI-IO."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from nacre.findings.finding import Finding
from nacre.jobs import FileGroup, Job, single_rank
from nacre.text import amount, duration, plural

SMALL = 256 << 10  # bytes
FEW_ACCESSES = 100
MANY_STATS = 100  # by one rank
MANY_OPENS = 200  # by one rank, of all files
LOOK_UPS = ("stat", "stats", "failed_stats")


def is_posix(group: FileGroup) -> bool:
    """Whether the program calls POSIX for these files, not MPI-IO."""
    return any(one.get("by_posix", False) for one in group.reports)


def is_by_streams(group: FileGroup) -> bool:
    """Whether streams of stdio write most of the group's bytes."""
    by_streams = sum(one["streams"]["bytes"] for one in group.reports if "streams" in one)
    return by_streams > group.total("bytes_written") / 2


def buffering(group: FileGroup) -> str:
    """The option of `nacre run` that buffers the files of a group."""
    name = re.sub(r"[\d*]+", "*", group.name.rpartition("/")[2])
    return f"nacre run --iobuf '{name}:size=4m' -- LAUNCHER ... PROGRAM ..."


def buffers(group: FileGroup, verb: str) -> list[str]:
    """How to make small calls of descriptors larger. C++ streams make such calls too, and the report cannot tell them
    from those of a program."""
    lines = ["Program, if it writes with C++ streams: '\\n' instead of std::endl, which writes at once"]
    return [buffering(group), *(lines if verb == "writes" else [])]


def small_stream_writes(job: Job) -> Iterator[Finding]:
    """Streams of stdio write large files in pieces of their small buffers."""
    for group in job.groups:
        streams = [one["streams"] for one in group.reports if "streams" in one]
        calls = sum(one["file_calls"] for one in streams)
        size = sum(one["bytes"] for one in streams)
        if calls < FEW_ACCESSES or size >= SMALL * calls:
            continue
        seconds = sum(one["seconds"] for one in streams) / job.ranks
        yield Finding(
            "small-stream-writes",
            "Streams of stdio write in small pieces",
            str(group),
            f"{sum(one['calls'] for one in streams):,} calls (fprintf, fwrite ...) reached the file as {calls:,} writes"
            f" of {amount(size / calls)}",
            seconds,
            [
                *([] if group.is_sum else [buffering(group)]),
                "Program: static char buffer[4 << 20]; setvbuf(stream, buffer, _IOFBF, sizeof buffer) after fopen",
            ],
        )


def stat_storm(job: Job) -> Iterator[Finding]:
    """Ranks ask again and again whether files exist, and how large they are."""
    for group in job.groups:
        if not is_posix(group):
            continue
        found = [one["other_calls"][name] for one in group.reports for name in LOOK_UPS if name in one["other_calls"]]
        count = _most_look_ups(group)
        if count < MANY_STATS:
            continue
        seconds = sum(calls["seconds"]["sum"] for calls in found) / job.ranks
        yield Finding(
            "stat-storm",
            "Ranks look files up again and again",
            str(group),
            f"{count:,} stat or access of a rank took {duration(seconds)}",
            seconds,
            ["Program: look once, on one rank, and broadcast; wait for a file by a message, not by polling"],
        )


def _most_look_ups(group: FileGroup) -> int:
    """By one rank: of files of several ranks, the same rank may make the most each time."""
    by_rank: Counter = Counter()
    for one in group.reports:
        by_rank[single_rank(one)] += sum(
            one["other_calls"][name]["calls"]["max"] for name in LOOK_UPS if name in one["other_calls"]
        )
    return by_rank.pop(None, 0) + max(by_rank.values(), default=0)


def open_storm(job: Job) -> Iterator[Finding]:
    """Each rank opens many files, or tries to: search paths of libraries, modules of Python."""
    groups = [group for group in job.groups if is_posix(group)]
    opens = sum(group.opens * group.ranks for group in groups)
    failed = [one["other_calls"]["failed_opens"] for group in groups for one in group.reports
              if "failed_opens" in one["other_calls"]]  # fmt: skip
    tries = (opens + sum(one["calls"]["sum"] for one in failed)) / job.ranks
    if tries < MANY_OPENS:
        return
    reports = [one for group in groups for one in group.reports]
    seconds = sum(one["open_seconds"]["sum"] + one["close_seconds"]["sum"] for one in reports)
    seconds = (seconds + sum(one["seconds"]["sum"] for one in failed)) / job.ranks
    misses = sum(one["calls"]["sum"] for one in failed)
    yield Finding(
        "open-storm",
        "Each rank opens many files",
        plural(sum(group.file_count for group in groups), "file"),
        f"{tries:,.0f} opens of a rank, on average, took {duration(seconds)}"
        + (f"; {misses:,} of all ranks found no file" if misses else ""),
        seconds,
        [
            "Put programs, libraries and modules of Python on storage of the node (/tmp, a squashfs image)",
            "Program: read small input files on one rank, and broadcast them",
        ],
    )


RULES = [small_stream_writes, stat_storm, open_storm]
