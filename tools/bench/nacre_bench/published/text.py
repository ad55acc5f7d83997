"""The page of the published experiments, in Markdown."""

from __future__ import annotations

from nacre.text import duration

from . import claims, counts, opal, patterns
from .claims import BEST, CLOSE
from .counts import ALGORITHMS, BY_COST, BY_K, TWO_PHASE, Benchmark
from .opal import ALL, PROFILED
from .origins import assumptions, free_of_charge, names, sections_of
from .patterns import Study, rates_of
from .points import outcome_of
from .statements import FACTOR, HEADER, Statement, busiest

ABOUT = """# The papers' experiments on their machines

`make papers-simulated` wrote this page. nacre-simulate ran Nacre's engine in virtual time on the machines as the
papers describe them (`tools/bench/nacre_bench/published/machines`). Absolute rates depend on figures that no paper
publishes, such as the speed of a disk: they are [at the end of this page](#figures-that-no-paper-gives). None of them
was fitted to an order below. The tables of orders show what comes out with other values of them.
"""
PHASES = {
    "views": "exchange of views",
    "messages": "messages",
    "wait": "waiting",
    "file": "file access",
    "file_wait": "waiting for file access",
    "agreement": "agreement",
}


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *rows)] + [""]


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def all_statements() -> list[Statement]:
    of_studies = [one for study in patterns.STUDIES for one in study.statements()]
    return [*of_studies, *claims.statements(), *opal.statements()]


def statements_text() -> list[str]:
    found = all_statements()
    decided = [one for one in found if one.comes_out is not None]
    lines = ["## What the papers say, and what comes out", ""]
    lines += [
        f"{sum(one.comes_out for one in decided)} of {len(decided)} statements come out. Of"
        f" {len(found) - len(decided)} more, the paper does not say enough to compare. A number, or how many times as"
        f" fast, comes out if it is at most {FACTOR} times the published one, or the other way round; the"
        f" *best* is within {BEST - 1:.0%} of the fastest time, *close* within {CLOSE - 1:.0%}.",
        "",
    ]
    return [*lines, *_table(HEADER, [one.cells() for one in found])]


def study_text(study: Study) -> list[str]:
    found = study.outcomes()
    rates = rates_of(found)
    lines = [
        f"## {study.title}",
        "",
        f"{study.source}. {study.note}".strip(),
        "",
        "MiB/s by number of aggregators:",
        "",
    ]
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
    variants = [(one.name, rates_of(study.outcomes(one))) for one in study.variants]
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
        fixed = benchmark.seconds(algorithm)
        best = min(fixed, key=fixed.get)
        cells = [algorithm, f"{best} ({duration(fixed[best])})", f"{max(fixed.values()) / fixed[best]:.1f}"]
        cells += [f"{benchmark.chosen(algorithm, how) or '-'}: {benchmark.ratio(algorithm, how):.2f}" for how in HOWS]
        a_node = (algorithm,) == TWO_PHASE
        cells.append(f"{benchmark.nodes}: {benchmark.ratio(algorithm, benchmark.nodes):.2f}" if a_node else "-")
        rows.append([*cells, ", ".join(_busy(benchmark, algorithm))])
    return rows


HOWS = (BY_K, BY_COST)


def _busy(benchmark: Benchmark, algorithm: str) -> list[str]:
    """The busiest resource by fixed number of aggregators, where it differs from that of the number before."""
    found: list[str] = []
    before = ""
    for count in benchmark.counts():
        bottleneck = benchmark.outcome(algorithm, count).bottleneck
        if bottleneck != before:
            found.append(f"{bottleneck} ({count})")
        before = bottleneck
    return found


def counts_text() -> list[str]:
    lines = [
        "## How many aggregators: Shark and Deimos",
        "",
        "Chaarawi & Gabriel, figures 6 to 11. One collective write in place of whole runs; a file of PVFS2 is played as"
        " one of Lustre. *by k*: as the paper's algorithm, from the bytes that saturate a process; *by cost*: Nacre;"
        " *a node*: one aggregator on each node. All with the ratio of their time to that of the best fixed number"
        " (powers of two, in Tile-IO of four, and all ranks). *busiest*: the resource, from that number of aggregators"
        " on.",
        "",
    ]
    for benchmark in counts.BENCHMARKS:
        lines += [f"### {benchmark.name} on {benchmark.machine.capitalize()}", ""]
        lines += [f"The paper's algorithm chose {benchmark.published}.", ""]
        header = ["algorithm", "best fixed number", "worst / best", *HOWS, "a node", "busiest"]
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
    return [*lines, *_table(["", "published", "here", "busiest"], rows)]


def opal_text() -> list[str]:
    lines = [
        "## OPAL on Jaguar",
        "",
        f"Yu, Vetter & Canon, figures 3 to 8: a file on {opal.STRIPES} OSTs. The paper compares two MPI libraries on"
        " one machine; its text has neither rates nor the calls. *own*: two-phase as in the MPI of both libraries, with"
        " all processes as aggregators, ranges that end at stripes, and rounds of 4 MiB that are written before more is"
        " exchanged.",
        "",
    ]
    rows = []
    for run in opal.RUNS:
        for how in opal.hows(run):
            found = run.outcomes(how)
            own = "own" if run.collective else "-"
            rows.append([run.words, run.figure, own if how == ALL else how, opal.rates(found), busiest(found.values())])
    lines += _table(["program", "figure", "how", "rates (processes)", "busiest"], rows)
    lines += [
        f"The time of collective writes by phase, of all {PROFILED} processes (figure 5; published: synchronization"
        f" {opal.PUBLISHED_SHARE:.0%}). Synchronization is waiting and agreement:",
        "",
    ]
    rows = [
        [run.words, str(PROFILED if how == ALL else how)]
        + [f"{run.outcome(PROFILED, how).share((phase,)):.0%}" for phase in PHASES]
        + [f"{share:.0%}"]
        for run in opal.PROFILES
        for how, share in opal.shares(run).items()
    ]
    return [*lines, *_table(["program", "aggregators", *PHASES.values(), "synchronization"], rows)]


def assumptions_text() -> list[str]:
    lines = ["## Figures that no paper gives", ""]
    rows = [[machine, f"`{one.name}`", f"{one.value}", one.why] for machine in names() for one in assumptions(machine)]
    lines += _table(["machine", "figure", "here", "why"], rows)
    lines += ["", "What a machine file does not name takes no time:", ""]
    free = [[machine, ", ".join(f"`{name}`" for name in free_of_charge(machine))] for machine in names()]
    return [*lines, *_table(["machine", "takes no time"], free)]


def page() -> str:
    """Simulates what outcome_of() does not have yet."""
    lines = [ABOUT, *statements_text()]
    for study in patterns.STUDIES:
        lines += study_text(study)
    return "\n".join([*lines, *counts_text(), *restarts_text(), *opal_text(), *assumptions_text()])
