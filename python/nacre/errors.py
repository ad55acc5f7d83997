"""Errors and warnings for the user, and the exit codes of the command."""

from __future__ import annotations

import sys

EXIT_PROBLEM = 1  # what was examined or measured is not as it should be
EXIT_USAGE = 2  # the command line is wrong; typer exits with 2 too
EXIT_CANNOT_RUN = 126  # the program exists and cannot be executed
EXIT_NOT_FOUND = 127  # the program does not exist


class UserError(Exception):
    """An error that nacre prints without a traceback. `problem`: what failed; `advice`: what to do about it."""

    def __init__(self, problem: str, advice: str = "", code: int = EXIT_USAGE):
        super().__init__(problem)
        self.problem = problem
        self.advice = advice
        self.code = code


def warn(text: str) -> None:
    """Prints a warning on standard error."""
    print(f"nacre: warning: {text}", file=sys.stderr)


def only_one_output(options: list[str]) -> None:
    """Refuses several options that each replace the usual output."""
    if len(options) > 1:
        raise UserError(f"{' and '.join(options)}: only one output is possible", "Name one of these options.")
