"""The lines that processes append to a report when they end (libnacre_posix.so, docs/posix.md), as one report for each
file of a launch."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator

from nacre import unserved
from nacre.text import plural

SOURCE = "posix"
# What a line needs; see reports.py for the form of shapes.
_CALL = {"calls": int, "seconds": (int, float)}
_ACCESS = {**dict.fromkeys(("calls", "bytes", "file_calls", "file_bytes"), int), "seconds": (int, float),
           "file_call_sizes": dict}  # fmt: skip
_FILE = {"file": str, "files": int, "calls": dict, "accesses": dict}
SHAPE = {
    **dict.fromkeys(("run", "job", "version", "host"), str),
    **dict.fromkeys(("process", "rank", "ranks"), int),
    "started_at": (int, float), "ended_at": (int, float), "program": [str], "files": [_FILE],
    "elsewhere": dict.fromkeys(("failed_opens", "failed_stats", "stats"), _CALL),
}  # fmt: skip
ACCESSES = {"write": ("write", "stream_write"), "read": ("read", "stream_read")}
NO_CALL = {"calls": 0, "seconds": 0.0}


def is_line(content: dict) -> bool:
    return content.get("interface") == SOURCE


def parts(line: dict) -> Iterator[tuple[dict, dict]]:
    """All parts of a line with their shapes, beyond SHAPE itself."""
    for one in [*line["files"], *([line["other_files"]] if "other_files" in line else [])]:
        yield one, _FILE
        for call in one["calls"].values():
            yield call, _CALL
        for access in one["accesses"].values():
            yield access, _ACCESS


def reports(lines: list[dict]) -> list[dict]:
    """A report for each file that processes of one launch opened, and one for paths that led to no file."""
    launches: dict[tuple, list[dict]] = {}
    for line in lines:
        launches.setdefault((line["run"], line["job"]), []).append(line)
    return [report for launch in launches.values() for report in _of_launch(launch)]


def _of_launch(lines: list[dict]) -> Iterator[dict]:
    by_name: dict[str, list[tuple[dict, dict]]] = {}
    for line in lines:
        for one in line["files"]:
            by_name.setdefault(one["file"], []).append((line, one))
        if "other_files" in line:
            by_name.setdefault("(other files)", []).append((line, line["other_files"]))
    for name, found in by_name.items():
        yield _of_file(name, lines, found)
    yield from _elsewhere(lines)


def _launch(lines: list[dict], users: list[dict]) -> dict:
    """What is known of the launch, for a report of a file that `users` used."""
    ranks = max(line["ranks"] for line in lines)
    main = max(lines, key=lambda line: (line["rank"] >= 0, line["ended_at"] - line["started_at"]))
    hosts = sorted({line["host"] for line in users})
    return {
        "source": SOURCE, "run": main["run"], "job": main["job"], "version": main["version"],
        "program": main["program"], "hosts": hosts, "nodes": len(hosts),
        "opened_at": int(min(line["started_at"] for line in users)),
        "closed_at": int(max(line["ended_at"] for line in users)),
        "world": {"rank": max(0, min(line["rank"] for line in users)), "ranks": ranks},
        "ranks": len({_who(line) for line in users}),
    }  # fmt: skip


def _who(line: dict) -> tuple:
    """A rank may be several processes, one after the other; a process without a rank stands for itself."""
    return (line["rank"],) if line["rank"] >= 0 else (line["host"], line["process"])


def _of_file(name: str, lines: list[dict], found: list[tuple[dict, dict]]) -> dict:
    users = [line for line, _ in found]
    kinds = {}
    for direction, names in ACCESSES.items():
        kind = _kind(found, names)
        if kind is not None:
            kinds[f"independent_{direction}"] = kind
    calls = {call for _, one in found for call in one["calls"]}
    spreads = {call: _calls(found, call) for call in calls}
    other = {call: spreads[call] for call in sorted(calls - {"open", "close"})}
    opens = spreads.get("open", {"calls": unserved.NOTHING})["calls"]["sum"]
    launch = _launch(lines, users)
    files = max(one["files"] for _, one in found)
    return unserved.report(
        kinds, file=name if files == 1 else f"({plural(files, 'other file')})", **launch,
        opens=max(1, round(opens / launch["ranks"])), file_count=files, other_calls=other, by_posix=True,
        streams=_streams(found),
        open_seconds=spreads.get("open", {}).get("seconds", unserved.NOTHING),
        close_seconds=spreads.get("close", {}).get("seconds", unserved.NOTHING),
        other_seconds=unserved.added(one["seconds"] for one in other.values()),
    )  # fmt: skip


def _by_rank(found: list[tuple[dict, dict]], value) -> dict[tuple, float]:
    sums: dict[tuple, float] = {}
    for line, one in found:
        sums[_who(line)] = sums.get(_who(line), 0) + value(one)
    return sums


def _calls(found: list[tuple[dict, dict]], name: str) -> dict:
    """Number and time of one kind of call that moves no data."""
    return _call_spreads([(line, one["calls"].get(name, NO_CALL)) for line, one in found])


def _call_spreads(found: list[tuple[dict, dict]]) -> dict:
    return {
        field: unserved.spread(_by_rank(found, operator.itemgetter(field)).values()) for field in ("calls", "seconds")
    }


def _kind(found: list[tuple[dict, dict]], names: Iterable[str]) -> dict | None:
    """The reads or the writes of a file, by descriptors and by streams."""

    def sum_of(field: str):
        return lambda one: sum(one["accesses"][name][field] for name in names if name in one["accesses"])

    users = [(line, one) for line, one in found if sum_of("calls")(one)]
    if not users:
        return None
    sizes: dict[str, int] = {}
    for _, one in users:
        for name in names:
            for size, count in one["accesses"].get(name, {"file_call_sizes": {}})["file_call_sizes"].items():
                sizes[size] = sizes.get(size, 0) + count
    fields = ("calls", "bytes", "file_calls", "file_bytes", "seconds")
    by_rank = {field: _by_rank(users, sum_of(field)) for field in fields}
    spreads = {field: unserved.spread(values.values()) for field, values in by_rank.items()}
    only = next(iter(users))[0]
    first = max(0, min(line["rank"] for line, _ in found))
    return unserved.kind(
        ranks=len(by_rank["calls"]), **spreads,
        file_call_sizes={size: sizes[size] for size in sorted(sizes, key=int)},
        phases={**dict.fromkeys(unserved.PHASES, unserved.NOTHING), "file": spreads["seconds"]},
        busiest=[{"rank": max(0, only["rank"]) - first, "bytes": spreads["bytes"]["sum"],
                  "calls": spreads["calls"]["sum"], "seconds": spreads["seconds"]["sum"]}]
        if len(by_rank["calls"]) == 1 else [],
    )  # fmt: skip


def _streams(found: list[tuple[dict, dict]]) -> dict:
    """Writes by streams of stdio, all processes together."""
    writes = [one["accesses"]["stream_write"] for _, one in found if "stream_write" in one["accesses"]]
    return {field: sum(one[field] for one in writes) for field in ("calls", "bytes", "file_calls", "seconds")}


def _elsewhere(lines: list[dict]) -> Iterator[dict]:
    """Opens and stats that failed, and stats of directories and of files that were not opened."""
    other = {}
    for name in ("stats", "failed_stats", "failed_opens"):
        found = [(line, line["elsewhere"][name]) for line in lines]
        if any(calls["calls"] for _, calls in found):
            other[name] = _call_spreads(found)
    if other:
        seconds = unserved.added(one["seconds"] for one in other.values())
        yield unserved.report(
            {}, file="(paths of no opened file)", **_launch(lines, lines), opens=0, file_count=0, other_calls=other,
            by_posix=True, other_seconds=seconds,
        )  # fmt: skip
