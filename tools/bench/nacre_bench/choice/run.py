"""The run: one case after the other, each in a few launches that measure all settings of a stage in turn."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import pathlib
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator

from ..cells import WRITE, seconds_from_open
from ..config import Config
from ..contenders import OURS, Contender, all_contenders, choose, parse_pairs, preloads
from ..errors import BenchError
from ..launch import RANK_GRACE_S, Outcome, launch
from ..options import Choice
from ..patterns import place
from ..schedule import Progress
from ..workloads import known_workloads
from . import measured
from .cases import BY_DIRECTORY, BY_FILE_SYSTEM, BY_HINT, LOCAL, Case, chosen_cases
from .figures import ratio_of, ratio_to_peer
from .plans import plans_of
from .record import labelled, predicted, record_of
from .search import AUTOMATIC, EARLY_ROUNDS, MPI, Setting, Times, competitors, ost_count, survivors

WARM_UP = "warm-up"
# All testbeds have as many nodes, so that cases of different numbers of nodes share one.
NODES = 16


def contender(config: Config, arguments: Choice) -> Contender:
    libraries = preloads(config, arguments.preload)
    everyone = all_contenders(config, libraries, parse_pairs(arguments.hint, "--hint"))
    ours = choose([one for one in everyone if one.role == OURS], [arguments.contender])
    return ours[0]


def site_of(case: Case) -> tuple[str, int]:
    """Cases with the same value share one testbed, or the directory: the machine, and the stripes of files for which
    nothing else sets a layout (0: the machine's)."""
    return case.file_system, case.osts if case.layout_kind == BY_FILE_SYSTEM else 0


@contextlib.contextmanager
def site(config: Config, case: Case, directory: str) -> Iterator[place.Place]:
    if case.file_system == LOCAL:
        place.name_library(config)
        with place.in_directory(directory) as where:
            yield where
        return
    machine, stripes = site_of(case)
    with place.on_testbed(config, machine, [f"striping.count={stripes}"] if stripes else [], NODES) as where:
        yield where


def layout_kind_of(case: Case, arguments: Choice) -> str:
    """A peer may know no hint for stripes: its files get them from their directory, as do all others beside it."""
    return BY_DIRECTORY if MPI in arguments.against and case.layout_kind == BY_HINT else case.layout_kind


def file_of(case: Case, where: place.Place, layout_kind: str) -> str:
    if layout_kind == BY_DIRECTORY:
        directory, _ = where.striped(case.osts, int(where.setting("striping.size")))
        return str(directory / "file")
    return str(where.there / "file")


def on_nodes(one: Contender, case: Case, where: place.Place) -> Contender:
    """`one` with its ranks on the nodes of the case."""
    if case.file_system != LOCAL:
        return dataclasses.replace(one, rank_words=place.with_ranks(where, case.nodes).rank_words)
    ranks_a_node = {"NACRE_TEST_RANKS_PER_NODE": str(-(-case.ranks // case.nodes))}
    return dataclasses.replace(one, environment={**one.environment, **ranks_a_node})


class Machines:
    """The machine files of cases, measured at first use. They hold as that of a site that has measured its
    machine. `directory`: for the files."""

    def __init__(self, directory: pathlib.Path):
        self.directory = directory

    def known_to(self, one: Contender, case: Case, where: place.Place) -> Contender:
        """`one` with the machine of the case."""
        file = self.directory / f"{case.file_system}-{case.ranks}x{case.nodes}.toml"
        if not file.exists():
            ranks = measured.Ranks(case.ranks, case.nodes)
            if case.file_system == LOCAL:
                text = measured.local_machine_file(one, where, ranks)
            else:
                text = measured.machine_file(case.file_system, one, where, ranks)
            file.write_text(text)
        return dataclasses.replace(one, environment={**one.environment, "NACRE_MACHINE": str(file)})


@dataclasses.dataclass
class Sequence:
    """The settings in the order of a launch, each with its round."""

    order: list[tuple[Setting, int]]

    def take(self, lines: list[dict], case: Case, times: Times, opens: Times) -> int:
        """Adds the samples of a launch to `times`, and the seconds of their opens to `opens`. Leaves only the settings
        that it did not complete. Returns the number of tasks that it completed, the warm-up included."""
        samples = [line for line in lines if line["type"] == "sample"]
        tasks = len(samples) // case.repeats
        measured = max(0, tasks - 1)
        for i, (setting, number) in enumerate(self.order[:measured], 1):
            repeats = samples[i * case.repeats : (i + 1) * case.repeats]
            passes = [line[case.direction] for line in repeats]
            times.setdefault(setting.label, {})[number] = statistics.median(map(seconds_from_open, passes))
            opens.setdefault(setting.label, {})[number] = statistics.median(one["open_s"] for one in passes)
        self.order = self.order[measured:]
        return tasks

    def drop_first(self) -> str:
        """Drops the first setting from all rounds, and returns its label."""
        label = self.order[0][0].label
        self.order = [(setting, number) for setting, number in self.order if setting.label != label]
        return label


class CaseRun:
    """Measures one case. `one`: with its ranks on the nodes of the case. `scratch`: a directory for the reports."""

    def __init__(self, case: Case, one: Contender, arguments: Choice, where: place.Place, scratch: pathlib.Path):
        self.case = case
        self.one = one
        self.arguments = arguments
        self.layout_kind = layout_kind_of(case, arguments)
        self.file = file_of(case, where, self.layout_kind)
        self.scratch = scratch
        # All settings of a read read the same file.
        osts = ost_count(case) if case.direction == WRITE else 0
        self.settings = competitors(case, osts, arguments.against)
        self.places = {setting.label: i for i, setting in enumerate(self.settings)}
        self.times: Times = {}
        self.opens: Times = {}
        self.too_slow: list[str] = []
        self.start_lines: list[dict] = []
        self.error = ""
        self.wrong_bytes = 0

    def report_of(self, setting: Setting) -> str:
        return str(self.scratch / f"{self.places[setting.label]}.jsonl")

    def measure(self) -> dict:
        """Runs all stages. Returns the record of the case."""
        begin = time.monotonic()
        settings = self.settings
        first = 0
        for stage, count in enumerate([*EARLY_ROUNDS, self.arguments.rounds - sum(EARLY_ROUNDS)]):
            self.run_stage(stage, settings, range(first, first + count))
            if self.error:
                break
            first += count
            settings = survivors(settings, self.times, stage)
        return self.record(time.monotonic() - begin)

    def run_stage(self, stage: int, settings: list[Setting], numbers: range) -> None:
        order = []
        for number in numbers:
            draw = random.Random(f"{self.arguments.seed} {self.case.name} {number}")
            order += [(setting, number) for setting in draw.sample(settings, len(settings))]
        sequence = Sequence(order)
        while sequence.order and not self.error:
            outcome = self.launch(sequence, checks=stage == 0)
            tasks = sequence.take(outcome.lines, self.case, self.times, self.opens)
            self.start_lines = self.start_lines or [line for line in outcome.lines if line["type"] == "start"]
            self.wrong_bytes += outcome.wrong_bytes
            if not outcome.stopped or outcome.wrong_bytes or tasks == 0:
                self.error = outcome.error
            elif tasks == 1 and sequence.order:
                self.leave_out(sequence, outcome)

    def leave_out(self, sequence: Sequence, outcome: Outcome) -> None:
        """Drops the setting that took the whole launch and did not end. A launch that completed other settings tells
        nothing about the next: the next launch begins with it."""
        slow = sequence.drop_first()
        self.too_slow.append(slow)
        self.error = outcome.error if slow == AUTOMATIC else ""

    def launch(self, sequence: Sequence, checks: bool) -> Outcome:
        timeout_s = self.arguments.timeout
        words = [self.one.mpi.program("worker"), "--warmups", "0", "--repeats", str(self.case.repeats), "--sync"]
        words += ["--bytes", str(self.case.bytes), "--file", self.file]
        words += ["--time-limit", str(int(timeout_s) + RANK_GRACE_S)]
        words += [] if checks else ["--no-file-check"]
        words += ["--write-only"] if self.case.direction == WRITE else []
        hints = dict(self.one.hints)
        if self.layout_kind == BY_HINT:
            hints["striping_factor"] = str(self.case.osts)
        words += [word for name, value in hints.items() for word in ("--hint", f"{name}={value}")]
        words += ["--workload", self.case.workload, "--label", WARM_UP]
        return launch(self.one, self.case.ranks, words + self.task_words(sequence), timeout_s)

    def task_words(self, sequence: Sequence) -> list[str]:
        words = []
        for setting, number in sequence.order:
            words += ["--workload", self.case.workload, "--label", setting.label, "--times-only"]
            words += [] if self.case.direction == WRITE else ["--read-only"]
            hints = list(setting.hints)
            # A report costs time that a peer does not spend: none in the rounds that judge.
            hints += [("nacre_report", self.report_of(setting))] if number < sum(EARLY_ROUNDS) else []
            words += [word for name, value in hints for word in ("--task-hint", f"{name}={value}")]
        return words

    def record(self, seconds: float) -> dict:
        plans = {one.label: plans_of(self.report_of(one), self.case.direction) for one in self.settings}
        return record_of(
            self.case,
            self.settings,
            self.times,
            plans,
            opens=labelled(self.opens),
            contender=self.one.name,
            error=self.error,
            wrong_bytes=self.wrong_bytes,
            lines=self.start_lines,
            seconds=round(seconds, 1),
            too_slow=self.too_slow,
            predictions=self.predictions(plans[AUTOMATIC]),
        )

    def predictions(self, plans: list[dict]) -> list[list[float]]:
        """Predicted and observed seconds of files whose calls were all predicted. A write ends when its bytes are in a
        cache, so the time of writes is that of the round, which ends with MPI_File_sync."""
        whole = predicted(plans)
        if self.case.direction != WRITE:
            return [[plan["predicted"], plan["observed"]] for plan in whole]
        return [[whole[-1]["predicted"], seconds] for seconds in self.times.get(AUTOMATIC, {}).values() if whole]


class Run:
    """Runs the chosen cases, without those that `before` already has."""

    def __init__(self, config: Config, arguments: Choice, before: list[dict]):
        known = known_workloads(config)
        cases = chosen_cases(arguments.cases, arguments.file_system, arguments.ranks)
        missing = sorted({case.workload for case in cases} - known.keys())
        if missing:
            raise BenchError(f"the worker has no workload {missing[0]}: it is older than the driver. Run `make`.")
        done = {entry["case"] for entry in before}
        self.config = config
        self.arguments = arguments
        self.one = contender(config, arguments)
        # Stable: the order of the table among the cases of a site.
        self.left = sorted((case for case in cases if case.name not in done), key=lambda case: self.rank(cases, case))
        self.progress = Progress(len(self.left), arguments.quiet)

    @staticmethod
    def rank(cases: list[Case], case: Case) -> int:
        return list(dict.fromkeys(site_of(one) for one in cases)).index(site_of(case))

    def run(self, keep: Callable[[dict], None]) -> int:
        """Measures the cases that are left, until --max-seconds have passed. Returns the number of cases not begun."""
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="nacre-bench-") as scratch:
            machines = Machines(pathlib.Path(scratch))
            for _, cases in itertools.groupby(self.left, key=site_of):
                todo = list(cases)
                with site(self.config, todo[0], self.arguments.dir) as where:
                    for case in todo:
                        if self.arguments.max_seconds and time.monotonic() - begin > self.arguments.max_seconds:
                            return self.progress.total - self.progress.done
                        entry = self.measure(case, machines, where)
                        keep(entry)
                        self.progress.tell(brief(entry))
        return 0

    def measure(self, case: Case, machines: Machines, where: place.Place) -> dict:
        one = on_nodes(self.one, case, where)
        if case.file_system != LOCAL:
            one = machines.known_to(one, case, where)
        with tempfile.TemporaryDirectory(prefix="nacre-bench-") as scratch:
            return CaseRun(case, one, self.arguments, where, pathlib.Path(scratch)).measure()


def brief(entry: dict) -> str:
    if entry["error"]:
        return f"{entry['case']}: {entry['error'].splitlines()[0]}"
    ratios = [
        f"automatic/{name} {ratio}, {entry[best]}"
        for name, best, ratio in (
            ("best", "best", ratio_of(entry)),
            ("best of the MPI", "best_peer", ratio_to_peer(entry)),
        )
        if ratio
    ]
    return f"{entry['case']}: {'; '.join(ratios) or '-'}; {entry['seconds']:.0f} s"
