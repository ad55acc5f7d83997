"""`nacre tune`: measures a machine and its file system, and writes a machine file."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import time
from pathlib import Path

import typer

from nacre import settings
from nacre.endings import exit_on
from nacre.errors import EXIT_PROBLEM, UserError
from nacre.text import parse_bytes, unwrapped
from nacre.tune import figures, machine_file, place, report_page, session, summary
from nacre.tune.ranks import Launcher
from nacre.tune.result import Result
from nacre.tune.samples import Samples

WORTH_MIN = 0.9  # of the speed without the machine file: with less it does harm

HELP = unwrapped("""Measure a file system from the ranks of a job, and write a machine file.

DIR is a directory of the file system, or the directory of a running testbed. COMMAND is your launcher with its
options, without a program. It starts a worker on the ranks, which measures messages, copies, calls by size, and on
Lustre what OSTs, servers and nodes reach together. Then nacre tune searches for the fastest pattern of aggregators and
OSTs, prints the hints that force it, and compares Nacre with the MPI alone. It writes a figure only if
its repetitions agree, and removes all files that it made in DIR.

[bold]Examples[/bold]

  nacre tune /scratch/me -- mpiexec -n 64

  nacre tune --max-time 20m --out site.toml /scratch/me -- srun -N 16 --ntasks-per-node 4

[bold]Exit codes[/bold]  0: wrote the machine file; 1: could not measure, or Nacre is slower with the file,
which is then written as FILE.rejected; 2: wrong usage.
""")


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
    figures_at: Path = typer.Option(
        None, "--figures", metavar="FOLDER", help="Folder of the figures; default: that of FILE, named NAME.figures."
    ),
    resume: bool = typer.Option(False, "--resume", help="Keep the measurements of a tune that did not end."),
    as_json: bool = typer.Option(
        False, "--json", help="Print JSON: the figures, why others were not measured, and the best hints."
    ),
) -> None:
    exit_on((signal.SIGTERM, signal.SIGHUP, signal.SIGINT))
    deadline = time.monotonic() + _parse_seconds(max_time)
    name = name or machine_file.default_name(os.environ)
    out = out or machine_file.default_path(name, os.environ)
    volume = _parse_volume(max_bytes)
    directory = directory.absolute()
    if command[0] == "--":
        command = command[1:]
    seen = place.host_view(directory)
    if not seen.is_dir():
        raise UserError(f"{directory} is not a directory", "Name a directory of the file system to measure.")
    place.refuse_mount_of_testbed(directory, command)
    place.require_space(seen, volume)
    launcher = Launcher(command, directory)
    heading = machine_file.Heading(name, place.kind_of(seen), place.mount_of(seen), shlex.join(command))
    _require_writable(out)
    if out == machine_file.default_path(name, os.environ):
        machine_file.refuse_other_mount(out, heading.mount)
    samples = Samples(f"{directory} with {heading.command}")
    state = out.with_name(out.name + ".state")
    if resume and state.exists():
        samples.load(state)
    with place.working_in(seen) as work:
        where = session.find_place(launcher, work, volume)
        place.require_reservation(work, where)
        tuning = session.Session(launcher, work, where, samples, repetitions, deadline)
        try:
            tuning.measure_figures()
            found = figures.find(samples, where)
            machine_file.write(work / session.MACHINE_FILE, machine_file.as_toml(heading, found))
            search = tuning.search_patterns()
            comparison = tuning.compare(heading.kind, search)
        finally:
            samples.save(state, repetitions)
    testbed = str(directory) if seen != directory else ""
    result = Result(samples, where, found, search, comparison, testbed)
    worth = comparison.worth(samples) if comparison else None
    is_default = out == machine_file.default_path(name, os.environ)
    is_refused = is_default and worth is not None and worth < WORTH_MIN
    out = out.with_name(out.name + ".rejected") if is_refused else out
    machine_file.write(out, machine_file.as_toml(heading, found, summary.remarks(result)))
    if is_refused or (not tuning.left() and not tuning.ended_early):
        state.unlink()
    drawn = figures_at or out.with_suffix(".figures")
    report_page.write(drawn, heading, result)
    page = str(drawn / report_page.PAGE)
    if as_json:
        print(
            json.dumps(summary.as_json(result) | {"file": str(out), "page": page, "is_refused": is_refused}, indent=2)
        )
        if is_refused:
            raise typer.Exit(EXIT_PROBLEM)
        return
    summary.show(result)
    print(f"Wrote {out}\nFigures: {page}")
    path = shlex.quote(str(out.absolute()))
    if is_refused:
        raise UserError(
            f"{directory}: with the new machine file Nacre reaches only {worth:.2f} times the speed that it reaches"
            " without, so nacre tune wrote it where Nacre does not look for it",
            "Measure again on idle nodes, with no more ranks than cores, or with a longer --max-time. To use the file"
            f" nevertheless: NACRE_MACHINE={path}",
            EXIT_PROBLEM,
        )
    preferred = machine_file.preferred_to(out, heading.mount) if is_default else None
    if preferred is not None:
        print(f"Nacre uses {preferred} instead, an earlier file of this mount. To use the new one: rm {preferred}")
    elif is_default:
        print(f"Nacre uses the file for all files of this file system. To undo: rm {path}")
    else:
        print(f"Use: NACRE_MACHINE={path}")


def _parse_seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+)([smh]?)", text)
    if found is None or int(found[1]) == 0:
        raise UserError(f"--max-time {text}: not a time", "Give a number with s, m or h, for example 5m.")
    return int(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def _require_writable(out: Path) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        why = settings.why_unwritable(str(out))
    except OSError as error:
        why = error.strerror
    if why:
        raise UserError(f"cannot write {out}: {why}", "Name another machine file with --out.")


def _parse_volume(text: str) -> int:
    try:
        volume = parse_bytes(text)
    except ValueError as error:
        raise UserError(f"--max-bytes: {error}") from error
    if not 4 << 20 <= volume <= 1 << 40:
        raise UserError(f"--max-bytes {text}: it takes 4m to 1t")
    return volume
