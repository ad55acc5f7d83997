"""`nacre-bench posix`: small sequential writes and reads of one process, with and without the buffers of
libnacre_posix.so (docs/posix.md)."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import statistics
import subprocess
from collections.abc import Callable

from nacre.text import amount

from . import machine
from .cells import DIRECTIONS, READ
from .config import Config
from .errors import BenchError
from .figures import paired_ratio
from .patterns import place
from .results import head
from .schedule import Progress
from .tables import number, table
from .units import MIB

NAME = "posix"
FILE = "file"
VARIANTS = ("without", "with")  # buffers


def library_of(config: Config) -> str:
    library = pathlib.Path(config.preload).with_name("libnacre_posix.so")
    if not library.exists():
        raise BenchError(f"{library} does not exist: run `make`")
    return str(library)


def rule_of(iobuf: str) -> str:
    return f"{FILE}:{iobuf}" if iobuf else FILE


def empty_result(config: Config, arguments) -> dict:
    about = head(NAME, config.version, machine.describe(arguments.dir))
    settings = {key: value for key, value in vars(arguments).items() if key not in ("out", "quiet")}
    return {**about, "settings": settings, "launches": []}


@dataclasses.dataclass(frozen=True)
class Program:
    """How to run the program that accesses the file."""

    path: str
    library: str
    rule: str
    bytes: int
    bytes_per_call: int
    timeout_s: float

    def environment(self, variant: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("NACRE_", "LD_PRELOAD"))}
        return kept if variant == "without" else {**kept, "LD_PRELOAD": self.library, "NACRE_IOBUF": self.rule}

    def run(self, variant: str, direction: str, file: pathlib.Path) -> dict:
        """Its line, with `error` if it failed or printed a warning: then the file may not have been buffered."""
        words = [self.path, direction, str(file), str(self.bytes), str(self.bytes_per_call)]
        try:
            done = subprocess.run(
                words,
                env=self.environment(variant),
                capture_output=True,
                text=True,
                timeout=self.timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"error": f"stopped: it took over {self.timeout_s:g} s"}
        if done.returncode != 0 or done.stderr:
            return {"error": f"exit status {done.returncode}: {done.stderr.strip()}"}
        line = json.loads(done.stdout)
        return {**line, "error": f"wrong bytes: {line['wrong_bytes']}" if line["wrong_bytes"] else ""}


def folder_of(where: place.Place, direction: str) -> pathlib.Path:
    """Where the program finds the file: on the testbed another node reads it, which has none of it in its cache."""
    return where.here.parent / "1" if where.counters and direction == READ else where.here


def place_of(config: Config, arguments) -> contextlib.AbstractContextManager[place.Place]:
    if not arguments.machine:
        return place.in_directory(arguments.dir)
    return place.on_testbed(config, arguments.machine, arguments.set, nodes=2)


def run(config: Config, arguments, keep: Callable[[dict], None]) -> None:
    size = arguments.size_mib * MIB
    library, rule = library_of(config), rule_of(arguments.iobuf)
    program = Program(config.posix, library, rule, size, arguments.access, arguments.timeout)
    order = random.Random(arguments.seed)
    progress = Progress(arguments.rounds * len(VARIANTS) * len(DIRECTIONS), arguments.quiet)
    with place_of(config, arguments) as where:
        for round_number in range(arguments.rounds):
            for variant in order.sample(VARIANTS, len(VARIANTS)):
                for direction in DIRECTIONS:
                    line = program.run(variant, direction, folder_of(where, direction) / FILE)
                    keep({"round": round_number, "variant": variant, "direction": direction, **line})
                    text = line["error"] or f"{line['seconds']:.3f} s"
                    progress.tell(f"round {round_number + 1}, {direction} {variant} buffers: {text}")
                (where.here / FILE).unlink(missing_ok=True)


def seconds_of(result: dict, variant: str, direction: str) -> dict[int, float]:
    """By round."""
    return {
        entry["round"]: entry["seconds"]
        for entry in result["launches"]
        if (entry["variant"], entry["direction"], entry["error"]) == (variant, direction, "")
    }


def row(result: dict, direction: str) -> list[str]:
    without, buffered = (seconds_of(result, variant, direction) for variant in VARIANTS)
    medians = [statistics.median(series.values()) if series else None for series in (without, buffered)]
    ratio = paired_ratio(without, buffered)
    return [direction, *(number(seconds, 3) for seconds in medians), str(ratio) if ratio else "-"]


def errors_of(result: dict) -> list[str]:
    return [
        f"{entry['direction']} {entry['variant']} buffers, round {entry['round'] + 1} failed: {entry['error']}"
        for entry in result["launches"]
        if entry["error"]
    ]


def posix_text(result: dict) -> str:
    settings = result["settings"]
    where = f"the testbed's {settings['machine']}" if settings["machine"] else settings["dir"]
    about = (
        f"nacre-bench {result['version']}, {result['started']}: {machine.sentence(result['machine'])}\n"
        f"{settings['rounds']} rounds on {where}; each writes and reads a file of {settings['size_mib']} MiB in calls "
        f"of {amount(settings['access'])}, without and with NACRE_IOBUF='{rule_of(settings['iobuf'])}', in random "
        f"order (seed {settings['seed']}). Seconds from open to close, fsync included; ratio: without divided by with, "
        "[95 %]."
    )
    rows = [row(result, direction) for direction in DIRECTIONS]
    return "\n\n".join([about, table(["", "without s", "with s", "ratio"], rows), *errors_of(result)])
