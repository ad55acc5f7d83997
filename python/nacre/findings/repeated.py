"""Reads of bytes that another rank reads too: what they are recognised by."""

from __future__ import annotations

import functools
import os
import stat
from dataclasses import dataclass

from nacre import lustre_client
from nacre.findings.finding import METADATA, MUCH
from nacre.jobs import FileGroup, single_rank

ALIKE = 0.9  # of the bytes of the rank with the most
OFTEN = 2  # times as many bytes as the file has


@dataclass(frozen=True)
class RepeatedReads:
    """Independent reads of one file. `total`: the bytes that all ranks read together. `once`: the bytes to read if each
    is read once. `is_once_the_file`: `once` is the size of the file; otherwise each rank reads these bytes."""

    kinds: list[dict]
    ranks: int
    total: int
    once: int
    is_once_the_file: bool


def of(group: FileGroup) -> list[RepeatedReads]:
    """One for each file of the group that ranks read at least twice."""
    by_path: dict[str, list[dict]] = {}
    for one in group.reports:
        if "independent_read" in one["kinds"]:
            by_path.setdefault(one["file"], []).append(one)
    found = (_of_file(path, reports) for path, reports in by_path.items())
    return [reads for reads in found if reads is not None]


def _of_file(path: str, reports: list[dict]) -> RepeatedReads | None:
    kinds = [one["kinds"]["independent_read"] for one in reports if _is_of_data(one["kinds"]["independent_read"])]
    ranks = max(len({single_rank(one) for one in reports} - {None}), *(kind["ranks"] for kind in kinds), 0)
    total = sum(kind["bytes"]["sum"] for kind in kinds)
    if ranks < 2 or total < MUCH:
        return None
    alike = [kind for kind in kinds if are_alike(kind)]
    if alike:
        return RepeatedReads(
            alike, max(kind["ranks"] for kind in alike), sum(kind["bytes"]["sum"] for kind in alike),
            sum(bytes_of_a_rank(kind) for kind in alike), is_once_the_file=False,
        )  # fmt: skip
    size = _size(lustre_client.as_seen_here(path), min(one["opened_at"] for one in reports))
    if not size or total < OFTEN * size:
        return None
    return RepeatedReads(kinds, ranks, total, size, is_once_the_file=True)


def _is_of_data(kind: dict) -> bool:
    return kind["file_bytes"]["sum"] > METADATA * kind["file_calls"]["sum"]


def are_alike(kind: dict) -> bool:
    """Whether all ranks read the same bytes: their calls begin at one place, and have equal views, sizes and distances.
    The report has the calls of some ranks only, and the distances of their first calls."""
    shapes = kind["shapes"]
    if len(shapes) < 2 or kind["bytes"]["sum"] < ALIKE * kind["ranks"] * kind["bytes"]["max"]:
        return False
    first = shapes[0]
    fields = ("origin", "first_byte", "bytes", "type", "step_bytes")
    if any(shape.get(name) != first.get(name) for shape in shapes for name in fields):
        return False
    # Without the type of the view, the ranks may read different bytes of it.
    return "type" in first and ("step_bytes" in first or first["bytes"] >= ALIKE * kind["bytes"]["max"])


def bytes_of_a_rank(kind: dict) -> int:
    """Of ranks that read the same bytes."""
    first = kind["shapes"][0]
    return first["bytes"] if first.get("step_bytes") == 0 else kind["bytes"]["max"]


@functools.cache
def _size(path: str, opened_at: float) -> int:
    """The size of a file that nobody has written since it was opened; 0: it was written, or is not here."""
    try:
        found = os.stat(path)
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) and found.st_mtime <= opened_at else 0
