"""The table of cases. A row stands for one case per workload, shape, layout and direction."""

from __future__ import annotations

import dataclasses
import fnmatch

from ..cells import DIRECTIONS
from ..errors import BenchError
from ..units import MIB

LOCAL = "local"
# Layouts of a case: "c8" requests 8 stripes by hint; "dir8" and "fs8" have 8 stripes as the default of the directory or
# of the file system, and no hint; "" is a file system without stripes.
BY_HINT, BY_DIRECTORY, BY_FILE_SYSTEM = "c", "dir", "fs"


@dataclasses.dataclass(frozen=True)
class Case:
    """`mib`: approximate size of the file. `nodes`: the ranks are assigned to so many emulated nodes in blocks."""

    file_system: str
    workload: str
    ranks: int
    nodes: int
    mib: int
    layout: str
    direction: str

    @property
    def name(self) -> str:
        layout = f"/{self.layout}" if self.layout else ""
        return f"{self.file_system}/{self.workload}/{self.ranks}x{self.nodes}/{self.mib}m{layout}/{self.direction}"

    @property
    def bytes(self) -> int:
        return self.mib * MIB

    @property
    def layout_kind(self) -> str:
        return self.layout.rstrip("0123456789")

    @property
    def osts(self) -> int:
        """The number of stripes; 0: the file system has no stripes."""
        return int(self.layout.removeprefix(self.layout_kind) or 0)

    @property
    def repeats(self) -> int:
        """Repeats in a round. Small files take so little time that one repeat says more about the machine."""
        return 1 if self.file_system != LOCAL or self.mib > 8 else 3


@dataclasses.dataclass(frozen=True)
class Row:
    """`shapes`: RANKSxNODES. All texts are lists of words."""

    file_systems: str
    workloads: str
    shapes: str
    mib: int
    layouts: str = ""

    def cases(self) -> list[Case]:
        return [
            Case(system, workload, *map(int, shape.split("x")), self.mib, layout, direction)
            for system in self.file_systems.split()
            for shape in self.shapes.split()
            for layout in self.layouts.split() or [""]
            for workload in self.workloads.split()
            for direction in DIRECTIONS
        ]


# Sizes are such that a case takes 10 to 30 s on two cores.
TABLE = (
    # A local file system.
    Row(LOCAL, "interleaved tile64 bt flash block4d uneven", "4x1", 64),
    Row(LOCAL, "latency tile8 bt climate steps header", "9x3", 3),
    Row(LOCAL, "seg strided latency tile64 bt flash8 climate block4d steps header uneven", "16x4", 32),
    Row(LOCAL, "strided header uneven", "16x1", 2),
    Row(LOCAL, "seg interleaved tile8 uneven", "32x16", 12),
    # Disks, one file over OSTs that the hint striping_factor names.
    Row(
        "ranger", "seg pieces interleaved latency tile64 bt flash8 climate block4d steps header uneven", "16x8", 8, "c8"
    ),
    Row("ranger", "latency tile8 uneven", "4x4", 4, "c4"),
    Row("ranger", "bt flash8 climate", "9x3", 6, "c8"),
    Row("ranger", "seg interleaved block4d uneven", "32x16", 12, "c16"),
    Row("tungsten big-red", "seg pieces latency tile64 bt block4d uneven", "16x8", 8, "c8"),
    # The layout is left to the default of the directory or of the file system.
    Row("ranger", "pieces interleaved header", "16x8", 16, "dir8"),
    Row("ranger", "pieces steps", "16x8", 6, "fs8"),
    Row("ranger tungsten big-red", "strided interleaved header", "16x8", 32, "fs1"),
    Row("ranger", "tile64 steps", "16x4", 64, "fs1"),
    Row("tungsten big-red", "steps", "16x8", 8, "dir8"),
    # Flash.
    Row("flash", "seg pieces interleaved latency tile64 bt flash8 steps header uneven", "16x8", 16, "c8"),
    Row("flash", "latency block4d uneven", "4x1", 6, "c4"),
    Row("flash", "bt tile8 climate", "9x3", 6, "c4"),
    Row("flash", "seg interleaved block4d uneven", "32x16", 16, "c16"),
    Row("flash", "pieces steps", "16x8", 8, "fs8"),
    Row("flash", "strided interleaved header", "16x8", 32, "fs1"),
    Row("flash", "tile64 steps", "16x4", 64, "fs1"),
)


def all_cases() -> list[Case]:
    return [case for row in TABLE for case in row.cases()]


def file_systems() -> list[str]:
    return list(dict.fromkeys(case.file_system for case in all_cases()))


def chosen_cases(patterns: list[str], systems: list[str], ranks: list[int]) -> list[Case]:
    """The cases whose name matches one of `patterns` and that have one of `systems` and one of `ranks`. An empty list
    excludes none."""
    for system in systems:
        if system not in file_systems():
            raise BenchError(f"--file-system {system}: no case has it; the cases have {', '.join(file_systems())}")
    everything = all_cases()
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(case.name, pattern) for case in everything):
            raise BenchError(f"--cases {pattern}: no case matches; a case is called, for example, {everything[0].name}")
    chosen = [
        case
        for case in everything
        if (not patterns or any(fnmatch.fnmatchcase(case.name, pattern) for pattern in patterns))
        and (not systems or case.file_system in systems)
        and (not ranks or case.ranks in ranks)
    ]
    if not chosen:
        raise BenchError("no case of the table matches --cases, --file-system and --ranks together")
    return chosen
