"""Where the time of a job went: its timeline and its phases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nacre import reports
from nacre.jobs import Job, span_of
from nacre.page.chart import ACTIVITIES, ACTIVITY_OF_PHASE, Chart, activity_colour, category, quantity
from nacre.text import duration

BINS = 120  # of the time of the job
SHARE_SHOWN_MIN = 0.005  # of a bin
HIDDEN, WAITED_FOR = "file access behind other work", "file access that ranks waited for"

# Seconds by band of ranks, bin and activity.
Busy = dict[tuple[int, int], Counter]


def charts(job: Job) -> list[Chart]:
    return [chart for chart in (*timelines(job), phases(job)) if chart is not None]


def timelines(job: Job) -> list[Chart]:
    """What the ranks did from the first open to the last close: all ranks, and by band of ranks."""
    timed = [one for one in job.reports if one["timeline"]["percent"]]
    if not timed:
        return []
    # Files that all ranks opened; those of fewer ranks have other bands.
    ranks = max(one["ranks"] for one in timed)
    shown = [one for one in timed if one["ranks"] == ranks]
    begin, end = span_of(shown)
    width = max(end - begin, 1e-6) / BINS
    firsts = shown[0]["timeline"]["first_ranks"]
    busy = _busy(shown, begin, width)
    left_out = len(job.reports) - len(shown)
    note = f" {left_out} other opens (of fewer ranks, or without a timeline) are not drawn." if left_out else ""
    sizes = [after - first for first, after in zip(firsts, [*firsts[1:], ranks])]
    return [_over_time(busy, sizes, width, note), _by_band(busy, firsts, sizes, width, note)]


def _busy(shown: list[dict], begin: float, width: float) -> Busy:
    busy: Busy = {}
    for one in shown:
        timeline = one["timeline"]
        length = timeline["interval_seconds"]
        for activity, bands in timeline["percent"].items():
            for band, shares in enumerate(bands):
                for index, percent in enumerate(shares):
                    if percent:
                        first = one["opened_at"] - begin + index * length
                        for bin_index, seconds in _divided(first, first + length, width):
                            counter = busy.setdefault((band, bin_index), Counter())
                            counter[activity] += seconds * percent / 100
    for counter in busy.values():  # threads of a rank may be busy at once
        total = sum(counter.values())
        for activity in counter if total > width else ():
            counter[activity] *= width / total
    return busy


def _divided(first: float, last: float, width: float) -> Iterator[tuple[int, float]]:
    """The bins that a time overlaps, and by how many seconds."""
    index = min(int(first / width), BINS - 1)
    while index < BINS and index * width < last:
        yield index, max(0.0, min(last, (index + 1) * width) - max(first, index * width))
        index += 1


def _over_time(busy: Busy, sizes: list[int], width: float, note: str) -> Chart:
    total: dict[tuple[int, str], float] = Counter()
    for (band, index), counter in busy.items():
        for activity, seconds in counter.items():
            total[index, activity] += seconds * sizes[band]
    ranks = sum(sizes)
    data = [
        {"t": round(index * width, 6), "activity": words, "share": round(total[index, name] / width / ranks, 4)}
        for name, words in ACTIVITIES.items()
        for index in range(BINS)
        if any(activity == name for _, activity in total)
    ]
    sums = Counter()
    for (_, activity), seconds in total.items():
        sums[activity] += seconds
    whole = sum(sums.values()) or 1
    return Chart(
        "timeline", "What the ranks did", f"Share of the ranks in each activity, from the first open on.{note}",
        ["Activity", "All ranks", "Share of MPI-IO"],
        [[words, duration(sums[name]), f"{100 * sums[name] / whole:.1f} %"] for name, words in ACTIVITIES.items()
         if sums[name]],
        {
            "mark": {"type": "area", "interpolate": "step-after", "tooltip": True},
            "encoding": {
                "x": quantity("t", "seconds"),
                "y": quantity("share", "share of the ranks", axis={"format": "%"}, stack="zero"),
                "color": activity_colour(),
            },
        },
        data,
    )  # fmt: skip


def _by_band(busy: Busy, firsts: list[int], sizes: list[int], width: float, note: str) -> Chart:
    names = [str(first) if size == 1 else f"{first}-{first + size - 1}"
             for first, size in zip(firsts, sizes)]  # fmt: skip
    data, sums = [], {}
    for (band, index), counter in sorted(busy.items()):
        sums.setdefault(band, Counter()).update(counter)
        activity, _ = counter.most_common(1)[0]
        share = min(1.0, sum(counter.values()) / width)
        if share >= SHARE_SHOWN_MIN:
            data.append({"t": round(index * width, 6), "u": round((index + 1) * width, 6), "ranks": names[band],
                         "activity": ACTIVITIES[activity], "share": round(share, 3)})  # fmt: skip
    used = [name for name in ACTIVITIES if any(counter[name] for counter in sums.values())]
    return Chart(
        "ranks", "What each rank did",
        f"Each row is a rank or a band of ranks; its colour is what they did most, paler if they did it briefly.{note}",
        ["Ranks", *(ACTIVITIES[name] for name in used)],
        [[names[band], *(duration(counter[name]) for name in used)] for band, counter in sorted(sums.items())],
        {
            "mark": {"type": "rect", "tooltip": True},
            "encoding": {
                "x": quantity("t", "seconds"),
                "x2": {"field": "u"},
                "y": category("ranks", "rank", scale={"domain": names}),
                "color": activity_colour(),
                "opacity": {"field": "share", "type": "quantitative", "scale": {"domain": [0, 1], "range": [0.25, 1]},
                            "legend": None},
            },
        },
        data,
        max(120, 18 * len(names)),
    )  # fmt: skip


def _of_threads(kinds: list[dict]) -> Iterator[tuple[str, float]]:
    """While at least one thread of a rank accessed the file: how long other work hid it, and how long not."""
    busy = sum(one["file_busy_seconds"]["sum"] for one in kinds)
    waited = min(busy, sum(one["phases"]["file_wait"]["sum"] for one in kinds))
    for words, seconds in ((HIDDEN, busy - waited), (WAITED_FOR, waited)):
        if seconds > 0:
            yield words, seconds


def phases(job: Job) -> Chart | None:
    """The breakdown of the OPAL paper: the time of each kind of call by phase."""
    data, rows = [], []
    for kind, title in reports.KINDS.items():
        kinds = [one["kinds"][kind] for one in job.reports if kind in one["kinds"]]
        for phase, words in reports.PHASES.items():
            seconds = sum(one["phases"][phase]["sum"] for one in kinds) / job.ranks
            slowest = max((one["phases"][phase]["max"] for one in kinds), default=0)
            if seconds and phase != "away":
                activity = ACTIVITIES[ACTIVITY_OF_PHASE[phase]]
                data.append({"kind": title, "phase": words, "activity": activity, "seconds": round(seconds, 9)})
                rows.append([title, words, duration(seconds), duration(slowest)])
        for words, seconds in _of_threads(kinds):
            name, of_rank = f"{title}, I/O threads", seconds / job.ranks
            data.append({"kind": name, "phase": words, "activity": ACTIVITIES["file"], "seconds": round(of_rank, 9)})
            rows.append([name, words, duration(of_rank), ""])
    if not data:
        return None
    return Chart(
        "phases", "Where the time of the calls went",
        "Seconds of a rank on average. While I/O threads access the file, the rank exchanges data, which hides the "
        "access, or waits for them. Their bars lie beside the calls, and add nothing to their time.",
        ["Calls", "Phase", "Mean of the ranks", "Slowest rank, longest open"], rows,
        {
            "mark": {"type": "bar", "tooltip": True, "stroke": "currentColor", "strokeOpacity": 0.35},
            "encoding": {
                "y": category("kind", None),
                "x": quantity("seconds", "seconds of a rank", stack="zero"),
                "color": activity_colour(),
                "detail": {"field": "phase"},
                "opacity": {"condition": {"test": f"datum.phase === '{HIDDEN}'", "value": 0.45}, "value": 1},
            },
        },
        data,
        50 + 40 * len({row[0] for row in rows}),
    )  # fmt: skip
