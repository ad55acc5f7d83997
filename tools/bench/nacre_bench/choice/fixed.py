"""Fixed algorithms and numbers of aggregators in all cases, against the automatic choice: the tables of Chaarawi &
Gabriel (IEEE Cluster 2011) in one."""

from __future__ import annotations

import dataclasses
import statistics

from ..tables import number, table
from .figures import FAR, NEAR, Judged, seconds_of
from .search import AUTOMATIC

# Numbers of aggregators by what they equal in a case.
COUNTS = {"one": lambda entry: 1, "per node": lambda entry: entry["nodes"], "per rank": lambda entry: entry["ranks"]}
ABOUT = """Fixed settings in all cases that have them; two_phase with the pattern and rounds that are the fastest in
each case. Ratio: median time over that of the best setting."""


@dataclasses.dataclass(frozen=True)
class Fixed:
    """Ratios to the best setting, one for each case."""

    algorithm: str
    aggregators: str
    ratios: tuple[float, ...]

    def row(self) -> list[str]:
        shares = [sum(ratio <= limit for ratio in self.ratios) for limit in (NEAR, FAR)]
        cases = len(self.ratios)
        return [
            self.algorithm,
            self.aggregators,
            str(cases),
            *[f"{share} ({100 * share / cases:.0f} %)" for share in shares],
            number(statistics.median(self.ratios)),
            number(max(self.ratios)),
        ]


def ratio_in(entry: dict, algorithm: str, count: int | None) -> float | None:
    """The ratio of the fastest setting with this algorithm and number of aggregators (None: it has none)."""
    seconds = [
        time
        for label, hints in entry["hints"].items()
        if hints.get("nacre_algorithm") == algorithm
        and (count is None or hints.get("cb_nodes") == str(count))
        and (time := seconds_of(entry, label))
    ]
    best = seconds_of(entry, entry["best"])
    return min(seconds) / best if seconds and best else None


def fixed_settings(judged: list[Judged]) -> list[Fixed]:
    entries = [one.entry for one in judged]
    found = [Fixed(AUTOMATIC, "", tuple(one.ratio.value for one in judged))]
    wanted = [("direct", "", None)]
    for algorithm in ("two_phase", "dynamic_segmentation", "static_segmentation"):
        wanted += [(algorithm, name, count) for name, count in COUNTS.items()]
    for algorithm, name, count in wanted:
        ratios = [ratio_in(entry, algorithm, count(entry) if count else None) for entry in entries]
        known = tuple(ratio for ratio in ratios if ratio)
        found += [Fixed(algorithm, name, known)] if known else []
    return found


def fixed_text(judged: list[Judged]) -> str:
    header = ["setting", "aggregators", "cases", "within 10 %", "within 25 %", "median ratio", "largest"]
    return f"{ABOUT}\n{table(header, [one.row() for one in fixed_settings(judged)])}"
