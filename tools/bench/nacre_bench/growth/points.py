"""Jobs that differ only in their number of nodes, and what each rank sends and holds in them."""

from __future__ import annotations

import dataclasses
import math

from ..simulation import run_program
from ..units import MIB

RANKS_PER_NODE = 16
BYTES_OF_A_RANK = MIB // 4
# The workloads and algorithms, each with the most nodes that a simulation of it has room for (docs/simulate.md).
CHOSEN, TWO_PHASE = "", "two_phase"
MOST_NODES = {
    ("pieces", CHOSEN): 1024, ("pieces", TWO_PHASE): 256, ("interleaved", CHOSEN): 256, ("interleaved", TWO_PHASE): 256,
    ("tile64", CHOSEN): 64,
}  # fmt: skip
NODES = (4, 16, 64, 256, 1024)


@dataclasses.dataclass(frozen=True)
class Point:
    workload: str
    nodes: int
    algorithm: str = CHOSEN

    @property
    def title(self) -> str:
        return f"{self.workload}, {self.algorithm or 'the algorithm that Nacre chooses'}"

    @property
    def label(self) -> str:
        return f"{self.workload}, {self.algorithm or 'chosen'}"

    @property
    def ranks(self) -> int:
        return self.nodes * RANKS_PER_NODE


@dataclasses.dataclass(frozen=True)
class Figures:
    """Of an open, a collective write, a sync and a close. Messages and peers (ranks to which one sends or from which it
    receives) of a rank; `node_bytes`: of the largest memory that the ranks of a node share."""

    messages_mean: float
    messages_max: int
    busiest_rank: int
    peers_mean: float
    peers_max: int
    node_bytes: int


def points(nodes_max: int) -> list[Point]:
    return [
        Point(workload, nodes, algorithm)
        for (workload, algorithm), most in MOST_NODES.items()
        for nodes in NODES
        if nodes <= min(most, nodes_max)
    ]


def figures_of(point: Point, machine: str) -> Figures:
    words = ["--machine", machine, "--hint", f"nacre_machine={machine}", "--nodes", str(point.nodes)]
    words += ["--ranks-per-node", str(RANKS_PER_NODE), "--bytes", str(point.ranks * BYTES_OF_A_RANK)]
    words += ["--hint", f"nacre_algorithm={point.algorithm}"] if point.algorithm else []
    found = run_program([*words, point.workload])
    messages, peers = found["messages"]["of_rank"], found["messages"]["peers_of_rank"]
    return Figures(
        messages["mean"], messages["max"], messages["rank_of_max"], peers["mean"], peers["max"],
        found["node_shared_bytes"],
    )  # fmt: skip


def exceeds_log(smaller: tuple[int, float], larger: tuple[int, float], slack: float) -> bool:
    """Whether a figure grows faster than the logarithm of the ranks, by more than `slack`. Both: ranks and figure."""
    allowed = math.log2(larger[0]) / math.log2(smaller[0])
    return larger[1] > slack * allowed * smaller[1]
