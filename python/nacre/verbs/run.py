"""`nacre run`: starts a program with Nacre on its ranks."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import typer

from nacre import launchers, library, run_options, settings
from nacre.errors import EXIT_CANNOT_RUN, EXIT_NOT_FOUND, UserError
from nacre.text import unwrapped

HELP = unwrapped(f"""Run an MPI program whose MPI-IO calls Nacre serves.

COMMAND is the command that you run without Nacre. nacre adds options to the launcher in it so that the ranks preload
Nacre. A command without a launcher gets the preload in its environment. nacre then executes the command in its own
process: signals and the exit code are those of the command. With --summary, nacre instead waits for the command and
passes signals on.

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


def run(
    command: list[str] = run_options.COMMAND,
    hint: list[str] = run_options.HINT,
    report: str = run_options.REPORT,
    summary: bool = run_options.SUMMARY,
    top: int = run_options.TOP,
    disable: list[str] = run_options.DISABLE,
    abi: str = run_options.ABI,
    posix: bool = run_options.POSIX,
    iobuf: str = run_options.IOBUF,
    dry_run: bool = run_options.DRY_RUN,
    as_json: bool = run_options.AS_JSON,
) -> None:
    options = run_options.RunOptions(hint, report, summary, top, disable, abi, posix, iobuf, dry_run, as_json)
    environ = inherited_environment()
    chosen = run_options.choose(options, environ)
    preload = library.preload_path(abi, chosen.with_posix)
    launch = launchers.prepare(command, chosen.settings, preload, environ)
    if dry_run:
        run_options.show(launch, environ, as_json)
        return
    if not chosen.summing:
        execute(launch)
    status = chosen.summing.of(chosen.settings[settings.RUN], launch.environ, lambda: run_to_end(launch))
    raise typer.Exit(run_options.exit_code(status))


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
    """Runs the command as a child and returns its exit status; -N if signal N ended it. Signals are passed on."""
    ignored = [signal.SIGINT, signal.SIGQUIT]  # the terminal sends them to the command too
    with _refusals(launch):
        child = subprocess.Popen(launch.argv, env=launch.environ)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ignored}
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        before[number] = signal.signal(number, lambda number, _: child.send_signal(number))
    status = child.wait()
    for number, handler in before.items():
        signal.signal(number, handler)
    return status


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
        os.execvpe(launch.argv[0], launch.argv, launch.environ)
