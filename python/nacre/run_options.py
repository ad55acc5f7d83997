"""The options that `nacre run` and `nacre testbed run` share, and what these set for the ranks."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

import typer

from nacre import job_summary, launchers, library, settings, text
from nacre.errors import UserError, warn
from nacre.job_summary import Summary

FINDINGS_SHOWN = 10
# What other programs call these hints.
OTHER_NAMES = {
    "stripe_count": "striping_factor", "stripe_size": "striping_unit", "stripe_offset": "start_iodevice",
    "stripe_width": "striping_factor",
}  # fmt: skip


def complete_hint(incomplete: str) -> list[str]:
    """For the completion of a shell: the hints that begin so."""
    glob, colon, key = incomplete.rpartition(":")
    try:
        names = [entry["name"] for entry in library.hints()]
    except UserError:
        return []
    return [f"{glob}{colon}{name}=" for name in names if name.startswith(key)]


COMMAND = typer.Argument(..., metavar="COMMAND", help="Command to run; a -- before it is optional.")
HINT = typer.Option(
    [],
    "--hint",
    metavar="[GLOB:]KEY=VALUE",
    help="Set a hint for all files, or for files whose name matches GLOB. Repeatable.",
    autocompletion=complete_hint,
)
REPORT = typer.Option(
    None, "--report", metavar="FILE", help="Append one line of JSON to FILE for each file that the program closes."
)
SUMMARY = typer.Option(
    False, "--summary", help="When the job has ended, print what cost time and what to change, on standard error."
)
TOP = typer.Option(
    None, "--top", metavar="N", min=1, help=f"With --summary: print at most N findings; default: {FINDINGS_SHOWN}."
)
DISABLE = typer.Option(
    [], "--disable", metavar="PATTERN", help="Leave files whose name matches to the MPI's own MPI-IO. Repeatable."
)
ABI = typer.Option(
    None,
    "--abi",
    metavar="ABI",
    help="Preload only the library for this ABI: mpich, openmpi or mpiabi.",
    autocompletion=lambda: list(library.ABIS),
)
POSIX = typer.Option(
    False,
    "--posix",
    help="Also count open, stat, read, write, stdio and the like, which the program calls beside MPI-IO.",
)
IOBUF = typer.Option(
    None,
    "--iobuf",
    metavar="GLOB[:KEY=VALUE...],...",
    help="Gather small reads and writes (of POSIX and stdio) of files whose name matches GLOB in buffers. Keys: "
    "size (default 4m), count (4), prefetch (1).",
)
DRY_RUN = typer.Option(False, "--dry-run", help="Print the command that nacre would execute, and do not execute it.")
AS_JSON = typer.Option(
    False, "--json", help="With --dry-run: print JSON, the words of the command and the variables that nacre sets."
)


@dataclass(frozen=True)
class RunOptions:
    """The values of the options."""

    hint: list[str]
    report: str | None
    summary: bool
    top: int | None
    disable: list[str]
    abi: str | None
    posix: bool
    iobuf: str | None
    dry_run: bool
    as_json: bool

    def __post_init__(self) -> None:
        if self.as_json and not self.dry_run:
            raise UserError(
                "--json: without --dry-run nacre prints no JSON",
                "Add --dry-run. For the findings of a job as JSON: `nacre run --report FILE ...`, then"
                " `nacre report --summary --json FILE`.",
            )

    @property
    def are_for_nacre(self) -> bool:
        """Whether an option is given that has no use without Nacre."""
        given = (self.hint, self.report, self.summary, self.top, self.disable, self.abi, self.posix, self.iobuf)
        return any(given)


@dataclass(frozen=True)
class Chosen:
    """What the options and the environment set."""

    settings: dict[str, str] = field(default_factory=dict)  # variables of the ranks
    summing: Summary | None = None
    with_posix: bool = False  # calls of POSIX are counted or buffered


def choose(options: RunOptions, environ: Mapping[str, str]) -> Chosen:
    """What the options set. UserError if they have no use, or if the library would fail each open with them."""
    if options.abi is not None and options.abi not in library.ABIS:
        raise UserError(
            f"--abi {options.abi}: unknown ABI",
            f"Name one of {', '.join(library.ABIS)}, or omit the option: Nacre then finds the ABI.",
        )
    summing = None
    if options.summary or job_summary.is_wanted(environ):
        summing = Summary(environ, options.report, options.summary, options.top or FINDINGS_SHOWN)
    elif options.top:
        raise UserError(f"--top {options.top}: no summary would be printed", "Add --summary.")
    report = summing.option if summing else options.report
    if options.posix and not (report or environ.get(settings.REPORT)):
        raise UserError("--posix: nothing would be reported", "Add --report FILE or --summary.")
    variables = settings.from_options(environ, options.hint, report, options.disable)
    if options.iobuf is not None:
        variables[settings.IOBUF] = options.iobuf
    merged = {**environ, **variables}
    _refuse_wrong_settings(merged, options.hint)
    return Chosen(variables, summing, options.posix or bool(merged.get(settings.IOBUF)))


def _refuse_wrong_settings(environ: Mapping[str, str], hints: list[str]) -> None:
    """Refuses hints and configuration files that would fail the program's opens, before the job waits in a queue.
    `hints`: the values of --hint, which `environ` contains."""
    if not library.built_abis():
        return
    for name, likely in settings.unknown_variables(environ, library.hints()).items():
        warn(f"{name}: Nacre has no such variable and ignores it{f'; did you mean {likely}?' if likely else ''}")
    try:
        if environ.get(settings.IOBUF):
            library.check_buffering(environ[settings.IOBUF])
    except ValueError as problem:
        raise UserError(str(problem), "For example --iobuf '*.log:size=4m:count=4,*.txt'.") from problem
    if problem := _problem_of(environ):
        what, advice = _naming_option(problem, environ, hints), "`nacre hints` lists all hints and their values."
        if unknown := re.match('(.*unknown hint "([^"]*)")', what):
            what, name = unknown[1], unknown[2]
            likely = OTHER_NAMES.get(name) or next(iter(text.near(name, [one["name"] for one in library.hints()])), "")
            advice = f"Did you mean {likely}?" if likely else advice
        raise UserError(what, advice)


def _problem_of(environ: Mapping[str, str]) -> str:
    """What the library refuses of these variables; empty if nothing."""
    try:
        library.check_settings(environ)
    except ValueError as problem:
        return str(problem)
    return ""


def _naming_option(problem: str, environ: Mapping[str, str], hints: list[str]) -> str:
    """`problem`; names the --hint that causes it, if one does, instead of the variable that nacre sets for it."""
    variable = f"variable {settings.HINTS}: "
    for hint in hints if problem.startswith(variable) else []:
        if _problem_of({**environ, settings.HINTS: settings.hint_rule(hint)}) == problem:
            return f"--hint {hint}: {problem[len(variable) :]}"
    return problem


def as_shell(launch: launchers.Launch, before: Mapping[str, str]) -> str:
    """The command line as a user would type it."""
    assignments = [f"{name}={shlex.quote(value)}" for name, value in sorted(launch.changed(before).items())]
    return " ".join([*assignments, shlex.join(launch.argv)])


def show(launch: launchers.Launch, before: Mapping[str, str], as_json: bool) -> None:
    """Prints what --dry-run does not execute; `before`: the environment of nacre."""
    if as_json:
        print(json.dumps({"command": launch.argv, "environment": launch.changed(before)}, indent=2))
    else:
        print(as_shell(launch, before))


def exit_code(status: int) -> int:
    """The exit code for an exit status of subprocess: 128 + N if signal N ended the command."""
    return status if status >= 0 else 128 - status
