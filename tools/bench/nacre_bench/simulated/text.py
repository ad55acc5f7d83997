"""The text of a result of `nacre-bench simulated`."""

from __future__ import annotations

import statistics

from ..choice.plans import words
from ..machine import sentence
from ..report import contender_lines
from ..tables import number, table
from .run import ratio_of

NEAR = 0.15
BUSY_US = 1000  # of a message; an idle computer takes 1 to 50 us, with more ranks than cores too
ABOUT = f"""Seconds from when all ranks have opened the file to when all have closed it, MPI_File_sync of writes
included. measured: median of the repeats on the testbed, or in a directory (local); simulated: in virtual time, with
the figures of the same machine, and of messages, copies and calls on this computer. near: the ratio differs from 1 by
at most {NEAR:.0%}."""


def rows_of(entry: dict) -> list[tuple[str, dict, float]]:
    """The settings that were measured: label, what was found, ratio."""
    found = [(label, one, ratio_of(one)) for label, one in entry["settings"].items()]
    return [(label, one, ratio) for label, one, ratio in found if ratio is not None]


def is_near(ratio: float) -> bool:
    return abs(ratio - 1) <= NEAR


def spread(seconds: list[float]) -> str:
    return f"{max(seconds) / min(seconds):.2f}" if min(seconds) > 0 else "-"


def case_rows(entry: dict) -> list[list[str]]:
    rows = []
    for label, found, ratio in rows_of(entry):
        same = words(found["measured_plan"]) == words(found["simulated_plan"])
        plan = words(found["measured_plan"]) + ("" if same else f" (simulated: {words(found['simulated_plan'])})")
        seconds = [number(statistics.median(found["measured"]), 4), number(found["simulated"], 4)]
        mark = "near" if is_near(ratio) else ""
        rows.append([entry["case"], label, *seconds, number(ratio), spread(found["measured"]), mark, plan])
    return rows


def share_row(name: str, ratios: list[float]) -> list[str]:
    near = sum(map(is_near, ratios))
    return [
        name,
        str(len(ratios)),
        f"{near} ({100 * near / len(ratios):.0f} %)",
        number(min(ratios)),
        number(statistics.median(ratios)),
        number(max(ratios)),
    ]


def shares(entries: list[dict]) -> list[list[str]]:
    """By machine and by setting, and of all."""
    groups: dict[str, list[float]] = {}
    for entry in entries:
        for label, _, ratio in rows_of(entry):
            for group in (entry["file_system"], label, "all"):
                groups.setdefault(group, []).append(ratio)
    everything = groups.pop("all", [])
    return [share_row(name, ratios) for name, ratios in groups.items()] + (
        [share_row("all", everything)] if everything else []
    )


def simulated_text(result: dict) -> str:
    entries = result["launches"]
    header = ["case", "setting", "measured s", "simulated s", "ratio", "max/min", "", "plan"]
    first = f"nacre-bench {result['version']}, {result['started']}: {sentence(result['machine'])}"
    parts = [first, *contender_lines(result), "", ABOUT, ""]
    parts.append(table(header, [row for entry in entries for row in case_rows(entry)]))
    failed = [f"{entry['case']}: {entry['error'].splitlines()[0]}" for entry in entries if entry["error"]]
    parts += ["", table(["", "settings", "near", "least", "median", "largest"], shares(entries)), *failed]
    busy = [entry["case"] for entry in entries if entry["message_us"] > BUSY_US]
    if busy:
        parts.append(f"Busy computer: a message inside a node took more than {BUSY_US} us before {', '.join(busy)}.")
    return "\n".join(parts)
