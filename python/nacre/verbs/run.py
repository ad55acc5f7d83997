"""`nacre run`: starts a program with Nacre on its ranks."""

from __future__ import annotations

import os
import shlex
import signal
from pathlib import Path

import typer

from nacre import launchers, library, settings
from nacre.errors import EXIT_CANNOT_RUN, EXIT_NOT_FOUND, UserError
from nacre.text import unwrapped

HELP = unwrapped("""Run an MPI program with its MPI-IO done by Nacre.

The command is the one you would give without Nacre. The launcher in it (Hydra, Open MPI, srun, flux, jsrun,
aprun, PALS, ibrun) gets options that preload Nacre on the ranks; without a launcher the program runs by itself.
Nacre then replaces this process, so signals and the exit code are the command's own.

[bold]Examples[/bold]

  nacre run -- mpiexec -n 8 ./app input.nml

  nacre run --hint striping_factor=16 --hint '*.h5:cb_nodes=8' srun -N 4 ./app

  nacre run --report io.jsonl mpirun -n 4 python train.py

  nacre run --dry-run mpirun -n 2 ./ocean : -n 2 ./atmosphere

[bold]Exit codes[/bold]  the command's own; 2 wrong usage, 126 it cannot be executed, 127 there is no such program.
""")


def register(app: typer.Typer) -> None:
    app.command(
        "run",
        help=HELP,
        short_help="Run an MPI program with its MPI-IO done by Nacre.",
        context_settings={"allow_interspersed_args": False},
    )(run)


def run(
    command: list[str] = typer.Argument(..., metavar="COMMAND...", help="What to run; a -- before it is optional."),
    hint: list[str] = typer.Option(
        [], "--hint", metavar="[GLOB:]KEY=VALUE", help="Set a hint, for all files or those that match. Repeatable."
    ),
    report: str = typer.Option(
        None, "--report", metavar="FILE", help="Append a line of JSON to FILE for each file closed."
    ),
    disable: list[str] = typer.Option(
        [], "--disable", metavar="PATTERN", help="Leave files that match to the MPI's own I/O. Repeatable."
    ),
    abi: str = typer.Option(
        None, "--abi", metavar="ABI", help="Preload the library of this ABI (mpich, openmpi, mpiabi) and no other."
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Print what would be run, and run nothing."),
) -> None:
    if abi is not None and abi not in library.ABIS:
        raise UserError(f"there is no ABI {abi!r}", f"The ABIs are {', '.join(library.ABIS)}; leave it out if unsure.")
    environ = inherited_environment()
    chosen = settings.from_options(environ, hint, report, disable)
    launch = launchers.prepare(command, chosen, library.preload_path(abi), environ)
    if dry_run:
        print(as_shell(launch, environ))
        return
    execute(launch)


def as_shell(launch: launchers.Launch, before: dict[str, str]) -> str:
    """The command as one would type it."""
    assignments = [f"{name}={shlex.quote(value)}" for name, value in sorted(launch.changed(before).items())]
    return " ".join([*assignments, shlex.join(launch.argv)])


def inherited_environment() -> dict[str, str]:
    """The environment without the LC_CTYPE that Python sets for itself where there is no locale (PEP 538)."""
    environment = dict(os.environ)
    try:
        inherited = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return environment
    if not any(entry.startswith(b"LC_CTYPE=") for entry in inherited):
        environment.pop("LC_CTYPE", None)
    return environment


def execute(launch: launchers.Launch) -> None:
    """Becomes the command."""
    environment = dict(launch.environ)
    environment.pop("NACRE_LIBRARY_DIR", None)
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    try:
        os.execvpe(launch.argv[0], launch.argv, environment)
    except FileNotFoundError as error:
        raise UserError(f"no such program: {launch.argv[0]}", code=EXIT_NOT_FOUND) from error
    except OSError as error:
        raise UserError(f"cannot execute {launch.argv[0]}: {error.strerror}", code=EXIT_CANNOT_RUN) from error
