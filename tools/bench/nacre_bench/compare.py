"""`nacre-bench compare`: the ratios of two results, for example of two builds or two machines.

The two results were not measured together, so a slow hour of the machine looks like a slow library. To measure two
builds together, run `nacre-bench collective --preload a=... --preload b=...`."""

from __future__ import annotations

from .cells import DIRECTIONS, cells_of
from .errors import BenchError
from .figures import Ratio, unpaired_ratio
from .overhead import NAME, median, series_of
from .results import read_result
from .tables import microseconds, number, table

COMPARED = ("collective", NAME)  # kinds of results


def verdict(ratio: Ratio, greater_is_better: bool) -> str:
    if ratio.low is None or ratio.high is None or ratio.low <= 1 <= ratio.high:
        return ""
    return "better" if (ratio.value > 1) == greater_is_better else "worse"


def collective_rows(first: dict, second: dict, phase: str) -> list[list[str]]:
    rows = []
    others = {(cell.workload, cell.ranks): cell for cell in cells_of(second, phase)}
    for cell in cells_of(first, phase):
        other = others.get((cell.workload, cell.ranks))
        if other is None:
            continue
        for name in dict.fromkeys(name for name, _, _ in cell.series):
            for direction in DIRECTIONS:
                before, after = cell.of(name, direction, "rate"), other.of(name, direction, "rate")
                ratio = unpaired_ratio(list(after.values()), list(before.values()))
                if ratio is None:
                    continue
                medians = [number(one.median(name, direction, "rate")) for one in (cell, other)]
                row = [f"{cell.workload} {cell.ranks} {name} {direction}", *medians]
                rows.append([*row, str(ratio), verdict(ratio, greater_is_better=True)])
    return rows


def overhead_rows(first: dict, second: dict) -> list[list[str]]:
    before, after = series_of(first), series_of(second)
    rows = []
    for key in before:
        name, what, figure = key
        if figure != "seconds":
            continue
        ratio = unpaired_ratio(list(after.get(key, {}).values()), list(before[key].values()))
        if ratio is None:
            continue
        medians = [microseconds(median(series, key)) for series in (before, after)]
        rows.append([f"{what} {name}", *medians, str(ratio), verdict(ratio, greater_is_better=False)])
    return rows


def compare_text(paths: tuple[str, str], phase: str) -> str:
    first, second = (read_result(path) for path in paths)
    if first["kind"] != second["kind"]:
        raise BenchError(
            f"cannot compare {paths[0]}, a result of `{first['kind']}`, with {paths[1]}, a result of `{second['kind']}`"
        )
    if first["kind"] not in COMPARED:
        kinds = " and ".join(COMPARED)
        raise BenchError(f"{paths[0]} is a result of `{first['kind']}`; only those of {kinds} can be compared")
    if first["kind"] == NAME:
        unit, rows = "microseconds", overhead_rows(first, second)
    else:
        unit, rows = "GiB/s", collective_rows(first, second, phase)
    if not rows:
        raise BenchError(f"{paths[0]} and {paths[1]} have no cell in common")
    header = [unit, "first", "second", "second/first [95 %]", ""]
    return f"first: {paths[0]}\nsecond: {paths[1]}\n" + table(header, rows)
