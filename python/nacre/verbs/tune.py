"""`nacre tune`: measures a machine and its file system, and writes a machine file."""

from __future__ import annotations

import os
import re
import shlex
import signal
import time
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from nacre.errors import UserError
from nacre.text import amount, duration, parse_bytes, unwrapped
from nacre.tune import figures, machine_file, place, plan
from nacre.tune.ranks import Launcher
from nacre.tune.samples import Samples

HELP = unwrapped("""Measure a file system from the ranks of a job, and write a machine file.

DIR is a directory of the file system. COMMAND is the command that you start programs with, without a program. Its
launcher starts a worker on the ranks, which measures messages, copies, calls by size, and on Lustre what OSTs, servers
and nodes reach together. nacre tune writes a figure only if its repetitions agree. It removes all files that it made.

[bold]Examples[/bold]

  nacre tune /scratch/me -- mpiexec -n 64

  nacre tune --max-time 20m --out site.toml /scratch/me -- srun -N 16 --ntasks-per-node 4

[bold]Exit codes[/bold]  0: wrote the machine file; 1: could not measure; 2: wrong usage.
""")

PATIENCE_SECONDS = 3600


def register(app: typer.Typer) -> None:
    app.command(
        "tune",
        help=HELP,
        short_help="Measure a file system from the ranks of a job; write a machine file.",
        context_settings={"allow_interspersed_args": False},
    )(tune)


def tune(
    directory: Path = typer.Argument(..., metavar="DIR", help="Directory of the file system to measure."),
    command: list[str] = typer.Argument(..., metavar="COMMAND", help="Launcher and its options."),
    out: Path = typer.Option(
        None, "--out", metavar="FILE", help="Machine file; default: nacre/machines/NAME.toml in ~/.config."
    ),
    name: str = typer.Option("", "--name", help="Name of the machine; default: that of the cluster or the host."),
    max_time: str = typer.Option("5m", "--max-time", metavar="TIME", help="Time limit, for example 90s, 5m or 1h."),
    max_bytes: str = typer.Option("32m", "--max-bytes", metavar="BYTES", help="Most bytes that a measurement writes."),
    repetitions: int = typer.Option(3, "--repetitions", min=2, help="Repetitions of each measurement."),
    resume: bool = typer.Option(False, "--resume", help="Keep the measurements of a tune that did not end."),
) -> None:
    for ending in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(ending, _end)
    deadline = time.monotonic() + _parse_seconds(max_time)
    name = name or machine_file.default_name(os.environ)
    out = out or machine_file.default_path(name, os.environ)
    volume = _parse_volume(max_bytes)
    directory = directory.absolute()
    seen = place.host_view(directory)
    if not seen.is_dir():
        raise UserError(f"{directory} is not a directory", "Name a directory of the file system to measure.")
    place.require_space(seen, volume)
    if command[0] == "--":
        command = command[1:]
    launcher = Launcher(command, directory)
    samples = Samples()
    state = out.with_name(out.name + ".state")
    if resume and state.exists():
        samples.load(state)
    out.parent.mkdir(parents=True, exist_ok=True)
    with place.working_in(seen) as work:
        where = _find_place(launcher, work, volume)
        try:
            _measure(launcher, work, where, samples, (repetitions, deadline))
        finally:
            samples.save(state, repetitions)
    found = figures.find(samples, where)
    text = machine_file.as_toml(name, place.kind_of(seen), place.mount_of(seen), shlex.join(command), found)
    machine_file.write(out, text)
    if not _left(samples, where, repetitions):
        state.unlink()
    _print_table(found)
    print(f"Wrote {out}")


def _find_place(launcher: Launcher, work: Path, volume: int) -> plan.Place:
    """Starts the ranks once to learn where they run."""
    samples = Samples()
    launcher.run(launcher.words(work, PATIENCE_SECONDS, 1, []), samples, lambda: None)
    if not samples.ranks:
        raise UserError("the ranks printed nothing", "Check that the launcher passes on the output of rank 0.")
    ranks = samples.ranks
    return plan.Place(ranks["ranks"], ranks["nodes"], ranks["ranks_per_node"], place.ost_count(work), volume)


def _left(samples: Samples, where: plan.Place, repetitions: int) -> list[str]:
    """The measurements that are not complete, each once."""
    words = (plan.striped(where) if where.osts else []) + plan.basic(where)
    done = {word for word, found in samples.by_word.items() if len(found) >= repetitions or samples.error(word)}
    return [word for word in dict.fromkeys(words) if word not in done]


def _measure(launcher: Launcher, work: Path, where: plan.Place, samples: Samples, limits: tuple[int, float]) -> None:
    repetitions, deadline = limits
    left = _left(samples, where, repetitions)
    for word in left:
        samples.by_word.pop(word, None)
    total = len(left)
    console = Console(stderr=True, highlight=False)
    with console.status("Starting the ranks") as status:

        def progress() -> None:
            done = total - len(_left(samples, where, repetitions))
            seconds = max(deadline - time.monotonic(), 0)
            status.update(f"{done} of {total} measurements; at most {duration(seconds)} left")

        words = launcher.words(work, max(deadline - time.monotonic(), 1), repetitions, left)
        launcher.run(words, samples, progress)


def _print_table(found: figures.Findings) -> None:
    table = Table("figure", "value", "+-", box=None, header_style="bold")
    for name, figure in found.figures.items():
        bytes_like = name.endswith(("bandwidth", "saturation"))
        per_second = "/s" if name.endswith("bandwidth") else ""
        value = amount(figure.value) + per_second if bytes_like else f"{figure.value:.4g}"
        table.add_row(name, value, f"{figure.spread:.0%}")
    console = Console(highlight=False)
    console.print(table)
    for name, why in sorted(found.missing.items()):
        console.print(f"not written: {name}: {why}", markup=False)


def _parse_seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+)([smh]?)", text)
    if found is None or int(found[1]) == 0:
        raise UserError(f"--max-time {text}: not a time", "Give a number with s, m or h, for example 5m.")
    return int(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def _parse_volume(text: str) -> int:
    try:
        volume = parse_bytes(text)
    except ValueError as error:
        raise UserError(f"--max-bytes: {error}") from error
    if not 4 << 20 <= volume <= 1 << 40:
        raise UserError(f"--max-bytes {text}: it takes 4m to 1t")
    return volume


def _end(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)
