"""Findings on layouts: too few and too many stripes, and locks that move between nodes."""

from __future__ import annotations

from collections.abc import Iterator

from nacre.findings.finding import Finding
from nacre.jobs import FileGroup, Job
from nacre.text import amount, plural

ONE_STRIPE_ENOUGH = 64 << 20  # bytes of a file
STRIPE_ENOUGH = 1 << 20  # bytes of a file on one OST
SMALL = 1 << 20


def _stripes(one: dict) -> int:
    """The most stripes of a range of the file; 0: not striped, or unknown."""
    return max((region["stripes"] for region in one["layout"]), default=0)


def _moved(one: dict) -> int:
    return max(one["bytes_written"], one["bytes_read"])


def _data_seconds(job: Job, reports: list[dict]) -> float:
    return sum(kind["seconds"]["sum"] for one in reports for kind in one["kinds"].values()) / job.ranks


def too_few_stripes(job: Job) -> Iterator[Finding]:
    """A large file of several nodes on one or two OSTs."""
    for group in job.groups:
        found = [one for one in group.reports if _is_narrow(one)]
        if not found:
            continue
        stripes = max(_stripes(one) for one in found)
        size = max(_moved(one) for one in found)
        nodes = max(one["nodes"] for one in found)
        wanted = max(nodes, -(-size // ONE_STRIPE_ENOUGH))
        folder = group.name.rpartition("/")[0] or "."
        yield Finding(
            "few-stripes",
            "The file has too few stripes",
            str(group),
            f"{amount(size)} of {plural(nodes, 'node')} on {plural(stripes, 'OST')}{_because(found)}",
            _data_seconds(job, found) * (1 - stripes / wanted),
            [
                f"lfs setstripe -c {min(wanted, 64)} {folder}      # for new files; existing ones: lfs migrate -c ...",
                f"or: nacre run --hint striping_factor={min(wanted, 64)} ...",
                f"more: nacre stripe advise --size {size} --nodes {nodes} {folder}",
            ],
        )


def _is_narrow(one: dict) -> bool:
    stripes = _stripes(one)
    return 0 < stripes <= 2 and one["nodes"] > stripes and _moved(one) >= ONE_STRIPE_ENOUGH * stripes


def _because(reports: list[dict]) -> str:
    """Why Nacre did not choose the layout itself."""
    hints = [one["hints"].get("striping_factor", {}).get("from", "") for one in reports]
    if any(source in ("program", "environment", "user's file", "site's file") for source in hints):
        return "; the hint striping_factor sets this"
    writes = any(one["mode"] != "read" for one in reports)
    return "; the directory's default layout sets this" if writes else ""


def too_many_stripes(job: Job) -> Iterator[Finding]:
    """A small file on many OSTs: each open, size and removal asks all of them."""
    for group in job.groups:
        found = [
            one
            for one in group.reports
            if _stripes(one) > 4 and 0 < _moved(one) < STRIPE_ENOUGH * _stripes(one) and len(one["layout"]) == 1
        ]
        if not found:
            continue
        stripes = max(_stripes(one) for one in found)
        size = max(_moved(one) for one in found)
        seconds = sum(one["open_seconds"]["sum"] + one["close_seconds"]["sum"] for one in found) / job.ranks
        folder = group.name.rpartition("/")[0] or "."
        yield Finding(
            "many-stripes",
            "A small file has many stripes",
            str(group),
            f"{amount(size)} on {stripes} OSTs",
            seconds,
            [f"lfs setstripe -E 4m -c 1 -E -1 -c {stripes} {folder}      # few stripes for small files"],
        )


def moving_locks(job: Job) -> Iterator[Finding]:
    """Ranks of several nodes write small pieces to the same OSTs by themselves."""
    for group in job.groups:
        seconds = 0.0
        osts = pieces = moved = 0
        for one, kind in _contended(group):
            stripes = max(1, _stripes(one))
            calls = kind["file_calls"]["sum"]
            seconds += kind["seconds"]["sum"] / job.ranks
            osts, pieces, moved = max(osts, stripes), pieces + calls, moved + kind["file_bytes"]["sum"]
        if not pieces:
            continue
        yield Finding(
            "moving-locks",
            "Nodes take the locks of OSTs from each other",
            str(group),
            f"{pieces:,} independent writes of {amount(moved / pieces)} from several nodes to the same"
            f" {plural(osts, 'OST')}",
            seconds,
            [
                "MPI: use collective writes (MPI_File_write_all): each OST then has one writer",
                "or, if each rank writes a range of its own: align the ranges to stripes",
            ],
        )


def _contended(group: FileGroup) -> Iterator[tuple[dict, dict]]:
    for one, kind in group.kinds("independent_write"):
        calls = kind["file_calls"]["sum"]
        is_small = calls >= 16 * kind["ranks"] and kind["file_bytes"]["sum"] < SMALL * calls
        if one["nodes"] > 1 and _stripes(one) > 0 and kind["ranks"] > 1 and is_small:
            yield one, kind


RULES = [too_few_stripes, too_many_stripes, moving_locks]
