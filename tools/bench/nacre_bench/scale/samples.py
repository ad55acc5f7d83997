"""A collective write of a few nodes of a large job, in virtual time."""

from __future__ import annotations

import dataclasses
import pathlib

from nacre.verbs.simulate import Figures as MachineFigures

from ..growth.points import BLOCK_BYTES, BYTES_OF_A_RANK, DYNAMIC, TWO_PHASE, OfRanks
from ..simulation import run_program


@dataclasses.dataclass(frozen=True)
class Job:
    """A job, or a sample of it."""

    nodes: int
    ranks_per_node: int
    osts: int

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node

    def sample(self, nodes: int) -> Job:
        """`nodes` of the nodes, with their share of the OSTs."""
        nodes = min(nodes, self.nodes)
        return Job(nodes, self.ranks_per_node, max(1, round(self.osts * nodes / self.nodes)))


@dataclasses.dataclass(frozen=True)
class Sample:
    """One collective write of the workload `interleaved`."""

    title: str
    job: Job
    algorithm: str
    aggregators: int = 0  # 0: as Nacre chooses


@dataclasses.dataclass(frozen=True)
class Found:
    messages: OfRanks
    control_bytes: OfRanks
    all_bytes: OfRanks
    node_bytes: int  # the largest memory that the ranks of a node share
    process_bytes: float  # of the simulation, by rank


def samples(job: Job, nodes: int) -> list[Sample]:
    part = job.sample(nodes)
    return [
        Sample("with their share of the OSTs", part, TWO_PHASE),
        Sample("with their share of the OSTs", part, DYNAMIC),
        Sample("with all OSTs, an aggregator for each", dataclasses.replace(part, osts=job.osts), TWO_PHASE, job.osts),
    ]


def simulate(sample: Sample, machine: str, folder: pathlib.Path) -> Found:
    job = sample.job
    words = MachineFigures(machine, [f"osts.count={job.osts}"], 0, folder).options([])
    words += ["--nodes", str(job.nodes), "--ranks-per-node", str(job.ranks_per_node)]
    words += ["--block", str(BLOCK_BYTES), "--bytes", str(job.ranks * BYTES_OF_A_RANK)]
    hints = {"nacre_algorithm": sample.algorithm, "striping_factor": job.osts}
    hints |= {"cb_nodes": sample.aggregators} if sample.aggregators else {}
    words += [word for name, value in hints.items() for word in ("--hint", f"{name}={value}")]
    printed = run_program([*words, "--memory", "interleaved"])
    of_ranks = (OfRanks.found(printed["messages"][f"{name}of_rank"]) for name in ("", "control_bytes_", "bytes_"))
    return Found(*of_ranks, printed["node_shared_bytes"], printed["process_bytes"] / job.ranks)
