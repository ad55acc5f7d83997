"""Findings on jobs that ran without Nacre (logs of Darshan): what Nacre would do without a change of the program."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nacre import library
from nacre.errors import UserError
from nacre.findings.finding import MUCH, Finding
from nacre.findings.posix import is_posix
from nacre.jobs import FileGroup, Job
from nacre.newer_python import tomllib
from nacre.text import amount, duration, parse_bytes, plural

HALF = 0.5
SMALL = 256 << 10
WITHOUT_GAPS = "With Nacre, writes do not read the gaps first: Nacre writes the bytes of the program, and no others"
RUN = "nacre run --report io.jsonl -- LAUNCHER ... PROGRAM ...      # the program stays as it is"


def independent_calls(job: Job, group: FileGroup, verb: str) -> list[str]:
    """What Nacre alone does to independent calls of a job that ran without it, whose views the log does not have."""
    if not job.is_from_darshan or is_posix(group):
        return []
    return [
        f"With Nacre, but an unchanged program, a call that {verb} one piece stays one access. After the change,"
        " aggregators combine the pieces of all ranks and access whole stripes"
    ]


def layouts(job: Job, group: FileGroup) -> list[str]:
    """How a file would get its layout with Nacre, of a job that ran without it."""
    if not job.is_from_darshan or is_posix(group) or all(one["mode"] == "read" for one in group.reports):
        return []
    return ["With Nacre, a new file gets its layout from its first writes, unless a hint, its directory or the file"
            " system has set one"]  # fmt: skip


@dataclass(frozen=True)
class Flaw:
    """A bad form of file accesses. `cure`: what is different with Nacre."""

    evidence: str
    cure: str


def collective_calls_of_the_mpi(job: Job) -> Iterator[Finding]:
    """The MPI's collective calls access small or unaligned pieces, read the gaps between them, or leave the accesses to
    few ranks."""
    if not job.is_from_darshan:
        return
    for group in job.groups:
        for name, verb in (("collective_write", "writes"), ("collective_read", "reads")):
            found = list(group.kinds(name))
            kinds = [kind for _, kind in found]
            flaws = _flaws(found, verb)
            if _sum(kinds, "file_bytes") < MUCH or not flaws:
                continue
            share, basis = _estimate(group, found, verb)
            if not share:
                continue  # the OSTs are the bottleneck as it is
            yield Finding(
                "collective-calls-of-the-mpi",
                f"The MPI's collective {verb} reach the file system in a bad form",
                str(group),
                f"{plural(_sum(kinds, 'file_calls'), verb[:-1])}: {', '.join(flaw.evidence for flaw in flaws)}",
                _sum(kinds, "seconds") / job.ranks * share,
                [*(flaw.cure for flaw in flaws), basis, RUN],
            )


def _flaws(found: list[tuple[dict, dict]], verb: str) -> list[Flaw]:
    kinds = [kind for _, kind in found]
    calls, size = _sum(kinds, "file_calls"), _sum(kinds, "file_bytes")
    unaligned, gaps = _sum(kinds, "unaligned_calls"), _sum(kinds, "read_modify_writes")
    flaws = []
    if unaligned > HALF * calls:
        flaws.append(
            Flaw(
                f"{unaligned:,} not aligned to a block or stripe",
                "With Nacre, aggregators access whole stripes, each those of its own OSTs; large pieces that each rank"
                " accesses faster by itself stay unaligned",
            )
        )
    if size < SMALL * calls:
        flaws.append(
            Flaw(
                f"{amount(size / calls)} on average",
                f"With Nacre, aggregators combine neighbouring pieces of all ranks to large {verb}",
            )
        )
    if gaps:
        flaws.append(Flaw(f"{gaps:,} reads of the gaps between written pieces", WITHOUT_GAPS))
    few = [(ranks, osts) for ranks, osts in (_file_ranks(one, kind) for one, kind in found) if 0 < ranks < osts]
    if few:
        ranks, osts = min(few)
        flaws.append(
            Flaw(
                f"made by {plural(ranks, 'rank')} to {plural(osts, 'OST')}",
                "With Nacre, the number of aggregators follows from the bytes of each call and the OSTs of the file",
            )
        )
    return flaws


def _file_ranks(one: dict, kind: dict) -> tuple[int, int]:
    """How many ranks accessed the file (0: unknown), and the number of its OSTs."""
    return kind.get("file_ranks", 0), len({ost for part in one["layout"] for ost in part["osts"]})


def _estimate(group: FileGroup, found: list[tuple[dict, dict]], verb: str) -> tuple[float, str]:
    """The share of the time of these calls that Nacre can save at most, and on what it rests. Of the resources of the
    cost model only the OSTs can be predicted: Darshan records neither the nodes nor the views of the ranks."""
    took = sum(kind["seconds"]["max"] for _, kind in found)
    machine = _machine_file(group.reports[0]["file"])
    bandwidth = _ost_bandwidth(machine, verb) if machine else 0
    if not bandwidth or not took or not all(kind["osts"] for _, kind in found):
        return 1.0, _no_prediction(machine, bandwidth)
    least = sum(max(ost["bytes"] for ost in kind["osts"]) for _, kind in found) / bandwidth
    osts = max(len(kind["osts"]) for _, kind in found)
    return max(0.0, 1 - least / took), (
        f"With Nacre the calls are predicted to take at least {duration(least)}, instead of {duration(took)} on the"
        f" slowest rank: {plural(osts, 'OST')} need this time for the bytes, at {amount(bandwidth)}/s each ({machine})."
        " The log says too little of nodes and views for a closer prediction"
    )


def _no_prediction(machine: str, bandwidth: int) -> str:
    why = "the log does not say how the file is striped"
    if not machine:
        why = "no machine file describes this file system; on its machine, nacre tune DIR writes one"
    elif not bandwidth:
        why = f"{machine} has no osts.bandwidth"
    return (
        "The estimate is the whole time of these calls, of which Nacre needs some too. There is no predicted time:"
        f" {why}"
    )


@functools.cache
def _machine_file(path: str) -> str:
    """The machine file that would hold for a file on this machine; empty if there is none. The figures of a class are
    those of no machine."""
    try:
        machine = library.hints_for(path)["machine"]
    except (ValueError, UserError):
        return ""  # the settings of this user, or the installation, are not in order
    return machine if os.path.isfile(machine) else ""


def _ost_bandwidth(machine: str, verb: str) -> int:
    """Bytes per second; 0: unknown."""
    try:
        figures = tomllib.loads(Path(machine).read_text()).get("osts", {})
        writes, reads = (parse_bytes(str(figures.get(name, 0))) for name in ("bandwidth", "read_bandwidth"))
    except (OSError, ValueError):
        return 0
    return reads or writes if verb == "reads" else writes


def sieving_of_the_mpi(job: Job) -> Iterator[Finding]:
    """The MPI's independent writes read the gaps between their pieces."""
    if not job.is_from_darshan:
        return
    for group in job.groups:
        kinds = [kind for _, kind in group.kinds("independent_write") if kind["read_modify_writes"]["sum"]]
        if not kinds:
            continue
        seconds = sum(kind["gap_read_seconds"] for kind in kinds) / job.ranks
        yield Finding(
            "sieving-of-the-mpi",
            "The MPI's independent writes read the gaps between their pieces",
            str(group),
            f"{_sum(kinds, 'read_modify_writes'):,} reads of gaps took {duration(seconds)} per rank",
            seconds,
            [WITHOUT_GAPS, "The estimate is the time of these reads; each piece is then a write of its own", RUN],
        )


def _sum(kinds: list[dict], name: str) -> float:
    return sum(kind[name]["sum"] for kind in kinds)


RULES = [collective_calls_of_the_mpi, sieving_of_the_mpi]
