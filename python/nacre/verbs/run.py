"""`nacre run`: starts a program with Nacre on its ranks."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import typer
from rich.console import Console

from nacre import job_text, launchers, library, reports, settings, text
from nacre.errors import EXIT_CANNOT_RUN, EXIT_NOT_FOUND, UserError
from nacre.jobs import jobs_of
from nacre.text import unwrapped

# What other programs call these hints.
OTHER_NAMES = {
    "stripe_count": "striping_factor", "stripe_size": "striping_unit", "stripe_offset": "start_iodevice",
    "stripe_width": "striping_factor",
}  # fmt: skip

HELP = unwrapped(f"""Run an MPI program whose MPI-IO calls Nacre serves.

COMMAND is the command that you run without Nacre. nacre adds options to the launcher in it so that the ranks preload
Nacre. A command without a launcher gets the preload in its environment. nacre then executes the command in its own
process: signals and the exit code are those of the command.

[bold]Launchers[/bold]  {", ".join(launcher.documented[0] for launcher in launchers.TABLE)}

[bold]Examples[/bold]

  nacre run -- mpiexec -n 8 ./app input.nml

  nacre run --hint striping_factor=16 --hint '*.h5:cb_nodes=8' srun -N 4 ./app

  nacre run --report io.jsonl mpirun -n 4 python train.py

  nacre run --summary srun -n 64 ./app

  nacre run --summary --posix srun -n 64 ./app

  nacre run --iobuf '*.log:size=4m' mpiexec -n 8 ./app

  nacre run --dry-run mpirun -n 2 ./ocean : -n 2 ./atmosphere

[bold]Exit codes[/bold]  that of the command; 2: wrong usage; 126: the command cannot be executed; 127: the command
does not exist.
""")


def register(app: typer.Typer) -> None:
    app.command(
        "run",
        help=HELP,
        short_help="Run an MPI program whose MPI-IO calls Nacre serves.",
        context_settings={"allow_interspersed_args": False},
    )(run)


def complete_hint(incomplete: str) -> list[str]:
    """For the completion of a shell: the hints that begin so."""
    glob, colon, key = incomplete.rpartition(":")
    try:
        names = [entry["name"] for entry in library.hints()]
    except UserError:
        return []
    return [f"{glob}{colon}{name}=" for name in names if name.startswith(key)]


def run(
    command: list[str] = typer.Argument(..., metavar="COMMAND", help="Command to run; a -- before it is optional."),
    hint: list[str] = typer.Option(
        [],
        "--hint",
        metavar="[GLOB:]KEY=VALUE",
        help="Set a hint for all files, or for files whose name matches GLOB. Repeatable.",
        autocompletion=complete_hint,
    ),
    report: str = typer.Option(
        None, "--report", metavar="FILE", help="Append one line of JSON to FILE for each file that the program closes."
    ),
    summary: bool = typer.Option(
        False, "--summary", help="When the job has ended, print what cost time and what to change, on standard error."
    ),
    disable: list[str] = typer.Option(
        [], "--disable", metavar="PATTERN", help="Leave files whose name matches to the MPI's own MPI-IO. Repeatable."
    ),
    abi: str = typer.Option(
        None, "--abi", metavar="ABI", help="Preload only the library for this ABI: mpich, openmpi or mpiabi."
    ),
    posix: bool = typer.Option(
        False,
        "--posix",
        help="Also count open, stat, read, write, stdio and the like, which the program calls beside MPI-IO.",
    ),
    iobuf: str = typer.Option(
        None,
        "--iobuf",
        metavar="GLOB[:KEY=VALUE...],...",
        help="Gather small reads and writes (of POSIX and stdio) of files whose name matches GLOB in buffers. Keys: "
        "size (default 4m), count (4), prefetch (1).",
    ),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Print the command that nacre would execute, and do not execute it."
    ),
) -> None:
    if abi is not None and abi not in library.ABIS:
        raise UserError(
            f"--abi {abi}: unknown ABI",
            f"Name one of {', '.join(library.ABIS)}, or omit the option: Nacre then finds the ABI.",
        )
    environ = inherited_environment()
    summing = Summary(environ, report, summary) if summary or wants_summary(environ) else None
    report = summing.option if summing else report
    if posix:
        require_report_of_posix(environ, report)
    chosen = settings.from_options(environ, hint, report, disable)
    if iobuf is not None:
        chosen[settings.IOBUF] = iobuf
    refuse_wrong_settings({**environ, **chosen})
    buffers = {**environ, **chosen}.get(settings.IOBUF, "")
    launch = launchers.prepare(command, chosen, library.preload_path(abi, posix or bool(buffers)), environ)
    if dry_run:
        print(as_shell(launch, environ))
        return
    if not summing:
        execute(launch)
    with summing.of(chosen[settings.RUN], launch.environ):
        code = run_to_end(launch)
    raise typer.Exit(code)


def wants_summary(environ: Mapping[str, str]) -> bool:
    return environ.get(settings.SUMMARY, "0") not in ("", "0")


def require_report_of_posix(environ: Mapping[str, str], report: str | None) -> None:
    """Refuses --posix without a report, in `report` or in the environment: the calls would be counted for nobody."""
    if not (report or environ.get(settings.REPORT)):
        raise UserError("--posix: nothing would be reported", "Add --report FILE or --summary.")


def refuse_wrong_settings(environ: Mapping[str, str]) -> None:
    """Refuses hints and configuration files that would fail the program's opens, before the job waits in a queue."""
    if not library.built_abis():
        return
    try:
        if environ.get(settings.IOBUF):
            library.check_buffering(environ[settings.IOBUF])
    except ValueError as problem:
        raise UserError(str(problem), "For example --iobuf '*.log:size=4m:count=4,*.txt'.") from problem
    try:
        library.check_settings(environ)
    except ValueError as problem:
        what, advice = str(problem), "`nacre hints` lists all hints and their values."
        if unknown := re.match('(.*unknown hint "([^"]*)")', what):
            what, name = unknown[1], unknown[2]
            likely = OTHER_NAMES.get(name) or next(iter(text.near(name, [one["name"] for one in library.hints()])), "")
            advice = f"Did you mean {likely}?" if likely else advice
        raise UserError(what, advice) from problem


class Summary:
    """The findings of a job, printed when it ends. Without a report of the user, in `report` or in the environment, the
    job writes one that is removed then."""

    def __init__(self, environ: Mapping[str, str], report: str | None, is_asked: bool):
        kept = report or environ.get(settings.REPORT)
        self.is_kept = bool(kept)
        self.report = kept or f"nacre-summary-{os.getpid()}.jsonl"
        self.option = report if kept else self.report  # what --report would be
        if is_asked and not kept and (why := settings.why_unwritable(self.report)):
            raise UserError(
                f"--summary: the ranks cannot write a report in this directory: {why}",
                "Add --report FILE, on a file system that all nodes see.",
            )

    @contextlib.contextmanager
    def of(self, run: str, environ: dict[str, str]) -> Iterator[None]:
        """Around the job `run`, which has `environ`: prints its findings at the end."""
        with tempfile.NamedTemporaryFile("r", prefix="nacre-reports-") as reports_of_job:
            environ[settings.REPORTS_OF_JOB] = reports_of_job.name
            try:
                yield
            except BaseException:
                self._remove()
                raise
            others = {line.rstrip("\n") for line in reports_of_job} - {os.path.abspath(self.report)}
        self._show(run, sorted(others))

    def _remove(self) -> None:
        """Removes the report if nobody asked for it."""
        if not self.is_kept:
            Path(self.report).unlink(missing_ok=True)

    def _show(self, run: str, others: list[str]) -> None:
        """On standard error, where the findings do not mix with the program's output."""
        console = Console(stderr=True, highlight=False, soft_wrap=True)
        lines = _lines_of(run, self.report)
        self._remove()
        for other in others:
            found = _lines_of(run, other)
            if found:
                console.print(f"nacre: a command of the job wrote its report to {other}", markup=False)
            lines += found
        if not lines:
            console.print(
                f"nacre: no summary: {self.report} has no line of this job. The program closed no file that Nacre"
                " serves (run `nacre doctor -- COMMAND`), or the job itself sets NACRE_REPORT: then run"
                " `nacre report FILE`.",
                markup=False,
            )
        for job in jobs_of(lines):
            console.print()
            job_text.show_summary(console, job)


def _lines_of(run: str, report: str) -> list[dict]:
    """The lines of one launch in a report that may not exist."""
    try:
        return [one for one in reports.read([report]) if one["run"] == run]
    except UserError:
        return []


def as_shell(launch: launchers.Launch, before: dict[str, str]) -> str:
    """The command line as a user would type it."""
    assignments = [f"{name}={shlex.quote(value)}" for name, value in sorted(launch.changed(before).items())]
    return " ".join([*assignments, shlex.join(launch.argv)])


def inherited_environment() -> dict[str, str]:
    """The environment without the LC_CTYPE that Python sets for itself when no locale is set (PEP 538)."""
    environment = dict(os.environ)
    try:
        inherited = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return environment
    if not any(entry.startswith(b"LC_CTYPE=") for entry in inherited):
        environment.pop("LC_CTYPE", None)
    return environment


def run_to_end(launch: launchers.Launch) -> int:
    """Runs the command as a child and returns its exit code; 128 + N if signal N ended it. Signals are passed on."""
    ignored = [signal.SIGINT, signal.SIGQUIT]  # the terminal sends them to the command too
    with _refusals(launch):
        child = subprocess.Popen(launch.argv, env=_environment(launch))
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ignored}
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        before[number] = signal.signal(number, lambda number, _: child.send_signal(number))
    code = child.wait()
    for number, handler in before.items():
        signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def _environment(launch: launchers.Launch) -> dict[str, str]:
    environment = dict(launch.environ)
    environment.pop("NACRE_LIBRARY_DIR", None)
    return environment


@contextlib.contextmanager
def _refusals(launch: launchers.Launch) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise UserError(f"program not found: {launch.argv[0]}", code=EXIT_NOT_FOUND) from error
    except OSError as error:
        raise UserError(f"cannot execute {launch.argv[0]}: {error.strerror}", code=EXIT_CANNOT_RUN) from error


def execute(launch: launchers.Launch) -> None:
    """Replaces this process by the command."""
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    with _refusals(launch):
        os.execvpe(launch.argv[0], launch.argv, _environment(launch))
