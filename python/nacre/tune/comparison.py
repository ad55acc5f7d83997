"""What would change for users: the same collective calls through the MPI alone, and through Nacre with several machine
files."""

from __future__ import annotations

import dataclasses
import random
import statistics

from nacre.tune import plan
from nacre.tune.patterns import Setting
from nacre.tune.samples import Figure, Samples

PIECE_BYTES = 48_000  # of the interleaved case: no multiple of a stripe or of a page
REPETITIONS = 3

MPI_ALONE = "the MPI alone"
BY_CLASS = "Nacre with the figures of the class"
BY_FILE = "Nacre with this machine file"
BY_HINTS = "Nacre with the best hints found"

CASES = {"a contiguous part for each rank": 0, f"pieces of {PIECE_BYTES:,} bytes in turn": PIECE_BYTES}


@dataclasses.dataclass(frozen=True)
class Contender:
    name: str
    values: tuple[tuple[str, int | str], ...]


@dataclasses.dataclass
class Comparison:
    """`best`: the fastest setting of the search, for writes and for reads; None without a search."""

    place: plan.Place
    machine_class: str
    best: dict[bool, Setting | None]

    def contenders(self, write: bool) -> list[Contender]:
        found = [
            Contender(MPI_ALONE, (("hint.nacre_enable", "false"),)),
            Contender(BY_CLASS, (("hint.nacre_machine", self.machine_class),)),
            Contender(BY_FILE, (("machine_file", 1),)),
        ]
        best = self.best.get(write)
        if best:
            hints = tuple((f"hint.{name}", value) for name, value in best.hints().items())
            found.append(Contender(BY_HINTS, (("machine_file", 1), *hints)))
        return found

    def word(self, contender: Contender, piece: int, write: bool) -> str:
        # `compared` keeps these samples apart from those of the search, which chose its best by its own.
        return plan.collective_word(self.place, write, piece, compared=1, **dict(contender.values))

    def words(self) -> list[str]:
        """Every contender in a fresh order in each repetition. Before each read the same file is written."""
        words = []
        for repetition in range(REPETITIONS):
            pairs = [
                (read, written, piece)
                for written, read in zip(self.contenders(True), self.contenders(False))
                for piece in CASES.values()
            ]
            random.Random(repetition).shuffle(pairs)
            for read, written, piece in pairs:
                words += [self.word(written, piece, True), self.word(read, piece, False)]
        return words

    def worth(self, samples: Samples) -> float | None:
        """How fast Nacre is with this machine file, as a multiple of with the figures of the class, in the median of
        the cases; None if none was measured."""
        found = [self.rates(samples, piece, write) for piece in CASES.values() for write in (True, False)]
        both = [rates for rates in found if BY_FILE in rates and BY_CLASS in rates]
        return statistics.median(rates[BY_FILE].value / rates[BY_CLASS].value for rates in both) if both else None

    def rates(self, samples: Samples, piece: int, write: bool) -> dict[str, Figure]:
        """Bytes per second by contender, those that were measured."""
        found = {one.name: samples.rate(self.word(one, piece, write)) for one in self.contenders(write)}
        return {name: figure for name, figure in found.items() if figure}
