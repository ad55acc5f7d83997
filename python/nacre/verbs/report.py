"""`nacre report`: prints the calls, bytes and times of the I/O of programs."""

from __future__ import annotations

import datetime
import json

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nacre import job_text, prometheus, reports, settings
from nacre.errors import UserError, only_one_output, warn
from nacre.findings import SHARE_MIN, find, osts
from nacre.jobs import Job, jobs_of
from nacre.page import document
from nacre.tables import grid
from nacre.text import amount, duration, plural, unwrapped

FORMATS = ("text", "json", "prometheus")
TOP = 10  # in text
FILES_IN_FULL = 1  # in text, without --top

HELP = unwrapped("""Show where the I/O time of programs went, and what to change.

FILE is a report that `nacre run --report FILE` (or NACRE_REPORT) wrote, of one job or several, or a log of Darshan, of
a job that ran without Nacre; - is standard input.
Each job begins with its findings: what costs time, the evidence, and the hint, command or change that helps, those
with the most time at stake first. Then come its files by groups of names, and the slowest file in full: each figure has
the minimum, the median, the maximum and the sum over the ranks. --top N and --file PATTERN show other files in full.
nacre skips lines that are damaged, and prints a warning for each.

[bold]Phases[/bold] of collective calls. view and plan: ranks summarise their accesses, and rank 0 chooses the plan.
exchange of views: aggregators learn which bytes come from which rank. gather and copy: copies in memory. messages: data
between ranks. waiting: for late ranks, or for data from other ranks. file access, and waiting for it: the file system.
agreement: ranks that have finished wait for those that still access the file.

[bold]Examples[/bold]

  nacre report io.jsonl

  nacre report --summary io.jsonl

  nacre report --file '*.h5' *.jsonl

  nacre report --html io.html io.jsonl

  nacre report --run 2 --html io.html io.jsonl

  nacre report --json io.jsonl

  nacre report job.darshan

[bold]Exit codes[/bold]  0; 2: FILE cannot be read, or has no report.
""")


def register(app: typer.Typer) -> None:
    app.command("report", help=HELP, short_help="Show where the I/O time of programs went, and what to change.")(report)


def report(
    files: list[str] = typer.Argument(..., metavar="FILE", help="Report files; - is standard input."),
    file: str = typer.Option(None, "--file", metavar="PATTERN", help="Show only files whose name matches."),
    top: int = typer.Option(
        None,
        "--top",
        metavar="N",
        min=1,
        help="Show N jobs, each with N findings, N groups of files and its N slowest files. Default in text: 10 jobs, "
        "10 findings, 10 groups of files, and the slowest file in full. HTML: all findings and 40 groups. JSON and "
        "Prometheus: everything.",
    ),
    run: int = typer.Option(
        None, "--run", metavar="N", min=1, help="Show only run N of the jobs: 1 is the slowest. Without it: all."
    ),
    summary: bool = typer.Option(False, "--summary", help="Show only the headline and the findings of each job."),
    format: str = typer.Option(
        "text",
        "--format",
        metavar="FORMAT",
        help="text, json, or prometheus: metrics of the jobs for a site's monitoring.",
        autocompletion=lambda: list(FORMATS),
    ),
    min_share: float = typer.Option(
        100 * SHARE_MIN,
        "--min-share",
        metavar="PERCENT",
        min=0,
        max=100,
        help="Show only findings that may save this share of the I/O time.",
    ),
    html: str = typer.Option(
        None, "--html", metavar="OUT", help="Write the slowest job, or run N, with drawings, as one HTML page to OUT."
    ),
    as_json: bool = typer.Option(
        False, "--json", help="Print JSON: the reports, the slowest first; with --summary the jobs with their findings."
    ),
) -> None:
    if format not in FORMATS:
        raise UserError(f"--format {format}: unknown format", f"Name one of {', '.join(FORMATS)}.")
    given = {"--html": html, "--json": as_json, "--format": format != FORMATS[0]}
    only_one_output([name for name, value in given.items() if value])
    found = reports.read(files, file)
    jobs = jobs_of(found)
    if run is not None:
        jobs = [_chosen(jobs, run)]
        found = jobs[0].reports
    if html is not None:
        if len(jobs) > 1:
            warn(f"{html} shows run 1 of {len(jobs)}, the slowest; for another add --run N. `nacre report` lists them.")
        document.write(html, document.of_job(jobs[0], find(jobs[0], min_share / 100), top))
        return
    if format == "prometheus":
        print(prometheus.exposition(jobs[:top], min_share / 100, top), end="")
        return
    if as_json or format == "json":
        shown = [job_text.as_json(job, min_share / 100, top) for job in jobs[:top]] if summary else _slowest(jobs, top)
        print(json.dumps(shown, indent=2))
        return
    _show_jobs(Console(emoji=False, highlight=False), jobs, summary, min_share, top)


def _slowest(jobs: list[Job], top: int | None) -> list[dict]:
    """The reports of the `top` slowest files of each of the `top` slowest jobs, or all, the slowest first."""
    shown = [one for job in jobs[:top] for one in reports.slowest(job.reports, top or len(job.reports))]
    return sorted(shown, key=reports.seconds, reverse=True)


def _show_jobs(console: Console, jobs: list[Job], summary: bool, min_share: float, top: int | None) -> None:
    shown = top or TOP
    for number, job in enumerate(jobs[:shown], 1):
        if len(jobs) > 1:
            console.print(f"[bold]Run {number} of {len(jobs)}[/bold], the slowest first; ended {_ended(job)}")
        job_text.show_summary(console, job, min_share / 100, shown)
        console.print()
        if not summary:
            _show_files(console, job, shown, top or FILES_IN_FULL)
    if len(jobs) > shown:
        console.print(f"{plural(len(jobs) - shown, 'more job')}: show all with --top {len(jobs)}.")


def _chosen(jobs: list[Job], run: int) -> Job:
    if run > len(jobs):
        have = plural(len(jobs), "job")
        raise UserError(f"--run {run}: there are reports of {have}", "`nacre report --summary` lists the runs.")
    return jobs[run - 1]


def _show_files(console: Console, job: Job, groups: int, in_full: int) -> None:
    if len(job.reports) > 1:
        job_text.show_files(console, job, groups)
        console.print()
    shown = reports.slowest(job.reports, in_full)
    for one in shown:
        _show(console, one)
    if left := opens_left(shown, job.reports):
        console.print(f"{left}\n")


def opens_left(shown: list[dict], found: list[dict]) -> str:
    """How many opens are not shown, and what shows them; empty if all are."""
    left = len(found) - len(shown)
    how = f"show all with --top {len(found)}, or one file with --file PATTERN"
    return f"{plural(left, 'more open')}: {how}." if left else ""


def _ended(job: Job) -> str:
    return _time_of_day(max(one["closed_at"] for one in job.reports))


def _time_of_day(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M:%S")


def heading(one: dict) -> str:
    job = f"job {one['job']}, " if one["job"] else ""
    where = "one node" if one["nodes"] == 1 else plural(one["nodes"], "node")
    nodes = f" on {where}" if one["ranks"] > 1 and "source" not in one else ""
    closed = f"closed {_time_of_day(one['closed_at'])}"
    return f"[bold]{escape(one['file'])}[/bold]: {job}{plural(one['ranks'], 'rank')}{nodes}, {closed}"


def settings_lines(one: dict) -> list[str]:
    layout = _layout_line(one)
    hints = {name: hint for name, hint in one["hints"].items() if name != settings.REPORT_HINT}
    if layout:
        # The striping hints of an open file have the values of the last component only.
        hints = {
            name: hint
            for name, hint in hints.items()
            if name not in settings.STRIPING_HINTS or hint["from"] != "open file"
        }
    lines = [layout] if layout else []
    lines += [f"  hint {name}={hint['value']} (from the {hint['from']})" for name, hint in hints.items()]
    return [escape(line) for line in lines + [f"  note: {note}" for note in one["notes"]]]


def _layout_line(one: dict) -> str:
    """The layout of a file, what it comes from, and on how many OSTs the file has data. Empty if it is unknown."""
    layout, used, origin = osts.layout_in_words(one), osts.used(one), osts.origin_in_words(one)
    facts = "; ".join(filter(None, [origin, f"data on {used}" if used else ""]))
    return f"  layout{f' ({facts})' if facts else ''}: {layout}" if layout else ""


def _show(console: Console, one: dict) -> None:
    console.print(heading(one), soft_wrap=True)
    for line in settings_lines(one):
        console.print(line, soft_wrap=True)
    console.print(f"  slowest rank: {_other_calls(one)}")
    for name, title in reports.KINDS.items():
        if name in one["kinds"]:
            console.print()
            _show_kind(console, title, one["kinds"][name])
    console.print()


def _other_calls(one: dict) -> str:
    """The time of calls that move no data."""
    parts = [f"opened in {duration(one['open_seconds']['max'])}", f"closed in {duration(one['close_seconds']['max'])}"]
    for name, calls in one["other_calls"].items():
        count = f" ({calls['calls']['max']:,} calls)" if calls["calls"]["max"] > 1 else ""
        parts.append(f"{name} {duration(calls['seconds']['max'])}{count}")
    late = one["late_opens"]
    if late["ranks"]:
        ranks = plural(late["ranks"], "more rank")
        parts.append(f"{ranks} opened it at the first access ({duration(late['seconds']['max'])})")
    return ", ".join(parts)


def _show_kind(console: Console, title: str, kind: dict) -> None:
    table = grid(f"  {title}", "min", "median", "max", "all ranks", "share")
    _add_row(table, "time", kind["seconds"], duration, "100 %")
    whole = kind["seconds"]["sum"]
    for phase, words in reports.PHASES.items():
        spread = kind["phases"][phase]
        share = f"{100 * spread['sum'] / whole:.1f} %" if whole and phase != "away" else ""
        if spread["max"]:
            _add_row(table, f"  {words}", spread, duration, share)
    if kind["file_thread_seconds"]["max"]:
        _add_row(table, "file access, sum of all threads", kind["file_thread_seconds"], duration, "")
    for count, words in reports.COUNTS.items():
        if kind[count]["max"]:
            _add_row(table, words, kind[count], amount if count in reports.BYTE_COUNTS else "{:,}".format, "")
    console.print(table)
    console.print(f"    {plural(kind['ranks'], 'rank')} made these calls")
    for line in (_rates(kind), _hidden(kind), _sizes(kind), _osts(kind), _busiest(kind)):
        if line:
            console.print(f"    {line}", soft_wrap=True)


def _add_row(table: Table, words: str, spread: dict, show, share: str) -> None:
    by_rank = ["", "", ""] if spread.get("only_sum") else [show(spread[part]) for part in ("min", "median", "max")]
    table.add_row(f"    {words}", *by_rank, show(spread["sum"]), share)


def _rates(kind: dict) -> str:
    slowest, calls = kind["seconds"]["max"], kind["file_calls"]["sum"]
    parts = []
    if slowest:
        parts.append(f"{amount(kind['bytes']['sum'] / slowest)}/s by the time of the slowest rank")
    if calls:
        parts.append(f"{amount(kind['file_bytes']['sum'] / calls)} per file access")
    return ", ".join(parts)


def _hidden(kind: dict) -> str:
    """How much of the file access in threads cost no time, because ranks exchanged data meanwhile."""
    busy = kind["file_busy_seconds"]["sum"]
    if not busy:
        return ""
    hidden = max(0.0, 1 - kind["phases"]["file_wait"]["sum"] / busy)
    return (
        f"at least one thread accessed the file during {duration(busy)} (all ranks);"
        f" {100 * hidden:.0f} % of it behind the exchange"
    )


def _osts(kind: dict) -> str:
    if not kind["osts"]:
        return ""
    shares = [one["bytes"] for one in kind["osts"]]
    each = amount(min(shares)) if min(shares) == max(shares) else f"{amount(min(shares))} to {amount(max(shares))}"
    text = f"{plural(len(shares), 'OST')}, {each} each"
    rates = {one["ost"]: one["alone_bytes"] / one["alone_seconds"] for one in kind["osts"] if one["alone_seconds"]}
    if len(rates) > 1:
        slowest, fastest = min(rates, key=rates.get), max(rates, key=rates.get)
        text += f"; by call, OST {slowest} is slowest ({amount(rates[slowest])}/s), "
        text += f"OST {fastest} fastest ({amount(rates[fastest])}/s)"
    return text


def _sizes(kind: dict) -> str:
    sizes = [f"{amount(int(size))} {count:,}" for size, count in kind["file_call_sizes"].items()]
    return f"file accesses by size, at least: {', '.join(sizes)}" if sizes else ""


def _busiest(kind: dict) -> str:
    shown = kind["busiest"][:8]
    ranks = [f"{share['rank']} ({amount(share['bytes'])}, {duration(share['seconds'])})" for share in shown]
    return f"ranks with the most file access: {', '.join(ranks)}" if ranks else ""
