"""Reports made up from figures, for tests of what is concluded from them."""

from __future__ import annotations

KIND_COUNTS = [
    "calls", "errors", "bytes", "file_calls", "file_bytes", "messages", "message_bytes", "copied_bytes", "rounds",
    "unaligned_calls", "backward_calls", "read_modify_writes", "holes",
]  # fmt: skip
PHASES = ["plan", "views", "copy", "messages", "wait", "file", "file_wait", "lock", "agreement", "away"]

NOTHING = {"min": 0, "median": 0, "max": 0, "sum": 0}
SPREAD = {"min": 1, "median": 1, "max": 1, "sum": 4}


def kind_of(**figures: object) -> dict:
    """The figures of one kind of calls by four ranks; `figures` replace some."""
    return dict.fromkeys(KIND_COUNTS, NOTHING) | {
        "ranks": 4, "seconds": SPREAD, "phases": dict.fromkeys(PHASES, NOTHING), "osts": [],
        "file_thread_seconds": NOTHING, "file_busy_seconds": NOTHING, "file_call_sizes": {}, "busiest": [],
        "rank_osts": {"first_ranks": [], "first_osts": [], "bytes": []}, "shapes": [],
    } | figures  # fmt: skip


def report_of(kinds: dict[str, dict], **fields: object) -> dict:
    """A report of four ranks with these kinds of calls; `fields` replace some."""
    return {
        "schema": 2, "file": "/x", "version": "0.1.0", "mpi": "MPICH", "job": "", "run": "r", "program": ["app"],
        "hosts": ["n1"], "world": {"rank": 0, "ranks": 4}, "closed_at": 0, "ranks": 4, "nodes": 1, "calls": 4,
        "bytes_read": 0, "bytes_written": 256 << 20, "file_system": "lustre", "mode": "write", "machine": "",
        "hints": {}, "notes": [], "layout": [], "seconds": SPREAD, "open_seconds": NOTHING,
        "close_seconds": NOTHING, "late_opens": {"ranks": 0, "seconds": NOTHING}, "other_calls": {},
        "opened_at": 0, "open_for_seconds": 0,
        "timeline": {"interval_seconds": 1, "first_ranks": [0], "percent": {}},
        "kinds": kinds, "plans": [], "other_plan_calls": 0,
    } | fields  # fmt: skip


def many(each: int, ranks: int = 4) -> dict:
    return {"min": each, "median": each, "max": each, "sum": ranks * each}
