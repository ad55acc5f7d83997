"""Reports: the lines of JSON that the library writes at close, read and checked (docs/report.md)."""

from __future__ import annotations

import fnmatch
import json
import os
import sys
from pathlib import Path

from nacre.errors import UserError, warn

SCHEMA = 1
LINE_START = '{"schema":'  # every line begins so, and nothing inside one does
SKIPPED_SHOWN_MAX = 5
# The phases of a call, in words; "away" is the program's own time and no part of the call's.
PHASES = {
    "plan": "view and plan",
    "views": "exchange of views",
    "copy": "gather and copy",
    "messages": "messages",
    "wait": "waiting for others",
    "file": "file access",
    "agreement": "agreement",
    "away": "(meanwhile the program's own)",
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
    "read_modify_writes": "read-modify-writes",
    "holes": "holes left alone",
}
BYTE_COUNTS = {"bytes", "file_bytes", "message_bytes", "copied_bytes"}
KINDS = {
    "collective_write": "collective writes",
    "collective_read": "collective reads",
    "independent_write": "independent writes",
    "independent_read": "independent reads",
}
# The shape of a line: a type, an object with these fields (more are fine), or a list of one shape.
_NUMBER = int | float
_SPREAD = dict.fromkeys(("min", "median", "max", "sum"), _NUMBER)
_KIND = {
    "ranks": int,
    "seconds": _SPREAD,
    "phases": dict.fromkeys(PHASES, _SPREAD),
    **dict.fromkeys(COUNTS, _SPREAD),
    "file_call_sizes": dict,
    "busiest": [{"rank": int, "bytes": int, "calls": int, "seconds": _NUMBER}],
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
    **dict.fromkeys(("file", "job"), str),
    **dict.fromkeys(("closed_at", "ranks", "nodes", "calls", "bytes_read", "bytes_written", "other_plan_calls"), int),
    **{"hints": dict, "notes": list, "kinds": dict, "plans": [_PLAN]},
    **{"open_seconds": _SPREAD, "close_seconds": _SPREAD},
}


def read(paths: list[str], pattern: str | None = None) -> list[dict]:
    """The reports in `paths`, those of files that match `pattern`; the slowest first."""
    reports = [report for path in paths for report in _read_file(path)]
    if pattern is not None:
        names = sorted({report["file"] for report in reports})
        reports = [report for report in reports if matches(report["file"], pattern)]
        if not reports:
            raise UserError(
                f"no report is of a file that matches {pattern!r}",
                f"There are reports of {', '.join(names[:5])}{' and others' if len(names) > 5 else ''}.",
            )
    return sorted(reports, key=seconds, reverse=True)


def matches(file: str, pattern: str) -> bool:
    """As the library's own patterns: with a slash the whole path, else the file's name."""
    return fnmatch.fnmatchcase(file if "/" in pattern else os.path.basename(file), pattern)


def seconds(report: dict) -> float:
    """Of the slowest rank, about: kinds of calls may each have another."""
    calls = sum(kind["seconds"]["max"] for kind in report["kinds"].values())
    return calls + report["open_seconds"]["max"] + report["close_seconds"]["max"]


def _read_file(path: str) -> list[dict]:
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise UserError(
            f"cannot read {path}: {error.strerror}",
            "A program writes its report to the file that `nacre run --report FILE` or NACRE_REPORT names, "
            "when it closes its files.",
        ) from error
    reports: list[dict] = []
    skipped: list[str] = []
    for number, line in enumerate(data.decode(errors="replace").split("\n"), 1):
        # A job that is killed while it writes leaves half a line, and the next job appends to that.
        start = max(line.rfind(LINE_START), 0)
        if start:
            skipped.append(f"line {number}: the first {start} characters skipped: they are half a report")
        try:
            reports += [_checked(line[start:])] if line.strip() else []
        except ValueError as problem:
            skipped.append(f"line {number} skipped: {problem}")
    _say_skipped(path, skipped)
    if not reports and skipped:
        raise UserError(
            f"{path} has no line that is a report",
            "A report has one JSON object per line, as `nacre run --report FILE` has the library write it.",
        )
    if not reports:
        raise UserError(
            f"{path} is empty", "The program closed no file yet, or Nacre did not serve it: `nacre doctor`."
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
        raise ValueError("an object is expected")
    if "schema" not in report:
        raise ValueError(f'there is no "schema": version {SCHEMA} is expected')
    if report["schema"] != SCHEMA:
        raise ValueError(
            f"the schema is {report['schema']!r}, this command reads {SCHEMA}: use the library's own version"
        )
    _check(report, _REPORT, "")
    for name, kind in report["kinds"].items():
        if name not in KINDS:
            raise ValueError(f'"kinds" has {name!r}, which is none of {", ".join(KINDS)}')
        _check(kind, _KIND, name)
        if not all(size.isdecimal() for size in kind["file_call_sizes"]):
            raise ValueError(f'{name}: "file_call_sizes" is to hold numbers by size')
        _check(kind["file_call_sizes"], dict.fromkeys(kind["file_call_sizes"], int), f"{name}: file_call_sizes")
    for plan in report["plans"]:
        _check(plan, _PLAN_WITH_AGGREGATORS if "aggregators" in plan else {}, "plans")
    return report


def _check(found: object, shape: object, where: str) -> None:
    """ValueError says what in `found` is not of the shape."""
    if isinstance(shape, dict):
        _check(found, dict, where)
        for name, part in shape.items():
            if name not in found:
                raise ValueError(f'{where}{": " if where else ""}there is no "{name}"')
            _check(found[name], part, f"{where}: {name}" if where else name)
    elif isinstance(shape, list):
        _check(found, list, where)
        for item in found:
            _check(item, shape[0], where)
    elif not isinstance(found, shape):
        raise ValueError(f"{where} is {found!r}, of another type than expected")
