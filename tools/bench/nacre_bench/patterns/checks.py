"""Checks which of the orders published in the papers the measurement reproduces, by the medians of the writes."""

from __future__ import annotations

import dataclasses
import pathlib

from ..contenders import PEER
from .cells import CONTIGUOUS, Cell
from .figures import Medians, Series

TWICE = 2.0


@dataclasses.dataclass(frozen=True)
class Check:
    text: str
    held: bool
    figures: str

    def line(self) -> str:
        return f"  {'yes' if self.held else 'NO '}  {self.text}: {self.figures}"


def name_of(machine: str) -> str:
    return pathlib.Path(machine).stem


def alike(medians: Medians) -> list[Cell]:
    """The cells with as many aggregators as OSTs."""
    return [cell for cell in medians.cells() if cell.ranks == cell.osts]


def times_own(medians: Medians, cell: Cell) -> float | None:
    """The rate of the 1-OST pattern divided by `Medians.own`."""
    one, own = medians.pattern(cell, 1), medians.own(cell)
    return one / own if one and own else None


def each_own(medians: Medians, cell: Cell) -> str:
    rates = []
    for name, role in medians.roles.items():
        rate = medians.rate(cell, Series(name, CONTIGUOUS)) if role == PEER else None
        rates += [f"{name} {rate:.0f}"] if rate else []
    return ", ".join(rates)


def against_own(medians: Medians) -> list[Check]:
    known = [(cell, ratio) for cell in alike(medians) if (ratio := times_own(medians, cell))]
    checks = []
    for number, (cell, ratio) in enumerate(known):
        figures = f"{medians.pattern(cell, 1):.0f} MiB/s to {each_own(medians, cell)}: {ratio:.2f} times ROMIO"
        if number == 0:
            text = f"1-OST is at least twice as fast as the MPI's own collective at {cell.osts} OSTs"
            checks.append(Check(text, ratio >= TWICE, figures))
        else:
            text = f"the ratio is larger at {cell.osts} OSTs than at {known[0][0].osts}"
            checks.append(Check(text, ratio > max(TWICE, known[0][1]), figures))
    return checks


def two_before_one(medians: Medians) -> list[Check]:
    checks = []
    for cell in alike(medians):
        one, two = medians.pattern(cell, 1), medians.pattern(cell, 2)
        if one and two:
            figures = f"{two:.0f} MiB/s to {one:.0f}, {two / one:.2f}"
            checks.append(Check(f"2-OST is faster than 1-OST at {cell.osts} OSTs", two > one, figures))
    return checks


def one_is_best(medians: Medians) -> list[Check]:
    checks = []
    for cell in alike(medians):
        rates = medians.patterns(cell)
        own = medians.own(cell)
        if 1 in rates and len(rates) > 1:
            others = max([rate for osts, rate in rates.items() if osts != 1] + ([own] if own else []))
            figures = f"{rates[1]:.0f} MiB/s, the next fastest {others:.0f}"
            checks.append(
                Check(
                    f"1-OST is faster than every other pattern and the MPI's own collective at {cell.osts} OSTs",
                    rates[1] > others,
                    figures,
                )
            )
    return checks


def many_are_worst(medians: Medians) -> list[Check]:
    """Checks cells with one to two aggregators per OST only."""
    checks = []
    for cell in medians.cells():
        rates = medians.patterns(cell)
        if len(rates) < 2 or not cell.osts <= cell.ranks <= 2 * cell.osts:
            continue
        most = max(rates)
        text = f"the pattern with the most OSTs is the slowest at {cell.osts} OSTs, {cell.ranks} aggregators"
        figures = ", ".join(f"{osts}-OST {rate:.0f}" for osts, rate in rates.items())
        checks.append(Check(text, rates[most] == min(rates.values()), f"{figures} MiB/s"))
    return checks


PUBLISHED = {
    "ranger": (against_own, many_are_worst),
    "tungsten": (one_is_best, many_are_worst),
    "big-red": (two_before_one, many_are_worst),
}
USUAL = (against_own, one_is_best, many_are_worst)


def checks_of(medians: Medians, machine: str) -> list[Check]:
    """The checks that the papers published for this machine; for another machine, the orders to expect from the
    papers."""
    return [check for checks in PUBLISHED.get(name_of(machine), USUAL) for check in checks(medians)]
