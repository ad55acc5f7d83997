"""Jobs: the reports of one launch of a program, and groups of its files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from nacre import darshan_log, posix_lines
from nacre.text import plural, shortened

HOSTS_SHOWN = 4
PROGRAM_SHOWN = 80  # characters


@dataclass
class FileGroup:
    """The reports of one file, or of files whose names differ only in numbers."""

    name: str
    reports: list[dict] = field(default_factory=list)

    @cached_property
    def paths(self) -> set[str]:
        return {one["file"] for one in self.reports}

    @property
    def file_count(self) -> int:
        return sum({one["file"]: one.get("file_count", 1) for one in self.reports}.values())

    @property
    def opens(self) -> int:
        return sum(one.get("opens", 1) for one in self.reports)

    @property
    def ranks(self) -> int:
        return max(one["ranks"] for one in self.reports)

    @cached_property
    def rank_seconds(self) -> float:
        """The time in calls of these files, summed over the ranks."""
        return sum(one["seconds"]["sum"] for one in self.reports)

    @property
    def is_sum(self) -> bool:
        """Whether the figures are sums over files whose names are not known."""
        return any(one.get("file_count", 1) > 1 for one in self.reports)

    def total(self, field_name: str) -> int:
        return sum(one[field_name] for one in self.reports)

    def kinds(self, *names: str) -> Iterator[tuple[dict, dict]]:
        """Each report with its figures of these kinds of calls."""
        for one in self.reports:
            for name in names:
                if name in one["kinds"]:
                    yield one, one["kinds"][name]

    def kinds_of(self, direction: str) -> Iterator[tuple[dict, dict]]:
        """The same of all kinds of calls of a direction: write or read."""
        return self.kinds(f"independent_{direction}", f"collective_{direction}")

    def __str__(self) -> str:
        count = len(self.paths)
        return f"{self.name} ({plural(count, 'file')})" if count > 1 else self.name


@dataclass
class Job:
    """The reports of one launch."""

    key: tuple
    reports: list[dict]

    @property
    def first(self) -> dict:
        """The slowest; of MPI-IO if there is one, since those reports name the MPI."""
        return next((one for one in self.reports if "source" not in one), self.reports[0])

    @cached_property
    def ranks(self) -> int:
        """Of the program; of its largest file if the library did not say."""
        return max(1, *(max(one["world"]["ranks"], one["ranks"]) for one in self.reports))

    @cached_property
    def nodes(self) -> int:
        return max(1, len(self.hosts), *(one["nodes"] for one in self.reports))

    @property
    def is_from_darshan(self) -> bool:
        """Whether the job ran without Nacre."""
        return self.first.get("source") == darshan_log.SOURCE

    @property
    def has_posix(self) -> bool:
        """Whether calls of POSIX were counted too."""
        return any(one.get("source") == posix_lines.SOURCE for one in self.reports)

    @property
    def what(self) -> str:
        """What its times are of."""
        return "I/O" if self.is_from_darshan or self.has_posix else "MPI-IO"

    @property
    def file_count(self) -> int:
        return sum(group.file_count for group in self.groups)

    @property
    def opens(self) -> int:
        return sum(group.opens for group in self.groups)

    @cached_property
    def hosts(self) -> list[str]:
        return sorted({host for one in self.reports for host in one["hosts"]})

    @cached_property
    def rank_seconds(self) -> float:
        """The time in MPI-IO, summed over the ranks."""
        return sum(one["seconds"]["sum"] for one in self.reports)

    @property
    def mean_seconds(self) -> float:
        """The time in MPI-IO of a rank, on average."""
        return self.rank_seconds / self.ranks

    @cached_property
    def slowest_seconds(self) -> float:
        """An upper bound of that of the slowest rank: another rank may be the slowest in each file of several ranks."""
        shared = sum(one["seconds"]["max"] for one in self.reports if one["ranks"] > 1)
        alone: Counter = Counter()
        for one in self.reports:
            if (rank := single_rank(one)) is not None:
                alone[rank] += one["seconds"]["max"]
        return shared + max(alone.values(), default=0)

    @property
    def elapsed_seconds(self) -> float:
        """From the first open of a file to the last close, with what the program did meanwhile; 0 if it is unknown."""
        timed = [one for one in self.reports if one["open_for_seconds"]]
        begin = min(map(_open_began, timed), default=0)
        ends = (one["opened_at"] + one["open_for_seconds"] + one["close_seconds"]["max"] for one in timed)
        return max(ends, default=0) - begin

    def total(self, field_name: str) -> int:
        return sum(one[field_name] for one in self.reports)

    @cached_property
    def groups(self) -> list[FileGroup]:
        """Files by group of names, those with the most time first. A file alone keeps its name."""
        by_pattern: dict[str, list[dict]] = {}
        for one in self.reports:
            by_pattern.setdefault(re.sub(r"\d+", "*", one["file"]), []).append(one)
        groups = []
        for reports in by_pattern.values():
            groups.append(FileGroup(_pattern({one["file"] for one in reports}), reports))
        return sorted(groups, key=lambda group: group.rank_seconds, reverse=True)

    @property
    def title(self) -> str:
        """For example: job 4711: ./app input.nml, 64 ranks on 4 nodes (n1, n2, ...)."""
        job = f"job {self.first['job']}: " if self.first["job"] else ""
        program = shortened(" ".join(self.first["program"]), PROGRAM_SHOWN) or "a program"
        if self.is_from_darshan:
            return f"{job}{program}, {plural(self.ranks, 'rank')}"
        where = "one node" if self.nodes == 1 else plural(self.nodes, "node")
        hosts = ", ".join(self.hosts[:HOSTS_SHOWN]) + (", ..." if len(self.hosts) > HOSTS_SHOWN else "")
        return f"{job}{program}, {plural(self.ranks, 'rank')} on {where}{f' ({hosts})' if hosts else ''}"

    @property
    def libraries(self) -> str:
        """For example: MPICH Version: 4.3.0, Nacre 0.1.0."""
        if self.is_from_darshan:
            return "without Nacre; from a log of Darshan"
        parts = [self.first["mpi"], f"Nacre {self.first['version']}" if self.first["version"] else ""]
        return ", ".join(" ".join(part.split()) for part in parts if part)


def single_rank(one: dict) -> int | None:
    """The rank that used a file alone; None: several did."""
    return one["world"]["rank"] if one["ranks"] == 1 else None


def _open_began(one: dict) -> float:
    """Darshan says when opens began, Nacre when they ended."""
    return one["opened_at"] - (0 if one.get("source") == darshan_log.SOURCE else one["open_seconds"]["max"])


def span_of(reports: list[dict]) -> tuple[float, float]:
    """When the first of the files was opened, and the last closed, in seconds since 1970; 0 and 0 of no report."""
    begin = min((one["opened_at"] for one in reports), default=0)
    return begin, max((one["opened_at"] + one["open_for_seconds"] for one in reports), default=0)


def _pattern(names: set[str]) -> str:
    """Names that differ only in numbers as one, with * for the numbers in which they differ."""
    parts = zip(*(re.split(r"(\d+)", name) for name in names))
    return "".join(part[0] if len(set(part)) == 1 else "*" for part in parts)


def jobs_of(reports: list[dict]) -> list[Job]:
    """The jobs of these reports, the slowest first. Reports of older libraries name no launch; those of one batch job,
    or of none, count as one job."""
    by_key: dict[tuple, list[dict]] = {}
    for one in reports:
        by_key.setdefault((one["run"], one["job"]), []).append(one)
    jobs = [Job(key, found) for key, found in by_key.items()]
    return sorted(jobs, key=lambda job: job.slowest_seconds, reverse=True)
