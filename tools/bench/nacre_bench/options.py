"""The options of each verb as a dataclass. typer parses the command line; the function of the verb gets the object."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal

import typer

from . import race
from .choice.search import EARLY_ROUNDS, HINTS, MPI
from .patterns.cells import aggregators
from .values import at_least, numbers, one_or_more, positive, size_bytes, sizes, words

Act = Callable[[Any], None]


def option(default: object, help: str | None = None, **parameters: object) -> Any:
    """A dataclass field that is an option. If `parser` is given, the default is a text that it parses."""
    if isinstance(default, list):
        return dataclasses.field(default_factory=list, metadata={"typer": typer.Option, "help": help, **parameters})
    return dataclasses.field(default=default, metadata={"typer": typer.Option, "help": help, **parameters})


def argument(help: str) -> Any:
    return dataclasses.field(metadata={"typer": typer.Argument, "help": help})


REQUIRED = dataclasses.MISSING


@dataclasses.dataclass(kw_only=True)
class Phase:
    phase: Literal["total", "data"] = option(
        "total", "Time for GiB/s: from open to close, or the data calls and set_view only."
    )


@dataclasses.dataclass(kw_only=True)
class Launches:
    """Options of every verb that measures."""

    rounds: Any = option("5", "Launches of each contender.", parser=positive, metavar="N")
    dir: str = option("/dev/shm", "Directory in which the files are created.")
    out: str | None = option(
        None, "Write all measurements to this file, repeatedly during the run.", metavar="FILE.json"
    )
    resume: bool = option(False, "Continue the interrupted run that wrote the --out file.")
    seed: int = option(1, "Seed for the order of the launches.")
    timeout: float = option(120, "Time limit of a launch in seconds.")
    preload: list[str] = option(
        [], "Nacre library to measure; default: that of the build tree. Repeatable.", metavar="[NAME=]FILE"
    )
    hint: list[str] = option([], "Hint for the launches of Nacre. Repeatable.", metavar="KEY=VALUE")
    quiet: bool = option(False, "Print no progress on standard error.")


@dataclasses.dataclass(kw_only=True)
class Collectives(Launches):
    """Options of the verbs that run workloads."""

    hosts: Any = option(
        None,
        "Spread the ranks over N emulated hosts (namespaces) that communicate over TCP.",
        parser=positive,
        metavar="N",
    )
    size_mib: Any = option("256", "File size in MiB.", parser=positive, metavar="N")
    repeats: Any = option("2", "Counted repeats in a launch.", parser=positive, metavar="N")
    warmups: int = option(1, "Warm-up repeats in a launch; not counted.")
    sync: bool = option(False, "Call MPI_File_sync before the close, and include its time.")

    def __post_init__(self) -> None:
        self.hosts = self.hosts or 0  # 0: this machine, no namespaces


@dataclasses.dataclass(kw_only=True)
class Collective(Collectives, Phase):
    workloads: Any = option("interleaved,subarray3d", "Workloads.", parser=words, metavar="NAME,...")
    ranks: Any = option("8", "Numbers of ranks.", parser=numbers, metavar="N,...")
    contenders: Any = option("", "Names or patterns; default: all.", parser=words, metavar="NAME,...")


@dataclasses.dataclass(kw_only=True)
class Peers(Collectives, Phase):
    workloads: Any = option("", "Only these workloads.", parser=words, metavar="NAME,...")
    ranks: Any = option("", "Only these numbers of ranks.", parser=numbers, metavar="N,...")
    contenders: Any = option(
        "", "Names or patterns; default: all but MPICH 4, O4Rt, O5Rt.", parser=words, metavar="NAME,..."
    )
    repeats: Any = option("1", "Counted repeats in a launch.", parser=positive, metavar="N")
    keep_all: bool = option(
        False,
        f"Launch every peer in every round. By default, from round {race.ROUNDS} on, peers far behind are dropped.",
    )


@dataclasses.dataclass(kw_only=True)
class One(Collectives, Phase):
    workload: str = option(REQUIRED, "Workload.", metavar="NAME")
    contender: str = option(REQUIRED, "Contender.", metavar="NAME")
    ranks: Any = option("8", "Number of ranks.", parser=positive, metavar="N")
    rounds: Any = option("1", "Launches.", parser=positive, metavar="N")


@dataclasses.dataclass(kw_only=True)
class Overhead(Launches):
    ranks: Any = option("2", "Number of ranks.", parser=positive, metavar="N")
    contenders: Any = option("", "Names or patterns; default: all.", parser=words, metavar="NAME,...")
    repeats: Any = option("2", "Factor that multiplies the repeats in a launch.", parser=positive, metavar="N")


@dataclasses.dataclass(kw_only=True)
class Overlap(Collectives):
    workloads: Any = option("tile8", "Workloads.", parser=words, metavar="NAME,...")
    ranks: Any = option("8", "Numbers of ranks.", parser=numbers, metavar="N,...")
    contenders: Any = option("*/M5", "Nacre contenders.", parser=words, metavar="NAME,...")
    latency_us: int = option(1000, "Latency of each access to the store, in microseconds.")
    bandwidth_mib: Any = option(
        "400", "Bandwidth of each process to the store, in MiB/s.", parser=positive, metavar="N"
    )
    aggregators: Any = option("2", "Number of aggregators.", parser=positive, metavar="N")
    cycles: Any = option("256k,1m,4m", "Bytes per round (cb_buffer_size).", parser=sizes, metavar="SIZE,...")
    buffers: int = option(0, "Value of the hint nacre_cycle_buffers; 0: automatic.")


@dataclasses.dataclass(kw_only=True)
class Posix:
    machine: str | None = option(
        None, "Start a testbed with the model of this machine, instead of --dir.", metavar="NAME|FILE"
    )
    set: list[str] = option([], "Change a setting of the machine. Repeatable.", metavar="NAME=VALUE")
    dir: str = option("/dev/shm", "Directory in which the file is created.")
    access: Any = option("1k", "Bytes of each write and read.", parser=size_bytes, metavar="SIZE")
    size_mib: Any = option("16", "File size in MiB.", parser=positive, metavar="N")
    iobuf: str = option("size=4m", "Settings of the buffers, as in NACRE_IOBUF.", metavar="KEY=VALUE:...")
    rounds: Any = option("5", "Writes and reads, without and with buffers.", parser=positive, metavar="N")
    seed: int = option(1, "Seed for the order.")
    timeout: float = option(120, "Time limit of a write or read in seconds.")
    out: str | None = option(None, "Write all measurements to this file.", metavar="FILE.json")
    quiet: bool = option(False, "Print no progress on standard error.")


@dataclasses.dataclass(kw_only=True)
class Plot:
    plot: str | None = option(
        None, "Draw a figure with matplotlib; FILE may also end in .png or .pdf.", metavar="FILE.svg"
    )


@dataclasses.dataclass(kw_only=True)
class Patterns(Launches, Plot):
    machine: str | None = option(
        None, "Start a testbed with the model of this machine, instead of --dir.", metavar="NAME|FILE"
    )
    set: list[str] = option([], "Change a setting of the machine for all launches. Repeatable.", metavar="NAME=VALUE")
    switch_off: list[str] = option(
        [], "Also measure writes with this setting of the machine changed. Repeatable.", metavar="NAME=VALUE"
    )
    switched_rounds: Any = option(
        "1", "Launches of each contender with a --switch-off setting.", parser=positive, metavar="N"
    )
    osts: Any = option("8,16,24", "Numbers of OSTs.", parser=numbers, metavar="N,...")
    aggregators: Any = option(
        "0.5x,1x,2x",
        "Numbers of aggregators, or multiples of the number of OSTs.",
        parser=aggregators,
        metavar="N|Nx,...",
    )
    patterns: Any = option(
        "1,2,4,8,16", "N of the N-OST patterns: OSTs per aggregator.", parser=numbers, metavar="N,..."
    )
    redistributed: Any = option("1", "N of the patterns that two-phase writes too.", parser=numbers, metavar="N,...")
    stripe_size: Any = option(
        None, "Stripe size; default: that of the machine, or 1m with --dir.", parser=size_bytes, metavar="SIZE"
    )
    mib_per_ost: Any = option("8", "MiB of the file on each OST.", parser=positive, metavar="N")
    contenders: Any = option("", "Names or patterns; default: */M5, M5 and O5.", parser=words, metavar="NAME,...")
    rounds: Any = option("3", "Launches of each contender.", parser=positive, metavar="N")
    timeout: float = option(300, "Time limit of a launch in seconds.")

    def __post_init__(self) -> None:
        self.stripe_size = self.stripe_size or 0  # 0: that of the machine


@dataclasses.dataclass(kw_only=True)
class Choice(Launches):
    cases: Any = option("", "Names or patterns of cases; default: all.", parser=words, metavar="GLOB,...")
    file_system: Any = option(
        "", "Only cases on these: local, or a machine of the testbed.", parser=words, metavar="NAME,..."
    )
    ranks: Any = option("", "Only cases with these numbers of ranks.", parser=numbers, metavar="N,...")
    contender: str = option("*/M5", "Nacre contender; if several match, the first.", metavar="NAME")
    rounds: Any = option(
        "8",
        f"Rounds of the automatic choice and of the best settings; at least {sum(EARLY_ROUNDS) + 1}.",
        parser=at_least(sum(EARLY_ROUNDS) + 1),
        metavar="N",
    )
    against: Any = option(
        HINTS,
        f"What the automatic choice is compared with: {HINTS} of Nacre, {MPI} (the MPI itself, with and without "
        "hints; it has to be MPICH), or both.",
        parser=one_or_more(HINTS, MPI),
        metavar=f"{HINTS},{MPI}",
    )
    max_seconds: float | None = option(None, "Begin no case after this time; --resume continues.")
    timeout: float = option(30, "Time limit of a launch in seconds; the setting that exceeds it is left out.")
    virtual: bool = option(
        False, "Simulate the cases of emulated machines in virtual time instead (minutes; --rounds does not matter)."
    )
    list_cases: bool = option(False, "Print the names of the chosen cases, and measure nothing.")


@dataclasses.dataclass(kw_only=True)
class Simulated(Launches):
    cases: Any = option("", "Names or patterns of cases; default: all writes.", parser=words, metavar="GLOB,...")
    contender: str = option("*/M5", "Nacre contender; if several match, the first.", metavar="NAME")
    rounds: Any = option("3", "Repeats of each setting.", parser=positive, metavar="N")
    timeout: float = option(180, "Time limit of a launch in seconds.")


@dataclasses.dataclass(kw_only=True)
class Published:
    out: str | None = option(None, "Also write the page to this file.", metavar="FILE.md")
    quiet: bool = option(False, "Print no progress on standard error.")


@dataclasses.dataclass(kw_only=True)
class Growth:
    machine: str = option(REQUIRED, "Machine file.", metavar="FILE")
    nodes: int = option(1024, "Most nodes of a job.", metavar="N")
    out: str | None = option(None, "Also write the page to this file.", metavar="FILE.md")
    plot: str | None = option(None, "Draw the figures against the ranks.", metavar="FILE.svg")
    quiet: bool = option(False, "Print no progress on standard error.")


@dataclasses.dataclass(kw_only=True)
class Scale:
    machine: str = option(REQUIRED, "Machine file.", metavar="FILE")
    nodes: int = option(15_625, "Nodes of the job, of 64 ranks each.", metavar="N")
    osts: int = option(2_000, "OSTs of the machine.", metavar="N")
    out: str | None = option(None, "Also write the page to this file.", metavar="FILE.md")
    quiet: bool = option(False, "Print no progress on standard error.")


@dataclasses.dataclass(kw_only=True)
class Check:
    mpi: str = option(REQUIRED, "MPI to run over.", metavar="NAME")
    native: bool = option(False, "Run over the MPI without Nacre.")
    preload: bool = option(False, "Run with Nacre.")
    ranks: Any = option("1,3", "Numbers of ranks.", parser=numbers, metavar="N,...")
    timeout: float = option(600, "Time limit of a launch in seconds.")
    damage: int | None = option(
        None,
        "Change the byte at this offset of the file; the check passes only if the worker finds it.",
        metavar="OFFSET",
    )


@dataclasses.dataclass(kw_only=True)
class Compare(Phase):
    first: str = argument("Result to compare with.")
    second: str = argument("Result whose ratios to the first are printed.")


@dataclasses.dataclass(kw_only=True)
class Show(Phase, Plot):
    result: str = argument("Result of an earlier run.")


@dataclasses.dataclass(kw_only=True)
class Nothing:
    pass


def command(options: type, act: Act) -> Callable[..., None]:
    """A function whose signature makes typer create a command with these options. It calls `act` with the options."""
    types = typing.get_type_hints(options)

    def call(**values: object) -> None:
        act(options(**values))

    parameters = []
    for field in dataclasses.fields(options):
        metadata = dict(field.metadata)
        declare = metadata.pop("typer")
        names = [f"--{field.name.replace('_', '-')}"] if declare is typer.Option else []
        default = inspect.Parameter.empty if field.default is REQUIRED else field.default
        if field.default_factory is not REQUIRED:
            default = field.default_factory()
        annotation = Annotated[types[field.name], declare(*names, **metadata)]
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(field.name, keyword, default=default, annotation=annotation))
    call.__signature__ = inspect.Signature(parameters)
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call
