"""The figures of Yu, Vetter and Canon (OPAL) on Jaguar. Their text has sizes, and one number that was measured: the
share of synchronization in figure 5."""

from __future__ import annotations

import dataclasses

from ..units import MIB
from .points import Outcome, Point, outcome_of
from .statements import Statement, busiest

MACHINE = "jaguar"
STRIPES = 64
PROFILED = 128  # processes of figure 5, and of a checkpoint file whose size the paper gives
PROCESSES = (64, 256, 1024)
# Of programs whose processes have bytes for many aggregators: more take more than 6 GiB of this computer's memory.
TILE_PROCESSES = (64, PROFILED)
BT_PROCESSES = (64, 144)  # squares
SYNCHRONIZATION = ("wait", "agreement")
PUBLISHED_SHARE = 0.42
IOR_BYTES = 16 * MIB  # of a process; not published
TILE_BYTES = 48 * MIB
BT_BYTES = 162**3 * 40  # class C; the class is not published
FLASH_VARIABLES = 24
# 81 blocks of 32^3 cells, in doubles: from the published sizes, 60.8 GB of 128 processes and 486 GB of 1,024.
FLASH_PIECE = 81 * 32**3 * 8
ALL = "all"
CHOSEN = "Nacre without a hint"
# Two-phase with ranges of the file that end at stripes; an aggregator writes before it exchanges more.
PROTOCOL = (
    ("nacre_algorithm", "two_phase"),
    ("nacre_pattern", "even"),
    ("nacre_io_threads", "0"),
    ("cb_buffer_size", str(4 * MIB)),
)


def _writes(transfer: int, calls: int) -> str:
    """Collective calls: in each, the processes have one transfer after the other."""
    return f'[[calls]]\nkind = "collective write"\npiece = {transfer}\ncalls = {calls}\noffsets = {transfer}\n'


def _independent(kind: str) -> str:
    """Each process has a part of the file, which it accesses in transfers of 1 MB."""
    calls = f"calls = {IOR_BYTES // MIB}\noffsets = {IOR_BYTES}\nstep = {MIB}\n"
    return f'[[calls]]\nkind = "independent {kind}"\npiece = {MIB}\n{calls}'


@dataclasses.dataclass(frozen=True)
class Run:
    """A program of the paper: `calls` as in a Point, or a workload of nacre-bench, whose file has `bytes_each` for each
    process or `bytes_all`."""

    words: str
    figure: str
    published: str
    unsaid: str
    calls: str = ""
    workload: str = ""
    bytes_each: int = 0
    bytes_all: int = 0
    collective: bool = True
    processes: tuple[int, ...] = PROCESSES

    def point(self, processes: int, how: str | int = ALL) -> Point:
        hints = [("striping_factor", str(STRIPES)), ("striping_unit", str(MIB))]
        if self.collective and how != CHOSEN:
            hints += [*PROTOCOL, ("cb_nodes", str(processes if how == ALL else how))]
        size = self.bytes_all or self.bytes_each * processes
        return Point(MACHINE, processes, 1, size, self.workload, 0, tuple(hints), (), self.calls)

    def outcome(self, processes: int, how: str | int = ALL) -> Outcome:
        return outcome_of(self.point(processes, how))

    def outcomes(self, how: str | int = ALL) -> dict[int, Outcome]:
        return {processes: self.outcome(processes, how) for processes in self.processes}


WRITES = Run(
    "IOR, independent writes",
    "3",
    "OPAL is faster than Cray's with few processes, and equal with many",
    "rates, bytes of a process",
    _independent("write"),
    collective=False,
)
READS = dataclasses.replace(
    WRITES, words="IOR, independent reads", published="OPAL is as fast as Cray's", calls=_independent("read")
)
IOR = Run(
    "IOR, collective writes of 1 MB",
    "4",
    "OPAL is as fast as Cray's, or faster",
    "rates, bytes of a process and of a call",
    _writes(MIB, IOR_BYTES // MIB),
)
IOR_ONCE = dataclasses.replace(IOR, words="IOR, one collective write of 16 MB", calls=_writes(IOR_BYTES, 1))
TILE = Run(
    "MPI-Tile-IO, files of 48 MB a process",
    "6",
    "Cray's has a small advantage over OPAL",
    "rates, arrangement of the tiles",
    workload="tile64",
    bytes_each=TILE_BYTES,
    processes=TILE_PROCESSES,
)
BT = Run(
    "BT-IO, one step of class C",
    "7",
    "OPAL is as fast as Cray's",
    "rates, class, processes",
    workload="bt",
    bytes_all=BT_BYTES,
    processes=BT_PROCESSES,
)
FLASH = Run(
    "Flash-IO, checkpoint file of 32x32x32 cells a block",
    "8",
    "OPAL is faster than Cray's",
    "rates, calls of HDF5 for the metadata",
    _writes(FLASH_PIECE, FLASH_VARIABLES),
)
RUNS = (WRITES, READS, IOR, IOR_ONCE, TILE, BT, FLASH)
PROFILES = (IOR, IOR_ONCE, TILE, FLASH)
FEWER = STRIPES  # aggregators of a second profile: one for each OST


def points() -> list[Point]:
    programs = [run.point(processes, how) for run in RUNS for processes in run.processes for how in hows(run)]
    profiles = [run.point(PROFILED, how) for run in PROFILES for how in (ALL, FEWER)]
    return [*programs, *profiles]


def hows(run: Run) -> tuple[str, ...]:
    return (ALL, CHOSEN) if run.collective else (ALL,)


def shares(run: Run) -> dict[str | int, float]:
    """That of synchronization, by number of aggregators."""
    return {how: run.outcome(PROFILED, how).share(SYNCHRONIZATION) for how in (ALL, FEWER)}


def rates(outcomes: dict[int, Outcome]) -> str:
    """By number of processes."""
    found = ", ".join(f"{one.mib_per_second:,.0f} ({processes:,})" for processes, one in outcomes.items())
    return f"{found} MiB/s"


def _comparison(run: Run) -> Statement:
    """The paper compares two libraries, of which none is played here."""
    found = run.outcomes()
    return Statement(
        f"Jaguar, {run.words} (figure {run.figure})",
        run.published,
        rates(found),
        None,
        busiest(found.values()),
        f"{run.unsaid}; Cray's library is not open",
    )


def statements() -> list[Statement]:
    found = [share for run in PROFILES for share in shares(run).values()]
    profile = Statement(
        "Jaguar, time of collective calls (figure 5)",
        f"synchronization takes {PUBLISHED_SHARE:.0%} of the time with {PROFILED} processes",
        f"{min(found):.0%} to {max(found):.0%}, by the calls and the number of aggregators",
        None,
        "ranks that are not aggregators wait, and aggregators wait for the slowest of them",
        "which benchmark, its sizes, the number of aggregators",
    )
    return [profile, *(_comparison(run) for run in RUNS)]
