"""`nacre compare`: shows two jobs side by side."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator

import typer
from rich.console import Console
from rich.markup import escape

from nacre import reports
from nacre.errors import UserError
from nacre.findings import Finding, find, osts
from nacre.jobs import Job, jobs_of
from nacre.page import document
from nacre.tables import grid
from nacre.text import amount, duration, plural, unwrapped

FILES_SHOWN = 4
PLANS_SHOWN = 3

HELP = unwrapped("""Show two jobs side by side: times, phases, bytes, layouts, plans and findings.

A and B are reports that `nacre run --report FILE` wrote. Of a report with several jobs nacre takes the slowest. The
last column is B divided by A: below 1, B has less of it. The time of ranks that wait for others outside MPI-IO is in
the first row only.

[bold]Examples[/bold]

  nacre compare before.jsonl after.jsonl

  nacre compare --html both.html before.jsonl after.jsonl

[bold]Exit codes[/bold]  0; 2: A or B cannot be read, or has no report.
""")

# A figure of a job: the kind of calls that it is of, its words, its value and how to print it.
Figure = tuple[str, str, float, Callable[[float], str]]
# The same with the values of both jobs.
Row = tuple[str, str, float, float, Callable[[float], str]]


def register(app: typer.Typer) -> None:
    app.command("compare", help=HELP, short_help="Show two jobs side by side.")(compare)


def compare(
    a: str = typer.Argument(..., metavar="A", help="Report of the first job."),
    b: str = typer.Argument(..., metavar="B", help="Report of the second job."),
    file: str = typer.Option(None, "--file", metavar="PATTERN", help="Compare only files whose name matches."),
    top: int = typer.Option(
        None,
        "--top",
        metavar="N",
        min=1,
        help="Show N findings of each job, the layouts of its N slowest files and N plans for each kind of call; "
        f"default: all findings, {FILES_SHOWN} layouts, {PLANS_SHOWN} plans.",
    ),
    html: str = typer.Option(None, "--html", metavar="OUT", help="Write both jobs, with drawings, as one page to OUT."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    if a == b == "-":
        raise UserError("A and B are both standard input", "Name two files, or one file and -.")
    first, second = (jobs_of(reports.read([path], file))[0] for path in (a, b))
    rows = _rows(first, second)
    words = _words(first, second, top)
    findings = (find(first), find(second))
    if html is not None:
        printed = [list(_printed(row)) for row in rows] + [[name, one, other, ""] for name, one, other in words]
        document.write(html, document.of_pair(first, second, (findings[0][:top], findings[1][:top]), printed))
        return
    if as_json:
        print(json.dumps(_as_json((first, second), rows, findings, top), indent=2))
        return
    console = Console(emoji=False, highlight=False)
    for name, job in (("A", first), ("B", second)):
        console.print(f"[bold]{name}[/bold]: {escape(job.title)}; {escape(job.libraries)}", soft_wrap=True)
    console.print()
    table = grid("", "A", "B", "B/A")
    for row in rows:
        table.add_row(*_printed(row))
    console.print(table)
    for name, one, other in words:
        console.print(f"{name}:", markup=False)
        for job, text in (("A, B", one),) if one == other else (("A", one), ("B", other)):
            missing = "unknown" if name.startswith("layout") else "none"
            console.print(f"  {job}: {text or missing}", soft_wrap=True, markup=False)
    for line in _findings(*findings, top):
        console.print(line, soft_wrap=True, markup=False)
    if first.elapsed_seconds and second.elapsed_seconds:
        ratio = second.elapsed_seconds / first.elapsed_seconds
        console.print(f"From the first open to the last close B took {ratio:.2f} times as long as A.", markup=False)


def _as_json(
    jobs: tuple[Job, Job], rows: list[Row], findings: tuple[list[Finding], list[Finding]], top: int | None
) -> dict:
    old, new = map(_by_rule, findings)
    return {
        **{name: job.title for name, job in zip("ab", jobs)},
        "figures": [{"of": of, "figure": words.strip(), "a": one, "b": other} for of, words, one, other, _ in rows],
        "layouts": {name: _layouts(job, top) for name, job in zip("ab", jobs)},
        "plans": {name: _plans(job, top) for name, job in zip("ab", jobs)},
        "findings_only_in": {"a": sorted(_only(old, new)[:top]), "b": sorted(_only(new, old)[:top])},
    }


def _by_rule(found: list[Finding]) -> dict[str, Finding]:
    """Of each rule the finding with the most time at stake, in the order of that time."""
    rules: dict[str, Finding] = {}
    for finding in found:
        rules.setdefault(finding.rule, finding)
    return rules


def _only(found: dict[str, Finding], others: dict[str, Finding]) -> list[str]:
    """The rules that `others` does not have."""
    return [rule for rule in found if rule not in others]


def _findings(old: list[Finding], new: list[Finding], top: int | None) -> Iterator[str]:
    """What only one job has, then what both have, at most `top` of each, with the times at stake."""
    first, second = _by_rule(old), _by_rule(new)
    for name, found, others in (("A", first, second), ("B", second, first)):
        for rule in _only(found, others)[:top]:
            yield f"only {name}: {found[rule].title} ({rule}{_stake(found[rule])})"
    for rule in [rule for rule in first if rule in second][:top]:
        stakes = [found[rule].at_stake for found in (first, second)]
        times = f", may save up to {duration(stakes[0])} and {duration(stakes[1])} per rank" if stakes[0] else ""
        yield f"both: {first[rule].title} ({rule}{times})"


def _stake(finding: Finding) -> str:
    return f", {finding.stake_in_words}" if finding.at_stake else ""


def _layouts(job: Job, top: int | None) -> dict[str, str]:
    """The layouts of the files with the most time, by name without folder."""
    return {
        os.path.basename(group.name): found
        for group in job.groups[: top or FILES_SHOWN]
        if (found := next((osts.layout_in_words(one) for one in group.reports if osts.regions(one)), ""))
    }


def _plans(job: Job, top: int | None) -> dict[str, str]:
    """How the collective calls were carried out, by kind: algorithms and aggregators, those with most calls first."""
    found: dict[str, Counter] = {}
    for plan in (plan for one in job.reports for plan in one["plans"]):
        with_aggregators = f" with {plural(plan['aggregators'], 'aggregator')}" if "aggregators" in plan else ""
        name = f"{plan['algorithm']}{with_aggregators}"
        found.setdefault(f"collective {plan['call']}s", Counter())[name] += plan["calls"]
    return {
        kind: ", ".join(f"{name}: {plural(calls, 'call')}" for name, calls in plans.most_common(top or PLANS_SHOWN))
        for kind, plans in found.items()
    }


def _words(first: Job, second: Job, top: int | None) -> list[tuple[str, str, str]]:
    """What is no number: the layouts of files, and the plans by kind of call, of both jobs."""
    rows = []
    for what, of in (("layout of", _layouts), ("plans of", _plans)):
        one, other = of(first, top), of(second, top)
        if what == "layout of" and len(one) == len(other) == 1 and one.keys() != other.keys():
            rows.append(("layout of the file", *one.values(), *other.values()))
            continue
        rows += [(f"{what} {name}", one.get(name, ""), other.get(name, "")) for name in {**one, **other}]
    return rows


def _printed(row: Row) -> tuple[str, str, str, str]:
    _, words, one, other, show = row
    return words, show(one), show(other), f"{other / one:.2f}" if one else ""


def _rows(first: Job, second: Job) -> list[Row]:
    """The figures that either job has."""
    pairs = zip(_figures(first), _figures(second))  # the same figures in the same order
    return [(of, words, one, other, show) for (of, words, one, show), (_, _, other, _) in pairs if one or other]


def _figures(job: Job) -> Iterator[Figure]:
    yield "job", "first open to last close", job.elapsed_seconds, duration
    yield "job", "MPI-IO per rank", job.mean_seconds, duration
    yield "job", "  slowest rank, at most", job.slowest_seconds, duration
    yield "job", "  opens and closes", _calls(job, "open_seconds", "close_seconds"), duration
    others = [calls for one in job.reports for calls in one["other_calls"].values()]
    yield "job", "  calls without data", sum(calls["seconds"]["sum"] for calls in others) / job.ranks, duration
    yield "job", "files opened", len(job.reports), "{:,.0f}".format
    yield "job", "bytes written", job.total("bytes_written"), amount
    yield "job", "bytes read", job.total("bytes_read"), amount
    for name, title in reports.KINDS.items():
        kinds = [one["kinds"][name] for one in job.reports if name in one["kinds"]]
        yield from _figures_of_kind(job, title, kinds)


def _figures_of_kind(job: Job, title: str, kinds: list[dict]) -> Iterator[Figure]:
    def total(figure: str) -> float:
        return sum(kind[figure]["sum"] for kind in kinds)

    yield title, title, total("seconds") / job.ranks, duration
    for phase, words in reports.PHASES.items():
        if phase != "away":
            seconds = sum(kind["phases"][phase]["sum"] for kind in kinds)
            yield title, f"  {words}", seconds / job.ranks, duration
    yield title, "  calls", total("calls"), "{:,.0f}".format
    yield title, "  file accesses", total("file_calls"), "{:,.0f}".format
    yield title, "  bytes of file accesses", total("file_bytes"), amount
    yield title, "  bytes of messages", total("message_bytes"), amount


def _calls(job: Job, *names: str) -> float:
    return sum(one[name]["sum"] for one in job.reports for name in names) / job.ranks
