"""Findings on jobs that ran without Nacre (logs of Darshan): what Nacre would do without a change of the program."""

from __future__ import annotations

from collections.abc import Iterator

from nacre.findings.finding import Finding
from nacre.jobs import Job
from nacre.text import amount, plural

HALF = 0.5
SMALL = 256 << 10
MUCH = 16 << 20


def collective_calls_of_the_mpi(job: Job) -> Iterator[Finding]:
    """The MPI's collective calls access small or unaligned pieces, or read the gaps between them."""
    if not job.is_from_darshan:
        return
    for group in job.groups:
        for name, verb in (("collective_write", "writes"), ("collective_read", "reads")):
            kinds = [kind for _, kind in group.kinds(name)]
            calls, size = _sum(kinds, "file_calls"), _sum(kinds, "file_bytes")
            unaligned, gaps = _sum(kinds, "unaligned_calls"), _sum(kinds, "read_modify_writes")
            flaws = []
            if unaligned > HALF * calls:
                flaws.append(f"{unaligned:,} not aligned to a block or stripe")
            if size < SMALL * calls:
                flaws.append(f"{amount(size / calls)} on average")
            if gaps:
                flaws.append(f"{gaps:,} reads of the gaps between written pieces")
            if size < MUCH or not flaws:
                continue
            yield Finding(
                "collective-calls-of-the-mpi",
                f"The MPI's collective {verb} reach the file system in a bad form",
                str(group),
                f"{plural(calls, verb[:-1])}: {', '.join(flaws)}",
                _sum(kinds, "seconds") / job.ranks * HALF,
                [
                    "With Nacre, aggregators access whole stripes, each those of its own OSTs, and read no gaps:",
                    "nacre run --report io.jsonl -- LAUNCHER ... PROGRAM ...      # the program stays as it is",
                ],
            )


def _sum(kinds: list[dict], name: str) -> float:
    return sum(kind[name]["sum"] for kind in kinds)


RULES = [collective_calls_of_the_mpi]
