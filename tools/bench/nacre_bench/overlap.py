"""`nacre-bench overlap`: how well a collective call overlaps file access with the exchange.

Nacre itself emulates the slow store (NACRE_TEST_FAULTS). The time of the collective call is divided by the longer of
two times: that of the exchange alone, and that of the file access alone."""

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
    """The model of the store in src/testing/faults/slow_link.h: each process has a latency per call and a bandwidth."""

    latency_us: int
    bandwidth_mib: int

    def rule(self) -> str:
        return f"latency_us={self.latency_us},bandwidth={self.bandwidth_mib * MIB}"

    def seconds(self, process_bytes: int) -> float:
        """The shortest time for the bytes of one process: enough concurrent accesses hide all latencies but one."""
        return process_bytes / (self.bandwidth_mib * MIB) + self.latency_us * 1e-6


def store_of(settings: dict) -> SlowStore:
    return SlowStore(settings["latency_us"], settings["bandwidth_mib"])


def pair_of(ours: Contender, settings: dict, cycle_bytes: int) -> list[Contender]:
    """Two contenders: the collective call over a store without cost, which times the exchange alone, and over the slow
    store."""
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
    """The names of the exchange and of the collective contender of each pair."""
    names = [contender["name"] for contender in result["contenders"]]
    return list(zip(names[::2], names[1::2], strict=True))


def of_ours(everyone: list[Contender]) -> list[Contender]:
    ours = [one for one in everyone if one.role == OURS]
    if not ours:
        raise BenchError(
            "overlap measures only Nacre: name a Nacre contender with --contenders, or build the library with `make`"
        )
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
    about = f"{settings['repeats']} counted repeats"
    parts = [
        settings_text(result, about),
        f"The store takes {store.latency_us} us per call and moves {store.bandwidth_mib} MiB/s per process; "
        f"{settings['aggregators']} aggregators. Times in seconds. exchange: the call over a store without cost; file: "
        "the shortest time of the store for the bytes; collective: the call; ratio: collective divided by the longer "
        "of exchange and file.",
    ]
    for cell in cells_of(result, "data"):
        rows = [row(cell, settings, pair, direction) for pair in pairs_of(result) for direction in DIRECTIONS]
        header = ["", "", EXCHANGE, "file", COLLECTIVE, "ratio"]
        parts.append(f"{cell.workload}, {cell.ranks} ranks, {amount(cell.bytes)}\n" + table(header, rows))
    return "\n\n".join(parts + failed_launches(result))
