"""The page of the published experiments, in Markdown."""

from __future__ import annotations

from nacre.text import duration

from . import counts, patterns
from .counts import ALGORITHMS, BY_COST, BY_K, Benchmark
from .patterns import Study
from .points import outcome_of, sections_of

ABOUT = """# The papers' experiments on their machines

`make papers-simulated` wrote this page. nacre-simulate ran Nacre's engine in virtual time on the machines as the
papers describe them. Absolute rates depend on what no paper publishes, such as the speed of a disk. Comments in the
machine files (`tools/bench/nacre_bench/published/machines`) name these figures. None of them was fitted to an order
below. The last columns of the tables of orders show what comes out with other values of them.
"""


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *rows)] + [""]


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def study_text(study: Study) -> list[str]:
    found = study.outcomes()
    rates = {key: one.mib_per_second for key, one in found.items()}
    lines = [f"## {study.title}", "", f"{study.source}. MiB/s by number of aggregators:", ""]
    columns = study.aggregators
    rows = [
        [row, *(f"{rates[row, count]:,.0f}" if (row, count) in rates else "-" for count in columns)]
        for row in study.rows()
    ]
    lines += _table(["", *map(str, study.aggregators)], rows)
    busiest = {
        row: ", ".join(dict.fromkeys(one.bottleneck for (name, _), one in found.items() if name == row))
        for row in study.rows()
    }
    lines += [f"Busiest: {'; '.join(f'{row}: {name}' for row, name in busiest.items())}.", ""]
    variants = [(name, study.rates(changes)) for name, changes in study.variants]
    cost = sections_of(study.machine)["osts"].get("client_cost", 0)
    header = ["published", "here", f"comes out (cost {cost:g})", *(name for name, _ in variants)]
    rows = [
        [
            order.published,
            order.found(rates),
            _yes(order.holds(rates)),
            *(_yes(order.holds(other)) for _, other in variants),
        ]
        for order in study.orders
    ]
    return [*lines, *_table(header, rows)]


def benchmark_rows(benchmark: Benchmark) -> list[list[str]]:
    rows = []
    for algorithm in ALGORITHMS:
        fixed = {count: benchmark.outcome(algorithm, count).seconds for count in benchmark.counts()}
        best = min(fixed, key=fixed.get)
        cells = [algorithm, f"{best} ({duration(fixed[best])})", f"{max(fixed.values()) / fixed[best]:.1f}"]
        for how in (BY_K, BY_COST):
            one = benchmark.outcome(algorithm, how)
            number = one.plan["aggregators"] if one.plan and "aggregators" in one.plan else "-"
            cells.append(f"{number}: {one.seconds / fixed[best]:.2f}")
        rows.append(cells)
    return rows


def counts_text() -> list[str]:
    lines = [
        "## How many aggregators: Shark and Deimos",
        "",
        "Chaarawi & Gabriel, figures 6 to 11. One collective write in place of whole runs; a file of PVFS2 is played as"
        " one of Lustre. *by k*: as the paper's algorithm, from the bytes that saturate a process; *by cost*: Nacre."
        " Both with the ratio of their time to that of the best fixed number (powers of two, and all ranks).",
        "",
    ]
    for benchmark in counts.BENCHMARKS:
        lines += [f"### {benchmark.name} on {benchmark.machine.capitalize()}", ""]
        lines += [f"The paper's algorithm chose {benchmark.published}.", ""]
        header = ["algorithm", "best fixed number", "worst / best", "by k", "by cost"]
        lines += _table(header, benchmark_rows(benchmark))
    return lines


def restarts_text() -> list[str]:
    lines = ["## A restart file of WRF", "", "Markomanolis' slides: 361 GB, 1,216 ranks (here tiles, on 38 nodes).", ""]
    outcomes = [(one, outcome_of(one.point())) for one in counts.RESTARTS]
    rows = [
        [
            one.words,
            f"{one.published_seconds:g} s" if one.published_seconds else "-",
            duration(found.seconds),
            found.bottleneck,
        ]
        for one, found in outcomes
    ]
    lines += _table(["", "published", "here", "busiest"], rows)
    published = counts.RESTARTS[0].published_seconds / counts.RESTARTS[1].published_seconds
    ratio = outcomes[0][1].seconds / outcomes[1][1].seconds
    return [
        *lines,
        f"144 writers to 144 OSTs are {ratio:.0f} times as fast as one to one; published: {published:.0f}.",
        "",
    ]


def page() -> str:
    """Simulates what outcome_of() does not have yet."""
    lines = [ABOUT]
    for study in patterns.STUDIES:
        lines += study_text(study)
    return "\n".join([*lines, *counts_text(), *restarts_text()])
