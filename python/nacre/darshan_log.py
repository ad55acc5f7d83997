"""Logs of Darshan (of programs that ran without Nacre) in the form of reports, so that all findings apply to them.

Figures that Darshan does not record are those that raise no finding: 0 seconds in a phase, no plan. Of the phases it
tells one, file access: the time of POSIX calls on the file. Darshan records neither nodes nor how bytes divide into
collective and independent calls; `nodes` is the least number, and all bytes count for the kind that most calls are
of."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nacre import unserved
from nacre.errors import UserError
from nacre.unserved import spread, total

MAGIC = struct.Struct("=8sq")  # the version as text, and a number
MAGIC_NUMBER = 6567223
SOURCE = "darshan"
NO_PACKAGE = 3  # the exit code of the process that reads
# What Darshan says of the fastest and of the slowest rank is the sum of these.
BOTH_WAYS = {"TIME": ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"), "BYTES": ("BYTES_READ", "BYTES_WRITTEN")}
NEARLY_ALL = 0.9
RANKS_PER_NODE_MAX = 256  # of today's machines
OTHER_CALLS = {"set_view": ["VIEWS"], "sync": ["SYNCS", "FSYNCS", "FDSYNCS"], "stat": ["STATS"]}
SIZE_NAMES = {
    "0_100": 0, "100_1K": 100, "1K_10K": 1 << 10, "10K_100K": 10 << 10, "100K_1M": 100 << 10, "1M_4M": 1 << 20,
    "4M_10M": 4 << 20, "10M_100M": 10 << 20, "100M_1G": 100 << 20, "1G_PLUS": 1 << 30,
}  # fmt: skip


def is_log(path: str) -> bool:
    """Whether the file begins as a log of Darshan does. False if it cannot be read."""
    try:
        with open(path, "rb") as file:
            head = file.read(MAGIC.size)
    except OSError:
        return False
    return len(head) == MAGIC.size and MAGIC.unpack(head)[1] == MAGIC_NUMBER


def read(path: str) -> list[dict]:
    """A report for each file of the log that the program read, wrote, synchronised or called stat for.

    Another process reads the log: on a damaged one, Darshan's library may end its process. It may also delete the log,
    so that it gets a symbolic link to it."""
    if not os.access(path, os.R_OK):
        raise UserError(f"cannot read {path}", "Name a readable log of Darshan.")
    paths = [str(Path(__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split(":")]
    environment = {**os.environ, "PYTHONPATH": ":".join(map(os.path.abspath, filter(None, paths)))}
    with tempfile.TemporaryDirectory(prefix="nacre-darshan-") as scratch:
        link = Path(scratch) / Path(path).name
        link.symlink_to(Path(path).resolve())
        # Python puts its working directory first in the paths of modules.
        words = [sys.executable, "-m", "nacre.darshan_log", str(link)]
        # What Darshan's library complains of a damaged log may be any bytes.
        result = subprocess.run(
            words,
            env=environment,
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
    if result.returncode == NO_PACKAGE:
        raise UserError(
            f"{path} is a log of Darshan; reading it needs the package darshan, which is not installed",
            f"Install it: {sys.executable} -m pip install darshan",
        )
    reports = json.loads(result.stdout) if result.returncode == 0 else None
    if reports is None:
        complaint = next((line for line in result.stderr.splitlines() if line.startswith("Error: ")), "")
        raise UserError(
            f"{path}: Darshan's library cannot read this log{complaint.replace('Error', '')}",
            "The log is damaged or incomplete, or no log of Darshan at all.",
        )
    if not reports:
        raise UserError(
            f"{path}: the log names no file that the program read or wrote",
            "Darshan records the files of a program that ends with MPI_Finalize.",
        )
    return reports


def _reports(path: str) -> list[dict]:
    log = _Log(path)
    files: dict[int, _File] = {}
    for module in ("MPI-IO", "POSIX", "STDIO"):
        for record in log.records(module):
            files.setdefault(record.id, _File()).by_module.setdefault(module, []).append(record)
    layouts = log.layouts()
    reports = []
    for number, file in files.items():
        name = log.names.get(number, f"file {number}")
        report = None if name.startswith("<") else _report(log, name, file, layouts.get(number, []))
        if report is not None:
            reports.append(report)
    _forget_file_access_of_single_ranks(reports)
    return reports


def _forget_file_access_of_single_ranks(reports: list[dict]) -> None:
    """Ranks that have files of their own share the OSTs. More OSTs for each file would not make its accesses faster,
    but the findings look at one file at a time: of such files the time of file access counts as unknown."""
    own = [one for one in reports if one["ranks"] == 1]
    if len({one["world"]["rank"] for one in own}) > 1:
        for kind in (kind for one in own for kind in one["kinds"].values()):
            kind["phases"]["file"] = unserved.NOTHING


@dataclass
class _Record:
    """What one rank did with a file by one interface, or all ranks together (`rank` -1)."""

    id: int
    rank: int
    values: dict[str, float]  # without the prefix of the interface

    def __getitem__(self, name: str) -> float:
        """0 if Darshan did not record it (-1)."""
        return max(0, self.values.get(name, 0))


@dataclass
class _File:
    by_module: dict[str, list[_Record]] = field(default_factory=dict)

    @property
    def is_by_mpi_io(self) -> bool:
        return "MPI-IO" in self.by_module

    @property
    def calls(self) -> list[_Record]:
        """The program's reads and writes."""
        return self._records("MPI-IO") if self.is_by_mpi_io else self._records("POSIX", "STDIO")

    @property
    def accesses(self) -> list[_Record]:
        """The reads and writes that reached the file system, as far as they were recorded."""
        return self._records("POSIX", "STDIO", "MPI-IO")

    def _records(self, *modules: str) -> list[_Record]:
        """Of the first of these interfaces that moved data; if none did, of the first that has records."""
        found = [self.by_module[module] for module in modules if module in self.by_module]
        return next((records for records in found if _moved_data(records)), found[0] if found else [])

    @property
    def of_program(self) -> list[_Record]:
        """Those of all interfaces by which the program itself calls. Accesses of the MPI are also calls of POSIX;
        those of stdio are not."""
        modules = ("MPI-IO",) if self.is_by_mpi_io else ("POSIX", "STDIO")
        return [record for module in modules for record in self.by_module.get(module, [])]


class _Log:
    def __init__(self, path: str):
        import darshan

        self.report = darshan.DarshanReport(path, read_all=False)
        self.report.read_name_records()
        self.path = path
        self.names = self.report.name_records
        self.job = self.report.metadata["job"]
        self.ranks = int(self.job["nprocs"])
        self.program = str(self.report.metadata.get("exe", "")).split()

    def records(self, module: str) -> Iterator[_Record]:
        if module not in self.report.modules:
            return
        self.report.mod_read_all_records(module)
        tables = self.report.records[module].to_df()
        prefix = {"MPI-IO": "MPIIO_"}.get(module, f"{module}_")
        floats = tables["fcounters"].to_dict("records")
        for counters, fcounters in zip(tables["counters"].to_dict("records"), floats):
            values = {name.removeprefix(prefix): value for name, value in {**counters, **fcounters}.items()}
            yield _Record(int(values["id"]), int(values["rank"]), values)

    def layouts(self) -> dict[int, list[dict]]:
        """The striped ranges of each file."""
        if "LUSTRE" not in self.report.modules:
            return {}
        self.report.mod_read_all_lustre_records()
        found: dict[int, list[dict]] = {}
        for one in self.report.records["LUSTRE"].to_df()["components"].to_dict("records"):
            osts = [int(ost) for ost in one["LUSTRE_OST_IDS"]]
            if osts:
                found.setdefault(int(one["id"]), []).append({
                    "begin": max(0, int(one["LUSTRE_COMP_EXT_START"])), "end": int(one["LUSTRE_COMP_EXT_END"]),
                    "stripe_bytes": int(one["LUSTRE_COMP_STRIPE_SIZE"]), "stripes": len(osts), "osts": osts,
                })  # fmt: skip
        return found


def _report(log: _Log, name: str, file: _File, layout: list[dict]) -> dict | None:
    kinds = {}
    for direction in ("write", "read"):
        kind = _kind(log, file, direction, layout)
        if kind is not None:
            kinds[f"{_way(file.calls, direction)}_{direction}"] = kind
    every = file.of_program
    ranks = _ranks(log, every)
    meta = _spread(log, [(record, record["F_META_TIME"]) for record in every], "TIME")
    opens = sum(_opens_of(record) for record in every)
    other, meta = _other_calls(every, opens, ranks, meta)
    if not kinds and not other:
        return None
    first_open, last_close = _open_times(every)
    began = int(log.job["start_time_sec"])
    return unserved.report(
        kinds, source=SOURCE, file=name, job=str(log.job["jobid"]), run=f"{SOURCE} {Path(log.path).name}",
        program=log.program, ranks=ranks, world={"rank": _first_rank(log, every), "ranks": log.ranks},
        opened_at=began + first_open, open_for_seconds=max(0.0, last_close - first_open),
        closed_at=int(log.job["end_time_sec"]), by_posix=not file.is_by_mpi_io,
        nodes=-(-ranks // RANKS_PER_NODE_MAX), opens=max(1, round(opens / ranks)) if opens or kinds else 0,
        file_system="lustre" if layout else "", layout=layout, open_seconds=meta, other_calls=other,
        other_seconds=unserved.added(calls["seconds"] for calls in other.values()),
    )  # fmt: skip


def _open_times(calls: list[_Record]) -> tuple[float, float]:
    """When the file was first opened and last closed, in seconds of the job; 0 and 0 if Darshan did not see both."""
    pairs = [(record["F_OPEN_START_TIMESTAMP"], record["F_CLOSE_END_TIMESTAMP"]) for record in calls]
    seen = [pair for pair in pairs if min(pair) > 0]
    return min((first for first, _ in seen), default=0.0), max((last for _, last in seen), default=0.0)


def _other_calls(calls: list[_Record], opens: float, ranks: int, meta: dict) -> tuple[dict, dict]:
    """Calls that move no data, and the time of opens and closes. Darshan has one time for opens, closes, stats, seeks
    and views: each has the share of its number. Darshan counts the time of syncs as that of writes."""
    made = {name: sum(record[count] for record in calls for count in counts) for name, counts in OTHER_CALLS.items()}
    timed = {name: made[name] for name in ("set_view", "stat")}
    whole = 2 * opens + sum(timed.values()) + sum(record["SEEKS"] for record in calls)
    other = {}
    for name, count in made.items():
        if count:
            each = int(count / ranks)
            other[name] = {"calls": {"min": each, "median": each, "max": max(1, each), "sum": int(count)},
                           "seconds": _share(meta, timed.get(name, 0) / max(1, whole))}  # fmt: skip
    return other, _share(meta, 2 * opens / whole) if whole else meta


def _share(spread_of_all: dict, share: float) -> dict:
    return {name: value * share for name, value in spread_of_all.items()}


def _first_rank(log: _Log, records: list[_Record]) -> int:
    """The rank of the program that is rank 0 of the file."""
    return max(0, min(record.rank for record in records)) if _ranks(log, records) == 1 else 0


def _ranks(log: _Log, records: list[_Record]) -> int:
    """How many ranks used the file."""
    return len(_rank_numbers(log, records))


def _rank_numbers(log: _Log, records: list[_Record]) -> set[int]:
    found = {record.rank for record in records}
    return set(range(log.ranks)) if -1 in found else found


def _way(calls: list[_Record], direction: str) -> str:
    verb = f"{direction.upper()}S"
    collective = sum(record[f"COLL_{verb}"] + record[f"SPLIT_{verb}"] for record in calls)
    independent = sum(record[f"INDEP_{verb}"] + record[f"NB_{verb}"] for record in calls)
    return "collective" if collective > independent else "independent"


def _opens_of(record: _Record) -> float:
    return record["COLL_OPENS"] + record["INDEP_OPENS"] + record["OPENS"]


def _moved_data(records: list[_Record]) -> bool:
    return any(_calls_of(record, direction) for record in records for direction in ("read", "write"))


def _calls_of(record: _Record, direction: str) -> float:
    verb = f"{direction.upper()}S"
    return sum(record[f"{way}{verb}"] for way in ("COLL_", "SPLIT_", "INDEP_", "NB_", ""))


def _bytes_of(record: _Record, direction: str) -> float:
    return record["BYTES_WRITTEN" if direction == "write" else "BYTES_READ"]


def _kind(log: _Log, file: _File, direction: str, layout: list[dict]) -> dict | None:
    """The figures of the reads or of the writes; None if there were none."""
    calls, accesses = file.calls, file.accesses
    if not any(_calls_of(record, direction) for record in calls):
        return None
    seconds = _spread(log, [(record, record[f"F_{direction.upper()}_TIME"]) for record in calls], "TIME")
    moved = _spread(log, [(record, _bytes_of(record, direction)) for record in calls], "BYTES")
    users = [record for record in calls if _calls_of(record, direction)]
    file_bytes = sum(_bytes_of(record, direction) for record in accesses)
    file_calls = sum(_calls_of(record, direction) for record in accesses)
    both = sum(_calls_of(record, verb) for record in accesses for verb in ("read", "write"))
    unaligned = sum(record["FILE_NOT_ALIGNED"] for record in accesses) * file_calls / both if both else 0
    kind = unserved.kind(
        ranks=_ranks(log, users), seconds=seconds, bytes=moved, file_calls=total(file_calls),
        calls=_spread(log, [(record, _calls_of(record, direction)) for record in calls]),
        file_bytes=total(file_bytes), unaligned_calls=total(unaligned), file_call_sizes=_sizes(accesses, direction),
        backward_calls=total(sum(_backward_calls(log, record, direction) for record in accesses)),
        osts=_osts(layout, file_bytes, file_calls, seconds["sum"]),
        busiest=[{"rank": record.rank - _first_rank(log, file.of_program), "bytes": int(_bytes_of(record, direction)),
                  "calls": int(_calls_of(record, direction)), "seconds": 0.0}
                 for record in users if record.rank >= 0 and len(users) == 1],
    )  # fmt: skip
    directions = [direction]
    if direction == "write" and _reads_gaps(calls, accesses):
        reads = sum(_calls_of(record, "read") for record in accesses)
        kind["read_modify_writes"] = total(min(reads, file_calls))
        kind["gap_read_seconds"] = sum(record["F_READ_TIME"] for record in accesses)
        directions.append("read")
    kind["phases"]["file"] = _file_access(log, file, directions, seconds)
    if calls is not accesses and all(record.rank >= 0 for record in accesses):
        kind["file_ranks"] = len({record.rank for record in accesses if _calls_of(record, direction)})
    return kind


def _file_access(log: _Log, file: _File, directions: list[str], seconds: dict) -> dict:
    """The time of POSIX and stdio on the file, as a part of the `seconds` of the program's calls. Unknown if only the
    MPI-IO of the file was recorded."""
    if file.is_by_mpi_io and file.accesses is file.calls:
        return unserved.NOTHING
    names = [f"F_{direction.upper()}_TIME" for direction in directions]
    values = [(record, sum(record[name] for name in names)) for record in file.accesses]
    without = _rank_numbers(log, file.calls) - _rank_numbers(log, file.accesses)
    found = _spread(log, values + [(_Record(0, rank, {}), 0.0) for rank in without], "TIME")
    return {part: min(found[part], seconds[part]) for part in found}


def _backward_calls(log: _Log, record: _Record, direction: str) -> float:
    """Accesses that begin before the end of the rank's last one in this direction, at least: those that Darshan does
    not count as sequential. The first access after an open is not sequential either if it begins at byte 0. stdio and
    MPI-IO have no such counter."""
    sequential = record.values.get(f"SEQ_{direction.upper()}S", -1)
    if sequential < 0:
        return 0
    first = max(_opens_of(record), log.ranks if record.rank < 0 else 1)
    return max(0, _calls_of(record, direction) - sequential - first)


def _reads_gaps(calls: list[_Record], accesses: list[_Record]) -> bool:
    """Whether the MPI read although the program did not: it read the gaps between the pieces that it wrote."""
    return calls is not accesses and not any(_calls_of(record, "read") for record in calls)


def _spread(log: _Log, values: list[tuple[_Record, float]], of_extremes: str = "") -> dict:
    """Of records of single ranks: the spread of the ranks. Of the one record of all ranks: the mean and, with
    `of_extremes`, the figures (TIME or BYTES) of the ranks that Darshan found to be the fastest and the slowest."""
    if all(record.rank >= 0 for record, _ in values):
        by_rank: Counter = Counter()
        for record, value in values:
            by_rank[record.rank] += value
        return spread(by_rank.values())
    whole_sum = sum(value for _, value in values)
    mean = whole_sum / log.ranks if of_extremes == "TIME" else round(whole_sum / log.ranks)
    low = high = mean
    if of_extremes:
        shared = next(record for record, _ in values if record.rank < 0)
        both = sum(shared[name] for name in BOTH_WAYS[of_extremes])
        prefix = "F_" if of_extremes == "TIME" else ""
        extremes = [shared[f"{prefix}{rank}_RANK_{of_extremes}"] for rank in ("FASTEST", "SLOWEST")]
        # They are of reads and writes together: their bytes tell nothing if both moved much.
        if both and (of_extremes == "TIME" or whole_sum >= NEARLY_ALL * both):
            low, high = (share * whole_sum / both for share in sorted(extremes))
    return {"min": min(low, mean), "median": mean, "max": max(high, mean), "sum": whole_sum}


def _sizes(accesses: list[_Record], direction: str) -> dict[str, int]:
    found = {}
    for name, size in SIZE_NAMES.items():
        for infix in ("", "AGG_"):
            count = sum(record[f"SIZE_{direction.upper()}_{infix}{name}"] for record in accesses)
            if count:
                found[str(size)] = int(count)
    return found


def _osts(layout: list[dict], size: float, calls: float, seconds: float) -> list[dict]:
    """Of a file with one layout, as if all OSTs had the same share. Only on a single OST the time is its own."""
    if len(layout) != 1:
        return []
    osts = sorted(set(layout[0]["osts"]))
    alone = len(osts) == 1
    return [
        {
            "ost": ost, "bytes": int(size / len(osts)), "calls": int(calls / len(osts)),
            "alone_bytes": int(size) if alone else 0, "alone_seconds": seconds if alone else 0,
        }
        for ost in osts
    ]  # fmt: skip


def _main(path: str) -> int:
    try:
        import darshan  # noqa: F401
    except ImportError:
        return NO_PACKAGE
    print(json.dumps(_reports(path)))
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
