"""Finds the peers of a cell that are too slow to become its fastest, so that they need no more launches."""

from __future__ import annotations

from .cells import DIRECTIONS, Cell, cells_of

# Peers are dropped only after this many rounds.
ROUNDS = 2
# Smallest share of the fastest median that still counts as keeping up. Launches of one peer vary by less.
SHARE_MIN = 0.7


def greatest(cell: Cell, name: str, direction: str) -> float:
    return max(cell.of(name, direction, "rate").values(), default=0.0)


def keeps_up(cell: Cell, name: str, fastest: str | None, direction: str) -> bool:
    median = cell.median(fastest, direction, "rate") if fastest else None
    return median is not None and greatest(cell, name, direction) >= SHARE_MIN * median


def left_behind(entries: list[dict], peers: list[str]) -> set[str]:
    """The peers whose best launch is below SHARE_MIN of the fastest peer's median, in writes and in reads. `entries`:
    the launches of one cell."""
    behind = set()
    for cell in cells_of({"launches": entries}):
        fastest = {direction: cell.best(peers, direction) for direction in DIRECTIONS}
        behind |= {name for name in peers if not any(keeps_up(cell, name, fastest[d], d) for d in DIRECTIONS)}
    return behind
