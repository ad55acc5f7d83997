"""Single points of the experiments: the calls of a job on one file, simulated."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import tempfile

from nacre import reports
from nacre.described_calls import calls_text

from ..choice.measured import machine_text
from ..choice.plans import longest
from ..simulation import NANOSECONDS, STAGES, run_program
from ..units import MIB
from .origins import sections_of


@dataclasses.dataclass(frozen=True)
class Point:
    """`changes` replace settings of the machine (section.key, value); `block` is that of workloads with blocks.
    `calls`: tables [[calls]] in place of a workload (docs/simulate.md), which also say how many bytes there are."""

    machine: str
    nodes: int
    ranks_per_node: int
    bytes: int
    workload: str
    block: int = 0
    hints: tuple[tuple[str, str], ...] = ()
    changes: tuple[tuple[str, float], ...] = ()
    calls: str = ""

    def changed(self, changes: tuple[tuple[str, float], ...]) -> Point:
        return dataclasses.replace(self, changes=(*self.changes, *changes))

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node


@dataclasses.dataclass(frozen=True)
class Outcome:
    """`seconds`: from when all ranks have opened the file to when all have closed it. `bottleneck`: the resource that a
    part of it kept busy longest. `plan`: of the writes, as longest(); None if the ranks wrote by themselves. `phases`:
    seconds of all ranks in the phases of collective writes (docs/report.md)."""

    seconds: float
    mib_per_second: float
    bottleneck: str
    plan: dict | None
    phases: dict[str, float]

    def share(self, phases: tuple[str, ...]) -> float:
        """Of the time of collective writes."""
        return sum(self.phases[name] for name in phases) / sum(self.phases.values())


@functools.cache
def outcome_of(point: Point) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as scratch:
        report = pathlib.Path(scratch) / "report.jsonl"
        found = run_program(_words(point, pathlib.Path(scratch), report))
        return _outcome(found, reports.read([str(report)])[0])


def _words(point: Point, scratch: pathlib.Path, report: pathlib.Path) -> list[str]:
    machine = scratch / "machine.toml"
    sections = sections_of(point.machine)
    for name, value in point.changes:
        section, key = name.split(".")
        sections.setdefault(section, {})[key] = value
    machine.write_text(machine_text(sections))
    hints = {"nacre_machine": str(machine), **dict(point.hints), "nacre_report": str(report)}
    words = ["--machine", str(machine), "--nodes", str(point.nodes), "--ranks-per-node", str(point.ranks_per_node)]
    words += [word for name, value in hints.items() for word in ("--hint", f"{name}={value}")]
    return words + (_described(point, scratch) if point.calls else _workload(point))


def _workload(point: Point) -> list[str]:
    block = ["--block", str(point.block)] if point.block else []
    return ["--bytes", str(point.bytes), *block, point.workload]


def _described(point: Point, scratch: pathlib.Path) -> list[str]:
    tables, calls = scratch / "calls.toml", scratch / "calls"
    tables.write_text(point.calls)
    calls.write_text(calls_text(str(tables), point.ranks))
    return ["--calls", str(calls)]


def _outcome(found: dict, report: dict) -> Outcome:
    stages = {*STAGES["write"], *STAGES["read"]}
    seconds = sum(found["stages_ns"][name] for name in stages) / NANOSECONDS
    bytes_moved = found["bytes_written"] + found["bytes_read"]
    busiest = max(found["resources"], key=lambda one: one["busy_ns_max"])["name"]
    phases = report["kinds"].get("collective_write", {}).get("phases", {})
    return Outcome(
        seconds,
        bytes_moved / MIB / seconds,
        busiest,
        longest(report, "write"),
        {name: one["sum"] for name, one in phases.items()},
    )
