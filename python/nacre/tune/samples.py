"""What the worker measured: the repetitions of each measurement, their median and spread."""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nacre.errors import UserError

MARK = "NACRE-TUNE "
SPREAD_MAX = 0.3  # a figure that varies by more is not written


@dataclasses.dataclass
class Figure:
    """A median of repetitions. `spread`: half the distance of the quartiles, or of the extremes of few repetitions, as
    a fraction of the median."""

    value: float
    spread: float


class Samples:
    """Repetitions by the word of their measurement. `measured`: the directory and the launcher, in words."""

    def __init__(self, measured: str = "") -> None:
        self._measured = measured
        self.ranks: dict[str, Any] = {}
        self.by_word: dict[str, list[dict]] = {}

    def add_line(self, line: str) -> None:
        _, mark, text = line.partition(MARK)
        if not mark:
            return
        try:
            sample = json.loads(text)
        except json.JSONDecodeError:
            return
        if "word" in sample:
            self.by_word.setdefault(sample["word"], []).append(sample)
        else:
            self.ranks = sample

    def error(self, word: str) -> int:
        return max((sample["error"] for sample in self.by_word.get(word, [])), default=0)

    def figure(self, word: str, of: Callable[[dict], float]) -> Figure | None:
        """The median of `of` over the repetitions of a measurement; None if it was not measured."""
        found = self.by_word.get(word, [])
        if not found or any(sample["error"] or sample["seconds"] <= 0 for sample in found):
            return None
        values = sorted(of(sample) for sample in found)
        median = statistics.median(values)
        low, high = values[0], values[-1]
        if len(values) >= 4:
            low, _, high = statistics.quantiles(values, n=4)
        return Figure(median, (high - low) / 2 / median if median else 0.0)

    def rate(self, word: str, less: float = 0.0) -> Figure | None:
        """Bytes per second, in all but `less` seconds, or in half of the time."""
        return self.figure(word, lambda sample: sample["bytes"] / max(sample["seconds"] - less, sample["seconds"] / 2))

    def each(self, word: str) -> Figure | None:
        """Seconds of one message, piece, call or open."""
        return self.figure(word, lambda sample: sample["seconds"] / sample["count"])

    def save(self, path: Path, repetitions: int) -> None:
        """Saves the complete measurements, for --resume. Collective calls are kept one by one."""
        complete = {
            word: found
            for word, found in self.by_word.items()
            if len(found) >= repetitions or word.startswith("collective")
        }
        fresh = path.with_name(path.name + ".new")
        fresh.write_text(json.dumps({"measured": self._measured, "ranks": self.ranks, "samples": complete}))
        fresh.replace(path)

    def load(self, path: Path) -> None:
        try:
            saved = json.loads(path.read_text())
            measured, self.ranks, self.by_word = saved["measured"], saved["ranks"], saved["samples"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"--resume: cannot read {path}: {error}", "Start without --resume.") from error
        if measured != self._measured:
            raise UserError(
                f"--resume: {path} has measurements of {measured}, not of {self._measured}",
                "Resume with the same directory and launcher, or start without --resume.",
            )
