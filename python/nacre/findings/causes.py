"""Findings that are consequences of others: what they have in common, and their order."""

from __future__ import annotations

from nacre.findings.finding import ALL_FILES, Finding

# The rules whose remedies make a finding of the same file go away, by the rule of the consequence.
CAUSES = {
    "back-and-forth": ("collective-missing",),  # a collective call sorts the pieces
    "late-ranks": ("one-rank", "slow-node", "slow-rank", "small-collective-calls", "uneven-nodes", "uneven-ranks"),
    "metadata-by-all-ranks": ("reopened",),  # HDF5 reads the header after each open
    "moving-locks": ("collective-missing", "unaligned"),
    "size-storm": ("reopened",),
    "slow-sync": ("few-stripes", "slow-ost"),  # a sync waits for the OSTs
    "unaligned": ("read-modify-write", "reads-holes"),  # sieving accesses ranges that the program does not name
    "view-storm": ("reopened", "small-collective-calls"),
}


def link(found: list[Finding]) -> None:
    """Sets the causes of findings."""
    for finding in found:
        finding.causes = [other for other in found if _is_cause(other, finding)]


def affected(finding: Finding, found: list[Finding]) -> float:
    """The most time at stake, in seconds of a rank, of a finding and of its consequences."""
    return max([finding.at_stake, *(affected(other, found) for other in found if finding in other.causes)])


def in_order(found: list[Finding]) -> list[Finding]:
    """The findings that affect the most time first. Consequences follow their causes."""
    by_time = sorted(found, key=lambda finding: affected(finding, found), reverse=True)
    ordered: list[Finding] = []
    for finding in by_time:
        _place(finding, by_time, ordered)
    return ordered


def _is_cause(cause: Finding, finding: Finding) -> bool:
    is_same_file = cause.where == finding.where or ALL_FILES in (cause.where, finding.where)
    is_same_direction = not cause.direction or finding.direction in ("", cause.direction)
    return cause.rule in CAUSES.get(finding.rule, ()) and is_same_file and is_same_direction


def _place(finding: Finding, by_time: list[Finding], ordered: list[Finding]) -> None:
    """Appends a finding and then its consequences, unless one of its causes has no place yet."""
    if finding in ordered or not all(cause in ordered for cause in finding.causes):
        return
    ordered.append(finding)
    for other in by_time:
        if finding in other.causes:
            _place(other, by_time, ordered)
