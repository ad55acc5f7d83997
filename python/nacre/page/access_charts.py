"""What went to and from the files: sizes of accesses, OSTs, layouts and plans."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from nacre import reports
from nacre.findings import osts as osts_of_files
from nacre.jobs import Job
from nacre.page.chart import Chart, category, quantity
from nacre.text import amount, duration, plural

FILES_SHOWN = 3  # layouts
STRIPES_SHOWN = 64  # of a layout
GROWN = "the layout grew "  # how the note of the library begins
PLANS_SHOWN = 6


def charts(job: Job) -> list[Chart]:
    found = (sizes(job), osts(job), rank_osts(job), *layouts(job), plans(job), predictions(job))
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


def rank_osts(job: Job) -> Chart | None:
    """Which ranks accessed which OSTs: the fewer OSTs each, the better."""
    largest = max((one["ranks"] for one in job.reports if _rank_osts_of(one)), default=0)
    sums: Counter = Counter()
    bands: dict[int, str] = {}
    for one in job.reports:
        for table in _rank_osts_of(one) if one["ranks"] == largest else []:
            firsts = table["first_ranks"]
            for band, (first, after) in enumerate(zip(firsts, [*firsts[1:], largest])):
                bands[band] = str(first) if after == first + 1 else f"{first}-{after - 1}"
                for ost, count in zip(table["first_osts"], table["bytes"][band]):
                    sums[band, ost] += count
    if not sums:
        return None
    columns = sorted({ost for _, ost in sums})
    most = max(sum(1 for ost in columns if sums[band, ost]) for band in bands)
    names = _names_of_columns(job, columns)
    met = plural(most, "OST") if names == list(map(str, columns)) else f"{plural(most, 'range')} of OSTs"
    return Chart(
        "rank-osts", "Ranks and OSTs",
        f"Bytes that each rank, or band of ranks, moved itself. Each met at most {met}.",
        ["Ranks", *(f"OST {name}" for name in names)],
        [[bands[band], *(amount(sums[band, ost]) for ost in columns)] for band in bands],
        {
            "mark": {"type": "rect", "tooltip": True},
            "encoding": {
                "x": category("ost", "OST", axis={"labelAngle": 0, "labelOverlap": True}),
                "y": category("ranks", "rank"),
                "color": quantity("MiB", "MiB", scale={"scheme": "blues", "domainMin": 0}),
            },
        },
        [{"ost": name, "ranks": bands[band], "MiB": round(sums[band, ost] / (1 << 20), 3)}
         for band in bands for ost, name in zip(columns, names)],
        max(120, 18 * len(bands)),
    )  # fmt: skip


def _names_of_columns(job: Job, firsts: list[int]) -> list[str]:
    """5, or 4-5 if a column stands for a range of OSTs: each up to the last OST that was accessed before the next."""
    accessed = {ost["ost"] for one in job.reports for kind in one["kinds"].values() for ost in kind["osts"]}
    names = []
    for first, after in zip(firsts, [*firsts[1:], max(accessed, default=0) + 1]):
        last = max((ost for ost in accessed if first <= ost < after), default=first)
        names.append(str(first) if last == first else f"{first}-{last}")
    return names


def _rank_osts_of(one: dict) -> list[dict]:
    return [kind["rank_osts"] for kind in one["kinds"].values() if kind["rank_osts"]["first_osts"]]


def layouts(job: Job) -> list[Chart]:
    """The stripes of the files with the most time, and who accessed their OSTs."""
    found = []
    for group in job.groups:
        one = next((one for one in group.reports if _has_osts(one)), None)
        if one and len(found) < FILES_SHOWN:
            found.append(_layout(one, f"layout-{len(found)}"))
    return found


def _has_osts(one: dict) -> bool:
    """Whether the layout says on which OST each stripe is."""
    return any(not region.get("object_bytes") for region in one["layout"])


def _layout(one: dict, name: str) -> Chart:
    size = max([plan["first_call"]["end"] for plan in one["plans"]] + [one["bytes_written"], one["bytes_read"]])
    users = _users(one)
    data, rows = [], []
    for region in one["layout"]:
        end = size if region["end"] < 0 else min(region["end"], size)
        where = "the end of the file" if region["end"] < 0 else amount(region["end"])
        rows.append([f"{amount(region['begin'])} to {where}", f"{region['stripes']:,}", amount(region["stripe_bytes"]),
                     ", ".join(map(str, region["osts"]))])  # fmt: skip
        stripe = region["stripe_bytes"]
        for index in range(max(0, -(-(end - region["begin"]) // stripe))):
            if len(data) == STRIPES_SHOWN or not region["osts"]:
                break
            ost = region["osts"][index % len(region["osts"])]
            begin = region["begin"] + index * stripe
            data.append({"begin": round(begin / (1 << 20), 4), "end": round(min(begin + stripe, end) / (1 << 20), 4),
                         "OST": ost, "by": _user_of(users, ost)})  # fmt: skip
    shown = f" The first {STRIPES_SHOWN} stripes." if len(data) == STRIPES_SHOWN else ""
    remarks = _layout_remarks(one)
    return Chart(
        name, f"Layout of {Path(one['file']).name}",
        f"Each stripe on its OST; the colour says which ranks accessed most of that OST.{shown}{remarks}",
        ["Range", "Stripes", "Stripe size", "OSTs"], rows,
        {
            "mark": {"type": "rect", "tooltip": True, "stroke": "currentColor", "strokeOpacity": 0.3},
            "encoding": {
                "x": quantity("begin", "MiB of the file"),
                "x2": {"field": "end"},
                "y": category("OST", "OST", sort="ascending"),
                "color": {**category("by", "rank"), "scale": {"scheme": "tableau20"},
                          "legend": {"orient": "top"}},
            },
        },
        data,
        max(80, 20 * len({stripe["OST"] for stripe in data})),
    )  # fmt: skip


def _layout_remarks(one: dict) -> str:
    """On how many OSTs the data are, what the layout comes from, and whether it grew."""
    used, origin = osts_of_files.used(one), osts_of_files.origin_in_words(one)
    grown = [note[:1].upper() + note[1:] for note in one["notes"] if note.startswith(GROWN)]
    remarks = [f"Data on {used}" if used else "", f"Layout: {origin}" if origin else "", *grown]
    return "".join(f" {remark}." for remark in remarks if remark)


def _user_of(users: dict[int, str], ost: int) -> str:
    """`users`: of ranges of OSTs, by the first of each, in order."""
    return users.get(max((first for first in users if first <= ost), default=-1), "nobody")


def _users(one: dict) -> dict[int, str]:
    """The band of ranks that moved most of the bytes of an OST, or of a range of OSTs, which its first stands for."""
    most: dict[int, tuple[int, str]] = {}
    for table in _rank_osts_of(one):
        firsts = table["first_ranks"]
        for band, (first, after) in enumerate(zip(firsts, [*firsts[1:], one["ranks"]])):
            name = str(first) if after == first + 1 else f"{first}-{after - 1}"
            for ost, count in zip(table["first_osts"], table["bytes"][band]):
                most[ost] = max(most.get(ost, (0, "")), (count, name), key=lambda pair: pair[0])
    return {ost: name if count else "nobody" for ost, (count, name) in sorted(most.items())}


def plans(job: Job) -> Chart | None:
    """The plans that took the most time, and why they were chosen."""
    found = [(one, plan) for one in job.reports for plan in one["plans"]]
    if not found:
        return None
    found.sort(key=lambda pair: pair[1]["seconds"]["max"], reverse=True)
    rows = [
        [Path(one["file"]).name, f"{plan['calls']:,} {plan['call']}s", plan["algorithm"],
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
        name = other["algorithm"]
        if other["aggregators"]:
            name += f", {plural(other['aggregators'], 'aggregator')}"
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
