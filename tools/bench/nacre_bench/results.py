"""Reads and writes result files."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import time

from .errors import BenchError

FORMAT = 1
# Saving rewrites the whole file between two launches, which is too slow after each of thousands of launches.
SAVE_INTERVAL_S = 10
# A file of JSON lines (ResultLines) begins with this text; the others are indented.
LINES_START = '{"format":'
# The parts that must be equal for --resume.
SAME = ("format", "kind", "settings", "contenders", "libraries")


def head(kind: str, version: str, facts: dict) -> dict:
    """The fields with which a result begins. `facts`: of the machine, from before the first launch."""
    return {"format": FORMAT, "kind": kind, "version": version, "started": facts["time"], "machine": facts}


def read_result(path: str) -> dict:
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
        result = read_lines(text) if text.startswith(LINES_START) else json.loads(text)
    except OSError as error:
        raise BenchError(f"cannot read {path}: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise BenchError(f"{path} is not a result of nacre-bench: {error}") from error
    if result.get("format") != FORMAT:
        raise BenchError(f"{path} has format {result.get('format')}; this nacre-bench reads format {FORMAT}")
    return result


def read_lines(text: str) -> dict:
    """The result in a file of ResultLines. Skips an incomplete last line, which a killed run leaves."""
    first, *lines = text.splitlines(keepends=True)
    result = json.loads(first)
    result["launches"] = [json.loads(line) for line in lines if line.endswith("\n")]
    return result


def library_digest(preload: str) -> str:
    """The SHA-256 of the preloaded library and of the libnacre_*.so beside it, one of which it loads."""
    digest = hashlib.sha256()
    for path in sorted({pathlib.Path(preload), *pathlib.Path(preload).parent.glob("libnacre_*.so")}):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def resumed(result: dict, path: str) -> dict:
    """The result at `path`, which the run continues. `result` has no launches yet and describes the current run. Raises
    BenchError if the two differ in a part of SAME."""
    before = read_result(path)
    now = json.loads(json.dumps(result))
    for part in SAME:
        if before.get(part) != now[part]:
            raise BenchError(f"--resume: `{part}` of this run differs from {path}; start a new run with another --out")
    return before


class ResultFile:
    """Collects launches in a result and saves it to `path`, if there is one, so that an interrupted run can be shown
    and resumed. An existing file of another run is renamed by adding `~`."""

    def __init__(self, result: dict, path: str | None):
        self.result = result
        self.path = path
        self.saved = 0.0
        if path and not result["launches"] and os.path.exists(path):
            os.replace(path, f"{path}~")

    def text(self) -> str:
        return json.dumps(self.result, indent=1)

    def add(self, entry: dict) -> None:
        self.result["launches"].append(entry)
        if time.monotonic() - self.saved > SAVE_INTERVAL_S:
            self.save()

    def save(self) -> None:
        if not self.path:
            return
        written = f"{self.path}.new"
        try:
            pathlib.Path(written).write_text(self.text(), encoding="utf-8")
            os.replace(written, self.path)
        except OSError as error:
            raise BenchError(f"--out: cannot write {written}: {error.strerror}") from error
        self.saved = time.monotonic()


class ResultLines(ResultFile):
    """Saves JSON lines: the result without launches, then one line for each launch, which is appended when it ends."""

    def __init__(self, result: dict, path: str | None):
        super().__init__(result, path)
        self.save()

    def text(self) -> str:
        lines = [{**self.result, "launches": []}, *self.result["launches"]]
        return "".join(json.dumps(line) + "\n" for line in lines)

    def add(self, entry: dict) -> None:
        self.result["launches"].append(entry)
        if not self.path:
            return
        try:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
        except OSError as error:
            raise BenchError(f"--out: cannot write {self.path}: {error.strerror}") from error
