"""Where the time of a job went: its timeline and its phases."""

from __future__ import annotations

from collections.abc import Iterator

from nacre import reports
from nacre.jobs import Job, span_of
from nacre.page import rank_rows
from nacre.page.chart import ACTIVITIES, ACTIVITY_OF_PHASE, Chart, activity_colour, category, quantity
from nacre.page.rank_rows import Rows
from nacre.text import duration, plural

BINS = 120  # of the time of the job
TABLE_ROWS = 20  # of the table over time, each of several bins
SHARE_SHOWN_MIN = 0.005  # of a bin
HIDDEN, WAITED_FOR = "file access behind other work", "file access that ranks waited for"

# Seconds by activity and bin.
Times = dict[str, list[float]]


def charts(job: Job) -> list[Chart]:
    return [chart for chart in (*timelines(job), phases(job)) if chart is not None]


def timelines(job: Job) -> list[Chart]:
    """What the ranks did from the first open to the last close: all ranks, each rank, and ranks of communicators."""
    timed = [one for one in job.reports if one["timeline"]["percent"]]
    if not timed:
        return []
    begin, end = span_of(timed)
    width = max(end - begin, 1e-6) / BINS
    known, others = rank_rows.divided(timed, job.ranks)
    rows, rows_apart = rank_rows.of_program(job.ranks), rank_rows.of_communicators(others)
    busy, busy_apart = _busy(known, rows, begin, width), _busy(others, rows_apart, begin, width)
    left_out = len(job.reports) - len(timed)
    note = f" {plural(left_out, 'open')} without a timeline: not drawn." if left_out else ""
    found = [_over_time(_sum([*busy, *busy_apart], job.ranks * width), job.ranks, width, note)]
    what = "its colour is what they did most, paler if they did it briefly."
    if known:
        apart = " Files of communicators are drawn below." if others else ""
        caption = f"Each row is a rank or a band of ranks; {what}{apart}{note}"
        found.append(_by_row(Chart("ranks", "What each rank did", caption, ["Ranks"], []), rows, busy, width))
    if others:
        caption = f"Each row is a rank of a communicator, or several; {what} {rank_rows.explained(others[0])}"
        chart = Chart("communicators", "What the ranks of communicators did", caption, ["Ranks"], [])
        found.append(_by_row(chart, rows_apart, busy_apart, width))
    return found


def _busy(reports: list[dict], rows: Rows, begin: float, width: float) -> list[Times]:
    """Of each row, summed over its ranks. The bins are `width` seconds long; the first begins at `begin`."""
    busy: list[Times] = [{} for _ in rows.rows]
    for one in reports:
        timeline = one["timeline"]
        parts = [list(_divided(*interval, width)) for interval in _intervals(one, begin)]
        places = list(rows.places(one, timeline["first_ranks"]))
        for activity, bands in timeline["percent"].items():
            for (row, ranks), shares in zip(places, bands):
                into = busy[row].setdefault(activity, [0.0] * BINS)
                seconds = timeline["interval_seconds"] * ranks / 100
                for percent, bins in zip(shares, parts):
                    for index, part in bins if percent else ():
                        into[index] += seconds * percent * part
    return [_limited(of_row, row.ranks * width) for of_row, row in zip(busy, rows.rows)]


def _intervals(one: dict, begin: float) -> Iterator[tuple[float, float]]:
    """When each interval of a file begins and ends, in seconds since `begin`. The last ends when the file is closed."""
    timeline, after = one["timeline"], one["open_for_seconds"]
    length, opened = timeline["interval_seconds"], one["opened_at"] - begin
    count = max((len(shares) for bands in timeline["percent"].values() for shares in bands), default=0)
    for first in (index * length for index in range(count)):
        last = min(first + length, after) if first < after else first + length
        yield opened + first, opened + last


def _divided(first: float, last: float, width: float) -> Iterator[tuple[int, float]]:
    """The bins that a time overlaps, and which part of the time is in each."""
    index = max(0, min(int(first / width), BINS - 1))
    while index < BINS and index * width < last:
        yield index, max(0.0, min(last, (index + 1) * width) - max(first, index * width)) / (last - first)
        index += 1


def _limited(times: Times, most: float) -> Times:
    """With at most `most` seconds in a bin: threads of a rank may be busy at once."""
    for index in range(BINS):
        total = sum(seconds[index] for seconds in times.values())
        for seconds in times.values() if total > most else ():
            seconds[index] *= most / total
    return times


def _sum(busy: list[Times], most: float) -> Times:
    total: Times = {}
    for times in busy:
        for activity, seconds in times.items():
            total[activity] = [a + b for a, b in zip(total.get(activity, [0.0] * BINS), seconds)]
    return _limited(total, most)


def _over_time(total: Times, ranks: int, width: float, note: str) -> Chart:
    shares = {name: [seconds / width / ranks for seconds in total[name]] for name in _used([total])}
    data = [
        {"t": round(index * width, 6), "activity": ACTIVITIES[name], "share": round(share, 4)}
        for name, of_bins in shares.items()
        for index, share in enumerate([*of_bins, of_bins[-1]])  # a step is drawn up to the next one
    ]
    return Chart(
        "timeline", "What the ranks did",
        f"Share of the ranks in each activity, from the first open on. The rest is outside of MPI-IO.{note}",
        ["Seconds", *(ACTIVITIES[name] for name in shares)], _rows_over_time(shares, ranks, width),
        {
            "mark": {"type": "area", "interpolate": "step-after", "opacity": 1, "tooltip": True},
            "encoding": {
                "x": _axis(width),
                "y": quantity("share", "share of the ranks", axis={"format": "%"}, stack="zero"),
                "color": activity_colour(),
            },
        },
        data,
    )  # fmt: skip


def _axis(width: float) -> dict:
    """Of the time from the first open to the last close, the same in all drawings."""
    return quantity("t", "seconds", scale={"domain": [0, round(BINS * width, 6)], "nice": False})


def _used(busy: list[Times]) -> list[str]:
    """The activities that took any time."""
    return [name for name in ACTIVITIES if any(sum(times.get(name, ())) for times in busy)]


def _rows_over_time(shares: Times, ranks: int, width: float) -> list[list[str]]:
    """The mean shares of several bins each; below them the sums."""
    size = BINS // TABLE_ROWS
    rows = []
    for first in range(0, BINS, size):
        means = (sum(of_bins[first : first + size]) / size for of_bins in shares.values())
        times = f"{first * width:.4g} to {(first + size) * width:.4g}"
        rows.append([times, *(f"{100 * mean:.1f} %" for mean in means)])
    sums = [sum(of_bins) * width * ranks for of_bins in shares.values()]
    rows.append(["sum over the ranks", *map(duration, sums)])
    rows.append(["share of the sum", *(f"{100 * seconds / sum(sums):.1f} %" for seconds in sums)])
    return rows


def _by_row(chart: Chart, rows: Rows, busy: list[Times], width: float) -> Chart:
    """`chart` with its drawing and its table: the time of a rank on average."""
    used = _used(busy)
    for row, times in zip(rows.rows, busy):
        for index in range(BINS):
            of_bin = {name: times[name][index] for name in used if name in times}
            share = sum(of_bin.values()) / width / row.ranks
            if share >= SHARE_SHOWN_MIN:
                activity = ACTIVITIES[max(of_bin, key=of_bin.get)]
                chart.data.append({"t": round(index * width, 6), "u": round((index + 1) * width, 6), "ranks": row.name,
                                   "activity": activity, "share": round(share, 3)})  # fmt: skip
        of_rank = [sum(times.get(name, ())) / row.ranks for name in used]
        chart.rows.append([row.name, *map(duration, of_rank), f"{100 * sum(of_rank) / width / BINS:.1f} %"])
    chart.columns += [*(ACTIVITIES[name] for name in used), "Share of the time"]
    chart.caption += " Times in the table are means of the ranks of a row."
    chart.height = max(120, 18 * len(rows.rows))
    chart.spec = {
        "mark": {"type": "rect", "tooltip": True},
        "encoding": {
            "x": _axis(width),
            "x2": {"field": "u"},
            "y": category("ranks", "rank", scale={"domain": [row.name for row in rows.rows]}),
            "color": activity_colour(),
            "opacity": {"field": "share", "type": "quantitative", "scale": {"domain": [0, 1], "range": [0.25, 1]},
                        "legend": None},
        },
    }  # fmt: skip
    return chart


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
        "Seconds per rank on average. While I/O threads access the file, the rank exchanges data, which hides the "
        "access, or waits for them. Their bars lie beside the calls, and add nothing to their time.",
        ["Calls", "Phase", "Mean of the ranks", "Slowest rank, longest open"], rows,
        {
            "mark": {"type": "bar", "tooltip": True, "stroke": "currentColor", "strokeOpacity": 0.35},
            "encoding": {
                "y": category("kind", None),
                "x": quantity("seconds", "seconds per rank", stack="zero"),
                "color": activity_colour(),
                "detail": {"field": "phase"},
                "opacity": {"condition": {"test": f"datum.phase === '{HIDDEN}'", "value": 0.45}, "value": 1},
            },
        },
        data,
        50 + 40 * len({row[0] for row in rows}),
    )  # fmt: skip
