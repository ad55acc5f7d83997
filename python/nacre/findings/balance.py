"""Findings on who does the work: ranks, nodes and OSTs."""

from __future__ import annotations

import os
import socket
import statistics
from collections import Counter
from collections.abc import Iterator

from nacre import reports
from nacre.findings import layout, nodes, osts
from nacre.findings.finding import ALL_FILES, INDEPENDENT, MUCH, Finding, rank_in_words
from nacre.jobs import FileGroup, Job
from nacre.text import amount, duration, plural

ALONE_BYTES_MIN = 4 << 20  # of an OST, from calls to it alone: less says nothing of its speed
ALIKE = 0.75  # of the load of an OST: another with as much has a comparable one
ALIKE_MIN = 3  # OSTs with a comparable load: fewer do not tell which of them is slow
SLOW_SHARE_MAX = 0.25  # of the OSTs: if more are slow, the cause is elsewhere
FAR_SLOWER = 2.0
FAR_FEWER = 2  # nodes with an aggregator, times which the job has nodes
HALF = 0.5
OST_FAR_SLOWER = 3.0  # calls to healthy OSTs differ by a factor of 2 where they queue in bursts
UNEVEN = 3.0
BALANCE = "Program: balance the work before the call, or do it during the call (MPI_File_iwrite_all, ncmpi_iput_vara)"
WAITED_MIN = 0.05  # seconds: less is the scheduling of a busy machine
WAITED_OF_A_CALL_MIN = 0.005  # seconds: less is the exchange of messages itself


def one_rank_does_all(job: Job) -> Iterator[Finding]:
    """The program has many ranks, and one of them moves the bytes of a large file."""
    if job.ranks == 1:
        return
    for group in job.groups:
        for name, verb in INDEPENDENT.items():
            found = [(one, kind) for one, kind in group.kinds(name) if kind["ranks"] == 1]
            size = sum(kind["bytes"]["sum"] for _, kind in found)
            ranks = {one["world"]["rank"] + _busiest(kind) for one, kind in found}
            if size < nodes.MUCH or len(ranks) != 1 or _is_by_several(group, verb[:-1]):
                continue
            seconds = sum(kind["seconds"]["sum"] for _, kind in found)
            yield Finding(
                "one-rank",
                f"One rank {verb} all data of the file, the others wait",
                str(group),
                f"{rank_in_words(job, found[0][0], _busiest(found[0][1]))} moved {amount(size)} in {duration(seconds)}",
                seconds * (1 - 1 / job.ranks),
                [
                    f"Program: let each rank {verb[:-1]} its own part (MPI_File_open on the communicator of all ranks,"
                    f" MPI_File_{verb[:-1]}_at_all); HDF5: H5Pset_fapl_mpio; netCDF: nc_create_par",
                    f"Program: do not {'gather data on' if verb == 'writes' else 'scatter data from'} that rank; Nacre"
                    " does not measure the time of that",
                ],
            )


def _busiest(kind: dict) -> int:
    return kind["busiest"][0]["rank"] if kind["busiest"] else 0


def _is_by_several(group: FileGroup, direction: str) -> bool:
    """Whether calls of several ranks move bytes of the group in this direction."""
    return any(kind["ranks"] > 1 and kind["bytes"]["sum"] > 0 for _, kind in group.kinds_of(direction))


def uneven_ranks(job: Job) -> Iterator[Finding]:
    """Some ranks move far more bytes than most."""
    for group in job.groups:
        for name in reports.KINDS:
            found = [_unevenness(one, kind) for one, kind in group.kinds(name) if _is_uneven(one, kind)]
            if not found:
                continue
            _, most, mean = max(found)
            yield Finding(
                "uneven-ranks",
                "Some ranks move far more data than the others",
                str(group),
                f"{name.replace('_', ' ')}s: {amount(most)} by one rank, {amount(mean)} on average",
                sum(lost for lost, _, _ in found),
                ["Program: divide the data evenly among the ranks"],
            )


def _is_uneven(one: dict, kind: dict) -> bool:
    if one["ranks"] < 4 or kind["ranks"] == 1 or nodes.is_by_one(one, kind):
        return False
    return kind["bytes"]["max"] >= max(1 << 20, UNEVEN * kind["bytes"]["sum"] / one["ranks"])


def _unevenness(one: dict, kind: dict) -> tuple[float, int, float]:
    """The seconds lost, the bytes of the rank with the most, and the mean."""
    most, mean = kind["bytes"]["max"], kind["bytes"]["sum"] / one["ranks"]
    return kind["seconds"]["max"] * (1 - mean / most), most, mean


def _cores_shared(job: Job) -> list[str]:
    """What to do if the job ran on this machine alone, whose cores are known, with more ranks than cores."""
    cores = len(os.sched_getaffinity(0))
    ranks = -(-job.ranks // job.nodes)
    if job.hosts != [socket.gethostname()] or ranks <= cores:
        return []
    shared = f"{ranks} ranks share {plural(cores, 'core')}"
    return [f"Run no more ranks than cores: {shared}, so a message waits until its receiver has a core"]


def late_ranks(job: Job) -> Iterator[Finding]:
    """Ranks wait in collective calls while nobody accesses the file: some ranks come late."""
    for group in job.groups:
        for name in ("collective_write", "collective_read"):
            waited = worked = 0.0
            calls = sum(kind["calls"]["max"] for _, kind in group.kinds(name))
            for _, kind in group.kinds(name):
                phases = kind["phases"]
                busiest = phases["file"]["max"] + kind["file_busy_seconds"]["max"] + phases["copy"]["max"]
                waited += phases["wait"]["min"] + phases["plan"]["median"]
                worked += busiest
            if waited <= worked or waited < max(WAITED_MIN, calls * WAITED_OF_A_CALL_MIN):
                continue
            yield Finding(
                "late-ranks",
                "Ranks come late to collective calls",
                str(group),
                f"at least half of the ranks waited about {duration(waited)}, while file accesses and copies took"
                f" {duration(worked)} on the busiest rank",
                waited,
                [*_cores_shared(job), BALANCE],
            )


def aggregators_by_hint(job: Job) -> Iterator[Finding]:
    """A hint limits the aggregators, although more would be faster."""
    for group in job.groups:
        found = [(one, plan) for one in group.reports for plan in one["plans"] if _has_too_few_aggregators(plan)]
        if not found:
            continue
        one, plan = max(found, key=lambda pair: _lost_by_aggregators(pair[1]))
        best, used = plan["compared"][0], plan["predicted"]
        yield _too_few_aggregators(
            group, one, plan, sum(_lost_by_aggregators(plan) for _, plan in found),
            f"{best['aggregators']} are predicted to take {duration(best['seconds'])} instead of"
            f" {duration(used['seconds'])} a call",
        )  # fmt: skip


def aggregators_on_few_nodes(job: Job) -> Iterator[Finding]:
    """A hint leaves the accesses to few nodes, which take most of the time; no prediction says what more would do."""
    for group in job.groups:
        found = [(one, plan) for one in group.reports for plan in one["plans"] if _is_on_few(one, plan)]
        if not found:
            continue
        one, plan = max(found, key=lambda pair: pair[1]["seconds"]["max"])
        kind = one["kinds"][f"collective_{plan['call']}"]
        yield _too_few_aggregators(
            group, one, plan, _file_seconds(kind) * (1 - plan["aggregators"] / one["nodes"]),
            f"the file system took {duration(_file_seconds(kind))} of {duration(kind['seconds']['max'])}",
        )  # fmt: skip


def _too_few_aggregators(group: FileGroup, one: dict, plan: dict, lost: float, why: str) -> Finding:
    """`lost`: seconds of the slowest rank."""
    nodes_used = one["kinds"].get(f"collective_{plan['call']}", {}).get("nodes", {}).get("with_file_bytes")
    # More nodes than aggregators: ranks accessed the file by themselves in other calls.
    where = f", on {nodes_used} of them" if nodes_used and nodes_used <= plan["aggregators"] else ""
    return Finding(
        "few-aggregators",
        "A hint sets too few aggregators",
        str(group),
        f"cb_nodes sets {plural(plan['aggregators'], 'aggregator')} for {plural(one['nodes'], 'node')}{where}; {why}",
        lost,
        [f"Remove the hint cb_nodes{_set_by(one, 'cb_nodes')}: Nacre then chooses their number"],
    )


def _is_on_few(one: dict, plan: dict) -> bool:
    """Whether cb_nodes has left at least half of the nodes without an aggregator in large calls."""
    kind = one["kinds"].get(f"collective_{plan['call']}")
    if plan.get("aggregators_reason") != "hint" or "predicted" in plan or kind is None:
        return False
    used = kind.get("nodes", {"with_file_bytes": one["nodes"]})["with_file_bytes"]
    is_large = plan["bytes"]["sum"] >= MUCH and _file_seconds(kind) > HALF * kind["seconds"]["max"]
    return is_large and FAR_FEWER * max(used, plan["aggregators"]) <= one["nodes"]


def _file_seconds(kind: dict) -> float:
    """The time that the slowest rank waits for the file system."""
    return kind["phases"]["file"]["max"] + kind["phases"]["file_wait"]["max"]


def _has_too_few_aggregators(plan: dict) -> bool:
    if plan.get("aggregators_reason") != "hint" or "predicted" not in plan:
        return False
    best, used = plan["compared"][0], plan["predicted"]
    return used["seconds"] >= FAR_SLOWER * best["seconds"] and best["aggregators"] > plan["aggregators"]


def _lost_by_aggregators(plan: dict) -> float:
    """Seconds of the slowest rank."""
    return plan["seconds"]["max"] * (1 - plan["compared"][0]["seconds"] / plan["predicted"]["seconds"])


def _set_by(one: dict, hint: str) -> str:
    """For example: (environment)."""
    who = osts.requester_of(one, hint)
    return f" ({who})" if who else ""


FIGURES = ("bytes", "alone_bytes", "alone_seconds")


def _add(total: dict[int, Counter], one: dict, figures: list[dict]) -> None:
    crowding = osts.crowding(one)
    for ost in figures:
        sums = total.setdefault(ost["ost"], Counter())
        for figure in FIGURES:
            sums[figure] += ost[figure]
        sums["load"] += ost["bytes"] * crowding.get(ost["ost"], 1)


def _by_ost(job: Job, reads: bool) -> dict[int, dict[int, Counter]]:
    """The figures of each OST, by the number of OSTs of the file: calls queue longer on the OST of a file that has one
    than on those of a file that has eight."""
    total: dict[int, dict[int, Counter]] = {}
    for one in job.reports:
        for _, figures in _osts_of(one, reads):
            _add(total.setdefault(len(figures), {}), one, figures)
    return total


def _osts_of(one: dict, reads: bool) -> Iterator[tuple[dict, list[dict]]]:
    direction = "read" if reads else "write"
    for name in (f"independent_{direction}", f"collective_{direction}"):
        if name in one["kinds"]:
            yield one["kinds"][name], one["kinds"][name]["osts"]


def slow_ost(job: Job) -> Iterator[Finding]:
    """Calls to one OST alone take far longer than those to OSTs that hold about as many bytes, or more."""
    for reads in (False, True):
        slow: dict[int, tuple[float, float, float]] = {}
        by_counts = _by_ost(job, reads).values()
        for by_ost in by_counts:
            for ost, found in _slow_of(by_ost):
                slow[ost] = max(slow.get(ost, found), found)
        slowest = min((rate for _, rate, _ in slow.values()), default=0)
        # Others may only queue behind the slowest: the same threads access both.
        slow = {ost: found for ost, found in slow.items() if found[1] <= FAR_SLOWER * slowest}
        if len(slow) > max(1, SLOW_SHARE_MAX * len(set().union(*by_counts))):
            continue
        for ost, (lost, rate, usual) in slow.items():
            verb = "reads" if reads else "writes"
            yield Finding(
                "slow-ost",
                f"OST {ost} is far slower than the others",
                ALL_FILES,
                f"{verb} of OST {ost} run at {amount(rate)}/s, of OSTs with a like load at {amount(usual)}/s (median)",
                lost / job.nodes,
                [
                    f"Tell the site's staff that OST {ost} is slow (obdfilter.*.brw_stats on its server)",
                    *osts.without(job, sorted(slow)),
                ],
            )


def _slow_of(by_ost: dict[int, Counter]) -> Iterator[tuple[int, tuple[float, float, float]]]:
    """OSTs that are slow, each with the seconds lost, its rate and the usual one. The time of a call includes its wait
    in the OST's queue, which grows with the load: only OSTs with about as much load, or more, are compared with it. The
    load is the bytes, which count more where fewer OSTs share a range of the file."""
    rates = {
        ost: sums["alone_bytes"] / sums["alone_seconds"]
        for ost, sums in by_ost.items()
        if sums["alone_bytes"] >= ALONE_BYTES_MIN and sums["alone_seconds"] > 0
    }
    for ost, rate in rates.items():
        alike = [rates[other] for other in rates if by_ost[other]["load"] >= ALIKE * by_ost[ost]["load"]]
        usual = statistics.median(alike)
        if len(alike) >= ALIKE_MIN and OST_FAR_SLOWER * rate <= usual:
            yield ost, (by_ost[ost]["alone_seconds"] * (1 - rate / usual), rate, usual)


def uneven_osts(job: Job) -> Iterator[Finding]:
    """One OST gets far more bytes than the others."""
    for reads in (False, True):
        total: dict[int, Counter] = {}
        for one in job.reports:
            for _, figures in _osts_of(one, reads):
                _add(total, one, figures)
        sizes = {ost: sums["bytes"] for ost, sums in total.items()}
        if len(sizes) < 2 or sum(sizes.values()) < nodes.MUCH:
            continue
        mean = sum(sizes.values()) / len(sizes)
        most = max(sizes, key=sizes.get)
        group = max(job.groups, key=lambda group: _bytes_on(group, most, reads))
        is_narrow = any(layout.is_narrow(one) for one in group.reports)  # few-stripes says it
        if sizes[most] < FAR_SLOWER * mean or is_narrow:
            continue
        seconds = sum(kind["seconds"]["sum"] for one in job.reports for kind, _ in _osts_of(one, reads))
        yield Finding(
            "uneven-osts",
            f"OST {most} has far more of the data than the others",
            str(group) if len(job.groups) == 1 else f"all files, most of it in {group}",
            f"{amount(sizes[most])} on OST {most}, {amount(mean)} on average of {len(sizes)} OSTs",
            seconds / job.ranks * (1 - mean / sizes[most]),
            osts.more_stripes(group, max(len(sizes), *(osts.possible(one) for one in group.reports))),
        )


def _bytes_on(group: FileGroup, ost: int, reads: bool) -> int:
    found = (figures for one in group.reports for _, figures in _osts_of(one, reads))
    return sum(one["bytes"] for figures in found for one in figures if one["ost"] == ost)


RULES = [
    one_rank_does_all, uneven_ranks, late_ranks, aggregators_by_hint, aggregators_on_few_nodes, slow_ost, uneven_osts,
]  # fmt: skip
