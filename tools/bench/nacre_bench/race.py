"""Which peers of a cell need no more launches, since they will not be its fastest."""

from __future__ import annotations

from .cells import DIRECTIONS, Cell, cells_of

# From this many on it is asked after each.
ROUNDS = 2
# Launches differ by less.
SHARE_MIN = 0.7


def greatest(cell: Cell, name: str, direction: str) -> float:
    return max(cell.of(name, direction, "rate").values(), default=0.0)


def keeps_up(cell: Cell, name: str, fastest: str | None, direction: str) -> bool:
    median = cell.median(fastest, direction, "rate") if fastest else None
    return median is not None and greatest(cell, name, direction) >= SHARE_MIN * median


def left_behind(entries: list[dict], peers: list[str]) -> set[str]:
    """Of `peers`, launched in a cell as `entries` say, those whose best launches are far from the median of the
    fastest, both in writes and in reads."""
    behind = set()
    for cell in cells_of({"launches": entries}):
        fastest = {direction: cell.best(peers, direction) for direction in DIRECTIONS}
        behind |= {name for name in peers if not any(keeps_up(cell, name, fastest[d], d) for d in DIRECTIONS)}
    return behind
