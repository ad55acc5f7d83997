"""The plans of a launch, from the reports of Nacre (docs/report.md)."""

from __future__ import annotations

import os

from nacre import reports
from nacre.errors import UserError

from ..errors import BenchError

KEPT = ("algorithm", "reason", "aggregators", "pattern", "cycle_bytes", "calls")


def plans_of(path: str, direction: str) -> list[dict]:
    """For each report in the file: the plan of the calls in `direction` that took the longest. Empty if there is no
    report, as after a launch that failed."""
    if not os.path.exists(path):
        return []
    try:
        found = reports.read([path])
    except UserError as error:
        raise BenchError(str(error)) from error
    return [plan for report in found if (plan := longest(report, direction))]


def longest(report: dict, direction: str) -> dict | None:
    plans = [plan for plan in report["plans"] if plan["call"] == direction]
    if not plans:
        return None
    plan = max(plans, key=lambda one: one["seconds"]["max"])
    kept = {key: plan[key] for key in KEPT if key in plan}
    kept["plans"] = len(plans)
    kept["observed"] = plan["seconds"]["max"]
    if "predicted" in plan:
        kept["predicted"] = plan["predicted"]["seconds"] * plan["calls"]
    return kept


def words(plan: dict | None) -> str:
    """A plan in a few words, such as "two_phase A=8 osts 1m"."""
    if not plan:
        return "-"
    text = plan["algorithm"]
    if "aggregators" in plan:
        text += f" A={plan['aggregators']} {plan['pattern']} {plan['cycle_bytes'] >> 10}k"
    return text + (f" (+{plan['plans'] - 1} plans)" if plan["plans"] > 1 else "")
