"""The plans of a launch, from the reports of Nacre (docs/report.md)."""

from __future__ import annotations

import os

from nacre import reports
from nacre.errors import UserError

from ..errors import BenchError

KEPT = ("algorithm", "reason", "aggregators", "pattern", "cycle_bytes", "calls")


def plans_of(path: str, direction: str) -> list[dict]:
    """For each report in the file: longest(). Empty if there is no report, as after a launch that failed."""
    if not os.path.exists(path):
        return []
    try:
        found = reports.read([path])
    except UserError as error:
        raise BenchError(str(error)) from error
    return [plan for report in found if (plan := longest(report, direction))]


def longest(report: dict, direction: str) -> dict | None:
    """The plan of the calls in `direction` that took the longest. `observed` is the time of all calls in this
    direction, and `predicted` that of all, if all were predicted."""
    plans = [plan for plan in report["plans"] if plan["call"] == direction]
    if not plans:
        return None
    plan = max(plans, key=lambda one: one["seconds"]["max"])
    kept = {key: plan[key] for key in KEPT if key in plan}
    kept["plans"] = len(plans)
    kept["observed"] = sum(one["seconds"]["max"] for one in plans)
    if not report["other_plan_calls"] and all("predicted" in one for one in plans):
        kept["predicted"] = sum(predicted_seconds(one) for one in plans)
    return kept


def predicted_seconds(plan: dict) -> float:
    """The predicted time of all calls of a plan. Nodes keep the bytes of several writes in their caches, so what a
    write waits for beside its busiest resource counts once; the time of calls in steps is without it."""
    seconds, calls = plan["predicted"]["seconds"], plan["calls"]
    if plan["call"] == "read" or plan.get("in_steps"):
        return calls * seconds
    busiest = max((time for name, time in plan["predicted"]["busy"].items() if name != "agreement"), default=0)
    return calls * busiest + seconds - busiest


def words(plan: dict | None) -> str:
    """A plan in a few words, such as "two_phase A=8 osts 1m"."""
    if not plan:
        return "-"
    text = plan["algorithm"]
    if "aggregators" in plan:
        text += f" A={plan['aggregators']} {plan['pattern']} {plan['cycle_bytes'] >> 10}k"
    return text + (f" (+{plan['plans'] - 1} plans)" if plan["plans"] > 1 else "")
