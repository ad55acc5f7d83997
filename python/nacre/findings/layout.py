"""Findings on layouts: too few and too many stripes, and locks that move between nodes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from nacre import lustre_client
from nacre.advice import layout_command, ranges
from nacre.findings import osts, without_nacre
from nacre.findings.finding import Finding
from nacre.jobs import FileGroup, Job
from nacre.text import amount, plural

ONE_STRIPE_ENOUGH = 64 << 20  # bytes of a file
STRIPE_ENOUGH = 1 << 20  # bytes of a file on one OST
SMALL = 1 << 20
HALF = 0.5
MANY_MORE = 2
DEFAULT_LAYOUT = "; the default layout of the directory sets this"
EXISTING = "; the file had this layout when it was opened"
CHOSEN_FOR_FEW = "; Nacre chose this layout before a collective write showed how long the file becomes"
NOT_AS_ASKED = "; a hint asks for another layout than the file has"
KEPT = "If the file existed before the job, it kept its layout: if the job writes all of it anew, remove {} first"


def _data_seconds(job: Job, reports: list[dict]) -> float:
    """The time of a rank in data accesses; if one rank makes all of them, its time: the others wait for it."""
    kinds = [kind for one in reports for kind in one["kinds"].values()]
    return sum(kind["seconds"]["sum"] / (1 if kind["ranks"] == 1 else job.ranks) for kind in kinds)


def too_few_stripes(job: Job) -> Iterator[Finding]:
    """A file is on fewer OSTs than its nodes keep busy: it is large, or the file system takes most of the time."""
    for group in job.groups:
        found = [one for one in group.reports if is_narrow(one)]
        if not found:
            continue
        largest = max(found, key=osts.moved)
        spread, wanted = osts.spread(largest), max(osts.possible(one) for one in found)
        total = osts.count_of(largest)
        size, nodes = osts.moved(largest), max(one["nodes"] for one in found)
        more = f"; the file system has {plural(total, 'OST')}" if total else "; the file system may have more"
        because, remedy = _because(largest), osts.more_stripes(group, wanted)
        if because in (EXISTING, NOT_AS_ASKED) and any(one["mode"] != "read" for one in group.reports):
            kept = KEPT.format(shlex.quote(lustre_client.as_seen_here(largest["file"])))
            remedy = [kept] if _has_refused_hint(largest) else [*remedy, kept]
        if because == DEFAULT_LAYOUT and not osts.is_on_orangefs(group):
            default = layout_command("-d", osts.folder_of(group))
            remedy.append(
                f"or let Nacre choose: {default}      # removes the directory's default;"
                " if it is that of the file system's root, set nacre_choose_layout=enable instead"
            )
        yield Finding(
            "few-stripes",
            "The file has too few stripes",
            str(group),
            f"{amount(size)} of {plural(nodes, 'node')} on {spread}{because}{more}",
            _data_seconds(job, found) * (1 - spread.used / wanted),
            [*remedy, *without_nacre.layouts(job, group)],
        )


def is_narrow(one: dict) -> bool:
    """Whether more OSTs would make the accesses of a file faster. Where each node has an OST, only if twice as many
    would."""
    spread = osts.spread(one)
    if spread is None:
        return False
    least = spread.used + HALF if one["nodes"] > spread.used else MANY_MORE * spread.used
    if osts.possible(one) < least:
        return False
    is_large = spread.stripes <= 2 and osts.moved(one) >= ONE_STRIPE_ENOUGH * spread.stripes
    return is_large or osts.is_most_of_the_time(one)


def _because(one: dict) -> str:
    """Why the file has this layout; empty if that is unknown, or if Nacre chose it by a collective write."""
    origin = one.get("layout_origin", "")
    if origin == "file":
        return EXISTING
    if _has_refused_hint(one):
        return NOT_AS_ASKED
    if one["mode"] == "read":
        return ""
    if origin == "nacre":
        return "" if "collective_write" in one["kinds"] else CHOSEN_FOR_FEW
    hints = [name for name in osts.COUNT_HINTS if osts.requester_of(one, name)]
    if hints:
        return f"; the hint {hints[-1]} ({osts.requester_of(one, hints[-1])}) sets this"
    if len(osts.regions(one)) > 1:
        return ""  # a layout that grows with the file, by whom is unknown
    return DEFAULT_LAYOUT if "collective_write" in one["kinds"] else "; no collective call chose a layout"


def _has_refused_hint(one: dict) -> bool:
    """Whether a hint asked for another number of stripes than the file has."""
    return any(note.startswith(f"hint {name}: requested ") for name in osts.COUNT_HINTS for note in one["notes"])


def too_many_stripes(job: Job) -> Iterator[Finding]:
    """A small file on many OSTs: each open, size and removal asks all of them."""
    for group in job.groups:
        found = [
            one
            for one in group.reports
            if osts.stripes(one) > 4
            and 0 < osts.moved(one) < STRIPE_ENOUGH * osts.stripes(one)
            and len(one["layout"]) == 1
        ]
        if not found:
            continue
        stripes = max(osts.stripes(one) for one in found)
        size = max(osts.moved(one) for one in found)
        seconds = sum(one["open_seconds"]["sum"] + one["close_seconds"]["sum"] for one in found) / job.ranks
        yield Finding(
            "many-stripes",
            "A small file has many stripes",
            str(group),
            f"{amount(size)} on {stripes} OSTs",
            seconds,
            _fewer_stripes(group, stripes),
        )


def _fewer_stripes(group: FileGroup, most: int) -> list[str]:
    if osts.is_on_orangefs(group):
        return [f"{osts.orangefs_layout(group, 1)}      # all new files in the directory"]
    grows = f"-E 4m -c 1 -E -1 -c {most}"  # few stripes for small files
    return [
        f"{osts.run_again_with(group, f'nacre_layout={grows}')}      # new files of this job",
        f"{layout_command(grows, osts.folder_of(group))}      # all new files in the directory",
    ]


def moving_locks(job: Job) -> Iterator[Finding]:
    """Ranks of several nodes write small pieces to the same OSTs by themselves."""
    for group in job.groups:
        found = [] if osts.is_on_orangefs(group) else list(_contended(group))
        if not found:
            continue
        seconds = sum(kind["seconds"]["sum"] for _, kind in found) / job.ranks
        pieces = sum(kind["file_calls"]["sum"] for _, kind in found)
        moved = sum(kind["file_bytes"]["sum"] for _, kind in found)
        yield Finding(
            "moving-locks",
            "Nodes take the locks of OSTs from each other",
            str(group),
            f"{pieces:,} independent writes of {amount(moved / pieces)} from several nodes to the same"
            f" {_in_conflict(found)}",
            seconds,
            [
                "MPI: write all pieces of a rank with one collective call (a view and MPI_File_write_all):"
                " each OST then has one writer",
                "or, if each rank writes a range of its own: align the ranges to stripes",
            ],
            direction="writes",
        )


def _contended(group: FileGroup) -> Iterator[tuple[dict, dict]]:
    for one, kind in group.kinds("independent_write"):
        calls = kind["file_calls"]["sum"]
        is_small = calls >= 16 * kind["ranks"] and kind["file_bytes"]["sum"] < SMALL * calls
        is_striped = osts.stripes(one) > 0
        is_shared = not kind["osts"] or osts.shared(one, kind)
        if one["nodes"] > 1 and is_striped and is_shared and kind["ranks"] > 1 and is_small:
            yield one, kind


def _in_conflict(found: list[tuple[dict, dict]]) -> str:
    """The OSTs that several ranks wrote, for example "2 OSTs (OST 0-1)". Reports of older libraries do not have them:
    then their number in the layout."""
    numbers = sorted({ost for one, kind in found for ost in osts.shared(one, kind)})
    if not numbers:
        return plural(max(osts.stripes(one) for one, _ in found), "OST")
    return f"{plural(len(numbers), 'OST')} (OST {ranges(numbers)})"


RULES = [too_few_stripes, too_many_stripes, moving_locks]
