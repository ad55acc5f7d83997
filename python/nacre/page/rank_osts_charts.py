"""Which ranks accessed which OSTs."""

from __future__ import annotations

import bisect
from collections import Counter
from dataclasses import dataclass

from nacre.jobs import Job
from nacre.page import rank_rows
from nacre.page.chart import Chart, category, quantity
from nacre.page.rank_rows import Rows
from nacre.text import amount, plural

OST_COLUMNS_MAX = 64
DIVIDED = (
    " Of files on many OSTs, a report contains the bytes of ranges of OSTs only. Where the ranges of files differ, "
    "their bytes are divided among the OSTs as those of all ranks are."
)


def charts(job: Job) -> list[Chart]:
    """The fewer OSTs a rank accesses, the better."""
    known, others = rank_rows.divided([one for one in job.reports if kinds_with_ranks(one)], job.ranks)
    rows, rows_apart = rank_rows.of_program(job.ranks), rank_rows.of_communicators(others)
    found = []
    if known:
        caption = "Bytes that each rank, or band of ranks, moved itself."
        found.append(_heat_map(Chart("rank-osts", "Ranks and OSTs", caption, ["Ranks"], []), known, rows))
    if others:
        caption = f"Bytes that each rank of a communicator, or several, moved itself. {rank_rows.explained(others[0])}"
        chart = Chart("communicator-osts", "Ranks of communicators and OSTs", caption, ["Ranks"], [])
        found.append(_heat_map(chart, others, rows_apart))
    return found


def _heat_map(chart: Chart, reports: list[dict], rows: Rows) -> Chart:
    """`chart` with its drawing and its table, of the files of these reports."""
    found = [(one, kind, columns_of(one, kind)) for one in reports for kind in kinds_with_ranks(one)]
    columns = Columns.of([table for _, _, table in found])
    sums: Counter = Counter()
    note = ""
    for one, kind, table in found:
        parts = [columns.parts(osts) for osts in table]
        note = DIVIDED if any(len(of_column) > 1 for of_column in parts) else note
        for (row, _), of_band in zip(rows.places(one, kind["rank_osts"]["first_ranks"]), bytes_of(one, kind)):
            for moved, of_column in zip(of_band, parts):
                for column, part in of_column if moved else ():
                    sums[row, column] += moved * part
    names, places = columns.names, range(len(columns.names))
    most = max(sum(1 for column in places if sums[row, column]) for row in range(len(rows.rows)))
    met = f"{plural(most, 'range')} of OSTs" if any("-" in name for name in names) else plural(most, "OST")
    chart.caption += f" Each met at most {met}.{note}"
    chart.columns += [f"OST {name}" for name in names]
    chart.rows += [[row.name, *(amount(sums[at, column]) for column in places)] for at, row in enumerate(rows.rows)]
    chart.data += [
        {"ost": name, "ranks": row.name, "MiB": round(sums[at, column] / (1 << 20), 3)}
        for at, row in enumerate(rows.rows)
        for column, name in enumerate(names)
    ]
    chart.height = max(120, 18 * len(rows.rows))
    chart.spec = {
        "mark": {"type": "rect", "tooltip": True},
        "encoding": {
            "x": category("ost", "OST", axis={"labelAngle": 0, "labelOverlap": True}),
            "y": category("ranks", "rank"),
            "color": quantity("MiB", "MiB", scale={"scheme": "blues", "domainMin": 0}),
        },
    }
    return chart


@dataclass
class Columns:
    """OSTs, or ranges of OSTs. `firsts`: the first OST of each; `osts`: all OSTs that were accessed."""

    firsts: list[int]
    osts: list[int]

    @classmethod
    def of(cls, tables: list[list[dict[int, int]]]) -> Columns:
        """`tables`: the bytes of the OSTs of each column of each table. The higher the last OST of a file, the longer
        are the ranges, so those of the files with the highest OST decide."""
        ranges = [(max(table[-1]), column) for table in tables for column in table if len(column) > 1]
        highest = max((last for last, _ in ranges), default=0)
        osts = sorted({ost for table in tables for column in table for ost in column})
        inside = {ost for last, column in ranges if last == highest for ost in osts if min(column) < ost <= max(column)}
        firsts = [ost for ost in osts if ost not in inside]
        return cls(firsts[:: -(-len(firsts) // OST_COLUMNS_MAX)], osts)

    def parts(self, osts: dict[int, int]) -> list[tuple[int, float]]:
        """The columns of these OSTs, and which part of their bytes is in each."""
        total = sum(osts.values())
        parts: Counter = Counter()
        for ost, moved in osts.items():
            parts[bisect.bisect_right(self.firsts, ost) - 1] += moved / total if total else 1 / len(osts)
        return list(parts.items())

    @property
    def names(self) -> list[str]:
        """5, or 4-5 if a column stands for a range of OSTs."""
        ends = [*self.firsts[1:], self.osts[-1] + 1]
        lasts = [self.osts[bisect.bisect_left(self.osts, end) - 1] for end in ends]
        return [str(first) if last == first else f"{first}-{last}" for first, last in zip(self.firsts, lasts)]


def kinds_with_ranks(one: dict) -> list[dict]:
    """The kinds of calls of which it is known which ranks accessed which OSTs."""
    return [kind for kind in one["kinds"].values() if kind["rank_osts"]["first_osts"] and kind["osts"]]


def columns_of(one: dict, kind: dict) -> list[dict[int, int]]:
    """The bytes of the OSTs of each column of bytes_of()."""
    moved = {of["ost"]: of["bytes"] for of in kind["osts"]}
    if one["ranks"] == 1:
        return [{ost: count} for ost, count in moved.items()]
    firsts = kind["rank_osts"]["first_osts"]
    found = []
    for first, after in rank_rows.spans(firsts, max(moved, default=firsts[-1]) + 1):
        found.append({ost: count for ost, count in moved.items() if first <= ost < after} or {first: 0})
    return found


def bytes_of(one: dict, kind: dict) -> list[list[int]]:
    """By band of ranks and by OST, or range of OSTs: of a single rank by OST."""
    return [[of["bytes"] for of in kind["osts"]]] if one["ranks"] == 1 else kind["rank_osts"]["bytes"]
