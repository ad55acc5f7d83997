"""One simulation of a case of the benchmark by nacre-simulate."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import subprocess
import tempfile

from nacre import testbed
from nacre.errors import UserError

from .cells import WRITE
from .choice.cases import Case
from .choice.plans import plans_of
from .errors import BenchError

NANOSECONDS = 1e9
# The stages that cells.seconds_from_open() measures.
STAGES = {"write": ("view", "write", "sync", "close"), "read": ("read", "close")}


@dataclasses.dataclass(frozen=True)
class Simulation:
    """`seconds`: from when all ranks have opened the file to when all have closed it. `plans`: as plans_of()."""

    seconds: float
    plans: list[dict]


def program() -> str:
    try:
        return testbed.program("nacre-simulate", "`make` builds it.")
    except UserError as error:
        raise BenchError(str(error)) from error


def run_program(words: list[str]) -> dict:
    """What nacre-simulate prints for these options."""
    result = subprocess.run([program(), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode:
        why = result.stderr.strip() or f"ended with {result.returncode}; negative: killed, perhaps for want of memory"
        raise BenchError(f"nacre-simulate {' '.join(words)}: {why}")
    return json.loads(result.stdout)


def simulate(case: Case, machine: str, writer: dict[str, str], reader: dict[str, str]) -> Simulation:
    """Simulates the case on the machine of a machine file. `writer` and `reader`: the hints of the open before the
    writes, and of the open of a later job before the reads."""
    per_node = -(-case.ranks // case.nodes)
    words = ["--machine", machine, "--nodes", str(case.nodes), "--ranks-per-node", str(per_node)]
    words += ["--bytes", str(case.bytes)]
    reads = case.direction != WRITE
    words += ["--read", "--reopen"] if reads else []

    def run(more: dict[str, str]) -> float:
        hints = _hints("--hint", {**writer, **more})
        hints += _hints("--read-hint", {**reader, **more}) if reads else []
        stages = run_program([*words, *hints, case.workload])["stages_ns"]
        return sum(stages[name] for name in STAGES[case.direction]) / NANOSECONDS

    with tempfile.TemporaryDirectory(prefix="nacre-bench-") as scratch:
        report = str(pathlib.Path(scratch) / "report.jsonl")
        seconds = run({"nacre_machine": machine, "nacre_report": report})
        # For a report, the close of a file that may be read reads its first bytes.
        seconds = run({"nacre_machine": machine}) if reads else seconds
        return Simulation(seconds, plans_of(report, case.direction))


def _hints(option: str, hints: dict[str, str]) -> list[str]:
    return [word for name, value in hints.items() for word in (option, f"{name}={value}")]
