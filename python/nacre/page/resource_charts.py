"""When the nodes, servers and OSTs of a simulated job were busy."""

from __future__ import annotations

from dataclasses import dataclass

from nacre.page.chart import Chart, category, quantity
from nacre.text import duration

BINS = 120  # of the time of the job
ROWS_MAX = 64  # more nodes or OSTs are drawn in bands
SHARE_SHOWN_MIN = 0.005  # of a bin
NANOSECONDS = 1e9
COLOURS = {
    "copies": "#f0c75e",
    "messages": "#e69f00",
    "requests": "#0072b2",
    "transfers": "#0072b2",
}


@dataclass
class Drawing:
    """A chart with a row for each unit that was busy. `resources`: of nacre-simulate, with their words."""

    name: str
    unit: str
    title: str
    caption: str
    resources: dict[str, str]


DRAWINGS = (
    Drawing(
        "nodes", "node", "What the nodes were busy with",
        "Copies in the memory of a node, messages on its link, and requests on its link to the servers.",
        {"copies": "copies", "messages": "messages", "node links": "requests"},
    ),
    Drawing("uplinks", "uplink", "When the uplinks were busy", "Requests of the nodes behind an uplink.",
            {"uplinks": "requests"}),
    Drawing("servers", "server", "When the links of the servers were busy", "Requests to the OSTs of a server.",
            {"servers": "requests"}),
    Drawing("osts-over-time", "OST", "When the OSTs were busy", "Transfers of requests to and from the disk.",
            {"OSTs": "transfers"}),
)  # fmt: skip


def charts(outcome: dict) -> list[Chart]:
    """`outcome`: what nacre-simulate --timelines printed."""
    seconds = sum(outcome["stages_ns"].values()) / NANOSECONDS
    by_name = {one["name"]: one for one in outcome["resources"]}
    found = (_chart(drawing, by_name, seconds) for drawing in DRAWINGS)
    return [chart for chart in found if chart is not None]


def _chart(drawing: Drawing, by_name: dict[str, dict], seconds: float) -> Chart | None:
    timelines = {
        words: by_name[name]["timelines"] for name, words in drawing.resources.items() if "timelines" in by_name[name]
    }
    if not timelines or not seconds:
        return None
    width = seconds / BINS
    bands = _bands([at for at, of_one in enumerate(zip(*timelines.values())) if any(
        timeline["busy_ns"] for timeline in of_one)])  # fmt: skip
    names = [f"{drawing.unit} {band[0]}" if len(band) == 1 else f"{drawing.unit}s {band[0]}-{band[-1]}"
             for band in bands]  # fmt: skip
    data, rows = [], []
    for name, band in zip(names, bands):
        shares = {words: _shares([of_all[at] for at in band], width) for words, of_all in timelines.items()}
        for index in range(BINS):
            words = max(shares, key=lambda one: shares[one][index])
            share = min(1.0, shares[words][index])
            if share >= SHARE_SHOWN_MIN:
                data.append({"t": round(index * width, 9), "u": round((index + 1) * width, 9), "unit": name,
                             "busy with": words, "share": round(share, 3)})  # fmt: skip
        rows.append([name, *(duration(sum(of_one) * width) for of_one in shares.values())])
    what = list(timelines)
    shade = "paler if it was busy for a part of the time"
    colour = f"its colour is what took most of the time, {shade}" if len(what) > 1 else shade
    return Chart(
        drawing.name, drawing.title, f"{drawing.caption} Each row is one {drawing.unit} or a band of them; {colour}.",
        [drawing.unit, *(f"busy: {words}" for words in what)], rows,
        {
            "mark": {"type": "rect", "tooltip": True},
            "encoding": {
                "x": quantity("t", "seconds"),
                "x2": {"field": "u"},
                "y": category("unit", None, scale={"domain": names}),
                "color": {
                    "field": "busy with", "type": "nominal", "title": None, "legend": {"orient": "top"},
                    "scale": {"domain": what, "range": [COLOURS[words] for words in what]},
                },
                "opacity": {"field": "share", "type": "quantitative", "scale": {"domain": [0, 1], "range": [0.15, 1]},
                            "legend": None},
            },
        },
        data,
        max(80, 18 * len(names)),
    )  # fmt: skip


def _bands(used: list[int]) -> list[list[int]]:
    """The units of each row, of those that were ever busy."""
    size = max(1, -(-len(used) // ROWS_MAX))
    return [used[first : first + size] for first in range(0, len(used), size)]


def _shares(timelines: list[dict], width: float) -> list[float]:
    """Of each bin of `width` seconds, the share during which the units were busy, on average."""
    shares = [0.0] * BINS
    for one in timelines:
        length = one["interval_ns"] / NANOSECONDS
        for index, busy_ns in enumerate(one["busy_ns"]):
            begin, end = index * length, (index + 1) * length
            at = int(begin / width)
            while busy_ns and at < BINS and at * width < end:
                part = min(end, (at + 1) * width) - max(begin, at * width)
                shares[at] += busy_ns / NANOSECONDS * part / length / width / len(timelines)
                at += 1
    return shares
