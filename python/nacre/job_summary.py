"""The findings of a job, printed when it ends (`nacre run --summary`)."""

from __future__ import annotations

import os
import signal
import tempfile
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from nacre import job_text, reports, settings
from nacre.errors import UserError
from nacre.jobs import jobs_of


def is_wanted(environ: Mapping[str, str]) -> bool:
    """Whether a variable of the environment asks for a summary."""
    return environ.get(settings.SUMMARY, "0") not in ("", "0")


class Summary:
    """The findings of a job, printed when it ends. Without a report of the user, in `report` or in the environment, the
    job writes one that is removed then. `top`: number of findings."""

    def __init__(self, environ: Mapping[str, str], report: str | None, is_asked: bool, top: int):
        kept = report or environ.get(settings.REPORT)
        self.top = top
        self.is_kept = bool(kept)
        self.report = kept or f"nacre-summary-{uuid.uuid4().hex[:12]}.jsonl"
        self.option = report if kept else self.report  # what --report would be
        if is_asked and not kept and (why := settings.why_unwritable(self.report)):
            raise UserError(
                f"--summary: the ranks cannot write a report in this directory: {why}",
                "Add --report FILE, on a file system that all nodes see.",
            )

    def of(self, run: str, environ: dict[str, str], job: Callable[[], int]) -> int:
        """Runs the job `run`, which has `environ`, and prints its findings. `job` and this return its exit status: -N
        if signal N ended it."""
        with tempfile.NamedTemporaryFile("r", prefix="nacre-reports-") as reports_of_job:
            environ[settings.REPORTS_OF_JOB] = reports_of_job.name
            try:
                status = job()
            except BaseException:
                self._remove()
                raise
            others = {line.rstrip("\n") for line in reports_of_job} - {os.path.abspath(self.report)}
        self._show(run, sorted(others), status)
        return status

    def _remove(self) -> None:
        """Removes the report if nobody asked for it."""
        if not self.is_kept:
            Path(self.report).unlink(missing_ok=True)

    def _show(self, run: str, others: list[str], status: int) -> None:
        """On standard error, where the findings do not mix with the program's output."""
        console = Console(emoji=False, stderr=True, highlight=False, soft_wrap=True)
        if status:
            console.print(f"nacre: {_failure(status)}: files that were open then are not in the report", markup=False)
        lines = _lines_of(run, self.report)
        self._remove()
        for other in others:
            found = _lines_of(run, other)
            if found:
                console.print(f"nacre: a command of the job wrote its report to {other}", markup=False)
            lines += found
        if not lines:
            console.print(
                f"nacre: no summary: {self.report} has no line of this job. The program closed no file that Nacre"
                " serves (run `nacre doctor -- COMMAND`), or the job itself sets NACRE_REPORT: then run"
                " `nacre report FILE`.",
                markup=False,
            )
        for job in jobs_of(lines):
            console.print()
            job_text.show_summary(console, job, top=self.top)


def _failure(status: int) -> str:
    """How a job ended that failed."""
    if status > 0:
        return f"the job ended with exit code {status}"
    return f"signal {-status} ({signal.strsignal(-status)}) ended the job"


def _lines_of(run: str, report: str) -> list[dict]:
    """The lines of one launch in a report that may not exist."""
    try:
        return [one for one in reports.read([report]) if one["run"] == run]
    except UserError:
        return []
