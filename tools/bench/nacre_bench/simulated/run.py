"""The run: each case in a launch on the testbed that measures all settings, and in one simulation for each."""

from __future__ import annotations

import functools
import itertools
import pathlib
import statistics
import tempfile
import tomllib
from collections.abc import Callable

from ..cells import WRITE, seconds_from_open
from ..choice import run as choice
from ..choice.cases import Case
from ..choice.measured import machine_text
from ..choice.plans import plans_of
from ..choice.search import Setting
from ..choice.virtual import hints_of
from ..config import Config
from ..contenders import Contender
from ..launch import RANK_GRACE_S, Outcome, launch
from ..options import Simulated
from ..patterns import place
from ..schedule import Progress
from ..simulation import simulate
from .cases import chosen_cases, settings_of

WARM_UP = "warm-up"
LOCK_MESSAGES = 2  # request and reply


def on_one_computer(sections: dict[str, dict]) -> dict[str, dict]:
    """The machine for a simulation: all nodes share the cores of this computer. The simulation counts locks by itself,
    and each measured write needed one if they are narrow. If that leaves nothing (the testbed shortens the wait for a
    lock by the time of its own calls), a write takes as long as a read."""
    nodes, locks, clients = (dict(sections.get(name, {})) for name in ("nodes", "locks", "clients"))
    nodes["one_computer"] = 1
    if not locks.get("wide", 1) and "write_call_ns" in clients:
        lock_ns = LOCK_MESSAGES * locks.get("latency_us", 0) * 1000
        rest = clients["write_call_ns"] - lock_ns
        clients["write_call_ns"] = rest if rest > 0 else clients.get("read_call_ns", 0)
    changed = {"nodes": nodes, "locks": locks, "clients": clients}
    return sections | {name: values for name, values in changed.items() if values}


class CaseRun:
    """`one`: with its ranks on the nodes of the case, and the machine file in its environment."""

    def __init__(self, case: Case, one: Contender, arguments: Simulated, where: place.Place, scratch: pathlib.Path):
        self.case = case
        self.one = one
        self.arguments = arguments
        self.file = choice.file_of(case, where, case.layout_kind)
        self.scratch = scratch
        self.settings = settings_of(case)
        self.hints = {**hints_of(case), **one.hints}

    def measure(self) -> dict:
        """Two launches: a report costs time, so the measured one writes none."""
        outcome = self.launch(repeats=1, reports=True)
        if not outcome.error:
            outcome = self.launch(repeats=self.arguments.rounds, reports=False)
        samples = [line for line in outcome.lines if line["type"] == "sample" and line["workload"] != WARM_UP]
        found: dict[str, dict] = {}
        for setting in self.settings:
            seconds = [
                seconds_from_open(line[self.case.direction]) for line in samples if line["workload"] == setting.label
            ]
            plans = plans_of(self.report_of(setting), self.case.direction)
            found[setting.label] = {"measured": seconds, "measured_plan": plans[-1] if plans else None}
            if seconds:
                found[setting.label] |= self.simulate(setting)
        return {
            "case": self.case.name,
            "file_system": self.case.file_system,
            "workload": self.case.workload,
            "ranks": self.case.ranks,
            "contender": self.one.name,
            "round": 0,
            "error": outcome.error,
            "wrong_bytes": outcome.wrong_bytes,
            "lines": [line for line in outcome.lines if line["type"] == "start"],
            "message_us": self.message_us(),
            "machine": pathlib.Path(self.machine).read_text(),
            "settings": found,
        }

    def message_us(self) -> float:
        """The time of a message inside a node, as the simulation takes it."""
        machine = tomllib.loads(pathlib.Path(self.one.environment["NACRE_MACHINE"]).read_text())
        return machine.get("messages", {}).get("near_ns", 0) / 1000

    def report_of(self, setting: Setting) -> str:
        return str(self.scratch / f"{setting.label}.jsonl")

    def launch(self, repeats: int, reports: bool) -> Outcome:
        words = [self.one.mpi.program("worker"), "--warmups", "0", "--repeats", str(repeats), "--sync"]
        words += ["--bytes", str(self.case.bytes), "--file", self.file, "--no-file-check"]
        words += ["--time-limit", str(int(self.arguments.timeout) + RANK_GRACE_S)]
        words += ["--write-only"] if self.case.direction == WRITE else []
        words += [word for name, value in self.hints.items() for word in ("--hint", f"{name}={value}")]
        words += ["--workload", self.case.workload, "--label", WARM_UP]
        for setting in self.settings:
            words += ["--workload", self.case.workload, "--label", setting.label, "--times-only"]
            report = [("nacre_report", self.report_of(setting))] if reports else []
            for name, value in (*setting.hints, *report):
                words += ["--task-hint", f"{name}={value}"]
        return launch(self.one, self.case.ranks, words, self.arguments.timeout)

    @functools.cached_property
    def machine(self) -> str:
        """The machine file of the ranks, for a simulation."""
        sections = tomllib.loads(pathlib.Path(self.one.environment["NACRE_MACHINE"]).read_text())
        file = self.scratch / "machine.toml"
        file.write_text(machine_text(on_one_computer(sections)))
        return str(file)

    def simulate(self, setting: Setting) -> dict:
        hints = {**self.hints, **dict(setting.hints)}
        done = simulate(self.case, self.machine, hints, hints)
        return {"simulated": done.seconds, "simulated_plan": done.plans[-1] if done.plans else None}


class Run:
    """Runs the chosen cases, without those that `before` already has."""

    def __init__(self, config: Config, arguments: Simulated, before: list[dict]):
        done = {entry["case"] for entry in before}
        self.config = config
        self.arguments = arguments
        self.one = choice.contender(config, arguments)
        self.left = [case for case in chosen_cases(arguments.cases) if case.name not in done]
        self.progress = Progress(len(self.left), arguments.quiet)

    def run(self, keep: Callable[[dict], None]) -> None:
        with tempfile.TemporaryDirectory(prefix="nacre-bench-") as scratch:
            machines = choice.Machines(pathlib.Path(scratch))
            for _, cases in itertools.groupby(self.left, key=choice.site_of):
                todo = list(cases)
                with choice.site(self.config, todo[0], self.arguments.dir) as where:
                    for case in todo:
                        entry = self.measure(case, machines, where)
                        keep(entry)
                        self.progress.tell(brief(entry))

    def measure(self, case: Case, machines: choice.Machines, where: place.Place) -> dict:
        one = machines.known_to(choice.on_nodes(self.one, case, where), case, where)
        with tempfile.TemporaryDirectory(prefix="nacre-bench-") as scratch:
            return CaseRun(case, one, self.arguments, where, pathlib.Path(scratch)).measure()


def ratio_of(found: dict) -> float | None:
    """Simulated seconds over the median of the measured ones."""
    measured = statistics.median(found["measured"]) if found["measured"] else 0
    return found["simulated"] / measured if measured else None


def brief(entry: dict) -> str:
    if entry["error"]:
        return f"{entry['case']}: {entry['error'].splitlines()[0]}"
    ratios = [ratio for found in entry["settings"].values() if (ratio := ratio_of(found))]
    return f"{entry['case']}: simulated/measured {', '.join(f'{ratio:.2f}' for ratio in ratios)}"
