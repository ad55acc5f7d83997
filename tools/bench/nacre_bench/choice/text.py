"""The text of a result of `nacre-bench choice`."""

from __future__ import annotations

import collections
import statistics

from ..machine import sentence
from ..report import contender_lines
from ..tables import number, table
from .figures import (
    FAR,
    JUDGING_ROUNDS_MIN,
    NEAR,
    Judged,
    judged_of,
    percentile,
    prediction_errors,
    ratio_to_peer,
    seconds_of,
    with_opens,
)
from .fixed import fixed_text
from .plans import words
from .search import AUTOMATIC, EARLY_ROUNDS, FINALISTS

COLUMNS = """Seconds from when all ranks have opened the file to when all have closed it, MPI_File_sync of writes
included. automatic: Nacre without a hint for the call; best: the fastest of the searched settings."""
VIRTUAL = f"""{COLUMNS}
Messages, copies and calls take no time. A file that is read was written without hints, and its locks are free."""
ABOUT = f"""{COLUMNS} All settings run in
round 1, the better half in each next round, the best {FINALISTS} from round {len(EARLY_ROUNDS) + 1} on; the automatic
choice runs in every round. Ratio: medians of the rounds from {len(EARLY_ROUNDS) + 1} on, if there are at least
{JUDGING_ROUNDS_MIN}, automatic / best, and its 95 % interval; above 1 the automatic choice is slower."""


def case_row(one: Judged) -> list[str]:
    entry = one.entry
    return [
        entry["case"],
        number(seconds_of(entry, AUTOMATIC), 4),
        words(entry["plans"].get(AUTOMATIC)),
        number(seconds_of(entry, entry["best"]), 4),
        entry["best"] + (" (same plan)" if one.same_plan else ""),
        str(one.ratio),
    ]


def cases_text(judged: list[Judged]) -> str:
    header = ["case", "automatic s", "plan", "best s", "setting", "ratio [95 %]"]
    return table(header, [case_row(one) for one in judged])


def share(part: list[Judged], whole: list[Judged]) -> str:
    return f"{len(part)} of {len(whole)} ({100 * len(part) / len(whole):.0f} %)"


def share_row(name: str, judged: list[Judged]) -> list[str]:
    row = [name]
    for limit in (NEAR, FAR):
        row += [share([one for one in judged if one.within(limit)], judged)]
        row += [str(sum(one.straddles(limit) for one in judged))]
        row += [share([one for one in judged if one.within(limit) or one.same_plan], judged)]
    return [
        *row,
        number(statistics.median(one.ratio.value for one in judged)),
        number(max(r.ratio.value for r in judged)),
    ]


def shares_text(judged: list[Judged]) -> str:
    by_system = collections.defaultdict(list)
    for one in judged:
        by_system[one.entry["file_system"]].append(one)
    rows = [share_row(name, ones) for name, ones in by_system.items()]
    rows += [share_row("all", judged)] if len(rows) > 1 else []
    header = ["cases within", "10 % of the best", "straddle", "or same plan", "25 %", "straddle", "or same plan"]
    header += ["median ratio", "largest"]
    about = """  straddle: cases whose interval contains the limit; another run may count them on its other side.
  or same plan: also cases in which the best setting leads to the plan of the automatic choice."""
    return "\n".join([table(header, rows), about])


def misses_text(judged: list[Judged]) -> str:
    misses = sorted((one for one in judged if not one.within(NEAR)), key=lambda one: -one.ratio.value)
    if not misses:
        return "No case is more than 10 % slower than the best setting."
    rows = []
    for one in misses:
        plan = one.entry["plans"].get(AUTOMATIC)
        best = one.entry["best"] + (" (same plan)" if one.same_plan else "")
        rows.append([one.entry["case"], str(one.ratio), words(plan), plan["reason"] if plan else "-", best])
    noise = sum(one.same_plan for one in misses)
    about = f"Misses, the largest first; in {noise} of {len(misses)} the best setting leads to the same plan (noise):\n"
    return about + table(["case", "ratio", "chosen", "reason", "best"], rows)


def algorithms_text(judged: list[Judged]) -> str:
    best = collections.Counter(one.best_algorithm for one in judged)
    chosen = collections.Counter(one.entry["plans"].get(AUTOMATIC, {}).get("algorithm", "-") for one in judged)
    names = [*best, *(name for name in chosen if name not in best)]
    rows = [[name, str(best[name]), str(chosen[name])] for name in names]
    return table(["algorithm", "best in", "chosen in"], rows)


def peers_text(entries: list[dict]) -> str:
    """The automatic choice against the peer's fastest setting; empty if there was no peer."""
    ratios = [(entry, ratio) for entry in entries if not entry["error"] and (ratio := ratio_to_peer(entry))]
    if not ratios:
        return ""
    rows = [
        [
            entry["case"],
            number(statistics.median(with_opens(entry, entry["best_peer"]).values()), 4),
            entry["best_peer"],
            str(ratio),
        ]
        for entry, ratio in ratios
    ]
    values = [ratio.value for _, ratio in ratios]
    slower = sum(value > NEAR for value in values)
    return (
        "Automatic / the MPI itself with its best setting, opens included; below 1 Nacre without a hint is faster:\n"
        + table(["case", "MPI s", "setting", "ratio [95 %]"], rows)
        + f"\n  {slower} of {len(values)} more than 10 % slower; median {number(statistics.median(values))}."
    )


def predictions_text(entries: list[dict]) -> str:
    errors = prediction_errors(entries)
    if not errors:
        return ""
    return (
        f"Predicted against observed time of the chosen plan, {len(errors)} files: median error "
        f"{100 * statistics.median(errors):.0f} %, 95th percentile {100 * percentile(errors, 0.95):.0f} %."
    )


def slow_text(entries: list[dict], timeout_s: float) -> str:
    lines = [f"  {entry['case']}: {', '.join(entry['too_slow'])}" for entry in entries if entry["too_slow"]]
    return f"Settings left out because their launch took over {timeout_s:g} s:\n" + "\n".join(lines) if lines else ""


def failures_text(entries: list[dict]) -> str:
    return "\n".join(f"{entry['case']} failed: {entry['error']}" for entry in entries if entry["error"])


def run_text(result: dict) -> str:
    settings = result["settings"]
    if settings.get("virtual"):
        return f"nacre-bench {result['version']}, {result['started']}: in virtual time, on machines as their files say."
    first = f"nacre-bench {result['version']}, {result['started']}: {sentence(result['machine'])}"
    second = (
        f"{settings['rounds']} rounds. A launch measures all settings of a case that are still in the search, in "
        f"another order in each round (seed {settings['seed']})."
    )
    return "\n".join([first, second, *contender_lines(result)])


def choice_text(result: dict) -> str:
    entries = result["launches"]
    judged = judged_of(entries)
    parts = [run_text(result), VIRTUAL if result["settings"].get("virtual") else ABOUT]
    if judged:
        parts += [cases_text(judged), shares_text(judged), misses_text(judged), algorithms_text(judged)]
        parts += [fixed_text(judged)]
    parts += [peers_text(entries), predictions_text(entries)]
    parts += [slow_text(entries, result["settings"]["timeout"]), failures_text(entries)]
    return "\n\n".join(part for part in parts if part)
