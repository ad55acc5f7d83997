"""Errors that say what to do next, and the exit codes of the command."""

from __future__ import annotations

import sys

EXIT_PROBLEM = 1  # `nacre doctor`: something does not work
EXIT_USAGE = 2  # the command line makes no sense (also click's own)
EXIT_CANNOT_RUN = 126  # the program is there but cannot be executed
EXIT_NOT_FOUND = 127  # no such program


class UserError(Exception):
    """What went wrong, and what its reader can do about it."""

    def __init__(self, problem: str, advice: str = "", code: int = EXIT_USAGE):
        super().__init__(problem)
        self.problem = problem
        self.advice = advice
        self.code = code


def warn(text: str) -> None:
    """Says on standard error what is wrong and does not stop the command."""
    print(f"nacre: warning: {text}", file=sys.stderr)
