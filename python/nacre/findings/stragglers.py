"""Findings on nodes and ranks that take far longer than others to move as many bytes by themselves."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from nacre.findings import balance
from nacre.findings.finding import INDEPENDENT, Finding, rank_in_words
from nacre.jobs import FileGroup, Job
from nacre.text import amount, duration, plural

FAR_SLOWER = 3.0  # times the time of the median
ALIKE = 0.75  # of the bytes, and of the accesses, of the rank or node with the most
RANKS_MIN = 4  # fewer do not tell which of them is slow
LOST_MIN = 0.2  # seconds: a busy machine may keep a rank waiting as long as that
LOST_SHARE_MIN = 0.1  # of the time of the slowest rank in MPI-IO
BY_ONE_RANK = 1.5  # times the time that a rank loses: a node that loses no more has one slow rank
NEARLY = 0.8  # of the time of the slowest rank


def _has_slow_ost(job: Job) -> bool:
    """Whether ranks may be slow because an OST is."""
    return next(balance.slow_ost(job), None) is not None


def _are_all_busy(one: dict, kind: dict) -> bool:
    """Whether all ranks move about as many bytes, with about as many accesses."""
    return kind["ranks"] == one["ranks"] and all(
        kind[figure]["sum"] >= ALIKE * kind["ranks"] * kind[figure]["max"] > 0 for figure in ("bytes", "file_calls")
    )


def _lost_by_rank(one: dict, kind: dict) -> float:
    """The seconds that the slowest rank takes more than the median; 0 if it is not far slower. Without the time of
    locks, for which ranks wait for each other, and of a late open."""
    elsewhere = kind["phases"]["lock"]["max"] + one["late_opens"]["seconds"]["max"]
    slowest, usual = kind["seconds"]["max"] - elsewhere, kind["seconds"]["median"]
    return slowest - usual if slowest >= FAR_SLOWER * usual > 0 else 0.0


def _slow_node(one: dict, kind: dict) -> tuple[float, dict, float] | None:
    """The seconds of a rank that the slowest node loses, its figures, and the usual time of a node. None: there is
    none, or one slow rank of it explains the time."""
    nodes = kind.get("nodes", {"busiest": []})["busiest"]
    if len(nodes) < 2 or any(node["bytes"] < ALIKE * nodes[0]["bytes"] for node in nodes):
        return None
    slow = max(nodes, key=lambda node: node["seconds"])
    usual = statistics.median_low(node["seconds"] for node in nodes if node is not slow)
    lost = slow["seconds"] - usual
    by_rank = kind["seconds"]["max"] - kind["seconds"]["median"]
    is_by_one_rank = one["ranks"] > one["nodes"] and lost < BY_ONE_RANK * by_rank
    if slow["seconds"] < FAR_SLOWER * usual or not usual or is_by_one_rank:
        return None
    return lost * one["nodes"] / one["ranks"], slow, usual


def _is_clear(job: Job, lost: float) -> bool:
    return lost >= max(LOST_MIN, LOST_SHARE_MIN * job.slowest_seconds)


def slow_nodes_and_ranks(job: Job) -> Iterator[Finding]:
    """All ranks of a node are far slower than those of other nodes, or one rank is."""
    for group, verb, one, kind in _busy(job):
        found = _slow_node(one, kind)
        if found is not None:
            if _is_clear(job, found[0]):
                yield _of_node(group, verb, one, found)
        elif _is_clear(job, lost := _lost_by_rank(one, kind)):
            yield _of_rank(group, verb, kind, _slowest_in_words(job, one, kind), lost)


def _of_node(group: FileGroup, verb: str, one: dict, found: tuple[float, dict, float]) -> Finding:
    lost, slow, usual = found
    ranks = one["ranks"] // one["nodes"]
    return Finding(
        "slow-node",
        f"Node {slow['host']} is far slower than the others",
        str(group),
        f"{verb} of {amount(slow['bytes'])} took {duration(slow['seconds'] / ranks)} per rank there, and"
        f" {duration(usual / ranks)} for as many bytes on other nodes (median)",
        lost,
        [
            f"Leave the node out: srun --exclude={slow['host']} ...; and report it to the site's staff (its network"
            " link, its memory, other jobs on it)",
            "If another node is slow in the next job: ranks with these numbers access a slow part of the file",
        ],
    )


def _slowest_in_words(job: Job, one: dict, kind: dict) -> str:
    """The slowest rank, with its number if the report has it."""
    slowest = kind["seconds"]["max"]
    named = [share["rank"] for share in kind["busiest"] if share["seconds"] >= NEARLY * slowest]
    return rank_in_words(job, one, named[0]) if len(named) == 1 else "the slowest rank"


def _of_rank(group: FileGroup, verb: str, kind: dict, where: str, lost: float) -> Finding:
    return Finding(
        "slow-rank",
        "A rank is far slower than the others, with as much data",
        str(group),
        f"{verb} of {amount(kind['bytes']['max'])} took {duration(kind['seconds']['max'])} on {where}, and at most"
        f" {duration(kind['seconds']['median'])} on half of the {plural(kind['ranks'], 'rank')}",
        lost,
        [
            "Program: compare the accesses of this rank with those of the others. Accesses take longer if they are"
            " unaligned, or if other ranks write the same stripes; collective calls avoid both",
            "Launcher: bind ranks to cores (srun --cpu-bind=cores). If a rank of the same node is slow in each job,"
            " leave the node out (srun --exclude=HOST), and report it to the site's staff",
        ],
    )


def _busy(job: Job) -> Iterator[tuple[FileGroup, str, dict, dict]]:
    """Of each group the slowest independent reads and writes in which all ranks move as much. Darshan records no time
    of single ranks but the slowest and the fastest."""
    if job.is_from_darshan or _has_slow_ost(job):
        return
    for group in job.groups:
        for name, verb in INDEPENDENT.items():
            found = [
                (one, kind) for one, kind in group.kinds(name) if one["ranks"] >= RANKS_MIN and _are_all_busy(one, kind)
            ]
            if found:
                yield (group, verb, *max(found, key=lambda pair: pair[1]["seconds"]["max"]))


RULES = [slow_nodes_and_ranks]
