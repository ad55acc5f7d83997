"""The stages of a tune: figures, patterns, comparison. Each runs words on the ranks while there is time."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

from rich.console import Console

from nacre import file_system
from nacre.errors import UserError, warn
from nacre.text import duration
from nacre.tune import patterns, place, plan
from nacre.tune.comparison import Comparison
from nacre.tune.patterns import Search
from nacre.tune.ranks import Launcher
from nacre.tune.samples import Samples

MACHINE_FILE = "machine.toml"  # in the work directory; the worker knows the name
FIGURES_SHARE = 0.6  # of the time, if patterns are to be searched too
SEARCH_SHARE = 0.7  # of the time that is left then
LINE_SECONDS = 30  # from one line of progress to the next, if standard error is no terminal


@dataclasses.dataclass
class Session:
    launcher: Launcher
    work: Path
    where: plan.Place
    samples: Samples
    repetitions: int
    deadline: float  # of time.monotonic
    ended_early: bool = False  # a stage had no time, or failed
    next_line: float = dataclasses.field(default_factory=lambda: time.monotonic() + LINE_SECONDS)

    def left(self) -> list[str]:
        """The measurements of figures that are not complete, each once."""
        done = {
            word
            for word, found in self.samples.by_word.items()
            if len(found) >= self.repetitions or self.samples.error(word)
        }
        return [word for word in dict.fromkeys(plan.measurements(self.where)) if word not in done]

    def measure_figures(self) -> None:
        left = self.left()
        for word in left:
            self.samples.by_word.pop(word, None)
        searches = bool(patterns.pattern_settings(self.where))
        self._run("figures", left, self.repetitions, self._until(FIGURES_SHARE if searches else 1.0))

    def search_patterns(self) -> Search:
        """Needs the machine file in the work directory."""
        until = self._until(SEARCH_SHARE)
        return patterns.search(self.samples, self.where, lambda words: self._run("patterns", words, 1, until))

    def compare(self, kind: str, search: Search) -> Comparison:
        best = {write: next(iter(search.best(self.samples, self.where, write)), None) for write in (True, False)}
        comparison = Comparison(self.where, file_system.machine_class(kind), best)
        words = comparison.words()
        for word in words:
            self.samples.by_word.pop(word, None)
        self._run("comparison", words, 1, self.deadline)
        return comparison

    def _until(self, share: float) -> float:
        now = time.monotonic()
        return now + share * max(self.deadline - now, 0)

    def _run(self, stage: str, words: list[str], repetitions: int, until: float) -> bool:
        """Returns whether time is left. A failure of the ranks with Nacre ends the stage, and keeps the figures."""
        total, done = len(words) * repetitions, -1  # the first line says where the ranks run
        if not words:
            return True
        if time.monotonic() >= until:
            self.ended_early = True
            return False
        console = Console(emoji=False, stderr=True, highlight=False)
        with console.status("Starting the ranks") as status:

            def progress() -> None:
                nonlocal done
                done += 1
                now = time.monotonic()
                line = f"{stage}: {done} of {total} measurements; at most {duration(max(until - now, 0))} left"
                status.update(line)
                if not console.is_terminal and now >= self.next_line:
                    console.print(line)
                    self.next_line = now + LINE_SECONDS

            with_nacre = stage != "figures"
            launch = self.launcher.launch(self.work, until - time.monotonic(), repetitions, words, with_nacre)
            try:
                self.launcher.run(launch, self.samples, progress)
            except UserError as error:
                if not with_nacre:
                    raise
                warn(f"{stage}: {error}")
                until = 0
        if time.monotonic() < until:
            return True
        self.ended_early = True
        return False


def find_place(launcher: Launcher, work: Path, volume: int) -> plan.Place:
    """Starts the ranks once to learn where they run."""
    samples = Samples()
    launcher.run(launcher.launch(work, 1, 1, []), samples, lambda: None)
    if not samples.ranks:
        raise UserError("the ranks printed nothing", "Check that the launcher passes on the output of rank 0.")
    ranks = samples.ranks
    osts, stripe_size = place.striping(work)
    return plan.Place(ranks["ranks"], ranks["nodes"], ranks["ranks_per_node"], osts, volume, stripe_size)
