"""`nacre explain`: which algorithm, aggregators and domains collective calls were run with, and on which grounds."""

from __future__ import annotations

import typer
from rich.console import Console

from nacre import reports
from nacre.text import amount, duration, plural, unwrapped
from nacre.verbs.report import heading, settings_lines

HELP = unwrapped("""Explain how collective calls were carried out, and why so.

REPORT is what `nacre run --report FILE` (or NACRE_REPORT) had written; - is standard input. What is shown are the
values that the calls were run with: rank 0 decided by them.

[bold]Examples[/bold]

  nacre explain io.jsonl

  nacre explain io.jsonl --file '*.nc'

[bold]Exit codes[/bold]  0, or 2 where there is no such file or it is no report.
""")


def register(app: typer.Typer) -> None:
    app.command("explain", help=HELP, short_help="Explain how collective calls were carried out, and why so.")(explain)


def explain(
    report: list[str] = typer.Argument(..., metavar="REPORT...", help="Reports; - is standard input."),
    file: str = typer.Option(None, "--file", metavar="PATTERN", help="Only of files whose name matches."),
) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for one in reports.read(report, file):
        console.print(heading(one))
        for line in settings_lines(one):
            console.print(line)
        for plan in one["plans"]:
            _explain(console, plan)
        if one["other_plan_calls"]:
            console.print(f"  {plural(one['other_plan_calls'], 'more call')} with other plans, of which none is kept.")
        if not one["plans"]:
            console.print("  No collective call ended well: independent ones are carried out by their rank alone.")
        console.print()


def _explain(console: Console, plan: dict) -> None:
    slowest = duration(plan["seconds"]["max"])
    calls = plural(plan["calls"], f"collective {plan['call']}")
    console.print(f"  [bold]{calls}[/bold], {amount(plan['bytes']['sum'])} in all, {slowest} on the slowest rank")
    console.print(f"    how: {_how(plan)}", markup=False)
    console.print(f"    why: {plan['because']} ({plan['reason']})", markup=False)
    if "aggregators" in plan:
        console.print(f"    aggregators: {_count_grounds(plan)}", markup=False)
    grounds = _grounds(plan["first_call"])
    if grounds:
        console.print(f"    from: {grounds}", markup=False)
    console.print(f"    otherwise: {plan['otherwise']}", markup=False)


def _how(plan: dict) -> str:
    if "aggregators" not in plan:
        return f"{plan['algorithm']}, each rank moves its own pieces."
    ranks = ", ".join(str(rank) for rank in plan["aggregator_ranks"])
    more = ", ..." if plan["aggregators"] > len(plan["aggregator_ranks"]) else ""
    word = "rank" if plan["aggregators"] == 1 else "ranks"
    return (
        f"{plan['algorithm']}, {plural(plan['aggregators'], 'aggregator')} ({word} {ranks}{more}), {_pattern(plan)}; "
        f"{amount(plan['cycle_bytes'])} a round, {plural(plan['rounds_max'], 'round')} at most, "
        f"{plan['cycle_buffers']} of them at once."
    )


def _count_grounds(plan: dict) -> str:
    busy = f"{amount(plan['saturation_bytes'])} (nacre_saturation_bytes) keep one busy"
    return f"{plan['aggregators_because']} ({plan['aggregators_reason']}); {busy}."


def _pattern(plan: dict) -> str:
    if "group_ranks_max" in plan:
        return f"each for a group of ranks, of up to {plan['group_ranks_max']}"
    pattern = {
        "even": "each with one range of the file, of up to",
        "stripes": "whole stripes dealt to them in turn (nacre_pattern=stripes), in blocks of",
        "osts": "each with the stripes on some OSTs (nacre_pattern=osts), of",
    }[plan["pattern"]]
    return f"{pattern} {amount(plan['domain_bytes'])}{_osts(plan)}"


def _osts(plan: dict) -> str:
    """How many OSTs an aggregator really touches, of a file that is striped."""
    if "osts" not in plan:
        return ""
    least, most, sharing = (plan["osts"][name] for name in ("least", "most", "aggregators_on_one"))
    osts = plural(most, "OST") if least == most else f"{least} to {plural(most, 'OST')}"
    locks = plan.get("write_locks", "usual")
    locked = f", written under {locks} locks (nacre_write_locks)" if locks != "usual" else ""
    return f", on {osts} each, no OST with more than {plural(sharing, 'aggregator')}{locked}"


def _grounds(first: dict) -> str:
    """What rank 0 decided from, of the first call that the plan was run for."""
    if not first["pieces"]:
        return ""
    hull = first["end"] - first["first_byte"]
    overlap = f", the ranks' ranges together {first['span_bytes'] / hull:.1f} times that" if hull else ""
    ranks, pieces = plural(first["ranks"], "rank"), plural(first["pieces"], "piece")
    return (
        f"{ranks} with data, {amount(first['bytes'])} in {pieces} of "
        f"{amount(first['bytes'] / first['pieces'])} on average, over {amount(hull)} of the file{overlap}."
    )
