"""Finding: something in a job that costs time, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, field

from nacre.jobs import Job
from nacre.text import duration

# The kinds of independent calls, and the word for such calls.
INDEPENDENT = {"independent_write": "writes", "independent_read": "reads"}
MUCH = 16 << 20  # bytes: less is moved at once, whoever does it
METADATA = 4 << 10  # bytes of HDF5's headers, B-tree nodes and heaps
ALL_FILES = "all files"  # where a finding is that concerns no single file


@dataclass(eq=False)
class Finding:
    """`rule`: its short name, for tests and scripts. `at_stake`: seconds of a rank, on average, that the remedy can
    save at most; 0 if it only concerns robustness. `remedy`: lines to paste or to do. `direction`: reads or writes, if
    it concerns only these. `causes`: other findings of the job, whose remedies probably make this one go away.
    `number`: its place among the findings of the job, from 1."""

    rule: str
    title: str
    where: str
    evidence: str
    at_stake: float
    remedy: list[str] = field(default_factory=list)
    direction: str = ""
    causes: list[Finding] = field(default_factory=list)
    number: int = 0

    def as_json(self) -> dict:
        return {
            "rule": self.rule, "title": self.title, "where": self.where, "evidence": self.evidence,
            "at_stake_seconds": self.at_stake, "remedy": self.remedy,
            "follows_from": [cause.rule for cause in self.causes],
        }  # fmt: skip

    @property
    def stake_in_words(self) -> str:
        return f"may save up to {duration(self.at_stake)} per rank"

    @property
    def causes_in_words(self) -> str:
        """The sentence that names the causes."""
        causes = " and of ".join(f'finding {cause.number} ("{cause.title}")' for cause in self.causes)
        subject, verb = ("The remedies", "fix") if len(self.causes) > 1 else ("The remedy", "fixes")
        return f"{subject} of {causes} probably {verb} this too"


def rank_in_words(job: Job, one: dict, rank: int) -> str:
    """A rank of the communicator that opened a file. The ranks of a communicator need not follow each other in
    MPI_COMM_WORLD, of which the report names the first one."""
    first = one["world"]["rank"]
    if "source" not in one and one["ranks"] > 1 and (first > 0 or one["ranks"] < job.ranks):
        return f"rank {rank:,} of the {one['ranks']:,} that opened the file"
    return f"rank {first + rank:,} of {job.ranks:,}"
