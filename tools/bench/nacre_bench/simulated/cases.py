"""The cases, and the settings that each is measured and simulated with."""

from __future__ import annotations

import fnmatch

from ..choice.cases import LOCAL, Case, Row
from ..choice.search import AUTOMATIC, Setting
from ..errors import BenchError

TABLE = (
    Row("ranger", "interleaved pieces tile64 bt steps", "16x8", 8, "c8"),
    Row("tungsten big-red", "interleaved pieces tile64", "16x8", 8, "c8"),
    Row("flash", "interleaved pieces tile64 bt", "16x8", 32, "c8"),
    Row(LOCAL, "interleaved tile64 bt flash block4d", "4x1 16x4", 64),
)
LOCAL_AGGREGATORS = 4


def all_cases() -> list[Case]:
    return [case for row in TABLE for case in row.cases()]


def chosen_cases(patterns: list[str]) -> list[Case]:
    """The writes, or the cases whose name matches one of `patterns`."""
    cases = all_cases()
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(case.name, pattern) for case in cases):
            raise BenchError(f"--cases {pattern}: no case matches; a case is called, for example, {cases[0].name}")
    if not patterns:
        return [case for case in cases if case.direction == "write"]
    return [case for case in cases if any(fnmatch.fnmatchcase(case.name, pattern) for pattern in patterns)]


def settings_of(case: Case) -> list[Setting]:
    """The choice without a hint, and one setting for each kind of algorithm."""
    aggregators = (("cb_nodes", str(case.osts or LOCAL_AGGREGATORS)),)
    return [
        Setting(AUTOMATIC),
        Setting("direct", (("nacre_algorithm", "direct"),)),
        *(
            Setting(algorithm, (("nacre_algorithm", algorithm), *aggregators))
            for algorithm in ("two_phase", "dynamic_segmentation", "static_segmentation")
        ),
    ]
