"""`nacre-bench overhead`: the cost of an MPI-IO library for open and close, for a 4-byte write, and for a view."""

from __future__ import annotations

import dataclasses
import statistics

from .contenders import LIMIT, OURS, PEER, Contender
from .figures import Ratio, paired_ratio
from .launch import RANK_GRACE_S, Outcome, launch
from .report import failed_launches, settings_text
from .schedule import Job
from .tables import microseconds, size, table

NAME = "overhead"
TIMES = {"open_close": "open+close us", "write_4_bytes": "write 4 B us"}
VIEWS = {
    "subarray": "half of 1024^3 doubles in each dimension, a subarray of 262,144 runs",
    "indexed": "1,000,000 runs of one to three doubles, indexed",
}
# Repeats in a launch, multiplied by --repeats. overhead_main.cc has the same numbers.
OPENS = 20
WRITE_BATCHES = 10
MEMORY = ("heap_peak", "heap_kept", "resident_peak")


def with_default_hints(contenders: list[Contender]) -> list[Contender]:
    """The contenders to measure, without their hints. Tuned and untuned ROMIO are then the same; only the first is
    kept."""
    chosen: dict[tuple, Contender] = {}
    for contender in contenders:
        if contender.engine not in ("mpi-io", "plain") or contender.workloads != "*":
            continue
        key = contender.mpi.name, contender.arguments, contender.preload, contender.engine
        about = contender.about.removesuffix(", tuned")
        chosen.setdefault(key, dataclasses.replace(contender, hints={}, about=about))
    return list(chosen.values())


def undisturbed(seconds: list[float]) -> float:
    """The lower quartile: on a busy machine, longer times say more about the other programs."""
    return sorted(seconds)[len(seconds) // 4]


def launch_overhead(contender: Contender, job: Job) -> Outcome:
    """Passes no hints: a program that opens many files usually sets none."""
    program = [contender.mpi.program("overhead"), job.file, contender.engine, str(job.repeats)]
    program.append(str(int(job.timeout_s) + RANK_GRACE_S))
    return launch(contender, job.ranks, program, job.timeout_s)


def series_of(result: dict) -> dict[tuple[str, str, str], dict[int, float]]:
    """The value of each round. Keys: contender, measured operation, figure."""
    series: dict[tuple[str, str, str], dict[int, float]] = {}
    for entry in result["launches"]:
        if entry["error"]:
            continue
        for line in entry["lines"]:
            if line["type"] != NAME:
                continue
            figures = {"seconds": undisturbed(line["seconds"])}
            figures |= {figure: line[figure] for figure in MEMORY if figure in line}
            for figure, value in figures.items():
                series.setdefault((entry["contender"], line["name"], figure), {})[entry["round"]] = value
    return series


def median(series: dict, key: tuple[str, str, str]) -> float | None:
    return statistics.median(series[key].values()) if series.get(key) else None


def cheapest(series: dict, names: list[str], what: str, figure: str) -> str | None:
    values = {name: median(series, (name, what, figure)) for name in names}
    measured = [name for name in names if values[name] is not None]
    return min(measured, key=lambda name: values[name], default=None)


def main_table(result: dict, series: dict) -> str:
    header = ["", *TIMES.values()]
    rows = []
    for contender in result["contenders"]:
        row = [contender["name"]]
        row += [microseconds(median(series, (contender["name"], what, "seconds"))) for what in TIMES]
        rows.append(row)
    return table(header, rows)


def view_table(result: dict, series: dict, view: str) -> str:
    header = ["", "set_view ms", "heap peak", "kept", "with 1 read: ms", "heap peak", "kept", "RSS peak"]
    rows = []
    for contender in result["contenders"]:
        if contender["role"] == LIMIT:
            continue
        row = [contender["name"]]
        for what in (f"view_{view}", f"view_and_read_{view}"):
            seconds = median(series, (contender["name"], what, "seconds"))
            row.append("-" if seconds is None else f"{seconds * 1000:.2f}")
            row += [size(median(series, (contender["name"], what, figure))) for figure in ("heap_peak", "heap_kept")]
        row.append(size(median(series, (contender["name"], f"view_and_read_{view}", "resident_peak"))))
        rows.append(row)
    return table(header, rows)


def ratio_text(series: dict, name: str, other: str | None, what: str) -> str:
    if other is None:
        return "-"
    ratio: Ratio | None = paired_ratio(series.get((name, what, "seconds"), {}), series[other, what, "seconds"])
    return f"{ratio} ({other})" if ratio else "-"


def ratio_table(result: dict, series: dict) -> str:
    """Each Nacre contender against the cheapest peer over the same MPI, and against the cheapest peer over any MPI."""
    peers = [c for c in result["contenders"] if c["role"] == PEER]
    rows = []
    for ours in (c for c in result["contenders"] if c["role"] == OURS):
        own = [peer["name"] for peer in peers if peer["mpi"] == ours["mpi"]]
        row = [ours["name"]]
        for what in TIMES:
            for names in (own, [peer["name"] for peer in peers]):
                other = cheapest(series, names, what, "seconds")
                row.append(ratio_text(series, ours["name"], other, what))
        rows.append(row)
    if not rows:
        return ""
    header = ["", "open+close: same MPI", "any MPI", "write 4 B: same MPI", "any MPI"]
    about = "Nacre divided by the cheapest peer, over the same MPI and over any (below 1: Nacre is cheaper), [95 %]:\n"
    return about + table(header, rows)


def overhead_text(result: dict) -> str:
    series = series_of(result)
    ranks = result["settings"]["ranks"]
    opens, batches = (count * result["settings"]["repeats"] for count in (OPENS, WRITE_BATCHES))
    parts = [
        settings_text(result, f"{opens} opens, {batches} batches of 200 writes, each view once"),
        f"{ranks} ranks, default hints; times of the slowest rank:",
        main_table(result, series),
    ]
    parts.append(ratio_table(result, series))
    for view, about in VIEWS.items():
        parts.append(f"View: {about}; memory without that of the datatype:\n" + view_table(result, series, view))
    return "\n\n".join(part for part in parts + failed_launches(result) if part)
