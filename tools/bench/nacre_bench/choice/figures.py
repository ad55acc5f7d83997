"""Ratios of the automatic choice to the best setting, and of predicted to observed times."""

from __future__ import annotations

import dataclasses
import statistics

from ..figures import Ratio, paired_ratio
from .search import AUTOMATIC, EARLY_ROUNDS

NEAR, FAR = 1.10, 1.25
# The rounds of the last stage judge, if there are as many: those before have selected the settings, and the best of
# many settings has been lucky in them.
JUDGING_ROUNDS_MIN = 3


def series_of(entry: dict, label: str, what: str = "times") -> dict[int, float]:
    return {int(number): seconds for number, seconds in entry.get(what, {}).get(label, {}).items()}


def with_opens(entry: dict, label: str) -> dict[int, float]:
    """As series_of, with the time of the opens; empty if that was not recorded."""
    opens = series_of(entry, label, "opens")
    return {number: seconds + opens[number] for number, seconds in series_of(entry, label).items() if number in opens}


def late(series: dict[int, float]) -> dict[int, float]:
    """The rounds of the last stage, in which Nacre writes no reports."""
    return {number: seconds for number, seconds in series.items() if number >= sum(EARLY_ROUNDS)}


def judging(series: dict[int, float]) -> dict[int, float]:
    last = late(series)
    return last if len(last) >= JUDGING_ROUNDS_MIN else series


def ratio_to(entry: dict, label: str | None) -> Ratio | None:
    """Time of the automatic choice divided by that of another setting: medians of the judging rounds."""
    return paired_ratio(judging(series_of(entry, AUTOMATIC)), judging(series_of(entry, label))) if label else None


def ratio_of(entry: dict) -> Ratio | None:
    """The ratio to the best setting."""
    return ratio_to(entry, entry["best"])


def ratio_to_peer(entry: dict) -> Ratio | None:
    """Medians of the late rounds: a peer writes no report. Opens included: Nacre opens at the first access what its
    peers open in MPI_File_open."""
    peer = entry.get("best_peer")
    return paired_ratio(late(with_opens(entry, AUTOMATIC)), late(with_opens(entry, peer))) if peer else None


def seconds_of(entry: dict, label: str) -> float | None:
    """The median over all rounds."""
    series = series_of(entry, label)
    return statistics.median(series.values()) if series else None


@dataclasses.dataclass(frozen=True)
class Judged:
    """A case that was measured without an error."""

    entry: dict
    ratio: Ratio

    def within(self, limit: float) -> bool:
        return self.ratio.value <= limit

    def straddles(self, limit: float) -> bool:
        """Whether the interval contains the limit: another run may count the case on the other side."""
        return self.ratio.low is not None and self.ratio.low <= limit < self.ratio.high

    @property
    def same_plan(self) -> bool:
        """Whether the best setting leads to the plan of the automatic choice, so that only noise is between them."""
        plans = [self.entry["plans"].get(label) for label in (AUTOMATIC, self.entry["best"])]
        keys = ("algorithm", "aggregators", "pattern", "cycle_bytes")
        return all(plans) and all(plans[0].get(key) == plans[1].get(key) for key in keys)

    @property
    def best_algorithm(self) -> str:
        return self.entry["best"].split()[0]


def judged_of(entries: list[dict]) -> list[Judged]:
    ratios = [(entry, ratio_of(entry)) for entry in entries if not entry["error"]]
    return [Judged(entry, ratio) for entry, ratio in ratios if ratio]


def prediction_errors(entries: list[dict]) -> list[float]:
    """|predicted - observed| / observed of each call of the automatic choice whose report has a prediction."""
    pairs = [pair for entry in entries for pair in entry["predictions"]]
    return sorted(abs(predicted - observed) / observed for predicted, observed in pairs if observed > 0)


def percentile(ordered: list[float], share: float) -> float:
    """The smallest value that is not below `share` of `ordered`."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
