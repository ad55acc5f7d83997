"""`nacre testbed`: emulates a Lustre and its client nodes on this machine."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from nacre import launchers, library, run_options, settings, testbed
from nacre.errors import EXIT_CANNOT_RUN, UserError, warn
from nacre.newer_python import tomllib
from nacre.text import plural, unwrapped
from nacre.verbs.run import inherited_environment

HELP = "Emulate a Lustre on this machine: OSTs, servers, links, locks, faults."

UP_HELP = unwrapped("""Start the emulated Lustre. Each emulated node has a mount: DIRECTORY/0, DIRECTORY/1 and so on.

All mounts show the same files, striped over OSTs as on Lustre. The testbed keeps data in memory, or with --objects on
disk, for larger files. With --machine, an access takes the time that it takes on that machine. The testbed needs root,
/dev/fuse and libfuse3.

[bold]Examples[/bold]

  nacre testbed up --nodes 4 --osts 8

  nacre testbed up --machine ranger --set osts.client_cost=0 /mnt/ranger

  nacre testbed up --objects /scratch/objects
""")

RUN_HELP = unwrapped("""Run an MPI program with its ranks on the nodes of a testbed, in blocks.

Each rank sees the mount of its node as DIRECTORY/node, and has the host name of its node: node0, node1 and so on. nacre
replaces {} in COMMAND by the path of that mount. If no testbed runs at DIRECTORY, nacre starts one with --nodes nodes,
and stops it when COMMAND ends. The other options are those of `nacre run`. --dry-run starts no testbed: one has to run
at DIRECTORY.

[bold]Examples[/bold]

  nacre testbed run --nodes 8 -- mpiexec -n 16 ./app {}/out

  nacre testbed run --nodes 8 --machine ranger --without-nacre -- mpiexec -n 16 ./app {}/out
""")

FAULT_HELP = unwrapped("""Inject a fault into a running testbed.

Faults of an OST: no_space (writes fail), no_objects (new files get no objects there), error RATE (this fraction of
accesses fails, 0 to 1), error_at BYTE (accesses to this byte of a file fail), late_error RATE (this fraction of
requests with cached writes fails, after the calls have returned), slow FACTOR, hung; well clears all of them. Fault of
a node: evicted (the node loses its locks and all data that it has not written back).

[bold]Examples[/bold]

  nacre testbed fault ost 3 no_space

  nacre testbed fault ost 3 well

  nacre testbed fault node 1 evicted
""")

END_SECONDS = 10  # time for a program to end after SIGTERM

DIRECTORY = typer.Argument(Path(testbed.DEFAULT_DIRECTORY), metavar="DIRECTORY", help="Directory of the mounts.")
AT = typer.Option(Path(testbed.DEFAULT_DIRECTORY), "--at", metavar="DIRECTORY", help="Directory of the mounts.")
RUN_AT = typer.Option(None, "--at", metavar="DIRECTORY", help="Directory of the mounts.")
SAME_AT = typer.Option(None, "--at", metavar="DIRECTORY", help="The same as the argument DIRECTORY.")
MACHINE = typer.Option(
    None, "--machine", metavar="NAME|FILE", help="Machine to emulate: one that comes with Nacre, or a machine file."
)
SET = typer.Option([], "--set", metavar="NAME=VALUE", help="Override a setting of the machine. Repeatable.")
NODES = typer.Option(None, "--nodes", metavar="N", help="Number of emulated nodes.")
OSTS = typer.Option(None, "--osts", metavar="C", help="Number of OSTs.")
OBJECTS = typer.Option(
    None, "--objects", metavar="PATH", help="Keep data in this directory, a new or empty one; default: in memory."
)


def register(app: typer.Typer) -> None:
    verbs = typer.Typer(help=HELP, no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]})
    verbs.command("up", help=UP_HELP, short_help="Start the emulated Lustre.")(up)
    verbs.command("down", short_help="Stop the emulated Lustre and discard its files.")(down)
    verbs.command("status", short_help="Show the traffic of OSTs and nodes.")(status)
    verbs.command("fault", help=FAULT_HELP, short_help="Inject a fault.")(fault)
    verbs.command(
        "run",
        help=RUN_HELP,
        short_help="Run an MPI program on the emulated nodes.",
        context_settings={"allow_interspersed_args": False},
    )(run)
    app.add_typer(verbs, name="testbed", short_help=HELP)


def _options(
    machine: str | None, assignments: list[str], nodes: int | None, osts: int | None, objects: str | None
) -> list[str]:
    """The command-line options for nacre-testbed."""
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
    print(f"The testbed runs, with {testbed.nodes_of(directory)} nodes: {directory}/0 and so on.")
    print("Nacre treats its files as files on Lustre if NACRE_TESTBED=1 is set; `nacre testbed run` sets it.")


def down(directory: Path = DIRECTORY, at: Path = SAME_AT) -> None:
    """Stop a testbed and discard its files."""
    testbed.down(at or directory)


def status(
    directory: Path = DIRECTORY,
    at: Path = SAME_AT,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    reset: bool = typer.Option(False, "--reset", help="Reset the counters, after printing them."),
    machine: bool = typer.Option(False, "--machine", help="Show the settings of the machine instead."),
) -> None:
    """Show the traffic of the OSTs and nodes of a testbed since it started or since --reset."""
    directory = at or directory
    if machine:
        text = testbed.machine(directory)
        print(json.dumps(tomllib.loads(text)) if as_json else text.rstrip("\n"))
        return
    counters = testbed.counters(directory)
    if as_json:
        print(json.dumps(counters))
    else:
        for kind, columns in counters.items():
            Console(emoji=False).print(_table(kind, columns))
    if reset:
        testbed.reset(directory)


def _table(kind: str, columns: dict[str, list[int]]) -> Table:
    table = Table(kind[:-1], *(name.replace("_", " ") for name in columns), box=None, header_style="bold")
    idle = 0
    for number, values in enumerate(zip(*columns.values())):
        if any(values):
            table.add_row(str(number), *(str(value) for value in values))
        else:
            idle += 1
    if idle:
        table.caption = f"{plural(idle, 'OST' if kind == 'osts' else 'node')} without traffic"
        table.caption_justify = "left"
    return table


def fault(
    words: list[str] = typer.Argument(metavar="FAULT", help="Fault, for example: ost 3 no_space."), directory: Path = AT
) -> None:
    try:
        testbed.inject(directory, " ".join(words))
    except ValueError as error:
        osts, nodes = len(testbed.counters(directory)["osts"]["clients"]), testbed.nodes_of(directory)
        advice = f"It has OSTs 0 to {osts - 1} and nodes 0 to {nodes - 1}; `nacre testbed fault --help` lists faults."
        raise UserError(f"unknown fault {str(error)!r}", advice) from error


def run(
    command: list[str] = run_options.COMMAND,
    at: Path = RUN_AT,
    machine: str = MACHINE,
    assignments: list[str] = SET,
    nodes: int = NODES,
    osts: int = OSTS,
    objects: str = OBJECTS,
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
    without_nacre: bool = typer.Option(
        False,
        "--without-nacre",
        help="Use the MPI's own MPI-IO. Of the options of `nacre run`, only --dry-run and --json apply.",
    ),
) -> None:
    options = run_options.RunOptions(hint, report, summary, top, disable, abi, posix, iobuf, dry_run, as_json)
    if without_nacre and options.are_for_nacre:
        raise UserError(
            "--without-nacre: no setting of Nacre would apply and nothing would be reported", "Omit one of the options."
        )
    if [Path(word).name for word in command[:2]] == ["nacre", "run"]:
        raise UserError(
            "nacre run: all ranks would be on one node; `nacre testbed run` spreads only the programs of a launcher",
            "Give the options to `nacre testbed run`, or: nacre run [OPTIONS] -- nacre testbed run -- LAUNCHER ...",
        )
    environment = inherited_environment()
    chosen = None if without_nacre else run_options.choose(options, environment)
    placing = _options(machine, assignments, nodes, osts, objects)
    directory = at or Path(testbed.DEFAULT_DIRECTORY)
    if testbed.is_up(directory) and placing:
        raise UserError(
            f"{placing[0]}: a testbed with its own settings already runs at {directory}",
            "Omit the option, or stop the testbed first: nacre testbed down.",
        )
    if dry_run:
        run_options.show(_launch(command, directory, chosen, abi, environment), environment, as_json)
        return
    with contextlib.ExitStack() as stack:
        if not testbed.is_up(directory):
            directory = stack.enter_context(testbed.serving(placing, at))
        _warn_of_one_node(command, directory)
        launch = _launch(command, directory, chosen, abi, environment)
        sys.stdout.flush()
        if chosen and chosen.summing:
            status = chosen.summing.of(chosen.settings[settings.RUN], launch.environ, lambda: _wait_for(launch))
        else:
            status = _wait_for(launch)
    raise typer.Exit(run_options.exit_code(status))


def _launch(
    command: list[str],
    directory: Path,
    chosen: run_options.Chosen | None,
    abi: str | None,
    environment: dict[str, str],
) -> launchers.Launch:
    """The command with its ranks on the nodes of a testbed that runs; without `chosen`, on the MPI's own MPI-IO."""
    words = [word.replace("{}", str(directory / testbed.RANK_MOUNT)) for word in command]
    counting = library.posix_path() if chosen and chosen.with_posix else ""
    words = launchers.started_through(words, testbed.rank_words(directory, testbed.nodes_of(directory), counting))
    if chosen is None:
        return launchers.Launch(words, dict(environment), None, [words])
    return launchers.prepare(words, chosen.settings, library.preload_path(abi), environment)


def _warn_of_one_node(command: list[str], directory: Path) -> None:
    """If a word of the command names the mount of one node: ranks of all nodes would use it, and only its link."""
    mount = re.compile(re.escape(str(directory)) + r"/(\d+)(?=/|$)")
    found = next((match for word in command if (match := mount.search(word))), None)
    if found is not None and testbed.nodes_of(directory) > 1:
        warn(
            f"{found[0]} is the mount of node {found[1]}, and all ranks access the file system through it; {{}} stands"
            " for the mount of each rank's own node"
        )


def _wait_for(launch: launchers.Launch) -> int:
    """Runs a command and returns its exit status. Ends the command if this process receives a signal."""
    try:
        process = subprocess.Popen(launch.argv, env=launch.environ)
    except OSError as error:
        raise UserError(f"cannot execute {launch.argv[0]}: {error.strerror}", code=EXIT_CANNOT_RUN) from error
    with process:
        try:
            return process.wait()
        except SystemExit:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=END_SECONDS)
            process.kill()
            raise
