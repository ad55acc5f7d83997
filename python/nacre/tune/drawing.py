"""Draws what a tune has found, as SVG. Only this module needs matplotlib.

Lines and letters have the colour of the text around them (currentColor), so that a drawing suits light and dark pages.
Series differ in markers and hatches too, so that they can be told apart on paper.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

from nacre.text import amount
from nacre.tune import comparison, plan, result
from nacre.tune.result import DIRECTIONS, Result
from nacre.tune.samples import Figure

# Visible on white and on black.
COLOURS = ("#3b82d0", "#d9812b", "#3a9d6b", "#a667c4", "#c94f5d", "#7d8590")
MARKERS, HATCHES = "osD^vx", ("", "///", "...", "xx")
TEXT_COLOUR = "#010203"  # stands for currentColor in what matplotlib draws
STYLE = {
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "hatch.linewidth": 0.6,
    "legend.framealpha": 0,
    **{
        f"{what}color": TEXT_COLOUR
        for what in ("text.", "axes.edge", "axes.label", "xtick.", "ytick.", "grid.", "hatch.")
    },
}


class Missing(Exception):
    """matplotlib cannot be imported; the text says why."""


def draw(found: Result) -> dict[str, str]:
    """The text of each drawing by name; drawings of what was not measured are left out."""
    try:
        import matplotlib
        from matplotlib import pyplot
    except ImportError as error:
        raise Missing(str(error)) from error
    matplotlib.use("Agg")
    texts = {}
    for name, (panels, is_measured, paint) in DRAWINGS.items():
        if not is_measured(found):
            continue
        with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):
            figure, axes = pyplot.subplots(1, panels, figsize=(8, 3.6), layout="constrained")
            paint(found, axes)
            out = io.StringIO()
            figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
            pyplot.close(figure)
            texts[name] = _adapted(out.getvalue(), name)
    return texts


def _adapted(svg: str, name: str) -> str:
    """Without the prolog; with the colour of the text around it; with names that are unique on a page."""
    svg = svg[svg.index("<svg") :].replace(TEXT_COLOUR, "currentColor")
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)


def _curve(axes: Any, number: int, label: str, curve: dict[int, Figure]) -> None:
    axes.errorbar(
        list(curve),
        [rate.value / plan.MIB for rate in curve.values()],
        yerr=[rate.value * rate.spread / plan.MIB for rate in curve.values()],
        label=label,
        color=COLOURS[number % len(COLOURS)],
        marker=MARKERS[number % len(MARKERS)],
        linestyle="-" if number % 2 == 0 else "--",
        markersize=4,
        linewidth=1.2,
        capsize=2,
    )


def _calls(found: Result, axes: Any) -> None:
    for number, (label, curve) in enumerate(result.call_curves(found).items()):
        _curve(axes, number, label, curve)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    sizes = sorted({size for curve in result.call_curves(found).values() for size in curve})[::2]
    axes.set_xticks(sizes, [amount(size) for size in sizes], rotation=30)
    for number, direction in enumerate(("write", "read")):
        k = found.found.figures.get(f"clients.{direction}_saturation")
        if k:
            axes.axvline(k.value, color=COLOURS[number], linestyle=":", label=f"k of {direction}s: {amount(k.value)}")
    axes.set_xlabel("size of a call")
    axes.set_ylabel("MiB/s")
    axes.legend(fontsize=8)


def _osts(found: Result, axes: Any) -> None:
    sharing, adding = axes
    curve = result.sharing_curve(found)
    times = {nodes: plan.MIB / rate.value * 1e3 for nodes, rate in curve.items()}
    sharing.plot(list(times), list(times.values()), "o", color=COLOURS[0], label="measured")
    figures = found.found.figures
    if "osts.bandwidth" in figures and "osts.client_cost" in figures:
        bandwidth, cost = figures["osts.bandwidth"].value, figures["osts.client_cost"].value
        line = [plan.MIB / bandwidth * 1e3 * (1 + cost * (nodes - 1)) for nodes in times]
        sharing.plot(list(times), line, "--", color=COLOURS[1], label=f"client_cost {cost:.3g}")
    sharing.set_ylim(bottom=0)
    sharing.set_xlabel("nodes that write to one OST")
    sharing.set_ylabel("time of a MiB, ms")
    sharing.legend(fontsize=8)
    for number, (label, rates) in enumerate(result.adding_curves(found).items()):
        _curve(adding, number, label, rates)
    adding.set_xlabel("OSTs")
    adding.set_ylabel("MiB/s")
    adding.set_ylim(bottom=0)
    adding.legend(fontsize=8)


def _bars(axes: Any, groups: list[str], series: dict[str, list[Figure | None]]) -> None:
    width = 0.8 / len(series)
    for number, (label, rates) in enumerate(series.items()):
        places = [group + (number - (len(series) - 1) / 2) * width for group in range(len(groups))]
        heights = [rate.value / plan.MIB if rate else 0 for rate in rates]
        noise = [rate.value * rate.spread / plan.MIB if rate else 0 for rate in rates]
        look = {"color": COLOURS[number], "hatch": HATCHES[number % len(HATCHES)], "edgecolor": TEXT_COLOUR}
        axes.bar(places, heights, width, yerr=noise, label=label, ecolor=TEXT_COLOUR, linewidth=0.5, **look)
    axes.set_xticks(range(len(groups)), groups, rotation=25, ha="right", rotation_mode="anchor")
    axes.grid(axis="x", visible=False)
    axes.set_ylabel("MiB/s")


def _patterns(found: Result, axes: Any) -> None:
    by_pattern, by_count = axes
    settings = found.search.patterns
    series = {
        name: [result.setting_rate(found, setting, write) for setting in settings] for write, name in DIRECTIONS.items()
    }
    _bars(by_pattern, [setting.pattern for setting in settings], series)
    by_pattern.set_title(f"one aggregator for each of {plan.collective_stripes(found.where)} OSTs", fontsize=9)
    number = 0
    for write, direction in DIRECTIONS.items():
        for size, curve in _rounds(found, write).items():
            _curve(by_count, number, f"{direction}, rounds of {amount(size)}", curve)
            number += 1
    by_count.set_xlabel("aggregators")
    by_count.set_title("the best pattern", fontsize=9)
    by_count.set_ylim(bottom=0)
    top = max(by_pattern.get_ylim()[1], by_count.get_ylim()[1])
    for panel in axes:
        panel.set_ylim(0, top)
    if number:
        by_count.legend(fontsize=7)
    by_pattern.legend(fontsize=8)


def _rounds(found: Result, write: bool) -> dict[int, dict[int, Figure]]:
    """For each round size, the rates of the best pattern by number of aggregators."""
    best = next(iter(found.search.best(found.samples, found.where, write)), None)
    curves: dict[int, dict[int, Figure]] = {}
    for setting in found.search.all:
        alike = best and (setting.domains, setting.osts_each) == (best.domains, best.osts_each)
        rate = result.setting_rate(found, setting, write) if alike and setting.round_bytes else None
        if rate:
            curves.setdefault(setting.round_bytes, {})[setting.aggregators] = rate
    return curves


def _comparison(found: Result, axes: Any) -> None:
    names = [one.name for one in found.comparison.contenders(True)]
    groups, series = [], {name: [] for name in names}
    for case, piece in comparison.CASES.items():
        for write, direction in DIRECTIONS.items():
            rates = found.comparison.rates(found.samples, piece, write)
            groups.append(f"{direction},\n{case}")
            for name in names:
                series[name].append(rates.get(name))
    _bars(axes, groups, series)
    axes.set_xticks(range(len(groups)), groups, rotation=0, ha="center", fontsize=8)
    axes.legend(fontsize=8)


# By name: the number of panels, whether the tune measured what it shows, and what paints it.
DRAWINGS: dict[str, tuple[int, Callable[[Result], bool], Callable[[Result, Any], None]]] = {
    "calls": (1, lambda found: bool(result.call_curves(found)), _calls),
    "osts": (2, lambda found: bool(found.where.osts and result.sharing_curve(found)), _osts),
    "patterns": (2, lambda found: bool(found.search.finalists), _patterns),
    "comparison": (1, lambda found: bool(result.comparison_table(found).rows), _comparison),
}
