"""Results on disk."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import time

from .errors import BenchError

FORMAT = 1
# A result is written anew as a whole, in a moment without launches: not after each of thousands of them.
SAVE_INTERVAL_S = 10
# What must be the same for a run to go on where another ended.
SAME = ("format", "kind", "settings", "contenders", "libraries")


def read_result(path: str) -> dict:
    try:
        result = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchError(f"cannot read {path}: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise BenchError(f"{path} is not a result of nacre-bench: {error}") from error
    if result.get("format") != FORMAT:
        raise BenchError(f"{path} has format {result.get('format')}; this nacre-bench reads format {FORMAT}")
    return result


def library_digest(preload: str) -> str:
    """Of the file that is preloaded and of those that it may choose from."""
    digest = hashlib.sha256()
    for path in sorted({pathlib.Path(preload), *pathlib.Path(preload).parent.glob("libnacre_*.so")}):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def resumed(result: dict, path: str) -> dict:
    """The result at `path`, to be gone on with; `result`, which has no launches, says what is to be measured now."""
    before = read_result(path)
    now = json.loads(json.dumps(result))
    for part in SAME:
        if before.get(part) != now[part]:
            raise BenchError(
                f"--resume: this run and {path} do not have the same {part}; start a new run, with another --out"
            )
    return before


class ResultFile:
    """A result as it grows, on disk too if there is a path, so that an interrupted run can be shown and resumed. What
    another run left there is kept beside it."""

    def __init__(self, result: dict, path: str | None):
        self.result = result
        self.path = path
        self.saved = 0.0
        if path and not result["launches"] and os.path.exists(path):
            os.replace(path, f"{path}~")

    def add(self, entry: dict) -> None:
        self.result["launches"].append(entry)
        if time.monotonic() - self.saved > SAVE_INTERVAL_S:
            self.save()

    def save(self) -> None:
        if not self.path:
            return
        written = f"{self.path}.new"
        try:
            with open(written, "w", encoding="utf-8") as file:
                json.dump(self.result, file, indent=1)
            os.replace(written, self.path)
        except OSError as error:
            raise BenchError(f"--out: {written}: {error.strerror}") from error
        self.saved = time.monotonic()
