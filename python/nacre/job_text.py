"""A job as text: its headline, findings and files."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from nacre.findings import NO_FINDING, SHARE_MIN, Finding, find
from nacre.jobs import Job
from nacre.predictions import misfit_of
from nacre.tables import grid
from nacre.text import amount, duration, plural


def show_summary(console: Console, job: Job, share_min: float = SHARE_MIN, top: int = 10) -> None:
    """Headline and findings, at most `top` of these."""
    console.print(f"[bold]{escape(job.title)}[/bold]", soft_wrap=True)
    if job.libraries:
        console.print(f"  {escape(job.libraries)}", soft_wrap=True)
    elapsed = job.elapsed_seconds
    passed = f"; first open to last close: {duration(elapsed)}" if elapsed else ""
    console.print(
        f"  {job.what} took {duration(job.mean_seconds)} per rank on average,"
        f" at most {duration(job.slowest_seconds)} on the slowest{passed}",
        soft_wrap=True,
    )
    console.print(
        f"  {plural(job.file_count, 'file')}, {plural(job.opens, 'open')},"
        f" {amount(job.total('bytes_written'))} written, {amount(job.total('bytes_read'))} read",
        soft_wrap=True,
    )
    found = find(job, share_min)
    for finding in found[:top]:
        console.print()
        _show_finding(console, finding)
    if len(found) > top:
        console.print(f"\n  {plural(len(found) - top, 'more finding')}: show all with --top {len(found)}.")
    if not found:
        if misfit := misfit_of(job):
            show_misfit(console, misfit)
        else:
            console.print(f"  {NO_FINDING}")


def show_misfit(console: Console, misfit: str) -> None:
    """The result of predictions.misfit(): the command is never wrapped, so that it can be pasted."""
    sentence, _, command = misfit.partition("\n")
    console.print(f"  {escape(sentence)}")
    console.print(f"  -> {escape(command)}", soft_wrap=True)


def _show_finding(console: Console, finding: Finding) -> None:
    stake = f" ({finding.stake_in_words})" if finding.at_stake else ""
    console.print(f"  [bold]{finding.number}. {escape(finding.title)}[/bold]{stake}", soft_wrap=True)
    console.print(f"     {escape(finding.where)}: {escape(finding.evidence)}", soft_wrap=True)
    if finding.causes:
        console.print(f"     {escape(finding.causes_in_words)}", soft_wrap=True)
    for line in finding.remedy:
        console.print(f"     -> {escape(line)}", soft_wrap=True)


def show_files(console: Console, job: Job, top: int) -> None:
    """The groups of files with the most time."""
    table = grid("  Files", "Opens", "Ranks", "Calls", "Written", "Read", "Time per rank")
    for group in job.groups[:top]:
        table.add_row(
            f"  {escape(str(group))}", f"{group.opens:,}", f"{group.ranks:,}", f"{group.total('calls'):,}",
            amount(group.total("bytes_written")), amount(group.total("bytes_read")),
            duration(group.rank_seconds / job.ranks),
        )  # fmt: skip
    console.print(table)
    if len(job.groups) > top:
        console.print(f"  {plural(len(job.groups) - top, 'more group')} of files")


def as_json(job: Job, share_min: float = SHARE_MIN, top: int | None = None) -> dict:
    """The summary of a job as JSON, with at most `top` groups of files and findings."""
    return {
        "job": job.first["job"], "run": job.first["run"], "program": job.first["program"], "ranks": job.ranks,
        "nodes": job.nodes, "hosts": job.hosts, "mpi": job.first["mpi"], "version": job.first["version"],
        "seconds": {"mean": job.mean_seconds, "max": job.slowest_seconds},
        "bytes_written": job.total("bytes_written"), "bytes_read": job.total("bytes_read"),
        "files": [
            {
                "name": group.name, "files": len(group.paths), "opens": group.opens, "calls": group.total("calls"),
                "bytes_written": group.total("bytes_written"), "bytes_read": group.total("bytes_read"),
                "rank_seconds": group.rank_seconds,
            }
            for group in job.groups[:top]
        ],
        "findings": [finding.as_json() for finding in find(job, share_min)[:top]],
        "misfit": misfit_of(job),
    }  # fmt: skip
