"""The run in virtual time: each setting of a case in one simulation, on the emulated machine as its file describes it.
Messages, copies and calls take no time, and nothing else runs: a ratio is that of the plans."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import tempfile
import time
import tomllib
from collections.abc import Callable

from nacre import testbed

from ..cells import WRITE
from ..config import Config
from ..errors import BenchError
from ..options import Choice
from ..patterns import place
from ..schedule import Progress
from ..simulation import Simulation, simulate
from .cases import BY_HINT, LOCAL, Case, chosen_cases
from .measured import machine_text
from .record import predicted, record_of
from .run import brief
from .search import AUTOMATIC, HINTS, STRIPES, Setting, competitors, ost_count


class Machines:
    """The files of the emulated machines. `directory`: for those whose default layout a case sets."""

    def __init__(self, directory: pathlib.Path):
        self.directory = directory

    def file_for(self, case: Case) -> str:
        shipped = testbed.machine_file(case.file_system)
        if case.layout_kind == BY_HINT:
            return shipped
        file = self.directory / f"{case.file_system}-{case.osts}.toml"
        if not file.exists():
            sections = tomllib.loads(pathlib.Path(shipped).read_text())
            sections.setdefault("striping", {})["count"] = case.osts
            file.write_text(machine_text(sections))
        return str(file)


def hints_of(case: Case, setting: Setting | None = None) -> dict[str, str]:
    layout = {STRIPES: str(case.osts)} if case.layout_kind == BY_HINT else {}
    return {**layout, **(dict(setting.hints) if setting else {})}


class Run:
    """Simulates the chosen cases of emulated machines, without those that `before` already has."""

    def __init__(self, config: Config, arguments: Choice, before: list[dict]):
        done = {entry["case"] for entry in before}
        cases = chosen_cases(arguments.cases, arguments.file_system, arguments.ranks)
        emulated = [case for case in cases if case.file_system != LOCAL]
        if not emulated:
            raise BenchError("--virtual: all chosen cases are on the local file system, which is not emulated")
        place.name_library(config)
        self.left = [case for case in emulated if case.name not in done]
        self.progress = Progress(len(self.left), arguments.quiet)

    def run(self, keep: Callable[[dict], None]) -> None:
        with (
            tempfile.TemporaryDirectory(prefix="nacre-bench-") as scratch,
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool,
        ):
            machines = Machines(pathlib.Path(scratch))
            for case in self.left:
                entry = self.simulate(case, machines.file_for(case), pool)
                keep(entry)
                self.progress.tell(brief(entry))

    def simulate(self, case: Case, machine: str, pool: concurrent.futures.Executor) -> dict:
        begin = time.monotonic()
        settings = competitors(case, ost_count(case), [HINTS])

        def one(setting: Setting) -> Simulation:
            own = hints_of(case, setting)
            # A file that is read was written by a job without hints, except for its layout.
            layout = {name: value for name, value in own.items() if name == STRIPES}
            return simulate(case, machine, own if case.direction == WRITE else layout, own)

        found = {setting.label: done for setting, done in zip(settings, pool.map(one, settings), strict=True)}
        return record_of(
            case,
            settings,
            {label: {0: one.seconds} for label, one in found.items()},
            {label: one.plans for label, one in found.items()},
            contender="",
            error="",
            wrong_bytes=0,
            lines=[],
            seconds=round(time.monotonic() - begin, 1),
            too_slow=[],
            predictions=[[plan["predicted"], found[AUTOMATIC].seconds] for plan in predicted(found[AUTOMATIC].plans)],
        )
