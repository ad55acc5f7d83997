"""Findings on nodes: one of them moves the data, while the others wait."""

from __future__ import annotations

from collections.abc import Iterator

from nacre import reports
from nacre.findings.finding import MUCH, Finding
from nacre.jobs import FileGroup, Job
from nacre.text import amount, duration, plural

NEARLY_ALL = 0.9
FAR_MORE = 2.0  # times the average
DIRECTIONS = ("write", "read")


def is_by_one(one: dict, kind: dict) -> bool:
    """Whether several ranks of one node move nearly all bytes of these calls, which are many, while other nodes have
    the file open."""
    if kind["ranks"] == 1 or "nodes" not in kind or kind["bytes"]["sum"] < MUCH:
        return False
    by_rank, by_node, whole = kind["bytes"]["max"], kind["nodes"]["bytes"]["max"], kind["bytes"]["sum"]
    return by_node >= NEARLY_ALL * whole > by_rank


def _is_opened_by_one(job: Job, group: FileGroup) -> bool:
    """Whether only the ranks of one node, the same for all files, open files of the group, and nobody else has others
    like them."""
    places = {_place(one) for one in group.reports}
    others = {_place(one) for one in job.reports} - places
    return len(places) == 1 and not others and all(1 < one["ranks"] < job.ranks for one in group.reports)


def _place(one: dict) -> tuple:
    """The node of a file that one node opens; of other files, all of these."""
    return (tuple(one["hosts"]), one["world"]["rank"]) if one["nodes"] == 1 else ()


def one_node_does_all(job: Job) -> Iterator[Finding]:
    """The program has many nodes, and the ranks of one of them move the bytes of a large file."""
    if job.nodes == 1 or job.is_from_darshan:  # which does not know the nodes
        return
    for group in job.groups:
        is_opened_by_one = _is_opened_by_one(job, group)
        for direction in DIRECTIONS:
            both = list(group.kinds_of(direction))
            found = [kind for one, kind in both if is_by_one(one, kind) or (is_opened_by_one and kind["ranks"] > 1)]
            size = sum(kind["bytes"]["sum"] for kind in found)
            if size < MUCH or size < NEARLY_ALL * sum(kind["bytes"]["sum"] for _, kind in both):
                continue
            seconds = sum(kind["seconds"]["max"] for kind in found)
            yield Finding(
                "one-node",
                f"The ranks of one node {direction} nearly all data of the file, the other nodes wait",
                str(group),
                f"one of {job.nodes:,} nodes moved {amount(size)} in {duration(seconds)}",
                seconds * (1 - 1 / job.nodes),
                [
                    f"Program: let ranks of all nodes {direction} a part (MPI_File_open on the communicator of all"
                    f" ranks, MPI_File_{direction}_at_all); if some ranks do the I/O for others, take some of each node"
                ],
            )


def uneven_nodes(job: Job) -> Iterator[Finding]:
    """Some nodes move far more bytes than most, although their ranks do not: they have more ranks with data."""
    for group in job.groups:
        found = [(one, kind) for one, kind in group.kinds(*reports.KINDS) if _is_uneven(one, kind)]
        if not found:
            continue
        one, kind = max(found, key=_lost)
        yield Finding(
            "uneven-nodes",
            "Some nodes move far more data than the others",
            str(group),
            f"{amount(kind['nodes']['bytes']['max'])} by the ranks of one node, {amount(_mean(one, kind))} on average"
            f" of {plural(one['nodes'], 'node')}",
            sum(map(_lost, found)),
            ["Launcher: as many ranks on each node; or divide the data by nodes, not by ranks"],
        )


def _mean(one: dict, kind: dict) -> float:
    return kind["bytes"]["sum"] / one["nodes"]


def _is_uneven(one: dict, kind: dict) -> bool:
    if "nodes" not in kind or kind["ranks"] == 1 or is_by_one(one, kind):
        return False
    are_ranks_even = kind["bytes"]["max"] < FAR_MORE * kind["bytes"]["sum"] / one["ranks"]
    return are_ranks_even and kind["nodes"]["bytes"]["max"] >= max(MUCH, FAR_MORE * _mean(one, kind))


def _lost(found: tuple[dict, dict]) -> float:
    """Seconds of the ranks of other nodes."""
    one, kind = found
    return kind["seconds"]["max"] * (1 - _mean(one, kind) / kind["nodes"]["bytes"]["max"])


RULES = [one_node_does_all, uneven_nodes]
