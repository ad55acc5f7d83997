"""The studies of Chaarawi & Gabriel: fixed numbers of aggregators against those that are chosen, for three algorithms;
and the WRF case of Markomanolis' slides."""

from __future__ import annotations

import dataclasses
import math

from nacre.text import amount

from ..units import MIB
from .points import Outcome, Point, outcome_of

ALGORITHMS = ("dynamic_segmentation", "static_segmentation", "two_phase")
SEGMENTATION, TWO_PHASE = ALGORITHMS[:2], ALGORITHMS[2:]
BY_K, BY_COST = "by k", "by cost"
# k, the bytes that saturate a process: figures 4 and 5.
SATURATION = {"shark": 32 * MIB, "deimos": 128 * MIB}
CELL_BYTES = 40  # of BT-IO
BT_SIDES = {"B": 102, "C": 162}
TILES = ((64, 2048, 1600), (1 << 10, 512, 400), (1 << 20, 20, 15))  # bytes of an element; elements across and down


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """`calls`: as in a Point. `published`: the number of aggregators that the paper's algorithm chose, and what it says
    of it. `step`: the factor between the fixed numbers that are simulated."""

    name: str
    machine: str
    nodes: int
    ranks_per_node: int
    workload: str
    bytes: int
    block: int
    published: str
    calls: str = ""
    step: int = 2

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node

    @property
    def kind(self) -> str:
        return self.name.split(",")[0]

    def counts(self) -> list[int]:
        """Fixed numbers: powers of `step`, and all ranks."""
        return sorted({min(self.step**power, self.ranks) for power in range(self.ranks.bit_length() + 1)})

    def point(self, algorithm: str, how: str | int) -> Point:
        hints = [("nacre_algorithm", algorithm)]
        if how == BY_K:
            hints += [("nacre_machine", "none"), ("nacre_saturation_bytes", str(SATURATION[self.machine]))]
        elif how != BY_COST:
            hints.append(("cb_nodes", str(how)))
        place = (self.machine, self.nodes, self.ranks_per_node)
        return Point(*place, self.bytes, self.workload, self.block, tuple(hints), (), self.calls)

    def outcome(self, algorithm: str, how: str | int) -> Outcome:
        return outcome_of(self.point(algorithm, how))

    def seconds(self, algorithm: str) -> dict[int, float]:
        """By fixed number of aggregators."""
        return {count: self.outcome(algorithm, count).seconds for count in self.counts()}

    def ratio(self, algorithm: str, how: str | int) -> float:
        """The time divided by that of the best fixed number."""
        return self.outcome(algorithm, how).seconds / min(self.seconds(algorithm).values())

    def chosen(self, algorithm: str, how: str | int) -> int | None:
        """The number of aggregators."""
        plan = self.outcome(algorithm, how).plan
        return plan.get("aggregators") if plan else None


def _bt(machine: str, nodes: int, kind: str, published: str) -> Benchmark:
    size = BT_SIDES[kind] ** 3 * CELL_BYTES
    return Benchmark(f"BT-IO, class {kind}, 36 ranks", machine, nodes, 36 // nodes, "bt", size, 0, published)


def _latency(machine: str, nodes: int, segment: int, published: str) -> Benchmark:
    name = f"Latency-IO, 64 ranks, segments of {amount(segment)}"
    return Benchmark(name, machine, nodes, 64 // nodes, "interleaved", 64 * 20 * MIB, segment, published)


def _tile(machine: str, nodes: int, ranks_per_node: int, element: int, published: str) -> Benchmark:
    across, down = next((x, y) for size, x, y in TILES if size == element)
    edge = math.isqrt(nodes * ranks_per_node)
    row = element * across
    calls = (
        f'[[calls]]\nkind = "collective write"\npiece = {row}\npieces = [{down}]\nstrides = [{edge * row}]\n'
        f"ranks = [{edge}, {edge}]\noffsets = [{row}, {down * edge * row}]\n"
    )
    name = f"Tile-IO, {edge * edge} ranks, elements of {amount(element)}"
    return Benchmark(name, machine, nodes, ranks_per_node, "", 0, 0, published, calls, step=4)


_SHARK_TILE = "all (figure 6); the best or close to it for all three algorithms"
BENCHMARKS = (
    *(_tile("shark", 27, 3, element, _SHARK_TILE) for element, _, _ in TILES),
    _latency("shark", 16, 64 << 10, "32 (figure 8); in most cases close to the best"),
    _latency("shark", 16, 2 << 20, "32 (figure 8); in most cases close to the best"),
    _bt("shark", 18, "B", "2 (figure 10); many are very bad for segmentation"),
    _bt("shark", 18, "C", "3 (figure 10); many are very bad for segmentation"),
    _tile("deimos", 72, 2, 64, "all (figure 7); the best for two-phase, not for segmentation with small elements"),
    _tile("deimos", 72, 2, 1 << 10, "all (figure 7); the best for two-phase"),
    _tile("deimos", 72, 2, 1 << 20, "all (figure 7); the best"),
    _latency("deimos", 32, 64 << 10, "8 (figure 9); good"),
    _latency("deimos", 32, 2 << 20, "8 (figure 9); 64 are much better for segmentation"),
    _bt("deimos", 18, "B", "1 (figure 11); close to the best for two-phase"),
    _bt("deimos", 18, "C", "2 (figure 11); close to the best for two-phase, bad for segmentation"),
)


@dataclasses.dataclass(frozen=True)
class Restart:
    """A restart file of WRF: 361 GB, 1,216 ranks on 38 nodes of 32."""

    words: str
    hints: tuple[tuple[str, str], ...]
    published_seconds: float | None

    def point(self) -> Point:
        return Point("shaheen", 38, 32, 361_000_000_000, "tile64", 0, self.hints)


def _writers(count: int) -> tuple[tuple[str, str], ...]:
    return (("striping_factor", str(count)), ("nacre_algorithm", "two_phase"), ("cb_nodes", str(count)))


RESTARTS = (
    Restart("one OST, 1 writer", _writers(1), 674.26),
    Restart("144 OSTs, 144 writers", _writers(144), 10.35),
    Restart("Nacre without a hint", (), None),
)


def points() -> list[Point]:
    everything = [
        benchmark.point(algorithm, how)
        for benchmark in BENCHMARKS
        for algorithm in ALGORITHMS
        for how in (*benchmark.counts(), BY_K, BY_COST)
    ]
    a_node = [benchmark.point(*TWO_PHASE, benchmark.nodes) for benchmark in BENCHMARKS]
    return [*everything, *a_node, *(one.point() for one in RESTARTS)]
