"""The page: a table for each workload, and what grows faster than the logarithm of the ranks."""

from __future__ import annotations

from .. import drawing
from ..units import MIB
from .points import Figures, Point, exceeds_log

SLACK = 1.1
CHECKED = {
    "messages of a rank, mean": lambda one: one.messages_mean,
    "messages of the busiest rank": lambda one: one.messages_max,
    "peers of a rank, mean": lambda one: one.peers_mean,
    "peers of the rank with the most": lambda one: one.peers_max,
}
Found = dict[Point, Figures]


def page(found: Found, decisions: list[dict]) -> str:
    lines = [
        "# What grows with the ranks",
        "",
        "An open, one collective write of 256 KiB a rank, a sync and a close, 16 ranks a node, in virtual time.",
        "Peers are the other ranks to which a rank sends or from which it receives. Shared memory: the largest",
        "that the ranks of a node share; its pages are allocated when they are first written.",
    ]
    for title in dict.fromkeys(point.title for point in found):
        of = _of(title, found)
        lines += ["", f"## {title}", "", *_table(of), "", *_verdicts(of)]
    lines += ["", "## Choosing a plan", "", "The time of rank 0, on this machine, for a call of a new shape.", ""]
    lines += _decision_table(decisions)
    return "\n".join(lines) + "\n"


def _of(title: str, found: Found) -> list[tuple[Point, Figures]]:
    return [(point, figures) for point, figures in found.items() if point.title == title]


COLUMNS = ("ranks", "nodes", "messages of a rank", "of the busiest rank", "which", "peers of a rank", "most",
           "shared memory")  # fmt: skip


def _table(of: list[tuple[Point, Figures]]) -> list[str]:
    rows = [_row(COLUMNS), "|---" * len(COLUMNS) + "|"]
    for point, one in of:
        rows.append(_row((
            f"{point.ranks:,}", f"{point.nodes:,}", f"{one.messages_mean:.1f}", f"{one.messages_max:,}",
            f"{one.busiest_rank:,}", f"{one.peers_mean:.1f}", f"{one.peers_max:,}", f"{one.node_bytes / MIB:.1f} MiB",
        )))  # fmt: skip
    return rows


DECISION_COLUMNS = ("ranks", "OSTs", "direction", "compared plans", "median", "longest of 201")


def _decision_table(decisions: list[dict]) -> list[str]:
    rows = [_row(DECISION_COLUMNS), "|---" * len(DECISION_COLUMNS) + "|"]
    for one in decisions:
        times = (f"{one[name] / 1000:,.0f} us" for name in ("median_nanoseconds", "max_nanoseconds"))
        rows.append(_row((f"{one['ranks']:,}", f"{one['osts']:,}", one["direction"], str(one["plans"]), *times)))
    return rows


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _verdicts(of: list[tuple[Point, Figures]]) -> list[str]:
    """What grows faster than the logarithm between the last two numbers of ranks."""
    if len(of) < 2:
        return []
    (smaller, before), (larger, after) = of[-2:]
    faster = [
        f"{name}: {value(before):,.0f} to {value(after):,.0f}"
        for name, value in CHECKED.items()
        if exceeds_log((smaller.ranks, value(before)), (larger.ranks, value(after)), SLACK)
    ]
    span = f"from {smaller.ranks:,} to {larger.ranks:,} ranks"
    return [f"Faster than the logarithm of the ranks, {span}: {'; '.join(faster) or 'nothing'}."]


def draw(found: Found, path: str) -> bool:
    """Draws the figures against the ranks. Returns False and prints the reason if that fails."""
    return drawing.is_drawn(path, lambda: _plot(found, path))


def _plot(found: Found, path: str) -> None:
    pyplot = drawing.pyplot()
    figure, panels = pyplot.subplots(1, len(CHECKED), figsize=(3.4 * len(CHECKED), 3.2), layout="constrained")
    for axes, (name, value) in zip(panels, CHECKED.items(), strict=True):
        for title in dict.fromkeys(point.title for point in found):
            of = _of(title, found)
            axes.plot([point.ranks for point, _ in of], [value(one) for _, one in of], marker="o", label=of[0][0].label)
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("ranks")
        axes.set_title(name, fontsize=9)
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize=8)
    figure.savefig(path)
