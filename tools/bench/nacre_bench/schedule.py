"""The interleaved run: every round launches each contender once, in a new random order, so that changes of the machine
affect all contenders."""

from __future__ import annotations

import dataclasses
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable

import nacre_hosts

from . import race
from .contenders import OURS, PEER, Contender
from .errors import BenchError
from .launch import Outcome, launch, worker_arguments
from .units import GIB, MIB
from .workloads import Workload

# After this many failures in a row, a contender is left out of the rest of the cell.
FAILURES_MAX = 2
# Required free space, as a multiple of the file size: file systems need more than the data.
SPACE_FACTOR = 1.25


@dataclasses.dataclass
class Job:
    """A cell: the parameters of the launches of every contender."""

    workload: Workload
    ranks: int
    bytes: int = 0
    warmups: int = 1
    repeats: int = 2
    sync: bool = False
    timeout_s: float = 120
    file: str = ""
    hosts: int = 0  # emulated hosts that the ranks are spread over; 0: this machine, no namespaces


@dataclasses.dataclass
class Plan:
    jobs: list[Job]
    contenders: list[Contender]
    rounds: int
    seed: int
    directory: str
    quiet: bool = False
    races: bool = False  # drop peers that are far behind (see race.py)


@dataclasses.dataclass
class Hooks:
    """How to launch a job, how to keep the record of a launch, and the records of an earlier, interrupted run."""

    launch: Callable[[Contender, Job], Outcome]
    keep: Callable[[dict], None]
    before: list[dict] = dataclasses.field(default_factory=list)


def launch_worker(contender: Contender, job: Job) -> Outcome:
    under = nacre_hosts.over_hosts(job.hosts, job.ranks, os.path.dirname(job.file)) if job.hosts else []
    return launch(contender, job.ranks, worker_arguments(contender, [job.workload], job), job.timeout_s, under)


def check_space(plan: Plan) -> None:
    if not os.path.isdir(plan.directory):
        raise BenchError(f"--dir: directory {plan.directory} does not exist")
    needed = int(max(job.bytes for job in plan.jobs) * SPACE_FACTOR)
    free = shutil.disk_usage(plan.directory).free
    if free < needed:
        raise BenchError(
            f"--dir: {plan.directory} has {free // MIB} MiB free, but the run needs {needed // MIB} MiB; choose a "
            "smaller --size-mib or another --dir"
        )


def check_hosts(jobs: list[Job]) -> None:
    wanted = max(job.hosts for job in jobs)
    ranks = min(job.ranks for job in jobs)
    if wanted > ranks:
        raise BenchError(
            f"--hosts {wanted}: a cell has {ranks} ranks, but each host needs at least one; choose fewer hosts or more "
            "ranks"
        )
    why = nacre_hosts.why_unavailable() if wanted else ""
    if why:
        raise BenchError(f"--hosts {wanted}: {why}")


class Progress:
    """Prints a line on standard error after each launch."""

    def __init__(self, total: int, quiet: bool):
        self.total = total
        self.quiet = quiet
        self.done = 0
        self.begin = time.monotonic()

    def tell(self, text: str) -> None:
        self.done += 1
        if self.quiet:
            return
        left = (time.monotonic() - self.begin) / self.done * (self.total - self.done)
        print(f"[{self.done}/{self.total}, {left / 60:.0f} min left] {text}", file=sys.stderr, flush=True)


def brief(outcome: Outcome) -> str:
    if outcome.error:
        return outcome.error.splitlines()[0]
    rates = []
    for direction in ("write", "read"):
        seconds = [sample[direction]["total_s"] for sample in outcome.samples if direction in sample]
        if seconds:
            rates.append(f"{direction} {outcome.samples[0]['bytes'] / min(seconds) / GIB:.2f}")
    return " ".join(rates) + (" GiB/s" if rates else "done")


def launch_key(entry: dict) -> tuple[int, str, str, int]:
    return entry["round"], entry["contender"], entry["workload"], entry["ranks"]


def record(contender: Contender, job: Job, round_number: int, outcome: Outcome) -> dict:
    return {
        "round": round_number,
        "contender": contender.name,
        "workload": job.workload.name,
        "ranks": job.ranks,
        "error": outcome.error,
        "wrong_bytes": outcome.wrong_bytes,
        "lines": outcome.lines,
    }


class Run:
    """Runs a plan, without the launches that `hooks.before` already has."""

    def __init__(self, plan: Plan, hooks: Hooks):
        self.plan = plan
        self.hooks = hooks
        self.before = {launch_key(entry): entry for entry in hooks.before}
        self.order = random.Random(plan.seed)
        self.cells = [(job, [c for c in plan.contenders if c.runs(job.workload)]) for job in plan.jobs]
        launches = sum(len(contenders) for _, contenders in self.cells) * plan.rounds
        self.progress = Progress(launches - len(self.before), plan.quiet)

    def run_cell(self, job: Job, contenders: list[Contender]) -> None:
        failures = {contender.name: 0 for contender in contenders}
        entries: list[dict] = []
        for number in range(self.plan.rounds):
            for contender in self.order.sample(contenders, len(contenders)):
                entry = self.before.get((number, contender.name, job.workload.name, job.ranks))
                if entry is None and failures[contender.name] < FAILURES_MAX:
                    entry = self.launch(contender, job, number)
                if entry is not None:
                    failures[contender.name] = failures[contender.name] + 1 if entry["error"] else 0
                    entries.append(entry)
            if self.plan.races and number + 1 >= race.ROUNDS:
                behind = race.left_behind(entries, [one.name for one in contenders if one.role == PEER])
                self.progress.total -= len(behind) * (self.plan.rounds - number - 1)
                contenders = [one for one in contenders if one.name not in behind]

    def launch(self, contender: Contender, job: Job, number: int) -> dict:
        outcome = self.hooks.launch(contender, job)
        entry = record(contender, job, number, outcome)
        self.hooks.keep(entry)
        round_text = f"round {number + 1}/{self.plan.rounds}"
        self.progress.tell(f"{job.workload.name} {job.ranks} ranks, {round_text}, {contender.name}: {brief(outcome)}")
        return entry


def run_plan(plan: Plan, hooks: Hooks) -> None:
    check_space(plan)
    check_hosts(plan.jobs)
    run = Run(plan, hooks)
    with tempfile.TemporaryDirectory(prefix="nacre-bench-", dir=plan.directory) as scratch:
        for job, contenders in run.cells:
            job.file = os.path.join(scratch, "file")
            run.run_cell(job, contenders)


def ours_failed(records: list[dict], contenders: list[dict]) -> list[dict]:
    """The launches of Nacre that failed or had wrong bytes. Only these make nacre-bench fail."""
    ours = {contender["name"] for contender in contenders if contender["role"] == OURS}
    return [entry for entry in records if entry["error"] and entry["contender"] in ours]
