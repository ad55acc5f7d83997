"""Findings: what costs time in a job, with evidence and remedy. Each rule takes a Job and yields Findings."""

from __future__ import annotations

from nacre.findings import accesses, balance, calls, causes, layout, nodes, posix, stragglers, without_nacre
from nacre.findings.finding import Finding
from nacre.jobs import Job

__all__ = ["NO_FINDING", "Finding", "find"]

RULES = [
    *accesses.RULES, *balance.RULES, *nodes.RULES, *stragglers.RULES, *calls.RULES, *layout.RULES, *posix.RULES,
    *without_nacre.RULES,
]  # fmt: skip

# Of the time of a rank in MPI-IO: a finding that may save less is not worth a user's time.
SHARE_MIN = 0.05
NO_FINDING = "No finding: nothing in this report would make the job faster."


def find(job: Job, share_min: float = SHARE_MIN) -> list[Finding]:
    """The findings of a job, the most time at stake first, each followed by its consequences."""
    found = [finding for rule in RULES for finding in rule(job)]
    for finding in found:
        finding.at_stake = min(finding.at_stake, job.slowest_seconds)
    least = share_min * job.mean_seconds
    causes.link(found)
    kept = [one for one in found if causes.affected(one, found) >= least or one.rule in calls.ALWAYS]
    ordered = causes.in_order(kept)
    for number, finding in enumerate(ordered, 1):
        finding.number = number
    return ordered
