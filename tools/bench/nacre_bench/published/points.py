"""Single points of the experiments: one collective write of a job, simulated."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import tempfile
import tomllib

from ..choice.measured import machine_text
from ..choice.plans import plans_of
from ..simulation import NANOSECONDS, STAGES, run_program
from ..units import MIB

MACHINES = pathlib.Path(__file__).resolve().parent / "machines"


@dataclasses.dataclass(frozen=True)
class Point:
    """`changes` replace settings of the machine (section.key, value); `block` is that of workloads with blocks."""

    machine: str
    nodes: int
    ranks_per_node: int
    bytes: int
    workload: str
    block: int = 0
    hints: tuple[tuple[str, str], ...] = ()
    changes: tuple[tuple[str, float], ...] = ()

    def changed(self, changes: tuple[tuple[str, float], ...]) -> Point:
        return dataclasses.replace(self, changes=(*self.changes, *changes))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """`bottleneck`: the resource that a part of it kept busy longest. `plan`: of the calls, as plans_of(); None if the
    ranks wrote by themselves."""

    seconds: float
    mib_per_second: float
    bottleneck: str
    plan: dict | None


def sections_of(machine: str) -> dict[str, dict]:
    return tomllib.loads((MACHINES / f"{machine}.toml").read_text())


@functools.cache
def outcome_of(point: Point) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as scratch:
        machine, report = pathlib.Path(scratch) / "machine.toml", pathlib.Path(scratch) / "report.jsonl"
        sections = sections_of(point.machine)
        for name, value in point.changes:
            section, key = name.split(".")
            sections.setdefault(section, {})[key] = value
        machine.write_text(machine_text(sections))
        hints = {"nacre_machine": str(machine), **dict(point.hints), "nacre_report": str(report)}
        words = ["--machine", str(machine), "--nodes", str(point.nodes), "--bytes", str(point.bytes)]
        words += ["--ranks-per-node", str(point.ranks_per_node)]
        words += ["--block", str(point.block)] if point.block else []
        words += [word for name, value in hints.items() for word in ("--hint", f"{name}={value}")]
        found = run_program([*words, point.workload])
        seconds = sum(found["stages_ns"][name] for name in STAGES["write"]) / NANOSECONDS
        busiest = max(found["resources"], key=lambda one: one["busy_ns_max"])["name"]
        plans = plans_of(str(report), "write")
        return Outcome(seconds, found["bytes_written"] / MIB / seconds, busiest, plans[-1] if plans else None)
