"""Whether file access goes on beside the exchange: a collective over a slow store, which Nacre plays by itself
(NACRE_TEST_FAULTS), against the longer of its two halves."""

from __future__ import annotations

import dataclasses

from nacre.text import amount

from .cells import DIRECTIONS, Cell, cells_of
from .contenders import OURS, Contender
from .errors import BenchError
from .report import failed_launches, settings_text
from .tables import number, table
from .units import GIB, MIB

NAME = "overlap"
EXCHANGE, COLLECTIVE = "exchange", "collective"


@dataclasses.dataclass(frozen=True)
class SlowStore:
    """The store's own model (src/testing/faults/slow_link.h): of each process, a latency a call and a bandwidth."""

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
    rules = {EXCHANGE: "latency_us=0", COLLECTIVE: store_of(settings).rule()}
    return [
        dataclasses.replace(
            ours,
            name=f"{ours.name} {amount(cycle_bytes)} {what}",
            environment={**ours.environment, "NACRE_TEST_FAULTS": rule},
            hints=hints,
        )
        for what, rule in rules.items()
    ]


def pairs_of(result: dict) -> list[tuple[str, str]]:
    """The names of exchange and collective, pair by pair."""
    names = [contender["name"] for contender in result["contenders"]]
    return list(zip(names[::2], names[1::2], strict=True))


def of_ours(everyone: list[Contender]) -> list[Contender]:
    ours = [one for one in everyone if one.role == OURS]
    if not ours:
        raise BenchError("overlap measures contenders of ours: name one with --contenders, or build the library")
    return ours


def contenders(ours: list[Contender], settings: dict) -> list[Contender]:
    return [pair for one in ours for cycle in settings["cycles"] for pair in pair_of(one, settings, cycle)]


def seconds_of(cell: Cell, contender: str, direction: str) -> float | None:
    rate = cell.median(contender, direction, "rate")
    return cell.bytes / (rate * GIB) if rate else None


def row(cell: Cell, settings: dict, pair: tuple[str, str], direction: str) -> list[str]:
    file_s = store_of(settings).seconds(-(-cell.bytes // settings["aggregators"]))
    exchange_s, collective_s = (seconds_of(cell, contender, direction) for contender in pair)
    ratio = collective_s / max(exchange_s, file_s) if exchange_s and collective_s else None
    about = pair[0].removesuffix(f" {EXCHANGE}")
    return [about, direction, number(exchange_s, 3), number(file_s, 3), number(collective_s, 3), number(ratio)]


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
    for cell in cells_of(result, "data"):
        rows = [row(cell, settings, pair, direction) for pair in pairs_of(result) for direction in DIRECTIONS]
        header = ["", "", EXCHANGE, "file", COLLECTIVE, "ratio"]
        parts.append(f"{cell.workload}, {cell.ranks} ranks, {amount(cell.bytes)}\n" + table(header, rows))
    return "\n\n".join(parts + failed_launches(result))
