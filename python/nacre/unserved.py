"""Reports of accesses that Nacre did not carry out, in the form of its own (reports.py): logs of Darshan, and calls of
POSIX beside MPI-IO. What is not known of them has values that raise no finding."""

from __future__ import annotations

import copy
from collections.abc import Iterable

NOTHING = dict.fromkeys(("min", "median", "max", "sum"), 0)
PHASES = ("plan", "views", "copy", "messages", "wait", "file", "file_wait", "lock", "agreement", "away")
_COUNTS = (
    "calls", "errors", "bytes", "file_calls", "file_bytes", "messages", "message_bytes", "copied_bytes", "rounds",
    "unaligned_calls", "backward_calls", "read_modify_writes", "holes",
)  # fmt: skip
_KIND = {
    "phases": dict.fromkeys(PHASES, NOTHING), "file_thread_seconds": NOTHING, "file_busy_seconds": NOTHING,
    **dict.fromkeys(_COUNTS, NOTHING), "file_call_sizes": {}, "osts": [], "shapes": [],
    "rank_osts": {"first_ranks": [], "first_osts": [], "bytes": []}, "busiest": [],
}  # fmt: skip
_REPORT = {
    "schema": 2, "version": "", "mpi": "", "job": "", "hosts": [], "program": [], "opened_at": 0, "closed_at": 0,
    "open_for_seconds": 0, "file_system": "", "layout": [], "machine": "", "hints": {}, "notes": [],
    "timeline": {"interval_seconds": 0, "first_ranks": [], "percent": {}}, "open_seconds": NOTHING,
    "close_seconds": NOTHING, "late_opens": {"ranks": 0, "seconds": NOTHING}, "other_calls": {}, "plans": [],
    "other_plan_calls": 0,
}  # fmt: skip


def spread(values: Iterable[float]) -> dict:
    """Minimum, median, maximum and sum of one value for each rank."""
    ordered = sorted(values)
    if not ordered:
        return NOTHING
    return {"min": ordered[0], "median": ordered[(len(ordered) - 1) // 2], "max": ordered[-1], "sum": sum(ordered)}


def total(value: float) -> dict:
    """A figure of which only the sum over the ranks is known."""
    return {"min": 0, "median": 0, "max": int(value), "sum": int(value), "only_sum": True}


def added(spreads: Iterable[dict]) -> dict:
    """The sums of spreads, part by part: bounds, if their extremes are those of different ranks."""
    found = list(spreads)
    return {part: sum(one[part] for one in found) for part in NOTHING}


def kind(**known) -> dict:
    """The figures of the reads or writes of a file: `ranks`, `seconds` and what else is known."""
    return {**copy.deepcopy(_KIND), **known}


def report(kinds: dict[str, dict], **known) -> dict:
    """The report of a file: `file`, `run`, `source`, `world`, `ranks`, `nodes` and what else is known. The time is that
    of all kinds, of open, close, and `other_seconds` (a spread). `by_posix`: the program calls POSIX for the file."""
    made = {**copy.deepcopy(_REPORT), "kinds": kinds, **known}
    parts = [made["open_seconds"], made["close_seconds"], made.pop("other_seconds", NOTHING)]
    made["seconds"] = added([*parts, *(one["seconds"] for one in kinds.values())])
    made["calls"] = sum(one["calls"]["sum"] for one in kinds.values())
    for past, verb in (("read", "read"), ("written", "write")):
        made[f"bytes_{past}"] = sum(one["bytes"]["sum"] for way, one in kinds.items() if way.endswith(verb))
    made["mode"] = "read" if all(way.endswith("read") for way in kinds) else "read-write"
    return made
