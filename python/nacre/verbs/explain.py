"""`nacre explain`: prints the algorithm, the aggregators and the file domains of collective calls, with reasons."""

from __future__ import annotations

import json

import typer
from rich.console import Console

from nacre import job_text, predictions, reports
from nacre.text import amount, duration, plural, unwrapped
from nacre.verbs.report import heading, opens_left, settings_lines

# Locks of the writes (nacre_write_locks).
LOCKS = {
    "narrow": "with narrow locks",
    "ahead": "with locks that are requested ahead of the writes",
    "group": "with a group lock",
}
# Of the plans that were compared, and of the resources of each.
OTHERS_SHOWN = 3
ALIKE_SHOWN = 3
RESOURCES_SHOWN = 3
TOP = 10  # files, in text
# What accesses of several nodes to one object wait for, by the file system of the file.
_LOCKS = "Each access would take the lock of an object from another node."
_NO_CACHE = "No node may cache such a file, so each access would wait for servers."
WAITS = {"lustre": _LOCKS, "testbed": _LOCKS, "ceph": _NO_CACHE, "ceph-fuse": _NO_CACHE}

HELP = unwrapped("""Show how Nacre executed collective calls, and why.

REPORT is a file that `nacre run --report FILE` (or NACRE_REPORT) wrote; - is standard input. The values are those that
rank 0 used for its decision.

[bold]Examples[/bold]

  nacre explain io.jsonl

  nacre explain io.jsonl --file '*.nc'

[bold]Exit codes[/bold]  0; 2: REPORT cannot be read, or has no report.
""")


def register(app: typer.Typer) -> None:
    app.command("explain", help=HELP, short_help="Show how Nacre executed collective calls, and why.")(explain)


def explain(
    report: list[str] = typer.Argument(..., metavar="REPORT", help="Report files; - is standard input."),
    file: str = typer.Option(None, "--file", metavar="PATTERN", help="Show only files whose name matches."),
    top: int = typer.Option(
        None, "--top", metavar="N", min=1, help="Show the N slowest files; default: 10 in text, all in JSON."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON: the plans of each file, the slowest first."),
) -> None:
    found = reports.read(report, file)
    if as_json:
        fields = (
            "file",
            "job",
            "closed_at",
            "ranks",
            "nodes",
            "machine",
            "hints",
            "notes",
            "plans",
            "other_plan_calls",
        )
        shown = reports.slowest(found, top or len(found))
        print(json.dumps([{name: one[name] for name in fields} for one in shown], indent=2))
        return
    console = Console(emoji=False, highlight=False, soft_wrap=True)
    shown = reports.slowest(found, top or TOP)
    for one in shown:
        _explain_file(console, one)
        console.print()
    if left := opens_left(shown, found):
        console.print(left)


def _explain_file(console: Console, one: dict) -> None:
    """The calls of one open of a file."""
    console.print(heading(one))
    for line in settings_lines(one):
        console.print(line)
    if one["machine"]:
        console.print(f"  machine: {one['machine']} (nacre_machine)", markup=False)
    for plans in _alike(one["plans"]):
        _explain(console, plans, one["file_system"])
    if misfit := predictions.misfit(one):
        job_text.show_misfit(console, misfit)
    if one["other_plan_calls"]:
        others = plural(one["other_plan_calls"], "more call")
        console.print(f"  {others} used other plans, which are not in the report.")
    if not one["plans"]:
        tried = any(kind.startswith("collective") for kind in one["kinds"])
        if "source" in one:
            console.print("  Nacre did not carry out these calls, so there is no plan.")
        else:
            found = "No collective call succeeded" if tried else "The program made no collective call"
            console.print(f"  {found}. Each rank executes its independent calls alone.")


def _alike(plans: list[dict]) -> list[list[dict]]:
    """Plans in blocks, in the order of their first calls: those of a block have the same algorithm, aggregators and
    reason, are all in steps or none, and move about as many bytes in a call. They differ only in file domains and
    rounds."""
    blocks: dict[tuple, list[dict]] = {}
    for plan in plans:
        magnitude = int(plan["bytes"]["sum"] / plan["calls"]).bit_length()
        names = ("call", "in_steps", "algorithm", "reason", "aggregators", "aggregators_reason")
        blocks.setdefault((*(plan.get(name) for name in names), magnitude), []).append(plan)
    return list(blocks.values())


def _explain(console: Console, plans: list[dict], file_system: str) -> None:
    """A block of plans: all their calls, and how those of the plan with the most time were carried out."""
    plan = max(plans, key=lambda one: one["seconds"]["max"])
    slowest = duration(sum(one["seconds"]["max"] for one in plans))
    calls = plural(sum(one["calls"] for one in plans), f"collective {plan['call']}")
    if plan.get("in_steps"):
        calls += " in steps"
    size = amount(sum(one["bytes"]["sum"] for one in plans))
    among = f" in {len(plans)} plans" if len(plans) > 1 else ""
    console.print(f"  [bold]{calls}[/bold]{among}, {size} in total, {slowest} on the slowest rank")
    if among:
        console.print(
            f"    shown: the plan with the most time ({plural(plan['calls'], 'call')}); the others differ in file"
            " domains and rounds"
        )
    console.print(f"    how: {_how(plan)}", markup=False)
    console.print(f"    why: {_why(plan, file_system)} ({plan['reason']})", markup=False)
    if "aggregators" in plan:
        console.print(f"    aggregators: {_count_grounds(plan)}", markup=False)
    grounds = _grounds(plan["first_call"])
    if grounds:
        console.print(f"    from: {grounds}", markup=False)
    if "predicted" in plan:
        _compare(console, plan)
    console.print(f"    otherwise: {plan['otherwise']}", markup=False)


def _why(plan: dict, file_system: str) -> str:
    """The reason of a plan, with what accesses to shared objects wait for on this file system."""
    waits = WAITS.get(file_system) if plan["reason"] == "shared_objects" else None
    return f"{plan['because']} {waits}" if waits else plan["because"]


def _compare(console: Console, plan: dict) -> None:
    """The predicted times of the plans that were compared, and what the plan that ran took."""
    took = duration(plan["seconds"]["max"] / plan["calls"])
    console.print(f"    predicted: {_prediction(plan['predicted'])}; a call took {took}.", markup=False)
    used = predictions.plan_name(plan["predicted"])
    others: dict[str, list[str]] = {}
    for one in plan["compared"]:
        if (name := predictions.plan_name(one)) != used:
            others.setdefault(_prediction(one), []).append(name)
    for prediction, names in list(others.items())[:OTHERS_SHOWN]:
        console.print(f"      instead of {_any_of(names)}: {prediction}", markup=False)
    if plan.get("decided_by"):
        figures = ", ".join(plan["decided_by"])
        console.print(f"    decided by: {figures}. Without one of these figures Nacre would choose another plan.")


def _any_of(names: list[str]) -> str:
    """Some of the plans that are predicted alike."""
    shown = list(dict.fromkeys(names))
    more = [f"{len(shown) - ALIKE_SHOWN} more"] if len(shown) > ALIKE_SHOWN else []
    return " or ".join([*shown[:ALIKE_SHOWN], *more])


def _prediction(predicted: dict) -> str:
    """For example: 0.50 s, for which the ost is busy 0.50 s, the link 0.26 s."""
    busy = sorted(predicted["busy"].items(), key=lambda item: -item[1])[:RESOURCES_SHOWN]
    parts = ", ".join(f"{name} {duration(seconds)}" for name, seconds in busy)
    return f"{duration(predicted['seconds'])} (busy: {parts})"


def _how(plan: dict) -> str:
    if "aggregators" not in plan:
        return f"{plan['algorithm']}, each rank reads or writes its own pieces."
    ranks = ", ".join(str(rank) for rank in plan["aggregator_ranks"])
    more = ", ..." if plan["aggregators"] > len(plan["aggregator_ranks"]) else ""
    word = "rank" if plan["aggregators"] == 1 else "ranks"
    return (
        f"{plan['algorithm']}, {plural(plan['aggregators'], 'aggregator')} ({word} {ranks}{more}), {_pattern(plan)}; "
        f"{amount(plan['cycle_bytes'])} per round, at most {plural(plan['rounds_max'], 'round')}, "
        f"{plural(plan['cycle_buffers'], 'round')} at a time."
    )


def _count_grounds(plan: dict) -> str:
    busy = f"{amount(plan['saturation_bytes'])} (nacre_saturation_bytes) saturate one aggregator"
    return f"{plan['aggregators_because']} ({plan['aggregators_reason']}); {busy}."


def _pattern(plan: dict) -> str:
    if "group_ranks_max" in plan:
        return f"each for a group of at most {plural(plan['group_ranks_max'], 'rank')}"
    pattern = {
        "even": "each with one range of the file, at most",
        "stripes": "stripes dealt to them in turn (nacre_pattern=stripes), in blocks of",
        "osts": "each with the stripes on some OSTs (nacre_pattern=osts), contiguous pieces of",
    }[plan["pattern"]]
    return f"{pattern} {amount(plan['domain_bytes'])}{_osts(plan)}"


def _osts(plan: dict) -> str:
    """The OSTs of each aggregator; empty if the file is not striped."""
    if "osts" not in plan:
        return ""
    least, most, sharing = (plan["osts"][name] for name in ("least", "most", "aggregators_on_one"))
    osts = plural(most, "OST") if least == most else f"{least} to {plural(most, 'OST')}"
    locks = plan.get("write_locks", "usual")
    how = LOCKS.get(locks, f"with {locks} locks")
    locked = f", written {how} (nacre_write_locks)" if locks != "usual" else ""
    return f", on {osts} each, at most {plural(sharing, 'aggregator')} per OST{locked}"


def _grounds(first: dict) -> str:
    """The values of the first call of the plan, from which rank 0 decided."""
    if not first["pieces"]:
        return ""
    hull = first["end"] - first["first_byte"]
    overlap = f"; the ranges of the ranks add up to {first['span_bytes'] / hull:.1f} times that" if hull else ""
    ranks, pieces = plural(first["ranks"], "rank"), plural(first["pieces"], "piece")
    return (
        f"{ranks} with data, {amount(first['bytes'])} in {pieces} of "
        f"{amount(first['bytes'] / first['pieces'])} on average, over {amount(hull)} of the file{overlap}."
    )
