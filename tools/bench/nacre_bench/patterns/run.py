"""The interleaved run. Every round launches each contender once per cell, in random order. A launch of Nacre runs its
patterns in random order too."""

from __future__ import annotations

import contextlib
import dataclasses
import random
from collections.abc import Callable

from nacre import testbed

from ..config import Config
from ..contenders import OURS, PEER, Contender, all_contenders, choose, parse_pairs, preloads
from ..launch import RANK_GRACE_S, Outcome, launch
from ..options import Patterns
from ..schedule import FAILURES_MAX, Progress
from . import NAME, place
from .cells import DEFAULT_STRIPE_BYTES, Cell, Extent, Variant, cells, cells_of_variant, tasks_of, warm_up_task
from .figures import rate_of

# The default peers, with Nacre over MPICH 5. --contenders names others.
USUAL = ("M5", "O5")


def contenders(config: Config, arguments: Patterns) -> list[Contender]:
    libraries = preloads(config, arguments.preload)
    everyone = all_contenders(config, libraries, parse_pairs(arguments.hint, "--hint"))
    everyone = [one for one in everyone if one.role in (OURS, PEER)]
    usual = [one for one in everyone if one.name in USUAL or one.role == OURS and one.name.endswith("/M5")]
    return choose(everyone, arguments.contenders) if arguments.contenders or not usual else usual


@dataclasses.dataclass(frozen=True)
class Launch:
    """One mpiexec of the experiment."""

    variant: Variant
    cell: Cell
    round: int
    contender: Contender

    def key(self) -> tuple:
        return self.round, self.variant.name, self.cell.osts, self.cell.ranks, self.contender.name

    def text(self) -> str:
        changed = f"{self.variant.name}, " if self.variant.is_changed else ""
        return f"{changed}{self.cell.osts} OSTs, {self.cell.ranks} ranks, round {self.round + 1}, {self.contender.name}"


def key_of(entry: dict) -> tuple:
    return entry["round"], entry["variant"], entry["osts"], entry["ranks"], entry["contender"]


def launches(arguments: Patterns, chosen: list[Contender]) -> list[Launch]:
    """All launches of the run, in order."""
    everything = cells(arguments.osts, arguments.aggregators)
    order = random.Random(arguments.seed)
    result = []
    for number in range(arguments.rounds):
        changed = [Variant(name) for name in arguments.switch_off] if number < arguments.switched_rounds else []
        for variant in [Variant(), *changed]:
            for cell in cells_of_variant(everything, variant):
                drawn = order.sample(chosen, len(chosen))
                result += [Launch(variant, cell, number, contender) for contender in drawn]
    return result


def brief(outcome: Outcome) -> str:
    if outcome.error:
        return outcome.error.splitlines()[0]
    rates = [(line["workload"], rate_of(line, "write")) for line in outcome.samples]
    return ", ".join(f"{label} {rate:.0f}" for label, rate in rates if rate) + " MiB/s"


class Run:
    """Runs the experiment, without the launches that `before` already has."""

    def __init__(self, config: Config, arguments: Patterns, before: list[dict]):
        self.config = config
        self.arguments = arguments
        self.chosen = contenders(config, arguments)
        self.plan = launches(arguments, self.chosen)
        self.failures: dict[str, int] = {}
        done = {key_of(entry) for entry in before}
        self.left = [one for one in self.plan if one.key() not in done]
        self.progress = Progress(len(self.left), arguments.quiet)

    def place_of(self, variant: Variant) -> contextlib.AbstractContextManager[place.Place]:
        if not self.arguments.machine:
            return place.in_directory(self.arguments.dir)
        nodes = max(one.cell.ranks for one in self.plan)
        assignments = [*self.arguments.set, *([variant.name] if variant.is_changed else [])]
        return place.on_testbed(self.config, self.arguments.machine, assignments, nodes)

    def extent(self, where: place.Place) -> Extent:
        of_machine = where.setting("striping.size")
        stripe = self.arguments.stripe_size or (int(of_machine) if of_machine else DEFAULT_STRIPE_BYTES)
        options = self.arguments
        file = testbed.machine_file(options.machine) if options.machine else ""
        return Extent(stripe, options.mib_per_ost, tuple(options.patterns), tuple(options.redistributed), file)

    def run(self, keep: Callable[[dict], None]) -> None:
        """Runs all launches. Successive launches of one round on the same variant share one testbed."""
        while self.left:
            variant, number = self.left[0].variant, self.left[0].round
            with self.place_of(variant) as where:
                while self.left and (self.left[0].variant, self.left[0].round) == (variant, number):
                    self.launch(self.left.pop(0), where, keep)

    def launch(self, one: Launch, where: place.Place, keep: Callable[[dict], None]) -> None:
        name = one.contender.name
        if self.failures.get(name, 0) >= FAILURES_MAX:
            self.progress.total -= 1
            return
        extent = self.extent(where)
        directory, unstriped = where.striped(one.cell.osts, extent.stripe_bytes)
        where = place.with_ranks(where, one.cell.ranks)
        contender = dataclasses.replace(one.contender, rank_words=where.rank_words)
        program = self.worker_words(one, extent, where) + ["--file", str(directory / "file")]
        outcome = launch(contender, one.cell.ranks, program, self.arguments.timeout)
        self.failures[name] = self.failures.get(name, 0) + 1 if outcome.error else 0
        keep(record(one, outcome, extent, unstriped))
        self.progress.tell(f"{one.text()}: {brief(outcome)}")

    def worker_words(self, one: Launch, extent: Extent, where: place.Place) -> list[str]:
        tasks = tasks_of(one.contender, one.cell, extent, one.variant)
        random.Random(f"{self.arguments.seed} {one.key()}").shuffle(tasks)
        words = [one.contender.mpi.program("worker"), "--warmups", "0", "--repeats", "1", "--sync"]
        words += ["--time-limit", str(int(self.arguments.timeout) + RANK_GRACE_S)]
        words += ["--counters", where.counters] if where.counters else []
        # Checking the file itself takes as long as reading it, so only the first round does it.
        words += ["--no-file-check"] if one.round or one.variant.is_changed else []
        words += ["--write-only"] if one.variant.is_changed else []
        for name, value in one.contender.hints_for(one.cell.ranks).items():
            words += ["--hint", f"{name}={value}"]
        # The warm-up uses the hints of two-phase, which has the most hints and exchanges the most data.
        hints = max((task.hints for task in tasks), key=len)
        return words + [word for task in [warm_up_task(one.cell, extent, hints), *tasks] for word in task.words()]


def record(one: Launch, outcome: Outcome, extent: Extent, unstriped: str) -> dict:
    return {
        "round": one.round,
        "variant": one.variant.name,
        "osts": one.cell.osts,
        "ranks": one.cell.ranks,
        "contender": one.contender.name,
        "workload": NAME,
        "stripe_bytes": extent.stripe_bytes,
        "unstriped": unstriped,
        "error": outcome.error,
        "wrong_bytes": outcome.wrong_bytes,
        "lines": [line for line in outcome.lines if line["type"] != "end"],
    }
