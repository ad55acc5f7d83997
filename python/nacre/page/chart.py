"""Chart: a drawing, as a Vega-Lite specification, with the table of its figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

Cell = Union[str, int, float]


@dataclass
class Chart:
    """`rows`: of the table, under `columns`; text, ready to print. `spec`: without data, size and colours of the page,
    which `data` and the page add; None: only the table is shown."""

    name: str
    title: str
    caption: str
    columns: list[str]
    rows: list[list[str]]
    spec: dict | None = None
    data: list[dict[str, Cell]] = field(default_factory=list)
    height: int = 200


# One hue each, told apart also by readers who see few colours, on white and on black.
ACTIVITY_COLOURS = {
    "file": "#0072b2",
    "messages": "#e69f00",
    "copy": "#f0c75e",
    "wait": "#9aa0a6",
    "agree": "#cc79a7",
    "lock": "#d55e00",
    "other": "#009e73",
}
ACTIVITIES = {
    "file": "file access",
    "messages": "messages",
    "copy": "gather and copy",
    "wait": "waiting for ranks",
    "agree": "plan, views, agreement",
    "lock": "waiting for locks",
    "other": "calls without data",
}
# The activity of each phase, as in the library.
ACTIVITY_OF_PHASE = {
    "plan": "agree",
    "views": "agree",
    "copy": "copy",
    "messages": "messages",
    "wait": "wait",
    "file": "file",
    "file_wait": "file",
    "lock": "lock",
    "agreement": "agree",
}


def activity_colour(field_name: str = "activity") -> dict:
    return {
        "field": field_name,
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(ACTIVITIES.values()), "range": [ACTIVITY_COLOURS[name] for name in ACTIVITIES]},
        "legend": {"orient": "top", "symbolOpacity": 1},
    }


def quantity(field_name: str, title: str, **more) -> dict:
    return {"field": field_name, "type": "quantitative", "title": title, **more}


def category(field_name: str, title: str | None, **more) -> dict:
    """In the order of the data."""
    return {"field": field_name, "type": "nominal", "title": title, "sort": None, **more}
