"""The summary of a run: Nacre against the fastest peer of each cell and against the limits."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Iterable
from statistics import geometric_mean

from .cells import DIRECTIONS, READ, WRITE, Cell, names_of
from .contenders import OURS
from .ratios import Comparison
from .tables import number, table
from .units import MIB

BEST = "best"
TEXT_WIDTH = 120


@dataclasses.dataclass(frozen=True)
class Judged:
    """A cell with the comparisons of all Nacre contenders."""

    cell: Cell
    comparisons: list[Comparison]

    def of(self, name: str, direction: str) -> Comparison | None:
        return next((one for one in self.comparisons if (one.name, one.direction) == (name, direction)), None)

    def best(self, names: list[str], direction: str) -> Comparison | None:
        name = self.cell.best(names, direction)
        return self.of(name, direction) if name else None

    def label(self, direction: str) -> str:
        return f"{self.cell.workload} {self.cell.ranks} {direction}"


def libraries(result: dict) -> dict[str, list[str]]:
    """The contender names of each measured Nacre library, one for each MPI."""
    groups: dict[str, list[str]] = {}
    for name in names_of(result, OURS):
        groups.setdefault(name.partition("/")[0], []).append(name)
    return groups


def time_value(one: Comparison | None) -> float | None:
    return one.time.value if one and one.time else None


def mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value]
    return geometric_mean(known) if known else None


def cell_rows(judged: list[Judged], names: list[str]) -> list[list[str]]:
    rows = []
    for one in judged:
        for direction in DIRECTIONS:
            best = one.best(names, direction)
            if best is None:
                continue
            row = [one.label(direction), f"{one.cell.bytes / MIB:.0f}", best.name, best.peer or "-"]
            row += [str(best.time or "-"), number(best.cpu), number(best.memory)]
            row += [number(time_value(one.of(name, direction))) for name in names]
            rows.append([*row, number(best.of_ref), number(best.of_hand)])
    return rows


def mean_row(label: str, pick: Callable[[Judged, str], Comparison | None], judged: list[Judged]) -> list[str]:
    picked = {direction: [one for j in judged if (one := pick(j, direction))] for direction in DIRECTIONS}
    both = picked[WRITE] + picked[READ]
    row = [label]
    row += [number(mean(map(time_value, which))) for which in (picked[WRITE], picked[READ], both)]
    row += [number(mean(one.cpu for one in both)), number(mean(one.memory for one in both))]
    for limit in ("of_ref", "of_hand"):
        row += [number(mean(getattr(one, limit) for one in picked[direction])) for direction in DIRECTIONS]
    return row


def mean_rows(judged: list[Judged], names: list[str]) -> list[list[str]]:
    rows = [mean_row(BEST, lambda one, direction: one.best(names, direction), judged)]
    for name in names:
        rows.append(mean_row(name, lambda one, direction, name=name: one.of(name, direction), judged))
    return rows


def verdicts(judged: list[Judged], names: list[str]) -> str:
    """The cells in which Nacre is slower or faster than the fastest peer, or cannot be told apart from it, judged by
    the interval."""
    slower, faster, open_ = [], [], []
    for one in judged:
        for direction in DIRECTIONS:
            best = one.best(names, direction)
            if best is None or best.time is None:
                continue
            label = f"{one.label(direction)} {best.time.value:.2f}"
            if best.time.high is not None and best.time.high < 1:
                slower.append(label)
            elif best.time.low is not None and best.time.low > 1:
                faster.append(label)
            else:
                open_.append(label)
    lists = (
        ("slower than the fastest peer: interval below 1", slower),
        ("no difference shown: interval contains 1, or fewer than 3 rounds", open_),
        ("faster than the fastest peer: interval above 1", faster),
    )
    return "\n".join(wrapped(f"{text} ({len(labels)}): {', '.join(labels) or 'none'}") for text, labels in lists)


def wrapped(text: str) -> str:
    return textwrap.fill(text, TEXT_WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def least_of_limits(judged: list[Judged], names: list[str]) -> str:
    lines = []
    for limit, text in (("of_ref", "of ref"), ("of_hand", "of hand")):
        for direction in DIRECTIONS:
            bests = [(one.best(names, direction), one) for one in judged]
            known = [(getattr(best, limit), one) for best, one in bests if best and getattr(best, limit)]
            if known:
                value, one = min(known, key=lambda pair: pair[0])
                lines.append(f"  {text} {direction}: lowest {value:.2f}, in {one.cell.workload} {one.cell.ranks}")
    return "\n".join(lines)


def library_summary(library: str, names: list[str], judged: list[Judged]) -> str:
    header = ["", "MiB", "ours", "peer", "time [95 %]", "CPU", "memory", *names, "of ref", "of hand"]
    means = ["", "time write", "read", "both", "CPU", "memory", "of ref write", "read", "of hand write", "read"]
    parts = [
        f"{library}, its fastest contender over any MPI compared with the fastest peer of each cell (time above 1: "
        f"{library} is faster; CPU, memory below 1: it uses less), and the time of each of its contenders:",
        table(header, cell_rows(judged, names)),
        f"Geometric means over {len(judged)} cells:",
        table(means, mean_rows(judged, names)),
        verdicts(judged, names),
        least_of_limits(judged, names),
    ]
    return "\n".join(part for part in parts if part)


def summary_text(judged: list[Judged], result: dict) -> str:
    measured = [one for one in judged if one.comparisons]
    if not measured:
        return ""
    return "\n\n".join(library_summary(library, names, measured) for library, names in libraries(result).items())
