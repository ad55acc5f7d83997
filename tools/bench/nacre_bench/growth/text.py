"""The page: a table for each workload, and what grows faster than the logarithm of the ranks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from .. import drawing
from ..cells import READ
from ..units import KIB
from .points import Figures, Point, exceeds_log

SLACK = 1.1


@dataclasses.dataclass(frozen=True)
class Checked:
    """A figure that may grow as the logarithm of the ranks."""

    name: str
    value: Callable[[Figures], float]
    unit: str = ""  # "" or KiB

    def text(self, one: Figures, digits: int = 0) -> str:
        return f"{self.value(one):,.{digits}f}{' ' if self.unit else ''}{self.unit}"


CHECKED = (
    Checked("messages of a rank, mean", lambda one: one.messages.mean),
    Checked("messages of the busiest rank", lambda one: one.messages.most),
    Checked("peers of a rank, mean", lambda one: one.peers.mean),
    Checked("peers of the rank with the most", lambda one: one.peers.most),
    Checked("control bytes of a rank, mean", lambda one: one.control_bytes.mean / KIB, "KiB"),
    Checked("control bytes of the busiest rank", lambda one: one.control_bytes.most / KIB, "KiB"),
    Checked("bytes of the busiest rank", lambda one: one.all_bytes.most / KIB, "KiB"),
    Checked("shared memory of a rank", lambda one: one.shared_bytes / KIB, "KiB"),
    Checked("memory of the simulation, by rank", lambda one: one.process_bytes / KIB, "KiB"),
)
Found = dict[Point, Figures]


def page(found: Found, decisions: list[dict]) -> str:
    lines = [
        "# What grows with the ranks",
        "",
        "An open, one collective write and a sync or one collective read, and a close, in virtual time; 240 KiB of",
        "each rank, 16 ranks a node. Peers are the other ranks to which a rank sends or from which it receives. Bytes",
        "are those of the messages that a rank sends and receives. Control bytes are those of messages without the",
        "program's data. Shared memory: the largest that the ranks of a node share, divided by the ranks; the system",
        "allocates a page of it when a rank first writes to it. The simulation holds the memory and the stacks of all",
        "ranks; the program's buffers and the file take none.",
    ]
    for title in dict.fromkeys(point.title for point in found):
        of = _of(title, found)
        lines += ["", f"## {title}", "", *_table(of), "", *_verdicts(of)]
    lines += ["", "## Choosing a plan", "", "The time of rank 0, on this machine, for a call of a new shape.", ""]
    lines += decision_table(decisions)
    return "\n".join(lines) + "\n"


def _of(title: str, found: Found) -> list[tuple[Point, Figures]]:
    return [(point, figures) for point, figures in found.items() if point.title == title]


COLUMNS = ("ranks", "nodes", "messages of a rank", "busiest", "peers of a rank", "most", "control bytes of a rank",
           "busiest", "all bytes, busiest", "shared memory of a rank", "memory of the simulation, by rank")  # fmt: skip


def _table(of: list[tuple[Point, Figures]]) -> list[str]:
    rows = [row(COLUMNS), "|---" * len(COLUMNS) + "|"]
    busiest = (None, "messages", None, "peers", None, "control_bytes", "all_bytes", None, None)
    for point, one in of:
        cells = [f"{point.ranks:,}", f"{point.nodes:,}"]
        for checked, ranks in zip(CHECKED, busiest, strict=True):
            rank = f" (rank {getattr(one, ranks).busiest_rank:,})" if ranks else ""
            cells.append(checked.text(one, 0 if rank else 1) + rank)
        rows.append(row(tuple(cells)))
    return rows


DECISION_COLUMNS = ("ranks", "OSTs", "direction", "compared plans", "median", "longest of 201")


def decision_table(decisions: list[dict]) -> list[str]:
    rows = [row(DECISION_COLUMNS), "|---" * len(DECISION_COLUMNS) + "|"]
    for one in decisions:
        times = (f"{one[name] / 1000:,.0f} us" for name in ("median_nanoseconds", "max_nanoseconds"))
        rows.append(row((f"{one['ranks']:,}", f"{one['osts']:,}", one["direction"], str(one["plans"]), *times)))
    return rows


def row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _verdicts(of: list[tuple[Point, Figures]]) -> list[str]:
    """What grows faster than the logarithm between the last two numbers of ranks."""
    if len(of) < 2:
        return []
    (smaller, before), (larger, after) = of[-2:]
    faster = [
        f"{checked.name}: {checked.text(before)} to {checked.text(after)}"
        for checked in CHECKED
        if exceeds_log((smaller.ranks, checked.value(before)), (larger.ranks, checked.value(after)), SLACK)
    ]
    span = f"from {smaller.ranks:,} to {larger.ranks:,} ranks"
    return [f"Faster than the logarithm of the ranks, {span}: {'; '.join(faster) or 'nothing'}."]


def draw(found: Found, path: str) -> bool:
    """Draws the figures against the ranks. Returns False and prints the reason if that fails."""
    return drawing.is_drawn(path, lambda: _plot(found, path))


def _plot(found: Found, path: str) -> None:
    pyplot = drawing.pyplot()
    columns = 3
    rows = -(-len(CHECKED) // columns)
    figure, panels = pyplot.subplots(rows, columns, figsize=(4 * columns, 2.9 * rows), layout="constrained")
    for axes, checked in zip(panels.flat, CHECKED, strict=True):
        for title in dict.fromkeys(point.title for point in found):
            _draw_line(axes, checked, _of(title, found))
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("ranks")
        axes.set_title(checked.name + (f" [{checked.unit}]" if checked.unit else ""), fontsize=9)
        axes.grid(alpha=0.3)
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8)
    figure.savefig(path)


def _draw_line(axes, checked: Checked, of: list[tuple[Point, Figures]]) -> None:
    style = "--" if of[0][0].direction == READ else "-"
    ranks = [point.ranks for point, _ in of]
    axes.plot(ranks, [checked.value(one) for _, one in of], style, marker="o", markersize=4, label=of[0][0].title)
