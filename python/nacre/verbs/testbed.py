"""`nacre testbed`: a Lustre-shaped file system on this machine, with simulated nodes."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from nacre import launchers, library, settings, testbed
from nacre.errors import EXIT_CANNOT_RUN, UserError
from nacre.text import unwrapped
from nacre.verbs.run import inherited_environment

HELP = "Play a Lustre on this machine: OSTs, servers, links, locks, faults."

UP_HELP = unwrapped("""Mount a testbed on DIRECTORY, once for each simulated node: DIRECTORY/0, DIRECTORY/1 and so on.

All mounts show the same files, striped over OSTs as on a Lustre. They are in memory; with --objects, their data are on
disk, so that they may be larger. With --machine, accesses take the time that they would there. Needs root, /dev/fuse
and libfuse3.

[bold]Examples[/bold]

  nacre testbed up --nodes 4 --osts 8

  nacre testbed up --machine ranger --set osts.client_cost=0 /mnt/ranger

  nacre testbed up --objects /scratch/objects
""")

RUN_HELP = unwrapped("""Run an MPI program whose ranks are on the nodes of a testbed, in blocks.

Each rank sees its node's mount as DIRECTORY/node, has its node's host name (node0, node1, ...) and tells Nacre its
node. {} in the command is the path of that mount. Where no testbed is up at DIRECTORY, one is for as long as the
command runs, with --nodes nodes.

[bold]Examples[/bold]

  nacre testbed run --nodes 8 -- mpiexec -n 16 ./app {}/out

  nacre testbed run --nodes 8 --machine ranger --without-nacre -- mpiexec -n 16 ./app {}/out
""")

FAULT_HELP = unwrapped("""Have something go wrong on a testbed that is up.

An OST can be: no_space (writes fail), error RATE (a part of accesses, 0 to 1, fails), error_at BYTE (accesses of that
byte of a file fail), slow FACTOR, hung, and well again. A node can be evicted: its locks and what it had not written
back are gone.

[bold]Examples[/bold]

  nacre testbed fault ost 3 no_space

  nacre testbed fault ost 3 well

  nacre testbed fault node 1 evicted
""")

END_SECONDS = 10  # of a program that is told to end

DIRECTORY = typer.Argument(Path(testbed.DEFAULT_DIRECTORY), metavar="[DIRECTORY]", help="Where it is mounted.")
AT = typer.Option(Path(testbed.DEFAULT_DIRECTORY), "--at", metavar="DIRECTORY", help="Where it is mounted.")
RUN_AT = typer.Option(None, "--at", metavar="DIRECTORY", help="Where it is mounted, or is to be for the run.")
MACHINE = typer.Option(None, "--machine", metavar="NAME|FILE", help="What to play: one that comes along, or a file.")
SET = typer.Option([], "--set", metavar="NAME=VALUE", help="A setting of it, over the file's. Repeatable.")
NODES = typer.Option(None, "--nodes", metavar="N", help="Simulated nodes.")
OSTS = typer.Option(None, "--osts", metavar="C", help="OSTs.")
OBJECTS = typer.Option(
    None,
    "--objects",
    metavar="PATH",
    help="Keep files' data in this directory, which is made or empty; else in memory.",
)


def register(app: typer.Typer) -> None:
    verbs = typer.Typer(help=HELP, no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]})
    verbs.command("up", help=UP_HELP, short_help="Begin to play.")(up)
    verbs.command("down", short_help="End it, with all that is in it.")(down)
    verbs.command("status", short_help="Show what has come to OSTs and from nodes.")(status)
    verbs.command("fault", help=FAULT_HELP, short_help="Have something go wrong.")(fault)
    verbs.command(
        "run",
        help=RUN_HELP,
        short_help="Run an MPI program on its nodes.",
        context_settings={"allow_interspersed_args": False},
    )(run)
    app.add_typer(verbs, name="testbed", short_help=HELP)


def _options(
    machine: str | None, assignments: list[str], nodes: int | None, osts: int | None, objects: str | None
) -> list[str]:
    """nacre-testbed's own."""
    options = ["--machine", testbed.machine_file(machine)] if machine else []
    options += [word for assignment in assignments for word in ("--set", assignment)]
    if nodes is not None:
        options += ["--nodes", str(nodes)]
    if osts is not None:
        options += ["--osts", str(osts)]
    if objects is not None:
        options += ["--objects", objects]
    return options


def up(
    directory: Path = DIRECTORY,
    machine: str = MACHINE,
    assignments: list[str] = SET,
    nodes: int = NODES,
    osts: int = OSTS,
    objects: str = OBJECTS,
) -> None:
    testbed.up(directory, _options(machine, assignments, nodes, osts, objects))
    print(f"up: {testbed.nodes_of(directory)} nodes at {directory}/0 and on; files there count as on Lustre with")
    print("NACRE_TESTBED=1, which `nacre testbed run` sets.")


def down(directory: Path = DIRECTORY) -> None:
    """End a testbed, with all that is in it."""
    testbed.down(directory)


def status(
    directory: Path = DIRECTORY,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    reset: bool = typer.Option(False, "--reset", help="Begin to count anew."),
    machine: bool = typer.Option(False, "--machine", help="Show what it plays, setting by setting."),
) -> None:
    """Show what has come to the OSTs of a testbed and from its nodes, since it is up or since --reset."""
    if machine:
        print(testbed.machine(directory), end="")
        return
    counters = testbed.counters(directory)
    if as_json:
        print(json.dumps(counters))
    else:
        for kind, columns in counters.items():
            Console().print(_table(kind, columns))
    if reset:
        testbed.reset(directory)


def _table(kind: str, columns: dict[str, list[int]]) -> Table:
    table = Table(kind[:-1], *(name.replace("_", " ") for name in columns), box=None, header_style="bold")
    for number, values in enumerate(zip(*columns.values(), strict=True)):
        table.add_row(str(number), *(str(value) for value in values))
    return table


def fault(
    words: list[str] = typer.Argument(metavar="FAULT", help="What is to go wrong, such as: ost 3 no_space."),
    directory: Path = AT,
) -> None:
    try:
        testbed.order(directory, " ".join(words))
    except ValueError as error:
        osts, nodes = len(testbed.counters(directory)["osts"]["clients"]), testbed.nodes_of(directory)
        there_are = (
            f"There are OSTs 0 to {osts - 1} and nodes 0 to {nodes - 1}; `nacre testbed fault --help` lists faults."
        )
        raise UserError(f"there is no fault {str(error)!r}", there_are) from error


def run(
    command: list[str] = typer.Argument(..., metavar="COMMAND...", help="What to run; a -- before it is optional."),
    at: Path = RUN_AT,
    machine: str = MACHINE,
    assignments: list[str] = SET,
    nodes: int = NODES,
    osts: int = OSTS,
    objects: str = OBJECTS,
    hint: list[str] = typer.Option([], "--hint", metavar="[GLOB:]KEY=VALUE", help="As of `nacre run`."),
    report: str = typer.Option(None, "--report", metavar="FILE", help="As of `nacre run`."),
    without_nacre: bool = typer.Option(False, "--without-nacre", help="With the MPI's own MPI-IO."),
) -> None:
    options = _options(machine, assignments, nodes, osts, objects)
    directory = at or Path(testbed.DEFAULT_DIRECTORY)
    if testbed.is_up(directory) and options:
        raise UserError(f"a testbed is up at {directory}: {options[0]} would change nothing", "Leave it out, or down.")
    with contextlib.ExitStack() as stack:
        if not testbed.is_up(directory):
            directory = stack.enter_context(testbed.serving(options, at))
        words = [word.replace("{}", str(directory / testbed.RANK_MOUNT)) for word in command]
        words = launchers.started_through(words, testbed.rank_words(directory, testbed.nodes_of(directory)))
        environment = inherited_environment()
        if not without_nacre:
            chosen = settings.from_options(environment, hint, report, [])
            launch = launchers.prepare(words, chosen, library.preload_path(None), environment)
            words, environment = launch.argv, launch.environ
        sys.stdout.flush()
        code = _wait_for(words, environment)
    raise typer.Exit(code if code >= 0 else 128 - code)


def _wait_for(words: list[str], environment: dict[str, str]) -> int:
    """Runs them; if this command is told to end, so are they."""
    try:
        process = subprocess.Popen(words, env=environment)
    except OSError as error:
        raise UserError(f"cannot execute {words[0]}: {error.strerror}", code=EXIT_CANNOT_RUN) from error
    with process:
        try:
            return process.wait()
        except SystemExit:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=END_SECONDS)
            process.kill()
            raise
