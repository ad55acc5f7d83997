"""Computes medians and testbed counters from the records of the launches."""

from __future__ import annotations

import dataclasses
import json
import statistics

from ..cells import READ, WRITE, seconds_from_open
from ..contenders import OURS, PEER
from ..units import GIB, MIB
from .cells import CONTIGUOUS, WARM_UP, Cell, pattern_label


def rate_of(sample: dict, direction: str) -> float | None:
    """MiB/s, from when all ranks have opened the file to when all have closed it. Writes include MPI_File_sync; without
    it, the rate would be that of caches. None if the sample lacks the direction."""
    if direction not in sample:
        return None
    return sample["bytes"] / MIB / seconds_from_open(sample[direction])


@dataclasses.dataclass(frozen=True)
class Traffic:
    """Counters of the testbed: the most nodes that one OST served, and lock callbacks per GiB of the file."""

    nodes_an_ost: int
    callbacks_a_gib: float


def traffic_of(sample: dict, direction: str) -> Traffic | None:
    text = sample.get(f"{direction}_counters")
    if not text:
        return None
    counters = json.loads(text)
    callbacks = sum(counters["nodes"]["lock_callbacks"])
    return Traffic(max(counters["osts"]["clients"]), callbacks / (sample["bytes"] / GIB))


@dataclasses.dataclass(frozen=True)
class Series:
    """A contender and its task: a pattern of Nacre, or the collective call of the MPI itself."""

    contender: str
    label: str


class Medians:
    """The medians of a result over its rounds, by variant, cell, series and direction."""

    def __init__(self, result: dict):
        self.roles = {one["name"]: one["role"] for one in result["contenders"]}
        peers = {one["name"]: one["about"] for one in result["contenders"] if one["role"] == PEER}
        romios = [name for name, about in peers.items() if about.startswith("ROMIO")]
        self.own_names = romios or list(peers)
        self.rates: dict[tuple[str, Cell, Series, str], list[float]] = {}
        self.traffic: dict[tuple[Cell, Series, str], list[Traffic]] = {}
        for entry in result["launches"]:
            for line in entry["lines"]:
                if line["type"] == "sample" and line["workload"] != WARM_UP and not entry["error"]:
                    self._add(entry, line)

    def _add(self, entry: dict, sample: dict) -> None:
        cell, series = Cell(entry["osts"], entry["ranks"]), Series(entry["contender"], sample["workload"])
        for direction in (WRITE, READ):
            rate = rate_of(sample, direction)
            if rate is not None:
                self.rates.setdefault((entry["variant"], cell, series, direction), []).append(rate)
            traffic = traffic_of(sample, direction)
            if traffic and not entry["variant"]:
                self.traffic.setdefault((cell, series, direction), []).append(traffic)

    def cells(self) -> list[Cell]:
        return sorted({cell for _, cell, _, _ in self.rates}, key=lambda cell: (cell.osts, cell.ranks))

    def variants(self) -> list[str]:
        return list(dict.fromkeys(variant for variant, _, _, _ in self.rates if variant))

    def series(self, osts: int) -> list[Series]:
        """Nacre's patterns, with the fewest OSTs first; then its two-phase; then the collective calls of the MPIs."""
        found = {series for _, cell, series, _ in self.rates if cell.osts == osts}
        order = list(self.roles)

        def key(series: Series) -> tuple:
            number, _, rest = series.label.partition("-OST")
            return (
                self.roles[series.contender] != OURS,
                bool(rest),
                number.zfill(6),
                rest,
                order.index(series.contender),
            )

        return sorted(found, key=key)

    def rate(self, cell: Cell, series: Series, direction: str = WRITE, variant: str = "") -> float | None:
        values = self.rates.get((variant, cell, series, direction))
        return statistics.median(values) if values else None

    def best(self, series: list[Series], cell: Cell, direction: str = WRITE, variant: str = "") -> float | None:
        rates = [self.rate(cell, one, direction, variant) for one in series]
        return max((rate for rate in rates if rate is not None), default=None)

    def own(self, cell: Cell, direction: str = WRITE, variant: str = "") -> float | None:
        """The rate of the fastest MPI's own collective call. If ROMIO was measured, only ROMIO counts, as in the
        papers: it writes contiguous pieces from the ranks that have them. OMPIO sends them to fewer aggregators."""
        return self.best([Series(name, CONTIGUOUS) for name in self.own_names], cell, direction, variant)

    def pattern(self, cell: Cell, osts: int, variant: str = "") -> float | None:
        """The write rate of the N-OST pattern (N = `osts`): that of the fastest Nacre contender over any MPI."""
        ours = [Series(name, pattern_label(osts)) for name, role in self.roles.items() if role == OURS]
        return self.best(ours, cell, WRITE, variant)

    def patterns(self, cell: Cell) -> dict[int, float]:
        """The write rates of the measured patterns, by OSTs per aggregator."""
        labels = {series.label for series in self.series(cell.osts)}
        numbers = sorted(int(label[: -len("-OST")]) for label in labels if label.endswith("-OST"))
        rates = {number: self.pattern(cell, number) for number in numbers}
        return {number: rate for number, rate in rates.items() if rate is not None}
