"""The pattern stage: which OSTs each aggregator accesses, how many aggregators there are, how long their rounds are.

All ranks write and read a striped file through Nacre, each a contiguous part, as in the papers of Dickens & Logan and
of Logan & Dickens. Settings are compared by successive halving: each stage measures the settings that are left once
more, in a fresh order, and keeps the better half.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

from nacre.text import amount
from nacre.tune import plan
from nacre.tune.samples import Figure, Samples

FINALISTS = 4
FINAL_REPETITIONS = 3
ROUND_MIN = 256 << 10
ROUND_STEPS = (1, 4, 16)
DIRECT = "direct"


@dataclasses.dataclass(frozen=True)
class Setting:
    """A plan of collective calls. `aggregators` and `round_bytes`: 0 leaves them to Nacre."""

    domains: str  # a value of nacre_pattern, or "direct"
    osts_each: int = 0  # OSTs that each aggregator accesses
    aggregators: int = 0
    round_bytes: int = 0

    def hints(self) -> dict[str, int | str]:
        if self.domains == DIRECT:
            return {"nacre_algorithm": DIRECT}
        hints: dict[str, int | str] = {
            "nacre_algorithm": "two_phase",
            "cb_nodes": self.aggregators,
            "nacre_pattern": self.domains,
        }
        if self.osts_each:
            hints["nacre_osts_per_aggregator"] = self.osts_each
        if self.round_bytes:
            hints["cb_buffer_size"] = self.round_bytes
        return hints

    @property
    def pattern(self) -> str:
        names = {
            "osts": f"{self.osts_each}-OST",
            "stripes": f"{self.osts_each}-OST, stripes in turn",
            "even": "contiguous domains",
            DIRECT: "each rank its own part",
        }
        return names[self.domains]

    @property
    def label(self) -> str:
        words = [self.pattern]
        if self.aggregators:
            words.append(plural_aggregators(self.aggregators))
        if self.round_bytes:
            words.append(f"rounds of {amount(self.round_bytes)}")
        return ", ".join(words)


def plural_aggregators(count: int) -> str:
    return "1 aggregator" if count == 1 else f"{count} aggregators"


def setting_word(place: plan.Place, setting: Setting, write: bool) -> str:
    hints = {f"hint.{name}": value for name, value in setting.hints().items()}
    return plan.collective_word(place, write, 0, machine_file=1, **hints)


def pattern_settings(place: plan.Place) -> list[Setting]:
    """Every pattern with one aggregator for each OST, as in the papers. With so many, stripes in turn are the 1-OST
    pattern too. Empty if there is nothing to choose."""
    osts = plan.collective_stripes(place)
    if not place.osts or osts < 2 or place.ranks < 2:
        return []
    counts = plan.doublings(osts)
    settings = [Setting("osts", count, osts) for count in counts]
    settings += [Setting("stripes", count, osts) for count in counts[1:]]
    return [*settings, Setting("even", 0, osts), Setting(DIRECT)]


def aggregator_settings(place: plan.Place, best: Setting) -> list[Setting]:
    """The pattern `best` with half, equal and twice as many aggregators as OSTs and one or two on each node, each with
    several round sizes."""
    if best.domains == DIRECT:
        return []
    osts = plan.collective_stripes(place)
    counts = {osts // 2, osts, 2 * osts, place.nodes, 2 * place.nodes}
    settings = []
    for count in sorted(count for count in counts if 1 <= count <= place.ranks):
        share = place.volume // count
        sizes = [max(ROUND_MIN, place.stripe_size) * step for step in ROUND_STEPS]
        sizes = [size for at, size in enumerate(sizes) if at == 0 or sizes[at - 1] < share]
        settings += [dataclasses.replace(best, aggregators=count, round_bytes=size) for size in sizes]
    return settings


def rate(samples: Samples, place: plan.Place, setting: Setting, write: bool) -> Figure | None:
    return samples.rate(setting_word(place, setting, write))


def ranked(samples: Samples, place: plan.Place, settings: list[Setting], write: bool) -> list[Setting]:
    """The settings that were measured without an error, the fastest first."""
    rates = {setting: rate(samples, place, setting, write) for setting in settings}
    measured = [setting for setting in settings if rates[setting]]
    return sorted(measured, key=lambda setting: -rates[setting].value)


def _count(samples: Samples, place: plan.Place, setting: Setting) -> int:
    """How often both directions were measured."""
    return min(len(samples.by_word.get(setting_word(place, setting, write), [])) for write in (True, False))


def _failed(samples: Samples, place: plan.Place, setting: Setting) -> bool:
    return any(samples.error(setting_word(place, setting, write)) for write in (True, False))


def better_half(samples: Samples, place: plan.Place, settings: list[Setting]) -> list[Setting]:
    """In turn the next fastest write and the next fastest read, until half of the settings are found."""
    orders = [ranked(samples, place, settings, write) for write in (True, False)]
    found = list(dict.fromkeys(setting for pair in zip(*orders) for setting in pair))
    return found[: max(FINALISTS, (len(settings) + 1) // 2)]


def halve(
    samples: Samples, place: plan.Place, settings: list[Setting], measure: Callable[[list[str]], bool]
) -> list[Setting]:
    """Measures the settings in stages. `measure` runs words on the ranks, and returns whether time is left. Returns the
    finalists; if the time ends before, the settings that were measured best."""
    left = list(settings)
    for stage in range(1, len(settings) + FINAL_REPETITIONS):
        left = [setting for setting in left if not _failed(samples, place, setting)]
        lacking = [setting for setting in left if _count(samples, place, setting) < stage]
        random.Random(stage).shuffle(lacking)
        words = [setting_word(place, setting, write) for setting in lacking for write in (True, False)]
        if words and not measure(words):
            break
        if len(left) > FINALISTS:
            left = better_half(samples, place, left)
        elif stage >= FINAL_REPETITIONS:
            break
    return better_half(samples, place, left)


@dataclasses.dataclass
class Search:
    """The settings that were measured, and those of them that were compared to the end."""

    patterns: list[Setting]
    all: list[Setting]
    finalists: list[Setting]

    def best(self, samples: Samples, place: plan.Place, write: bool) -> list[Setting]:
        """The finalists, the fastest first."""
        return ranked(samples, place, self.finalists, write)


def search(samples: Samples, place: plan.Place, measure: Callable[[list[str]], bool]) -> Search:
    """First the patterns; then aggregators and rounds with the best patterns, against the best of the patterns."""
    patterns = pattern_settings(place)
    finalists = halve(samples, place, patterns, measure) if patterns else []
    heads = [
        next((one for one in ranked(samples, place, finalists, write) if one.domains != DIRECT), None)
        for write in (True, False)
    ]
    more = [setting for head in dict.fromkeys(filter(None, heads)) for setting in aggregator_settings(place, head)]
    if more:
        finalists = halve(samples, place, [*finalists, *more], measure)
    return Search(patterns, [*patterns, *more], finalists)
