"""The studies of Dickens & Logan and of Logan & Dickens: which pattern of OSTs is the fastest."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable

from ..units import GIB, MIB
from .points import Outcome, Point, outcome_of
from .statements import FACTOR, Statement, busiest

OWN, AUTOMATIC = "MPI's own", "Nacre without a hint"
# By row and number of aggregators.
Outcomes = dict[tuple[str, int], Outcome]
Rates = dict[tuple[str, int], float]  # MiB/s
Changes = tuple[tuple[str, float], ...]
BY_FAR = 1.25
NODES_MAX = 104  # of a simulation of two-phase: each node takes 100 MB of this computer's memory
WEAK, STRONG = 0.005, 0.05  # costs of a further client at an OST, beside that of the machine file


def rates_of(outcomes: Outcomes) -> Rates:
    return {key: one.mib_per_second for key, one in outcomes.items()}


@dataclasses.dataclass(frozen=True)
class Order:
    """An order that a paper publishes of the rates with some numbers of `aggregators`. `holds`: whether the rates have
    it. `found`: what they have in its place."""

    published: str
    aggregators: tuple[int, ...]
    holds: Callable[[Rates], bool]
    found: Callable[[Rates], str]


@dataclasses.dataclass(frozen=True)
class Variant:
    """Other values of figures that no paper gives: does an order depend on them? `without`: what the machine then
    lacks; "" if it only has other values."""

    name: str
    changes: Changes
    without: str = ""


@dataclasses.dataclass(frozen=True)
class Study:
    """One figure. Each aggregator is a rank on a node of its own; the data of a rank are in place, as in the papers."""

    title: str
    source: str
    machine: str
    osts: int
    bytes: int
    aggregators: tuple[int, ...]
    patterns: tuple[int, ...]
    orders: tuple[Order, ...]
    variants: tuple[Variant, ...]
    unsaid: str
    note: str = ""

    def point(self, row: str, aggregators: int) -> Point:
        hints = [("striping_factor", str(self.osts)), ("striping_unit", str(MIB))]
        if row != AUTOMATIC:
            hints.append(("nacre_algorithm", "direct"))
        workload, block = ("interleaved", int(row.split("-")[0]) * MIB) if row.endswith("-OST") else ("pieces", 0)
        return Point(self.machine, aggregators, 1, self.bytes, workload, block, tuple(hints))

    def rows(self) -> list[str]:
        return [*(f"{count}-OST" for count in self.patterns), OWN, AUTOMATIC]

    def points(self, variant: Variant | None = None) -> dict[tuple[str, int], Point]:
        """Of a variant those that the orders compare. Nacre's choice, about which the papers say nothing, is shown
        without variants and on at most NODES_MAX nodes."""
        compared = {count for order in self.orders for count in order.aggregators}
        keys = [(row, count) for row in self.rows() for count in self.aggregators]
        if variant:
            return {
                (row, count): self.point(row, count).changed(variant.changes)
                for row, count in keys
                if row != AUTOMATIC and count in compared
            }
        shown = [(row, count) for row, count in keys if row != AUTOMATIC or count <= NODES_MAX]
        return {(row, count): self.point(row, count) for row, count in shown}

    def outcomes(self, variant: Variant | None = None) -> Outcomes:
        return {key: outcome_of(point) for key, point in self.points(variant).items()}

    def statements(self) -> list[Statement]:
        outcomes = self.outcomes()
        of_variants = {one: rates_of(self.outcomes(one)) for one in self.variants}
        return [self._statement(order, outcomes, of_variants) for order in self.orders]

    def _statement(self, order: Order, outcomes: Outcomes, of_variants: dict[Variant, Rates]) -> Statement:
        rates = rates_of(outcomes)
        holds = order.holds(rates)
        found = order.found(rates)
        return Statement(self.title, order.published, found, holds, made_by(order, outcomes, of_variants), self.unsaid)


def made_by(order: Order, outcomes: Outcomes, of_variants: dict[Variant, Rates]) -> str:
    """What an order vanishes without, or with what it comes out; and what is busy."""
    compared = {key: one for key, one in outcomes.items() if key[1] in order.aggregators and key[0] != AUTOMATIC}
    if order.holds(rates_of(outcomes)):
        causes = [one.without for one, rates in of_variants.items() if one.without and not order.holds(rates)]
    else:
        causes = [f"comes out with: {one.name}" for one, rates in of_variants.items() if order.holds(rates)]
    return "; ".join([*causes, busiest(compared.values())])


def points() -> list[Point]:
    return [
        point for study in STUDIES for variant in (None, *study.variants) for point in study.points(variant).values()
    ]


def _of_patterns(rates: Rates, aggregators: int) -> dict[str, float]:
    return {row: rate for (row, count), rate in rates.items() if count == aggregators and row.endswith("-OST")}


def _with_own(rates: Rates, aggregators: int) -> dict[str, float]:
    return {**_of_patterns(rates, aggregators), OWN: rates[OWN, aggregators]}


def _fastest(rates: Rates, aggregators: int) -> str:
    found = _of_patterns(rates, aggregators)
    return max(found, key=found.get)


def _best(rates: Rates, aggregators: int) -> float:
    return max(_of_patterns(rates, aggregators).values())


def _slowest(rates: Rates, aggregators: int, count: int) -> list[str]:
    found = _with_own(rates, aggregators)
    return sorted(found, key=found.get)[:count]


def _by_count(words: dict[int, str]) -> str:
    """Each text once, with its numbers of aggregators."""
    counts = {text: [str(count) for count, one in words.items() if one == text] for text in words.values()}
    return "; ".join(f"{text} ({', '.join(of_text)})" for text, of_text in counts.items())


def fastest_is(row: str, aggregators: tuple[int, ...], published: str, by: float = 1.0) -> Order:
    def holds(rates: Rates) -> bool:
        def ahead(count: int) -> bool:
            others = [rate for name, rate in _of_patterns(rates, count).items() if name != row]
            return rates[row, count] > by * max(others)

        return all(ahead(count) for count in aggregators)

    def found(rates: Rates) -> str:
        return _by_count({count: _fastest(rates, count) for count in aggregators})

    return Order(published, aggregators, holds, found)


def others_are_fastest(rows: set[str], aggregators: int, published: str) -> Order:
    return Order(
        published,
        (aggregators,),
        lambda rates: _fastest(rates, aggregators) not in rows,
        lambda rates: f"{_fastest(rates, aggregators)} is the fastest",
    )


def slowest_are(rows: set[str], aggregators: tuple[int, ...], published: str) -> Order:
    def holds(rates: Rates, count: int) -> bool:
        found = _with_own(rates, count)
        return max(found[row] for row in rows) < min(rate for row, rate in found.items() if row not in rows)

    return Order(
        published,
        aggregators,
        lambda rates: all(holds(rates, count) for count in aggregators),
        lambda rates: _by_count({count: ", ".join(_slowest(rates, count, len(rows))) for count in aggregators}),
    )


def times_as_fast(row: str, aggregators: int, factor: float) -> Order:
    def ratio(rates: Rates) -> float:
        return rates[row, aggregators] / rates[OWN, aggregators]

    return Order(
        f"{row} is {factor:g} times as fast as {OWN} ({aggregators} aggregators)",
        (aggregators,),
        lambda rates: ratio(rates) > max(BY_FAR, factor / FACTOR),
        lambda rates: f"{ratio(rates):.1f} times",
    )


def _difference(rates: Rates, aggregators: int) -> float:
    """The rate of the fastest pattern divided by that of the slowest."""
    return _best(rates, aggregators) / min(_of_patterns(rates, aggregators).values())


def _falls(rates: Rates, counts: tuple[int, ...]) -> bool:
    best = [_best(rates, count) for count in counts]
    return all(after < before for before, after in itertools.pairwise(best))


OSTS_ALONE = Variant("no cost of further clients", (("osts.client_cost", 0.0),), "cost of further clients at an OST")
ALL_ALONE = Variant(
    "no cost of further clients",
    (("osts.client_cost", 0.0), ("uplinks.client_cost", 0.0)),
    "cost of further clients at OSTs and uplink",
)


def _cost(cost: float) -> Variant:
    return Variant(f"cost {cost:g}", (("osts.client_cost", cost),))


def _ranger(osts: int, factor: float) -> Study:
    return Study(
        f"Ranger, a file of 50 GB on {osts} OSTs",
        "Logan & Dickens, figure 8",
        "ranger",
        osts,
        50 * GIB,
        (50, 100, 150, 200, 600),
        (1, 2, 4, 8, 16, 32),
        (
            fastest_is("1-OST", (osts,), "1-OST is the fastest with as many aggregators as OSTs"),
            times_as_fast("1-OST", osts, factor),
            slowest_are({"16-OST", "32-OST", OWN}, (osts,), "16-OST, 32-OST and MPI's own are the slowest"),
        ),
        (OSTS_ALONE, _cost(WEAK), _cost(STRONG)),
        "cost of multiplexing, speed of an OST",
        "The paper has 50 to 200 writers. 600, a multiple of the OSTs of all three files, are an extrapolation.",
    )


STUDIES = (
    *(_ranger(osts, factor) for osts, factor in ((50, 2), (100, 5), (150, 5))),
    Study(
        "Big Red, a file of 13 GB on 52 OSTs",
        "Dickens & Logan, figure 9; Logan & Dickens, figure 7",
        "big-red",
        52,
        13 * GIB,
        (13, 26, 52, 104),
        (1, 2, 4, 8, 16),
        (
            fastest_is("2-OST", (13, 26, 52, 104), "2-OST is the fastest"),
            slowest_are({"16-OST", OWN}, (13, 26, 52, 104), "16-OST and MPI's own are the slowest"),
        ),
        (OSTS_ALONE, _cost(STRONG), Variant("a request takes 60 ms", (("osts.latency_us", 60_000),))),
        'why a second OST helped ("architectural issue"), cost of multiplexing, speed of an OST',
    ),
    Study(
        "Tungsten, a file of 8 GB on 32 OSTs",
        "Dickens & Logan, figure 10",
        "tungsten",
        32,
        8 * GIB,
        (8, 16, 32, 64, 128, 256),
        (1, 2, 4, 8, 16, 32),
        (
            fastest_is("1-OST", (32,), "1-OST with 32 aggregators is the fastest by far", BY_FAR),
            slowest_are({OWN}, (32,), "MPI's own is the slowest with 32 aggregators"),
            Order(
                "the best pattern gets slower from 32 to 64, 128 and 256 aggregators",
                (32, 64, 128, 256),
                lambda rates: _falls(rates, (32, 64, 128, 256)),
                lambda rates: ", ".join(f"{_best(rates, count):,.0f} ({count})" for count in (32, 64, 128, 256)),
            ),
            fastest_is("2-OST", (64,), "2-OST is the fastest with 64 aggregators"),
            others_are_fastest({"1-OST", "2-OST"}, 128, "patterns of more OSTs begin to be the fastest with 128"),
            Order(
                "little difference between patterns with 256 aggregators",
                (256,),
                lambda rates: _difference(rates, 256) < BY_FAR,
                lambda rates: f"{_difference(rates, 256):.2f} times",
            ),
        ),
        (ALL_ALONE, _cost(STRONG)),
        "cost of multiplexing at OSTs and at the uplink, links of the nodes",
        "Tungsten had 104 OSTs on two mount points. The partition that was used had 54 of them, and a file 32.",
    ),
)
