"""Finding: something in a job that costs time, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, field

# The kinds of independent calls, and the word for such calls.
INDEPENDENT = {"independent_write": "writes", "independent_read": "reads"}
MUCH = 16 << 20  # bytes: less is moved at once, whoever does it
METADATA = 4 << 10  # bytes of HDF5's headers, B-tree nodes and heaps


@dataclass
class Finding:
    """`rule`: its short name, for tests and scripts. `at_stake`: seconds of a rank, on average, that the remedy can
    save at most; 0 if it only concerns robustness. `remedy`: lines to paste or to do."""

    rule: str
    title: str
    where: str
    evidence: str
    at_stake: float
    remedy: list[str] = field(default_factory=list)

    def as_json(self) -> dict:
        return {
            "rule": self.rule, "title": self.title, "where": self.where, "evidence": self.evidence,
            "at_stake_seconds": self.at_stake, "remedy": self.remedy,
        }  # fmt: skip
