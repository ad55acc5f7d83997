"""What a tune has found, as tables and sentences. summary.py prints them, report_page.py puts them beside drawings."""

from __future__ import annotations

import dataclasses

from nacre.advice import run_with
from nacre.text import amount
from nacre.tune import comparison, figures, patterns, plan
from nacre.tune.comparison import Comparison
from nacre.tune.patterns import Search, Setting
from nacre.tune.samples import Figure, Samples

UNKNOWN = "-"
DIRECTIONS = {True: "writes", False: "reads"}


@dataclasses.dataclass
class Result:
    """`testbed`: its directory; empty on other file systems."""

    samples: Samples
    where: plan.Place
    found: figures.Findings
    search: Search
    comparison: Comparison
    testbed: str = ""


@dataclasses.dataclass
class Table:
    columns: list[str]
    rows: list[list[str]]


def rate_text(figure: Figure | None) -> str:
    return f"{amount(figure.value)}/s" if figure else UNKNOWN


def figure_table(result: Result) -> Table:
    rows = []
    for name, figure in result.found.figures.items():
        value = f"{figure.value:.4g}"
        if name.endswith(("bandwidth", "saturation")):
            value = amount(figure.value) + ("/s" if name.endswith("bandwidth") else "")
        rows.append([name, value, f"{figure.spread:.0%}"])
    return Table(["figure", "value", "+-"], rows)


def call_curves(result: Result) -> dict[str, dict[int, Figure]]:
    """Bytes per second by size of call, of one process and of all ranks of a node."""
    curves = {}
    for ranks in dict.fromkeys((1, result.where.ranks_per_node)):
        who = "one process" if ranks == 1 else f"{ranks} processes of a node"
        for write, direction in DIRECTIONS.items():
            curves[f"{direction}, {who}"] = figures.call_curve(result.samples, result.where, write, ranks)
    return {name: curve for name, curve in curves.items() if curve}


def call_table(result: Result) -> Table:
    curves = call_curves(result)
    sizes = sorted({size for curve in curves.values() for size in curve})
    rows = [[amount(size), *(rate_text(curve.get(size)) for curve in curves.values())] for size in sizes]
    return Table(["size of call", *curves], rows)


def sharing_curve(result: Result) -> dict[int, Figure]:
    """Bytes per second of one OST by nodes."""
    rates = {
        nodes: figures.load_rate(result.samples, result.where, plan.ost_word(result.where, nodes))
        for nodes in plan.doublings(result.where.nodes)
    }
    return {nodes: rate for nodes, rate in rates.items() if rate}


def sharing_table(result: Result) -> Table:
    rows = [
        [str(nodes), rate_text(rate), f"{plan.MIB / rate.value * 1e3:.1f} ms", f"{rate.spread:.0%}"]
        for nodes, rate in sharing_curve(result).items()
    ]
    return Table(["nodes on one OST", "together", "time of a MiB", "+-"], rows)


def adding_curves(result: Result) -> dict[str, dict[int, Figure]]:
    """Bytes per second by number of OSTs."""
    where = result.where
    one = {osts: plan.ost_word(where, 1, osts) for osts in plan.doublings(where.osts)}
    each = {osts: plan.ost_word(where, osts, step=1) for osts in plan.adding_counts(where)}
    curves = {"one node": one, "a node for each OST": each}
    rates = {
        name: {osts: rate for osts, word in words.items() if (rate := figures.load_rate(result.samples, where, word))}
        for name, words in curves.items()
    }
    return {name: curve for name, curve in rates.items() if curve}


def adding_table(result: Result) -> Table:
    curves = adding_curves(result)
    counts = sorted({osts for curve in curves.values() for osts in curve})
    return Table(
        ["OSTs", *curves], [[str(osts), *(rate_text(curve.get(osts)) for curve in curves.values())] for osts in counts]
    )


def setting_rate(result: Result, setting: Setting, write: bool) -> Figure | None:
    return patterns.rate(result.samples, result.where, setting, write)


def setting_table(result: Result) -> Table:
    """All settings of the search, those first that were measured to the end, then the fastest."""
    rows = []
    for setting in result.search.all:
        rates = [setting_rate(result, setting, write) for write in DIRECTIONS]
        if not any(rates):
            continue
        last = setting in result.search.finalists
        order = (not last, -sum(rate.value for rate in rates if rate))
        rows.append((order, [setting.label, *map(rate_text, rates), "to the end" if last else "left out"]))
    return Table(
        ["setting", *DIRECTIONS.values(), "compared"], [row for _, row in sorted(rows, key=lambda row: row[0])]
    )


def comparison_table(result: Result) -> Table:
    compared = result.comparison
    names = [one.name for one in compared.contenders(True)]
    rows = []
    for case, piece in comparison.CASES.items():
        for write, direction in DIRECTIONS.items():
            rates = compared.rates(result.samples, piece, write)
            if rates:
                rows.append([f"{direction}, {case}", *(rate_text(rates.get(name)) for name in names)])
    return Table(["collective calls", *names], rows)


def best_sentences(result: Result) -> list[str]:
    """The best setting for writes and for reads, with its margin over the runner-up."""
    found = []
    for write, direction in DIRECTIONS.items():
        order = result.search.best(result.samples, result.where, write)
        if not order:
            continue
        best = setting_rate(result, order[0], write)
        text = f"Fastest {direction}: {order[0].label}: {rate_text(best)}"
        if len(order) > 1:
            second = setting_rate(result, order[1], write)
            margin, noise = best.value / second.value - 1, best.spread + second.spread
            unsure = ", which is within their spread" if margin < noise else ""
            text += f"; {margin:.0%} above {order[1].label}{unsure}"
        found.append(text + ".")
    if not found and result.where.osts:
        found.append("No pattern was searched: no time was left, or there is only one OST or rank.")
    return found


def best_hints(result: Result) -> dict[str, dict[str, int | str]]:
    """By direction: the hints that force the best setting, on a new file like that of the search."""
    file = {"striping_factor": plan.collective_stripes(result.where), "striping_unit": result.where.stripe_size}
    best = {direction: result.comparison.best[write] for write, direction in DIRECTIONS.items()}
    return {direction: {**file, **setting.hints()} for direction, setting in best.items() if setting}


def hint_sentences(result: Result) -> list[str]:
    """The commands that force the best settings."""
    commands: dict[str, list[str]] = {}
    for direction, hints in best_hints(result).items():
        command = run_with(*(f"{name}={value}" for name, value in hints.items()), testbed=result.testbed)
        commands.setdefault(command, []).append(direction)
    found = [f"To force the fastest {' and '.join(directions)}: {command}" for command, directions in commands.items()]
    if len(commands) > 1:
        found.append("Each of these commands sets the plan of writes and of reads.")
    return found


def change_sentences(result: Result) -> list[str]:
    """How many times as fast Nacre with this machine file is as each other contender."""
    found = []
    for case, piece in comparison.CASES.items():
        for write, direction in DIRECTIONS.items():
            rates = result.comparison.rates(result.samples, piece, write)
            ours = rates.pop(comparison.BY_FILE, None)
            if ours and rates:
                ratios = [f"{ours.value / rate.value:.2f} times {name}" for name, rate in rates.items()]
                found.append(
                    f"Collective {direction}, {case}: {comparison.BY_FILE} reaches {rate_text(ours)}, "
                    f"{', '.join(ratios)}."
                )
    return found
