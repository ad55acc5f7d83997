"""The record of a case in a result."""

from __future__ import annotations

import dataclasses

from .cases import Case
from .search import Setting, Times, best_of


def record_of(case: Case, settings: list[Setting], times: Times, plans: dict[str, list[dict]], **facts) -> dict:
    """`plans`: by label, as plans_of(). `facts`: further fields, of how the times were found."""
    return {
        "case": case.name,
        **dataclasses.asdict(case),
        "round": 0,
        "best": best_of(settings, times),
        "best_peer": best_of(settings, times, peers=True),
        "hints": {one.label: dict(one.hints) for one in settings},
        "times": labelled(times),
        "plans": {label: found[-1] for label, found in plans.items() if found},
        **facts,
    }


def labelled(times: Times) -> dict[str, dict[str, float]]:
    """`times` with keys that JSON has."""
    return {label: {str(number): s for number, s in series.items()} for label, series in times.items()}


def predicted(plans: list[dict]) -> list[dict]:
    """Those of files whose calls were all predicted."""
    return [plan for plan in plans if "predicted" in plan]
