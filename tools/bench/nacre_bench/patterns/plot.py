"""Draws the figure of a result, as in the papers. Needs matplotlib."""

from __future__ import annotations

from .. import drawing
from .cells import CHOSEN, IN_PLACE, REDISTRIBUTED
from .figures import READ, WRITE, Medians
from .text import cells_on, name_of, several_of_ours

BAR_SHARE = 0.84
OWN_COLOURS = ("black", "dimgrey", "darkgrey")
OTHER_COLOURS = {IN_PLACE: "tan", REDISTRIBUTED: "peru"}
CHOSEN_COLOURS = dict(zip(reversed(CHOSEN), ("plum", "thistle", "lightgreen", "limegreen"), strict=True))
FEWEST_GREY = 512
DIRECTION_NAMES = {WRITE: "writing", READ: "reading"}


def colour_of(name: str) -> str:
    """The colour of a series, the same in every panel. Patterns have bright colours, all other series muted ones."""
    label = name.split()[0]
    if name.endswith(", own"):
        return OWN_COLOURS[sum(map(ord, label)) % len(OWN_COLOURS)]
    if " " in name and name.split()[1] in OTHER_COLOURS:
        return OTHER_COLOURS[name.split()[1]]
    for chosen, colour in CHOSEN_COLOURS.items():
        if name.startswith(chosen):
            return colour
    osts = int(label.partition("-")[0])
    return f"C{osts.bit_length() - 1}" if osts < FEWEST_GREY else "lightgrey"


def bars(axes, medians: Medians, osts: int, direction: str) -> None:
    """Draws one group of bars for each number of aggregators."""
    cells, everything = cells_on(medians, osts), medians.series(osts)
    width = BAR_SHARE / len(everything)
    for number, series in enumerate(everything):
        rates = [medians.rate(cell, series, direction) or 0 for cell in cells]
        places = [place + (number - (len(everything) - 1) / 2) * width for place in range(len(cells))]
        name = name_of(series, several_of_ours(medians))
        axes.bar(places, rates, width, label=name, color=colour_of(name))
    axes.set_xticks(range(len(cells)), [str(cell.ranks) for cell in cells])
    axes.set_title(f"{DIRECTION_NAMES[direction]}, {osts} OSTs", fontsize=10)
    axes.set_xlabel("aggregators")
    axes.grid(axis="y", alpha=0.3)


def plot(result: dict, path: str) -> None:
    pyplot = drawing.pyplot()
    medians = Medians(result)
    counts = sorted({cell.osts for cell in medians.cells()})
    size = (1.5 + 3.6 * len(counts), 6.4)
    figure, panels = pyplot.subplots(2, len(counts), figsize=size, squeeze=False, layout="constrained")
    for row, direction in zip(panels, (WRITE, READ), strict=True):
        for axes, osts in zip(row, counts, strict=True):
            bars(axes, medians, osts, direction)
        row[0].set_ylabel("MiB/s")
    legends = [axes.get_legend_handles_labels() for axes in panels[0]]
    entries = {label: handle for handles, labels in legends for handle, label in zip(handles, labels, strict=True)}
    figure.legend(entries.values(), entries.keys(), loc="outside right upper", fontsize=8)
    figure.suptitle(result["settings"].get("machine") or "")
    figure.savefig(path)


def draw(result: dict, path: str) -> bool:
    """Draws the figure. Returns False and prints the reason if that fails."""
    return drawing.is_drawn(path, lambda: plot(result, path))
