"""Reads and checks reports: the lines of JSON that the library writes when a program closes a file (docs/report.md)."""

from __future__ import annotations

import fnmatch
import json
import os
import sys
from pathlib import Path

from nacre import darshan_log, posix_lines
from nacre.errors import UserError, warn

SCHEMA = 2
OLDER_SCHEMAS = (1,)  # which this command reads too
LINE_START = '{"schema":'  # every report starts with this text and contains it nowhere else
SKIPPED_SHOWN_MAX = 5
METADATA_TARGET = -2  # what a report says in place of the OST of an object
# The phases of a call. "away": a nonblocking call is pending and the program does not progress it; not counted.
PHASES = {
    "plan": "view and plan",
    "views": "exchange of views",
    "copy": "gather and copy",
    "messages": "messages",
    "wait": "waiting",
    "file": "file access",
    "file_wait": "waiting for file access",
    "lock": "waiting for locks",
    "agreement": "agreement",
    "away": "(pending, not progressed)",
}
COUNTS = {
    "calls": "calls",
    "errors": "calls that failed",
    "bytes": "bytes",
    "file_calls": "file accesses",
    "file_bytes": "bytes of file accesses",
    "messages": "messages",
    "message_bytes": "bytes of messages",
    "copied_bytes": "bytes copied",
    "rounds": "rounds",
    "unaligned_calls": "unaligned file accesses",
    "backward_calls": "backward file accesses",
    "read_modify_writes": "read-modify-writes",
    "holes": "gaps left unwritten",
}
BYTE_COUNTS = {"bytes", "file_bytes", "message_bytes", "copied_bytes"}
KINDS = {
    "collective_write": "collective writes",
    "collective_read": "collective reads",
    "independent_write": "independent writes",
    "independent_read": "independent reads",
}
# The shape of a report: a type, an object with at least these fields, or a list whose items have one shape.
_NUMBER = (int, float)
_SPREAD = dict.fromkeys(("min", "median", "max", "sum"), _NUMBER)
_KIND = {
    "ranks": int,
    **dict.fromkeys(("seconds", "file_thread_seconds", "file_busy_seconds"), _SPREAD),
    "phases": dict.fromkeys(PHASES, _SPREAD),
    **dict.fromkeys(COUNTS, _SPREAD),
    "file_call_sizes": dict,
    "osts": [{**dict.fromkeys(("ost", "bytes", "calls", "alone_bytes"), int), "alone_seconds": _NUMBER}],
    "shapes": [dict.fromkeys(("rank", "origin", "first_byte", "bytes"), int)],
    "rank_osts": {"first_ranks": [int], "first_osts": [int], "bytes": [[int]]},
    "busiest": [{"rank": int, "bytes": int, "calls": int, "seconds": _NUMBER}],
}
_NODES = {
    "bytes": _SPREAD,
    "file_bytes": _SPREAD,
    "with_file_bytes": int,
    "busiest": [{"host": str, "first_rank": int, "bytes": int, "calls": int, "seconds": _NUMBER}],
}
_PLAN = {
    **dict.fromkeys(("call", "algorithm", "reason", "because", "otherwise"), str),
    "calls": int,
    "bytes": _SPREAD,
    "seconds": _SPREAD,
    "first_call": dict.fromkeys(("ranks", "first_byte", "end", "bytes", "pieces", "span_bytes"), int),
}
_PLAN_WITH_AGGREGATORS = {
    "aggregator_ranks": list,
    **dict.fromkeys(("aggregators_reason", "aggregators_because", "pattern"), str),
    **dict.fromkeys(("aggregators", "saturation_bytes", "domain_bytes"), int),
    **dict.fromkeys(("cycle_bytes", "cycle_buffers", "rounds_max"), int),
}
_REPORT = {
    **dict.fromkeys(("file", "job", "run", "version", "mpi", "file_system", "mode", "machine"), str),
    **dict.fromkeys(("closed_at", "ranks", "nodes", "calls", "bytes_read", "bytes_written", "other_plan_calls"), int),
    **{"hints": dict, "notes": list, "kinds": dict, "plans": [_PLAN], "program": list, "hosts": list},
    **dict.fromkeys(("seconds", "open_seconds", "close_seconds"), _SPREAD),
    "late_opens": {"ranks": int, "seconds": _SPREAD},
    "world": {"rank": int, "ranks": int},
    **dict.fromkeys(("opened_at", "open_for_seconds"), _NUMBER),
    "timeline": {"interval_seconds": _NUMBER, "first_ranks": [int], "percent": dict},
    "layout": [{"begin": int, "end": int, "stripe_bytes": int, "stripes": int, "osts": list}],
    "other_calls": dict,
}
_OTHER_CALL = {"calls": _SPREAD, "seconds": _SPREAD}


def read(paths: list[str], pattern: str | None = None) -> list[dict]:
    """The reports in `paths` of files that match `pattern`, the slowest first."""
    lines = _read_files(paths)
    reports = [line for line in lines if not posix_lines.is_line(line)]
    reports += posix_lines.reports([line for line in lines if posix_lines.is_line(line)])
    if pattern is not None:
        names = sorted({report["file"] for report in reports})
        reports = [report for report in reports if matches(report["file"], pattern)]
        if not reports:
            raise UserError(
                f"--file {pattern!r}: no report of a matching file",
                f"The reports are of {', '.join(names[:5])}{' and other files' if len(names) > 5 else ''}.",
            )
    return sorted(reports, key=seconds, reverse=True)


def matches(file: str, pattern: str) -> bool:
    """Whether `file` matches, as in the library: a pattern with a slash matches the path, without one the file name."""
    return fnmatch.fnmatchcase(file if "/" in pattern else os.path.basename(file), pattern)


def seconds(report: dict) -> float:
    """The time of the slowest rank in all calls of the file."""
    return report["seconds"]["max"]


def slowest(found: list[dict], count: int) -> list[dict]:
    """At most `count` of these reports, which are the slowest first. Of a file that was opened many times the slowest
    open, unless there is room for all."""
    if len(found) <= count:
        return found
    of_file = {one["file"]: one for one in reversed(found)}
    return [one for one in found if of_file[one["file"]] is one][:count]


def _read_files(paths: list[str]) -> list[dict]:
    """The lines of all files. Of several, those without a report are only named, if one has a report."""
    lines: list[dict] = []
    problems: list[UserError] = []
    for path in paths:
        try:
            lines += _read_file(path)
        except UserError as problem:
            if len(paths) == 1 or not os.path.exists(path):
                raise
            problems.append(problem)
    if problems and not lines:
        raise problems[0]
    for problem in problems:
        warn(problem.problem)
    return lines


def _read_file(path: str) -> list[dict]:
    # What is read of a pipe is gone.
    if path.endswith(".darshan") or (os.path.isfile(path) and darshan_log.is_log(path)):
        return darshan_log.read(path)
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise UserError(
            f"cannot read {path}: {error.strerror}",
            "A program appends to the file that `nacre run --report FILE` or NACRE_REPORT names, each time it closes "
            "a file.",
        ) from error
    reports: list[dict] = []
    skipped: list[str] = []
    for number, line in enumerate(data.decode(errors="replace").split("\n"), 1):
        # A job that is killed while it writes leaves an incomplete line. The next job appends to that line.
        start = max(line.rfind(LINE_START), 0)
        if start:
            skipped.append(f"line {number}: the first {start} characters skipped: an incomplete report")
        try:
            reports += [_checked(line[start:])] if line.strip() else []
        except ValueError as problem:
            skipped.append(f"line {number} skipped: {problem}")
    _say_skipped(path, skipped)
    if not reports and skipped:
        raise UserError(
            f"{path} has no readable report",
            "Name a file that `nacre run --report FILE` wrote: one JSON object per line.",
        )
    if not reports:
        raise UserError(
            f"{path} is empty",
            "The program has not closed a file yet, or Nacre does not serve it: run `nacre doctor -- COMMAND`.",
        )
    return reports


def _say_skipped(path: str, skipped: list[str]) -> None:
    for line in skipped[:SKIPPED_SHOWN_MAX]:
        warn(f"{path}, {line}")
    if len(skipped) > SKIPPED_SHOWN_MAX:
        warn(f"{path}: {len(skipped) - SKIPPED_SHOWN_MAX} more lines skipped")


def _checked(line: str) -> dict:
    try:
        report = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"invalid JSON at character {error.pos + 1}: {error.msg}") from error
    if not isinstance(report, dict):
        raise ValueError("not a JSON object")
    if "schema" not in report:
        raise ValueError(f'"schema" is missing; expected {SCHEMA}')
    if report["schema"] in OLDER_SCHEMAS:
        _upgrade(report)
    elif report["schema"] != SCHEMA:
        raise ValueError(
            f"schema {report['schema']!r}; this nacre reads schemas 1 and {SCHEMA}. "
            "Use the nacre that was installed with the library"
        )
    if posix_lines.is_line(report):
        _check(report, posix_lines.SHAPE, "")
        for part, shape in posix_lines.parts(report):
            _check(part, shape, "files")
        return report
    _check(report, _REPORT, "")
    for name, kind in report["kinds"].items():
        if name not in KINDS:
            raise ValueError(f"kinds: unknown kind {name!r}; expected {', '.join(KINDS)}")
        _check(kind, _KIND, name)
        if "nodes" in kind:
            _check(kind["nodes"], _NODES, f"{name}: nodes")
        if not all(size.isdecimal() for size in kind["file_call_sizes"]):
            raise ValueError(f"{name}: file_call_sizes: a key is not a number of bytes")
        _check(kind["file_call_sizes"], dict.fromkeys(kind["file_call_sizes"], int), f"{name}: file_call_sizes")
    for name, calls in report["other_calls"].items():
        _check(calls, _OTHER_CALL, name)
    _check(report["timeline"]["percent"], dict.fromkeys(report["timeline"]["percent"], [[int]]), "timeline")
    for plan in report["plans"]:
        _check(plan, _PLAN_WITH_AGGREGATORS if "aggregators" in plan else {}, "plans")
    return report


def _upgrade(report: dict) -> None:
    """Gives a report of schema 1 the fields that schema 2 added, as far as they follow from others. The median of a sum
    of spreads is unknown; it is the sum of the medians."""
    nothing = dict.fromkeys(("min", "median", "max", "sum"), 0)
    try:
        kinds = report["kinds"].values()
        for kind in kinds:
            kind.setdefault("file_thread_seconds", nothing)
            kind.setdefault("file_busy_seconds", kind["file_thread_seconds"])
            kind |= {"unaligned_calls": nothing, "backward_calls": nothing, "osts": []}
            kind["rank_osts"] = {"first_ranks": [], "first_osts": [], "bytes": []}
            kind["shapes"] = []
            kind["phases"] |= {"file_wait": nothing, "lock": nothing}
        parts = [report["open_seconds"], report["close_seconds"], *(kind["seconds"] for kind in kinds)]
        report["seconds"] = {name: sum(part[name] for part in parts) for name in nothing}
    except (KeyError, TypeError, AttributeError):
        pass  # the check that follows names what is wrong
    for name in ("run", "version", "mpi", "file_system", "mode", "machine"):
        report.setdefault(name, "")
    report.setdefault("world", {"rank": 0, "ranks": report.get("ranks", 0)})
    report |= {"opened_at": report.get("closed_at", 0), "open_for_seconds": 0}
    report["timeline"] = {"interval_seconds": 0, "first_ranks": [], "percent": {}}
    report.setdefault("late_opens", {"ranks": 0, "seconds": nothing})
    for name, empty in (("program", []), ("hosts", []), ("layout", []), ("other_calls", {})):
        report.setdefault(name, empty)


def _check(found: object, shape: object, where: str) -> None:
    """Raises ValueError, which names the wrong part, if `found` does not have the shape."""
    if isinstance(shape, dict):
        _check(found, dict, where)
        for name, part in shape.items():
            if name not in found:
                raise ValueError(f'{where}{": " if where else ""}"{name}" is missing')
            _check(found[name], part, f"{where}: {name}" if where else name)
    elif isinstance(shape, list):
        _check(found, list, where)
        for item in found:
            _check(item, shape[0], where)
    elif not isinstance(found, shape):
        raise ValueError(f"{where} is {found!r}: wrong type")
