"""Jobs that differ only in their number of nodes, and what each rank sends and holds in them."""

from __future__ import annotations

import dataclasses
import math

from ..cells import READ, WRITE
from ..simulation import run_program
from ..units import KIB

RANKS_PER_NODE = 16
# Stripes do not begin with blocks: the ranks of a node share stripes with those of other nodes.
BLOCK_BYTES = 40 * KIB
BYTES_OF_A_RANK = 6 * BLOCK_BYTES
DIRECT, TWO_PHASE, DYNAMIC, STATIC = "direct", "two_phase", "dynamic_segmentation", "static_segmentation"
# Workloads, algorithms and directions, each with the most nodes for which a simulation takes a few seconds.
MOST_NODES = {
    ("pieces", DIRECT, WRITE): 1024, ("pieces", TWO_PHASE, WRITE): 256, ("tile64", TWO_PHASE, WRITE): 256,
    **{("interleaved", algorithm, direction): 256
       for algorithm in (TWO_PHASE, DYNAMIC, STATIC) for direction in (WRITE, READ)},
}  # fmt: skip
NODES = (4, 16, 64, 256, 1024)


@dataclasses.dataclass(frozen=True)
class Point:
    workload: str
    nodes: int
    algorithm: str
    direction: str = WRITE

    @property
    def title(self) -> str:
        return f"{self.workload}, {self.direction}, {self.algorithm}"

    @property
    def ranks(self) -> int:
        return self.nodes * RANKS_PER_NODE


@dataclasses.dataclass(frozen=True)
class OfRanks:
    """A figure of the ranks: its mean, and the rank with the most."""

    mean: float
    most: int
    busiest_rank: int

    @classmethod
    def found(cls, printed: dict) -> OfRanks:
        return cls(printed["mean"], printed["max"], printed["rank_of_max"])


@dataclasses.dataclass(frozen=True)
class Figures:
    """Of an open, a collective write and a sync or a collective read, and a close. `peers`: ranks to which one sends or
    from which it receives. `control_bytes`: of the messages that a rank sends and receives without the program's data;
    `all_bytes`: with it. Memory of a rank: `shared_bytes`, its part of the largest memory that the ranks of a node
    share; `process_bytes`, its part of the process that simulates all ranks."""

    messages: OfRanks
    peers: OfRanks
    control_bytes: OfRanks
    all_bytes: OfRanks
    shared_bytes: float
    process_bytes: float


def points(nodes_max: int) -> list[Point]:
    return [
        Point(workload, nodes, algorithm, direction)
        for (workload, algorithm, direction), most in MOST_NODES.items()
        for nodes in NODES
        if nodes <= min(most, nodes_max)
    ]


def figures_of(point: Point, machine: str) -> Figures:
    words = ["--machine", machine, "--hint", f"nacre_machine={machine}", "--nodes", str(point.nodes)]
    words += ["--hint", f"nacre_algorithm={point.algorithm}"]
    words += ["--ranks-per-node", str(RANKS_PER_NODE), "--block", str(BLOCK_BYTES)]
    words += ["--bytes", str(point.ranks * BYTES_OF_A_RANK)]
    words += ["--only-read"] if point.direction == READ else []
    found = run_program([*words, "--memory", point.workload])
    names = ("of_rank", "peers_of_rank", "control_bytes_of_rank", "bytes_of_rank")
    of_ranks = (OfRanks.found(found["messages"][name]) for name in names)
    return Figures(*of_ranks, found["node_shared_bytes"] / RANKS_PER_NODE, found["process_bytes"] / point.ranks)


def exceeds_log(smaller: tuple[int, float], larger: tuple[int, float], slack: float) -> bool:
    """Whether a figure grows faster than the logarithm of the ranks, by more than `slack`. Both: ranks and figure."""
    allowed = math.log2(larger[0]) / math.log2(smaller[0])
    return larger[1] > slack * allowed * smaller[1]
