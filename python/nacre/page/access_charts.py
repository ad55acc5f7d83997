"""What went to and from the files: sizes of accesses, OSTs, layouts and plans."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from nacre import reports
from nacre.jobs import Job
from nacre.page import layout_charts, rank_osts_charts
from nacre.page.chart import Chart, category, quantity
from nacre.predictions import plan_name
from nacre.text import amount, duration, plural

PLANS_SHOWN = 6


def charts(job: Job) -> list[Chart]:
    found = (
        sizes(job),
        osts(job),
        *rank_osts_charts.charts(job),
        *layout_charts.charts(job),
        plans(job),
        predictions(job),
    )
    return [chart for chart in found if chart is not None]


def sizes(job: Job) -> Chart | None:
    """How large the accesses to the files were."""
    by_kind: dict[str, Counter] = {}
    for one in job.reports:
        for kind, figures in one["kinds"].items():
            counts = {int(size): count for size, count in figures["file_call_sizes"].items()}
            by_kind.setdefault(kind, Counter()).update(counts)
    classes = sorted({size for counter in by_kind.values() for size in counter})
    if not classes:
        return None
    kinds = [kind for kind in reports.KINDS if by_kind.get(kind)]
    return Chart(
        "sizes", "Sizes of the file accesses", "What reached the file system, at least this large.",
        ["At least", *(reports.KINDS[kind] for kind in kinds)],
        [[amount(size), *(f"{by_kind[kind][size]:,}" for kind in kinds)] for size in classes],
        {
            "mark": {"type": "bar", "tooltip": True},
            "encoding": {
                "x": category("size", "bytes, at least", axis={"labelAngle": 0, "labelOverlap": True}),
                "y": quantity("count", "file accesses"),
                "color": {**category("kind", None), "scale": {"scheme": "tableau10"}, "legend": {"orient": "top"}},
            },
        },
        [{"size": amount(size), "kind": reports.KINDS[kind], "count": by_kind[kind][size]}
         for size in classes for kind in kinds if by_kind[kind][size]],
    )  # fmt: skip


def osts(job: Job) -> Chart | None:
    """How much each OST moved, and how fast."""
    sums: dict[tuple[int, str], Counter] = {}
    for one in job.reports:
        for kind, figures in one["kinds"].items():
            direction = "read" if kind.endswith("read") else "written"
            for of in figures["osts"]:
                parts = {name: of[name] for name in ("bytes", "calls", "alone_bytes", "alone_seconds")}
                sums.setdefault((of["ost"], direction), Counter()).update(parts)
    if not sums:
        return None
    data, rows = [], []
    for (ost, direction), counter in sorted(sums.items()):
        rate = counter["alone_bytes"] / counter["alone_seconds"] if counter["alone_seconds"] else 0
        data.append({"ost": ost, "direction": direction, "MiB": round(counter["bytes"] / (1 << 20), 3)})
        rows.append([f"OST {ost}", direction, amount(counter["bytes"]), f"{counter['calls']:,}",
                     f"{amount(rate)}/s" if rate else ""])  # fmt: skip
    return Chart(
        "osts", "Bytes by OST", "A slow or overloaded OST holds up the whole call.",
        ["OST", "", "Bytes", "Accesses", "Speed of accesses to it alone"], rows,
        {
            "mark": {"type": "bar", "tooltip": True},
            "encoding": {
                "x": category("ost", "OST", axis={"labelAngle": 0, "labelOverlap": True}),
                "y": quantity("MiB", "MiB"),
                "color": {**category("direction", None), "scale": {"range": ["#d55e00", "#0072b2"],
                          "domain": ["written", "read"]}, "legend": {"orient": "top"}},
            },
        },
        data,
    )  # fmt: skip


def plans(job: Job) -> Chart | None:
    """The plans that took the most time, and why they were chosen."""
    found = [(one, plan) for one in job.reports for plan in one["plans"]]
    if not found:
        return None
    found.sort(key=lambda pair: pair[1]["seconds"]["max"], reverse=True)
    rows = [
        [Path(one["file"]).name, plural(plan["calls"], plan["call"]), plan["algorithm"],
         f"{plan['aggregators']:,}" if "aggregators" in plan else "", plan["because"], amount(plan["bytes"]["sum"]),
         duration(plan["seconds"]["max"]),
         duration(plan["predicted"]["seconds"] * plan["calls"]) if "predicted" in plan else ""]
        for one, plan in found[:PLANS_SHOWN]
    ]  # fmt: skip
    return Chart(
        "plans", "Plans", "How collective calls were made. `nacre explain` prints more on each.",
        ["File", "Calls", "Algorithm", "Aggregators", "Because", "Bytes", "Slowest rank", "Predicted"], rows,
    )  # fmt: skip


def predictions(job: Job) -> Chart | None:
    """For the plan with the most time: what the plans that were compared would take."""
    compared = [(one, plan) for one in job.reports for plan in one["plans"] if plan.get("compared")]
    if not compared:
        return None
    one, plan = max(compared, key=lambda pair: pair[1]["seconds"]["max"])
    data, rows = [], []
    for other in plan["compared"]:
        name = plan_name(other)
        data.append({"plan": name, "seconds": other["seconds"], "bottleneck": other["bottleneck"]})
        rows.append([name, duration(other["seconds"]), other["bottleneck"]])
    took = duration(plan["seconds"]["max"] / plan["calls"])
    return Chart(
        "predictions", f"Why {plan['algorithm']} for the {plan['call']}s of {Path(one['file']).name}",
        f"Predicted seconds of a call by each plan that was compared, and what limits it. A call took {took}.",
        ["Plan", "Predicted", "Limited by"], rows,
        {
            "mark": {"type": "bar", "tooltip": True},
            "encoding": {
                "y": category("plan", None, axis={"labelLimit": 240}),
                "x": quantity("seconds", "predicted seconds of a call"),
                "color": {**category("bottleneck", "limited by"), "scale": {"scheme": "tableau10"},
                          "legend": {"orient": "top"}},
            },
        },
        data,
        40 + 26 * len(data),
    )  # fmt: skip
