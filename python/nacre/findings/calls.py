"""Findings on calls other than data accesses, on numbers of files, and on hints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nacre import file_system, settings
from nacre.findings import accesses, osts
from nacre.findings.finding import Finding
from nacre.findings.posix import is_posix
from nacre.jobs import FileGroup, Job, single_rank
from nacre.text import duration, plural

MANY_OPENS = 20  # of one file
MANY_CALLS = 50  # of one kind that moves no data, by one rank
MANY_FILES = 16
MOST_RANKS = 0.75  # as good as each
HALF = 0.5
LONG = 0.2  # seconds of a rank: a busy disk takes less for the metadata of a small file
WRITES_AT_CLOSE = "nfs"  # the file system whose close writes back
FEWER_FILES = (
    "Program: several steps or variables in one file (a dimension more, a group of HDF5 for each step), and keep it"
    " open between them"
)

# Findings that are shown whatever time is at stake.
ALWAYS = {"hint-without-effect", "file-per-rank"}
LAYOUT_HINTS = (*settings.STRIPING_HINTS, "nacre_pool", "nacre_layout")
AGGREGATOR_HINTS = ("cb_nodes", "nacre_pattern", "nacre_osts_per_aggregator", "nacre_ost_sharing")
OF_THE_JOB = ("program", "environment")  # where a hint comes from that is meant for this job


def _seconds_of_opens(one: dict) -> float:
    """The time in opens and closes, summed over the ranks."""
    return one["open_seconds"]["sum"] + one["close_seconds"]["sum"]


def _open_seconds(job: Job, group: FileGroup) -> float:
    """The time of a rank in opens and closes, on average."""
    return sum(map(_seconds_of_opens, group.reports)) / job.ranks


def reopened_files(job: Job) -> Iterator[Finding]:
    for group in job.groups:
        if group.is_sum:
            continue
        # Each rank of MPI_COMM_SELF opens the file for itself.
        openers = {(one["file"], single_rank(one)) for one in group.reports}
        per_file = group.opens / len(openers)
        if per_file < MANY_OPENS:
            continue
        seconds = _open_seconds(job, group)
        yield Finding(
            "reopened",
            "The file is opened again and again",
            str(group),
            f"{per_file:.0f} opens of each file by each rank; opens and closes took {duration(seconds)} per rank",
            seconds * (1 - 1 / per_file),
            ["Program: keep the file open between steps (with MPI_File_sync or H5Fflush where data must be on disk)"],
        )


def _calls_storm(job: Job, name: str) -> Iterator[tuple[FileGroup, int, float]]:
    """Groups with many of these calls to one file, the most to a file, and the seconds of those to all such files."""
    for group in job.groups:
        if group.is_sum:
            continue
        counts: Counter = Counter()
        seconds: Counter = Counter()
        for one in group.reports:
            if name in one["other_calls"]:
                counts[one["file"]] += one["other_calls"][name]["calls"]["max"]
                seconds[one["file"]] += one["other_calls"][name]["seconds"]["sum"]
        many = [path for path, count in counts.items() if count >= MANY_CALLS]
        if many:
            yield group, max(counts.values()), sum(seconds[path] for path in many) / job.ranks


def size_storm(job: Job) -> Iterator[Finding]:
    for group, count, seconds in _calls_storm(job, "get_size"):
        yield Finding(
            "size-storm",
            "Ranks ask for the size of the file again and again",
            str(group),
            f"{count:,} MPI_File_get_size (or seeks from the end) of a rank took {duration(seconds)}",
            seconds,
            ["Program: ask on one rank and broadcast, or compute the offset"],
        )


def _sync_name(group: FileGroup) -> str:
    return "fsync" if is_posix(group) else "MPI_File_sync"


def sync_storm(job: Job) -> Iterator[Finding]:
    for group, count, seconds in _calls_storm(job, "sync"):
        yield Finding(
            "sync-storm",
            "The file is forced to disk again and again",
            str(group),
            f"{count:,} {_sync_name(group)} of a rank took {duration(seconds)}",
            seconds,
            [
                f"Program: call {_sync_name(group)} once, before the file is read by others or closed;"
                " closing does not need it"
            ],  # fmt: skip
        )


def slow_syncs(job: Job) -> Iterator[Finding]:
    """Few calls force the file to disk, and take most of its time."""
    storms = {str(group) for group, _, _ in _calls_storm(job, "sync")}
    for group in job.groups:
        name = _sync_name(group)
        syncs = [(one, one["other_calls"]["sync"]) for one in group.reports if "sync" in one["other_calls"]]
        seconds = sum(_seconds_of_each(one, sync["seconds"]) for one, sync in syncs) / job.ranks
        if str(group) in storms or not _is_most(job, group, seconds):
            continue
        count = sum(sync["calls"]["max"] for _, sync in syncs)
        yield Finding(
            "slow-sync",
            "Forcing the file to disk takes most of its time",
            str(group),
            f"{count:,} {name} {_part_of_time(job, group, seconds)}",
            seconds,
            [
                f"Program: call {name} only where another process reads the bytes next, or where a crash must not lose"
                " them; without it they reach the disk while the program computes",
                f"{name} waits until all bytes are on disk: more stripes and larger writes make it shorter",
            ],
        )


def slow_closes(job: Job) -> Iterator[Finding]:
    """Closes take most of the time of a file that NFS writes back when it is closed."""
    for group in job.groups:
        written = [one for one in group.reports if one["file_system"] == WRITES_AT_CLOSE and one["mode"] != "read"]
        seconds = sum(_seconds_of_each(one, one["close_seconds"]) for one in written) / job.ranks
        if not _is_most(job, group, seconds):
            continue
        yield Finding(
            "slow-sync",
            "Closing the file takes most of its time",
            str(group),
            f"{plural(len(written), 'close')} {_part_of_time(job, group, seconds)}",
            seconds,
            [
                "NFS writes at the close what the node still has in memory. Program: close the file after the next step"
                " has been computed; or write it to a parallel file system (nacre doctor DIR names that of DIR)"
            ],
        )


def _seconds_of_each(one: dict, seconds: dict) -> float:
    """The time of collective calls without the wait for late ranks, which the last rank does not have; summed over the
    ranks."""
    return seconds["sum"] if one.get("by_posix", False) else seconds["min"] * one["ranks"]


def _is_most(job: Job, group: FileGroup, seconds: float) -> bool:
    return seconds >= max(LONG, HALF * group.rank_seconds / job.ranks)


def _part_of_time(job: Job, group: FileGroup, seconds: float) -> str:
    """For example: took 2 s of the 3 s per rank in this file."""
    files = "these files" if len(group.paths) > 1 else "this file"
    return f"took {duration(seconds)} of the {duration(group.rank_seconds / job.ranks)} per rank in {files}"


def view_storm(job: Job) -> Iterator[Finding]:
    for group, count, seconds in _calls_storm(job, "set_view"):
        if accesses.are_views_of_library(group):
            continue  # a consequence of the number of its collective calls
        yield Finding(
            "view-storm",
            "The view is set again and again",
            str(group),
            f"{count:,} MPI_File_set_view of a rank took {duration(seconds)}",
            seconds,
            [
                "Program: set one view for all steps, and use MPI_File_write_at_all with offsets",
                "If a library sets the views (HDF5: one or two for each collective call): make fewer, larger calls",
            ],
        )


def file_per_rank(job: Job) -> Iterator[Finding]:
    """Each rank has files of its own."""
    for group in job.groups:
        alone = _files_of_one_rank(group)
        if not _has_files_of_each_rank(job, group):
            continue
        seconds = _open_seconds(job, group)
        yield Finding(
            "file-per-rank",
            "Each rank has files of its own",
            str(group),
            f"{plural(len(alone), 'file')} of single ranks; their opens and closes took {duration(seconds)} per rank",
            seconds,
            ["Program: one file for all ranks, or one for each node (MPI_Comm_split_type, HDF5 subfiling)"],
        )


def _has_files_of_each_rank(job: Job, group: FileGroup) -> bool:
    alone = _files_of_one_rank(group)
    owners = {one["world"]["rank"] for one in group.reports if one["file"] in alone}
    return job.ranks >= MANY_FILES and len(owners) >= MOST_RANKS * job.ranks


def _files_of_one_rank(group: FileGroup) -> set[str]:
    users: dict[str, set[int | None]] = {}
    for one in group.reports:
        users.setdefault(one["file"], set()).add(single_rank(one))
    return {path for path, ranks in users.items() if len(ranks) == 1 and None not in ranks}


def many_files(job: Job) -> Iterator[Finding]:
    """Opens and closes of many files of several ranks take longer than what is read and written there."""
    for group in job.groups:
        shared = group.paths - _files_of_one_rank(group)
        if is_posix(group) or len(shared) < MANY_FILES or group.opens / len(group.paths) >= MANY_OPENS:
            continue
        seconds = _open_seconds(job, group)
        if seconds < HALF * group.rank_seconds / job.ranks:
            continue
        yield Finding(
            "many-files",
            "Opens and closes of many files take most of their time",
            str(group),
            f"opens and closes of {plural(len(shared), 'file')} took {duration(seconds)} per rank",
            seconds,
            [FEWER_FILES],
        )


def many_files_of_one_rank(job: Job) -> Iterator[Finding]:
    """The same of files that one rank opens alone."""
    for group in job.groups:
        if is_posix(group) or _has_files_of_each_rank(job, group):  # file-per-rank says it
            continue
        rank, reports = _of_rank_with_most_files(group)
        files = {one["file"] for one in reports}
        whole = sum(one["seconds"]["sum"] for one in reports)
        seconds = sum(_seconds_of_opens(one) for one in reports)
        if len(files) < MANY_FILES or len(reports) >= MANY_OPENS * len(files) or seconds < HALF * whole:
            continue
        yield Finding(
            "many-files",
            "Opens and closes of many files take most of their time",
            str(group),
            f"opens and closes of {plural(len(files), 'file')} by rank {rank:,} alone took {duration(seconds)} of its"
            f" {duration(whole)} in these files",
            seconds,
            [
                FEWER_FILES,
                "Program: one file for all ranks (MPI_File_open on their communicator), a part for each rank",
            ],
        )


def _of_rank_with_most_files(group: FileGroup) -> tuple[int, list[dict]]:
    """The rank with the most time in opens and closes of files that it uses alone, and its reports of these files."""
    alone = _files_of_one_rank(group)
    by_rank: dict[int, list[dict]] = {}
    for one in group.reports:
        if one["file"] in alone:
            by_rank.setdefault(one["world"]["rank"], []).append(one)
    return max(by_rank.items(), key=lambda item: sum(map(_seconds_of_opens, item[1])), default=(0, []))


def hints_without_effect(job: Job) -> Iterator[Finding]:
    """Notes of the library on hints."""
    seen: dict[str, list[dict]] = {}
    for one in job.reports:
        for note in one["notes"]:
            if note.startswith(("hint ", "hints ", "striping hints ", "variable ", "configuration file ")):
                seen.setdefault(note, []).append(one)
    for note, reports in seen.items():
        remedies = [
            "nacre explain REPORT lists the hints of the job and where each comes from; nacre hints lists all hints"
        ]
        of_layout = note.startswith(tuple(f"hint {name}" for name in LAYOUT_HINTS))
        if of_layout and any(one.get("layout_origin") == "file" for one in reports):
            remedies.insert(0, "An existing file keeps its layout: remove it before the job, or write to another name")
        yield _not_in_force(reports, note, remedies)


def hints_without_layouts(job: Job) -> Iterator[Finding]:
    """Hints that set the layout of new files, on a file system without layouts."""
    seen: dict[str, list[dict]] = {}
    for one in job.reports:
        name = one["file_system"]
        if not name or file_system.has_layouts(name) or one["mode"] == "read":
            continue
        hints = [hint for hint in LAYOUT_HINTS if osts.requester_of(one, hint) in OF_THE_JOB]
        if hints:
            evidence = f"{', '.join(hints)}: files on this file system ({name}) have no layout that hints can set"
            seen.setdefault(evidence, []).append(one)
    for evidence, reports in seen.items():
        remedies = [
            "Remove the hints, or write the files to a file system with layouts:"
            " nacre doctor DIR names the file system of DIR"
        ]
        yield _not_in_force(reports, evidence, remedies)


def hints_without_aggregators(job: Job) -> Iterator[Finding]:
    """Hints on aggregators, of files in which no collective call had an aggregator."""
    plans = [plan for one in job.reports for plan in one["plans"]]
    if any("aggregators" in plan for plan in plans) or any(one["other_plan_calls"] for one in job.reports):
        return
    seen: dict[str, list[dict]] = {}
    for one in job.reports:
        set_by = {hint: osts.requester_of(one, hint) for hint in AGGREGATOR_HINTS}
        hints = [f"{hint} ({who})" for hint, who in set_by.items() if who in OF_THE_JOB]
        moving = [plan for plan in one["plans"] if plan["bytes"]["sum"]]
        if hints and moving:
            longest = max(moving, key=lambda plan: plan["seconds"]["max"])
            evidence = f"{', '.join(hints)}: no collective call has an aggregator. {longest['because']}"
            seen.setdefault(evidence, []).append(one | {"otherwise": longest["otherwise"]})
    for evidence, reports in seen.items():
        remedies = [reports[0]["otherwise"], "If the calls are fast enough without aggregators, remove the hints"]
        yield _not_in_force(reports, evidence, remedies)


def _not_in_force(reports: list[dict], evidence: str, remedies: list[str]) -> Finding:
    files = list(dict.fromkeys(one["file"] for one in reports))
    where = files[0] if len(files) == 1 else plural(len(files), "file")
    return Finding("hint-without-effect", "A hint is not in force", where, evidence, 0.0, remedies)


RULES = [
    reopened_files, size_storm, sync_storm, slow_syncs, slow_closes, view_storm, file_per_rank, many_files,
    many_files_of_one_rank, hints_without_effect, hints_without_layouts, hints_without_aggregators,
]  # fmt: skip
