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
_SPREAD = ("min", "median", "max", "sum")
_FIELDS = {
    "file": str,
    "job": str,
    "closed_at": int,
    "ranks": int,
    "nodes": int,
    "calls": int,
    "bytes_read": int,
    "bytes_written": int,
    "hints": dict,
    "notes": list,
    "open_seconds": dict,
    "close_seconds": dict,
    "kinds": dict,
    "plans": list,
    "other_plan_calls": int,
}
_PLAN_FIELDS = {
    "call": str,
    "algorithm": str,
    "reason": str,
    "because": str,
    "otherwise": str,
    "calls": int,
    "bytes": dict,
    "seconds": dict,
    "first_call": dict,
}
_EXCHANGE_FIELDS = {
    "aggregators": int,
    "aggregator_ranks": list,
    "aggregators_reason": str,
    "aggregators_because": str,
    "saturation_bytes": int,
    "pattern": str,
    "domain_bytes": int,
    "cycle_bytes": int,
    "cycle_buffers": int,
    "rounds_max": int,
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
    _check_fields(report, _FIELDS, "")
    _check_spread(report["open_seconds"], "open_seconds")
    _check_spread(report["close_seconds"], "close_seconds")
    for name, kind in report["kinds"].items():
        _check_kind(name, kind)
    for plan in report["plans"]:
        if not isinstance(plan, dict):
            raise ValueError('"plans" is to hold objects')
        _check_fields(plan, _PLAN_FIELDS, "plans: ")
        _check_spread(plan["bytes"], "plans: bytes")
        _check_spread(plan["seconds"], "plans: seconds")
        if "aggregators" in plan:
            _check_fields(plan, _EXCHANGE_FIELDS, "plans: ")
        first_call = dict.fromkeys(("ranks", "first_byte", "end", "bytes", "pieces", "span_bytes"), int)
        _check_fields(plan["first_call"], first_call, "plans: first_call: ")
    return report


def _check_kind(name: str, kind: object) -> None:
    if name not in KINDS:
        raise ValueError(f'"kinds" has {name!r}, which is none of {", ".join(KINDS)}')
    if not isinstance(kind, dict):
        raise ValueError(f"{name}: an object is expected")
    _check_fields(kind, {"ranks": int, "phases": dict, "file_call_sizes": dict, "busiest": list}, f"{name}: ")
    for field in ("seconds", *COUNTS):
        _check_spread(kind.get(field), f"{name}: {field}")
    for phase in PHASES:
        _check_spread(kind["phases"].get(phase), f"{name}: phases: {phase}")
    for size, count in kind["file_call_sizes"].items():
        if not size.isdecimal() or not isinstance(count, int):
            raise ValueError(f'{name}: "file_call_sizes" is to hold numbers by size')
    for share in kind["busiest"]:
        if not isinstance(share, dict):
            raise ValueError(f'{name}: "busiest" is to hold objects')
        _check_fields(share, {"rank": int, "bytes": int, "calls": int, "seconds": (int, float)}, f"{name}: busiest: ")


def _check_fields(found: dict, wanted: dict[str, type], where: str) -> None:
    for name, kind in wanted.items():
        if name not in found:
            raise ValueError(f'{where}there is no "{name}"')
        if not isinstance(found[name], kind):
            raise ValueError(f'{where}"{name}" is {found[name]!r}, of another type than expected')


def _check_spread(spread: object, where: str) -> None:
    good = isinstance(spread, dict) and all(isinstance(spread.get(part), (int, float)) for part in _SPREAD)
    if not good:
        raise ValueError(f"{where} is to have the numbers {', '.join(_SPREAD)}")
