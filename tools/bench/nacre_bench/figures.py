"""Ratios of medians, with bootstrap intervals."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from statistics import median

RESAMPLES = 2000
CONFIDENCE = 0.95
# Fewer rounds give no useful interval.
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


def _with_interval(value: float, rounds: int, drawn_again: Callable[[random.Random], float], seed: int) -> Ratio:
    if rounds < ROUNDS_MIN:
        return Ratio(value)
    draw = random.Random(seed)
    ordered = sorted(drawn_again(draw) for _ in range(RESAMPLES))
    cut = int(len(ordered) * (1 - CONFIDENCE) / 2)
    return Ratio(value, ordered[cut], ordered[-1 - cut])


def paired_ratio(above: dict[int, float], below: dict[int, float], seed: int = 1) -> Ratio | None:
    """The ratio of the medians of two series of one run, by round. Uses the rounds that both series have. The bootstrap
    draws whole rounds: a slowdown of the machine during a round affects both series, so it does not widen the
    interval."""
    rounds = sorted(above.keys() & below.keys())
    if not rounds:
        return None

    def ratio(chosen: list[int]) -> float:
        return median(above[r] for r in chosen) / median(below[r] for r in chosen)

    return _with_interval(ratio(rounds), len(rounds), lambda draw: ratio(draw.choices(rounds, k=len(rounds))), seed)


def unpaired_ratio(above: list[float], below: list[float], seed: int = 1) -> Ratio | None:
    """The ratio of the medians of two series from different runs."""
    if not above or not below:
        return None

    def drawn_again(draw: random.Random) -> float:
        return median(draw.choices(above, k=len(above))) / median(draw.choices(below, k=len(below)))

    return _with_interval(median(above) / median(below), min(len(above), len(below)), drawn_again, seed)
