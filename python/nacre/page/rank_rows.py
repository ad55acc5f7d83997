"""The rows of drawings by rank: which row the figures of a file belong to.

A report names the rank in the program of the file's rank 0 only. So a file of all ranks, and a file of a single rank,
have rows by rank of the program. A file of other communicators has rows of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from nacre.jobs import single_rank

BANDS_MAX = 16  # of the ranks of a file, as in the library
APART_MAX = 32  # rows of communicators

# Of a communicator: the rank in the program of its rank 0, and the number of its ranks.
Communicator = tuple[int, int]


@dataclass(frozen=True)
class Row:
    """`ranks`: how many ranks the row stands for."""

    name: str
    ranks: int


@dataclass
class Rows:
    """`first_of`: the first row of each communicator whose files these rows show; None: of all ranks, and of single
    ranks. `merged`: all ranks of a communicator share a row."""

    rows: list[Row]
    first_of: dict[Communicator, int] | None = None
    merged: bool = False

    def places(self, one: dict, first_ranks: list[int]) -> Iterator[tuple[int, int]]:
        """For each band of the ranks of a file: its row, and the number of ranks of the band."""
        for first, after in spans(first_ranks, one["ranks"]):
            yield self._row_of(one, first), after - first

    def _row_of(self, one: dict, rank: int) -> int:
        if self.first_of is not None:
            return self.first_of[_communicator(one)] + (0 if self.merged else _band_of(rank, one["ranks"]))
        own = single_rank(one)
        return _band_of(rank if own is None else own, sum(row.ranks for row in self.rows))


def divided(reports: list[dict], job_ranks: int) -> tuple[list[dict], list[dict]]:
    """The reports of files whose ranks are known as ranks of the program, and the others."""
    known: list[dict] = []
    others: list[dict] = []
    for one in reports:
        # Unless the program has reordered its ranks, rank 0 of all ranks is rank 0 of the program.
        is_known = one["ranks"] == 1 or _communicator(one) == (0, job_ranks)
        (known if is_known else others).append(one)
    return known, others


def spans(firsts: list[int], end: int) -> list[tuple[int, int]]:
    """From each of `firsts` until before the next one, and from the last until before `end`."""
    return list(zip(firsts, [*firsts[1:], end]))


def name_of(first: int, after: int) -> str:
    """Of the ranks from `first` until before `after`."""
    return str(first) if after == first + 1 else f"{first}-{after - 1}"


def of_program(job_ranks: int) -> Rows:
    return Rows([Row(name_of(first, after), after - first) for first, after in _bands(job_ranks)])


def of_communicators(reports: list[dict]) -> Rows:
    """One row a rank, or band of ranks, of each communicator; of many communicators one row for each, or for several
    together."""
    found = sorted(set(map(_communicator, reports)))
    counts = [len(_bands(ranks)) for _, ranks in found]
    if sum(counts) <= APART_MAX:
        rows = [
            Row(f"{_words_of(one)}: {name_of(first, after)}", after - first)
            for one in found
            for first, after in _bands(one[1])
        ]
        return Rows(rows, dict(zip(found, accumulate([0, *counts]))))
    size = -(-len(found) // APART_MAX)
    parts = [found[first : first + size] for first in range(0, len(found), size)]
    rows = [Row(_words_of_several(part), sum(ranks for _, ranks in part)) for part in parts]
    return Rows(rows, {one: at for at, part in enumerate(parts) for one in part}, merged=True)


def explained(one: dict) -> str:
    """What the names of the rows of communicators mean, by the example of this file's."""
    return (
        f'"{_words_of(_communicator(one))}" is {communicator_in_words(one)}; '
        "a report does not contain which ranks of the program the others are."
    )


def communicator_in_words(one: dict) -> str:
    first, ranks = _communicator(one)
    return f"a communicator of {ranks} ranks whose rank 0 is rank {first} of the program"


def _words_of(one: Communicator) -> str:
    return f"{one[1]} ranks from {one[0]}"


def _words_of_several(part: list[Communicator]) -> str:
    return _words_of(part[0]) if len(part) == 1 else f"{len(part)} communicators from {part[0][0]} to {part[-1][0]}"


def _communicator(one: dict) -> Communicator:
    return one["world"]["rank"], one["ranks"]


def _bands(ranks: int) -> list[tuple[int, int]]:
    """The first rank of each band, and the rank after its last."""
    count = min(ranks, BANDS_MAX)
    firsts = [-(-band * ranks // count) for band in range(count)]
    return spans(firsts, ranks)


def _band_of(rank: int, ranks: int) -> int:
    return rank * min(ranks, BANDS_MAX) // ranks
