"""What Chaarawi & Gabriel and Markomanolis' slides say of the numbers of aggregators, and what comes out."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterable

from ..units import MIB
from .counts import ALGORITHMS, BENCHMARKS, BY_COST, BY_K, RESTARTS, SATURATION, SEGMENTATION, TWO_PHASE, Benchmark
from .points import outcome_of
from .statements import Statement, busiest, near

BEST, CLOSE = 1.10, 1.25  # the paper's classes: times the time of the best number
PUBLISHED_CASES, PUBLISHED_BEST, PUBLISHED_CLOSE = 134, 88, 110
PUBLISHED_TWO_PHASE, PUBLISHED_AHEAD, PUBLISHED_ADVANTAGE = 45, 29, 0.41


@dataclasses.dataclass(frozen=True)
class Claim:
    """What the paper says of figures: that a number of aggregators is `at_most` so many times as slow as the best, or
    `at_least`, in more than a `share` of the cases. `count`: that number; None: the choice by k."""

    published: str
    benchmarks: tuple[Benchmark, ...]
    algorithms: tuple[str, ...]
    count: int | None = None
    at_most: float = math.inf
    at_least: float = 0
    share: float = 0.99

    def ratios(self) -> list[float]:
        how = BY_K if self.count is None else self.count
        return [one.ratio(algorithm, how) for one in self.benchmarks for algorithm in self.algorithms]

    def statement(self) -> Statement:
        ratios = self.ratios()
        holding = sum(self.at_least <= ratio <= self.at_most for ratio in ratios)
        found = f"{_range(ratios)} times the time of the best"
        holds = holding > self.share * len(ratios)
        return Statement(_title(self.benchmarks), self.published, found, holds, self._made_by(), UNSAID)

    def _made_by(self) -> str:
        """What is busy with the fewest and with the most aggregators."""
        counts = self.benchmarks[0].counts()
        of_counts = {
            count: busiest(one.outcome(algorithm, count) for one in self.benchmarks for algorithm in self.algorithms)
            for count in (counts[0], counts[-1])
        }
        return ", ".join(f"{words} with {count}" for count, words in of_counts.items())


UNSAID = "ranks of a node, fixed numbers that were tried, speed of disks"
FIGURES = {
    ("Tile-IO", "shark"): 6,
    ("Tile-IO", "deimos"): 7,
    ("Latency-IO", "shark"): 8,
    ("Latency-IO", "deimos"): 9,
    ("BT-IO", "shark"): 10,
    ("BT-IO", "deimos"): 11,
}


def _range(ratios: list[float]) -> str:
    ends = [f"{ratio:.2f}" for ratio in (min(ratios), max(ratios))]
    return " to ".join(dict.fromkeys(ends))


def _of(machine: str, kind: str) -> tuple[Benchmark, ...]:
    return tuple(one for one in BENCHMARKS if one.machine == machine and one.kind == kind)


def _title(benchmarks: tuple[Benchmark, ...]) -> str:
    one = benchmarks[0]
    return f"{one.kind} on {one.machine.capitalize()} (figure {FIGURES[one.kind, one.machine]})"


def _chosen(benchmarks: tuple[Benchmark, ...], published: tuple[int, ...]) -> Statement:
    """The numbers that the paper's algorithm chooses, against those by k."""
    found = {algorithm: [one.chosen(algorithm, BY_K) for one in benchmarks] for algorithm in ALGORITHMS}
    pairs = [pair for numbers in found.values() for pair in zip(numbers, published, strict=True)]
    return Statement(
        _title(benchmarks),
        f"chooses {_words(published)} aggregators",
        f"{_words(found[SEGMENTATION[0]])} in segmentation, {_words(found[TWO_PHASE[0]])} in two-phase",
        all(number and near(number, want) for number, want in pairs),
        f"k, {SATURATION[benchmarks[0].machine] // MIB} MiB, and the bytes of a call",
        "how k is rounded to groups of ranks",
    )


def _words(numbers: Iterable[int | None]) -> str:
    return " and ".join(dict.fromkeys(str(number or "no") for number in numbers))


def statements() -> list[Statement]:
    return [*_of_shark(), *_of_deimos(), *_summary(), _restart()]


def _of_shark() -> list[Statement]:
    tiles, latency, bt = (_of("shark", kind) for kind in ("Tile-IO", "Latency-IO", "BT-IO"))
    return [
        _chosen(tiles, (81, 81, 81)),
        Claim("all ranks are the best or close to it", tiles, ALGORITHMS, 81, CLOSE).statement(),
        _chosen(latency, (32, 32)),
        Claim("32 are in most cases close to the best", latency, ALGORITHMS, 32, CLOSE, share=1 / 2).statement(),
        _chosen(bt, (2, 3)),
        Claim("the choice is very suited", bt, ALGORITHMS, None, CLOSE).statement(),
        Claim("many aggregators are very slow with segmentation", bt, SEGMENTATION, 36, at_least=2).statement(),
    ]


def _of_deimos() -> list[Statement]:
    tiles, latency, bt = (_of("deimos", kind) for kind in ("Tile-IO", "Latency-IO", "BT-IO"))
    small, large = tiles[:1], tiles[1:]
    slow = "8 are not efficient for segments of 2 MiB with segmentation"
    return [
        _chosen(tiles, (144, 144, 144)),
        Claim("all ranks are the best for large elements", large, ALGORITHMS, 144, BEST).statement(),
        Claim("all ranks are the best for elements of 64 B in two-phase", small, TWO_PHASE, 144, BEST).statement(),
        Claim("but not in segmentation", small, SEGMENTATION, 144, at_least=BEST).statement(),
        _chosen(latency, (8, 8)),
        Claim("8 are good for segments of 64 KiB", latency[:1], ALGORITHMS, 8, CLOSE).statement(),
        Claim(slow, latency[1:], SEGMENTATION, 8, at_least=CLOSE).statement(),
        Claim("but 64 are much better", latency[1:], SEGMENTATION, 64, CLOSE).statement(),
        _chosen(bt, (1, 2)),
        Claim("the choice is close to the best in two-phase", bt, TWO_PHASE, None, CLOSE).statement(),
        Claim("but not efficient in segmentation", bt, SEGMENTATION, None, at_least=CLOSE).statement(),
    ]


def cases_within(how: str, times: float) -> int:
    return sum(one.ratio(algorithm, how) <= times for one in BENCHMARKS for algorithm in ALGORITHMS)


def case_count() -> int:
    return len(BENCHMARKS) * len(ALGORITHMS)


def _summary() -> list[Statement]:
    title, cases = "All cases of Shark and Deimos", case_count()
    found = []
    for words, times, published in (("10 %", BEST, PUBLISHED_BEST), ("25 %", CLOSE, PUBLISHED_CLOSE)):
        share = published / PUBLISHED_CASES
        ours = {how: cases_within(how, times) for how in (BY_K, BY_COST)}
        found.append(
            Statement(
                title,
                f"{published} of {PUBLISHED_CASES} choices ({share:.0%}) are within {words} of the best",
                "; ".join(f"{how} {count} of {cases} ({count / cases:.0%})" for how, count in ours.items()),
                ours[BY_K] / cases >= share,
                "see the tables",
                f"the other {PUBLISHED_CASES - cases} cases",
            )
        )
    return [*found, _against_a_node(title)]


def _against_a_node(title: str) -> Statement:
    """Two-phase with as many aggregators as nodes, which the paper measured with ROMIO, against the choice by k."""
    ahead = [one.ratio(*TWO_PHASE, one.nodes) / one.ratio(*TWO_PHASE, BY_K) for one in BENCHMARKS]
    faster = sum(times > 1 for times in ahead)
    return Statement(
        title,
        f"two-phase is faster than with an aggregator a node in {PUBLISHED_AHEAD} of {PUBLISHED_TWO_PHASE} cases"
        f" ({PUBLISHED_AHEAD / PUBLISHED_TWO_PHASE:.0%}), by {PUBLISHED_ADVANTAGE:.0%} on average",
        f"by k in {faster} of {len(ahead)} ({faster / len(ahead):.0%}), on average {statistics.mean(ahead) - 1:+.0%}",
        faster / len(ahead) > 1 / 2,
        "see the tables",
        "ranks of a node; the one aggregator a node was ROMIO's, not Open MPI's",
    )


def _restart() -> Statement:
    slow, fast = RESTARTS[:2]
    outcomes = [outcome_of(one.point()) for one in (slow, fast)]
    ratio = outcomes[0].seconds / outcomes[1].seconds
    published = slow.published_seconds / fast.published_seconds
    return Statement(
        "Restart file of WRF",
        f"144 writers to 144 OSTs are {published:.0f} times as fast as 1 writer to 1 OST",
        f"{ratio:.0f} times",
        near(ratio, published),
        busiest(outcomes),
        "speed of the machine, accesses of the ranks",
    )
