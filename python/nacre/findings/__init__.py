"""Findings: what costs time in a job, with evidence and remedy. Each rule takes a Job and yields Findings."""

from __future__ import annotations

from nacre.findings import accesses, balance, calls, layout, nodes, posix, stragglers, without_nacre
from nacre.findings.finding import Finding
from nacre.jobs import Job

__all__ = ["Finding", "find"]

RULES = [
    *accesses.RULES, *balance.RULES, *nodes.RULES, *stragglers.RULES, *calls.RULES, *layout.RULES, *posix.RULES,
    *without_nacre.RULES,
]  # fmt: skip

# Of the time of a rank in MPI-IO: a finding that may save less is not worth a user's time.
SHARE_MIN = 0.05


def find(job: Job, share_min: float = SHARE_MIN) -> list[Finding]:
    """The findings of a job, the most time at stake first."""
    found = [finding for rule in RULES for finding in rule(job)]
    for finding in found:
        finding.at_stake = min(finding.at_stake, job.slowest_seconds)
    least = share_min * job.mean_seconds
    worth = [finding for finding in found if finding.at_stake >= least or finding.rule in calls.ALWAYS]
    return sorted(worth, key=lambda finding: finding.at_stake, reverse=True)
