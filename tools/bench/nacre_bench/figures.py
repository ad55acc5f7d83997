"""Medians, and how sure they are: bootstrap intervals of ratios of medians."""

from __future__ import annotations

import dataclasses
import random
import statistics

RESAMPLES = 2000
CONFIDENCE = 0.95
# With fewer rounds, an interval says nothing.
ROUNDS_MIN = 3


@dataclasses.dataclass(frozen=True)
class Ratio:
    value: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.value:.2f}"
        return f"{self.value:.2f} [{self.low:.2f}..{self.high:.2f}]"


def interval(ratios: list[float]) -> tuple[float, float]:
    ordered = sorted(ratios)
    cut = int(len(ordered) * (1 - CONFIDENCE) / 2)
    return ordered[cut], ordered[-1 - cut]


def paired_ratio(above: dict[int, float], below: dict[int, float], seed: int = 1) -> Ratio | None:
    """The ratio of the medians of two series by round. Rounds, in which both ran close to each other, are what is
    drawn again: what slows down a whole round then slows down both."""
    rounds = sorted(above.keys() & below.keys())
    if not rounds:
        return None
    chosen = {"above": [above[r] for r in rounds], "below": [below[r] for r in rounds]}
    value = statistics.median(chosen["above"]) / statistics.median(chosen["below"])
    if len(rounds) < ROUNDS_MIN:
        return Ratio(value)
    draw = random.Random(seed)
    ratios = []
    for _ in range(RESAMPLES):
        again = draw.choices(rounds, k=len(rounds))
        ratios.append(statistics.median(above[r] for r in again) / statistics.median(below[r] for r in again))
    return Ratio(value, *interval(ratios))


def unpaired_ratio(above: list[float], below: list[float], seed: int = 1) -> Ratio | None:
    """The ratio of the medians of two series from different runs."""
    if not above or not below:
        return None
    value = statistics.median(above) / statistics.median(below)
    if min(len(above), len(below)) < ROUNDS_MIN:
        return Ratio(value)
    draw = random.Random(seed)
    ratios = []
    for _ in range(RESAMPLES):
        first = statistics.median(draw.choices(above, k=len(above)))
        second = statistics.median(draw.choices(below, k=len(below)))
        ratios.append(first / second)
    return Ratio(value, *interval(ratios))


def geometric_mean(values: list[float]) -> float:
    return statistics.geometric_mean(values)
