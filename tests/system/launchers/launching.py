"""What the tests of launchers share, and the cases that each launcher must bring."""

from __future__ import annotations

import dataclasses
import os

from nacre import launchers

PRELOAD = "/opt/nacre/lib/libnacre.so"


@dataclasses.dataclass(frozen=True)
class Cases:
    """The tests that every launcher needs, as data: test_table.py runs them."""

    version: str  # what it says to --version
    recognised: list[str]  # names that it is installed under
    on_ranks: list[tuple[str, str]]  # a command without a preload, and what it becomes
    own_preload: list[tuple[str, str]]  # a command with the user's own preload, and what it becomes
    programs: list[tuple[str, list[str]]]  # a command, and the programs in it
    preload_by_environment: bool = False


def prepared(words: str, **environ: str) -> launchers.Launch:
    return launchers.prepare(words.split(), {}, PRELOAD, {"PATH": os.environ["PATH"], **environ})


def line(words: str, **environ: str) -> str:
    return " ".join(prepared(words, **environ).argv)
