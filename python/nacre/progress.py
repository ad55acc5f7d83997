"""The progress of simulated jobs, on a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from nacre.text import amount, duration

PREFIX = "progress: "  # of a line of nacre-simulate --progress
NANOSECONDS = 1e9

Note = Callable[[str], None]


@contextlib.contextmanager
def shown() -> Iterator[Callable[[str], Note | None]]:
    """Shows a line for each job that is simulated, as long as it is. Yields a function that takes a job's name and
    returns the function that shows its progress lines, or None if standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda name: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(emoji=False, stderr=True), transient=True) as progress:

        def show(name: str) -> Note:
            task = progress.add_task(name, total=None)
            return lambda line: progress.update(task, description=f"{name}: {_in_words(line)}")

        yield show


def _in_words(line: str) -> str:
    stage, nanoseconds, moved, events = line.removeprefix(PREFIX).split()
    at = duration(int(nanoseconds) / NANOSECONDS)
    return f"{stage}, {at} of the job, {amount(int(moved))} on OSTs, {int(events):,} events"
