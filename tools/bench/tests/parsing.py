"""Parses command lines as nacre-bench does, and finds the command of a build."""

import os
import unittest

import typer
from nacre_bench import options


def parsed(kind: type, *words: str):
    """The options object for the command line `words`."""
    seen = []
    app = typer.Typer()
    app.command()(options.command(kind, seen.append))
    app(list(words), standalone_mode=False)
    return seen[0]


def built_command(test: unittest.TestCase) -> str:
    """The path of the nacre-bench command of a build. Skips the test if NACRE_BENCH does not name it."""
    command = os.environ.get("NACRE_BENCH")
    if not command:
        test.skipTest("NACRE_BENCH does not name the nacre-bench of a build")
    return command
