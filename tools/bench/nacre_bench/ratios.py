"""Ratios of Nacre to the fastest peer and to the limits of a cell."""

from __future__ import annotations

import dataclasses

from .cells import DIRECTIONS, Cell, names_of, peers_of
from .contenders import HAND, OURS, REF
from .figures import Ratio, paired_ratio
from .units import MIB

# Less memory counts as this: the ratio of two tiny figures says nothing.
MEMORY_LEAST = MIB


@dataclasses.dataclass(frozen=True)
class Comparison:
    """One Nacre contender in one direction of a cell. `peer` is the fastest peer; CPU and memory refer to it too. None
    if no peer was measured."""

    name: str
    direction: str
    peer: str | None
    time: Ratio | None  # above 1: Nacre is faster
    cpu: float | None  # below 1: Nacre uses less; so for memory
    memory: float | None
    of_ref: float | None
    of_hand: float | None


def quotient(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below


def memory(cell: Cell, name: str, direction: str) -> float | None:
    value = cell.median(name, direction, "memory_mean")
    return None if value is None else max(value, MEMORY_LEAST)


def hand_for(name: str) -> str:
    """The name of the hand-written contender over the same MPI."""
    return f"{HAND}/{name.rpartition('/')[2]}"


def compare(cell: Cell, name: str, direction: str, peers: list[str]) -> Comparison:
    peer = cell.best(peers, direction)
    rate = cell.median(name, direction, "rate")
    return Comparison(
        name=name,
        direction=direction,
        peer=peer,
        time=paired_ratio(cell.of(name, direction, "rate"), cell.of(peer, direction, "rate")) if peer else None,
        cpu=quotient(cell.median(name, direction, "cpu"), cell.median(peer, direction, "cpu")) if peer else None,
        memory=quotient(memory(cell, name, direction), memory(cell, peer, direction)) if peer else None,
        of_ref=quotient(rate, cell.median(REF, direction, "rate")),
        of_hand=quotient(rate, cell.median(hand_for(name), direction, "rate")),
    )


def comparisons(cell: Cell, result: dict) -> list[Comparison]:
    """The comparisons of all measured Nacre contenders, in both directions."""
    return [
        compare(cell, name, direction, peers_of(result))
        for name in names_of(result, OURS)
        for direction in DIRECTIONS
        if cell.of(name, direction, "rate")
    ]
