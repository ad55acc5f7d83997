"""Whether file access goes on beside the exchange: a collective over a slow store, which Nacre plays by itself
(NACRE_TEST_FAULTS), against the longer of its two halves."""

from __future__ import annotations

import dataclasses
import statistics

from .contenders import OURS, Contender
from .errors import BenchError
from .report import settings_text
from .tables import number, size, table

NAME = "overlap"
MIB = 1 << 20
DIRECTIONS = ("write", "read")


@dataclasses.dataclass(frozen=True)
class SlowStore:
    """The store's own model (src/store/faulty/slow_link.h): of each process, a latency a call and a bandwidth."""

    latency_us: int
    bandwidth_mib: int

    def rule(self) -> str:
        return f"latency_us={self.latency_us},bandwidth={self.bandwidth_mib * MIB}"

    def seconds(self, process_bytes: int) -> float:
        """What it takes for the bytes of one process at best: with as many accesses under way as fill it."""
        return process_bytes / (self.bandwidth_mib * MIB) + self.latency_us * 1e-6


def store_of(settings: dict) -> SlowStore:
    return SlowStore(settings["latency_us"], settings["bandwidth_mib"])


def pair_of(ours: Contender, settings: dict, cycle_bytes: int) -> list[Contender]:
    """The collective over a store that costs nothing, which is the exchange, and over the slow one."""
    hints = {
        **ours.hints,
        "nacre_algorithm": "two_phase",
        "cb_nodes": str(settings["aggregators"]),
        "cb_buffer_size": str(cycle_bytes),
        "nacre_cycle_buffers": str(settings["buffers"] or "automatic"),
    }
    rules = {"exchange": "latency_us=0", "collective": store_of(settings).rule()}
    return [
        dataclasses.replace(
            ours,
            name=name_of(ours.name, cycle_bytes, what),
            environment={**ours.environment, "NACRE_TEST_FAULTS": rule},
            hints=hints,
        )
        for what, rule in rules.items()
    ]


def names_of_ours(result: dict) -> list[str]:
    return list(dict.fromkeys(contender["name"].split()[0] for contender in result["contenders"]))


def name_of(ours: str, cycle_bytes: int, what: str) -> str:
    return f"{ours} {size(cycle_bytes)} {what}"


def of_ours(everyone: list[Contender]) -> list[Contender]:
    ours = [one for one in everyone if one.role == OURS]
    if not ours:
        raise BenchError("overlap is measured of ours: choose one with --contenders, or build the library")
    return ours


def contenders(ours: list[Contender], settings: dict) -> list[Contender]:
    return [pair for one in ours for cycle in settings["cycles"] for pair in pair_of(one, settings, cycle)]


def median_seconds(launches: list[dict], contender: str, direction: str) -> float | None:
    """Of view and call; open and close are left out."""
    samples = [
        statistics.median(line[direction]["data_s"] for line in entry["lines"] if is_counted(line))
        for entry in launches
        if entry["contender"] == contender and not entry["error"]
    ]
    return statistics.median(samples) if samples else None


def is_counted(line: dict) -> bool:
    return line["type"] == "sample" and not line["warmup"]


def file_bytes(launches: list[dict]) -> int:
    """0 if nothing was measured."""
    return next((line["bytes"] for entry in launches for line in entry["lines"] if is_counted(line)), 0)


def row(result: dict, launches: list[dict], ours: str, cycle_bytes: int, direction: str) -> list[str]:
    settings = result["settings"]
    file_s = store_of(settings).seconds(-(-file_bytes(launches) // settings["aggregators"]))
    exchange_s = median_seconds(launches, name_of(ours, cycle_bytes, "exchange"), direction)
    collective_s = median_seconds(launches, name_of(ours, cycle_bytes, "collective"), direction)
    ratio = collective_s / max(exchange_s, file_s) if exchange_s and collective_s else None
    return [direction, number(exchange_s, 3), number(file_s, 3), number(collective_s, 3), number(ratio)]


def overlap_text(result: dict) -> str:
    settings = result["settings"]
    store = store_of(settings)
    about = f"{settings['repeats']} repeats a launch"
    parts = [
        settings_text(result, about),
        f"A store of {store.latency_us} us a call and {store.bandwidth_mib} MiB/s a process; {settings['aggregators']} "
        "aggregators. Seconds of the call. exchange: the same over a store that costs nothing; file: what the store "
        "takes for the bytes alone, at best; ratio: the collective to the longer of the two.",
    ]
    cells: dict[tuple[str, int], list[dict]] = {}
    for entry in result["launches"]:
        cells.setdefault((entry["workload"], entry["ranks"]), []).append(entry)
    for (workload, ranks), launches in cells.items():
        rows = [
            [f"{ours} {size(cycle_bytes)}", *row(result, launches, ours, cycle_bytes, direction)]
            for ours in names_of_ours(result)
            for cycle_bytes in settings["cycles"]
            for direction in DIRECTIONS
        ]
        header = ["", "", "exchange", "file", "collective", "ratio"]
        parts.append(f"{workload}, {ranks} ranks, {file_bytes(launches) // MIB} MiB\n" + table(header, rows))
    for entry in result["launches"]:
        if entry["error"]:
            parts.append(f"{entry['contender']}, round {entry['round'] + 1} failed: {entry['error']}")
    return "\n\n".join(parts)
