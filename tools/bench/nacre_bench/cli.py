"""The command line of nacre-bench."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

try:
    import typer
except ModuleNotFoundError as missing:
    sys.exit(f"nacre-bench: {missing}. Run `make setup`, or `pip install typer rich` for {sys.executable}.")
from nacre.text import unwrapped

from . import check, machine, matrix, options, overlap, posix
from .choice import NAME as CHOICE
from .choice import run as choice_run
from .choice import virtual
from .choice.cases import chosen_cases
from .choice.text import choice_text
from .compare import compare_text
from .config import Config, read_config
from .contenders import Contender, all_contenders, choose, parse_pairs, preloads
from .errors import BenchError
from .growth import NAME as GROWTH
from .growth import run as growth_run
from .overhead import NAME, launch_overhead, overhead_text, with_default_hints
from .patterns import NAME as PATTERNS
from .patterns import plot
from .patterns import run as patterns_run
from .patterns.text import patterns_text
from .published import NAME as PUBLISHED
from .published import run as published_run
from .report import collective_text
from .results import ResultFile, ResultLines, head, library_digest, read_result, resumed
from .scale import NAME as SCALE
from .scale import run as scale_run
from .schedule import Hooks, Job, Plan, launch_worker, ours_failed, run_plan
from .simulated import NAME as SIMULATED
from .simulated import run as simulated_run
from .simulated.text import simulated_text
from .units import MIB
from .workloads import Workload, find_workload, known_workloads

EXIT_FAILED = 1
EXIT_USAGE = 2

HELP = unwrapped("""Measure MPI-IO with and without Nacre side by side, and check every byte.

[bold]Examples[/bold]

  nacre-bench list

  nacre-bench collective --out today.json

  nacre-bench collective --workloads interleaved,hard --ranks 4,8 --contenders 'N/*,M5t,O5R,ref'

  nacre-bench collective --preload old=/tmp/old/libnacre.so --preload new=build/lib/libnacre.so

  nacre-bench collective --hosts 4 --workloads interleaved,tile8

  nacre-bench peers --out peers.json

  nacre-bench overhead

  nacre-bench patterns --machine ranger --switch-off osts.client_cost=0 --out ranger.json --plot ranger.svg

  nacre-bench patterns --dir /lustre/scratch --osts 8,32 --aggregators 0.5x,1x,2x

  nacre-bench choice --cases 'ranger/*/16x8/*' --out choice.jsonl

  nacre-bench simulated --cases 'ranger/*' --out simulated.jsonl

  nacre-bench published --out papers.md

  nacre-bench growth --machine tests/data/machines/cluster.toml --plot growth.svg

  nacre-bench scale --machine tests/data/machines/cluster.toml --out scale.md

  nacre-bench overlap --latency-us 2000 --bandwidth-mib 300 --cycles 256k,4m

  nacre-bench posix --machine ranger --access 1k

  nacre-bench run --workload subarray3d --contender N/M5 --ranks 8

  nacre-bench compare yesterday.json today.json

[bold]Exit codes[/bold]  0: success; 1: a launch of Nacre failed or wrote a wrong byte (`run`: a launch of any
contender); 2: wrong command line; 130: interrupted.
""")


def contenders_for(config: Config, arguments: options.Launches, patterns: list[str]) -> list[Contender]:
    libraries = preloads(config, arguments.preload)
    if not libraries:
        print(f"nacre-bench: {config.preload} does not exist: Nacre is not measured. Run `make`.", file=sys.stderr)
    everyone = all_contenders(config, libraries, parse_pairs(arguments.hint, "--hint"))
    return choose([one for one in everyone if one.fits(getattr(arguments, "hosts", 0))], patterns)


def result_of(kind: str, config: Config, arguments: options.Launches, contenders: list[Contender]) -> dict:
    """A result without launches, or with --resume the result in the --out file. Called before the first launch,
    because it records the load of the machine."""
    names = "virtual against workloads ranks hosts size_mib rounds repeats warmups sync seed timeout hint dir".split()
    names += "latency_us bandwidth_mib aggregators cycles buffers keep_all".split()
    names += "machine set switch_off switched_rounds osts patterns redistributed stripe_size mib_per_ost".split()
    settings = {name: getattr(arguments, name) for name in names if hasattr(arguments, name)}
    if kind == PATTERNS:
        settings["aggregators"] = [one.text for one in arguments.aggregators]
    result = {
        **head(kind, config.version, machine.describe(arguments.dir)),
        "settings": settings,
        "contenders": [contender.describe() for contender in contenders],
        "libraries": {c.preload: library_digest(c.preload) for c in contenders if c.preload},
        "launches": [],
    }
    if arguments.resume and not arguments.out:
        raise BenchError("--resume needs --out FILE.json, the result of the run to continue")
    return resumed(result, arguments.out) if arguments.resume and os.path.exists(arguments.out) else result


def measure(result: dict, arguments: options.Launches, plan: Plan, launch) -> None:
    """Runs the launches of the plan that `result` lacks, and adds them to it."""
    file = ResultFile(result, arguments.out)
    try:
        run_plan(plan, Hooks(launch, file.add, before=list(result["launches"])))
    finally:
        file.save()


def show(text: str, out: str | None) -> None:
    print(text)
    if out:
        print(f"\nAll samples: {out}")


def finish(result: dict, text: str, out: str | None) -> int:
    show(text, out)
    failed = ours_failed(result["launches"], result["contenders"])
    for entry in failed[:1]:
        print(
            f"nacre-bench: {len(failed)} launches of Nacre failed. The first: {entry['contender']}, "
            f"{entry['workload']}, {entry['ranks']} ranks: {entry['error']}",
            file=sys.stderr,
        )
    return EXIT_FAILED if failed else 0


def act_list(config: Config, arguments: options.Nothing) -> int:
    print("Workloads:")
    for workload in known_workloads(config).values():
        print(f"  {workload.name:<12} {workload.summary}")
    print("\nContenders:")
    for contender in all_contenders(config, preloads(config, []), {}):
        hints = " ".join(f"{key}={value}" for key, value in contender.hints.items())
        suffix = f"; hints {hints}" if hints else ""
        print(f"  {contender.name:<12} {contender.role}: {contender.about}, {contender.mpi.name}{suffix}")
    if not preloads(config, []):
        print(f"  (no contender with Nacre: {config.preload} does not exist)")
    return 0


def jobs_for(config: Config, arguments: options.Collectives, cells: list[tuple[str, int]]) -> list[Job]:
    """One job per cell, a workload and a wanted number of ranks. `job_for` may change that number."""
    known = known_workloads(config)
    return [job_for(find_workload(known, name), ranks, arguments) for name, ranks in cells]


def job_for(workload: Workload, ranks: int, arguments: options.Collectives) -> Job:
    return Job(
        workload=workload,
        ranks=workload.nearest_ranks(ranks),
        bytes=arguments.size_mib * MIB,
        warmups=arguments.warmups,
        repeats=arguments.repeats,
        sync=arguments.sync,
        timeout_s=arguments.timeout,
        hosts=arguments.hosts,
    )


def measure_cells(
    config: Config, arguments: options.Collectives, contenders: list[Contender], cells: list[tuple[str, int]]
) -> dict:
    jobs = jobs_for(config, arguments, cells)
    result = result_of("collective", config, arguments, contenders)
    plan = Plan(jobs, contenders, arguments.rounds, arguments.seed, arguments.dir, arguments.quiet)
    plan.races = not getattr(arguments, "keep_all", True)
    measure(result, arguments, plan, launch_worker)
    return result


def act_collective(config: Config, arguments: options.Collective) -> int:
    contenders = contenders_for(config, arguments, arguments.contenders)
    cells = [(workload, ranks) for workload in arguments.workloads for ranks in arguments.ranks]
    result = measure_cells(config, arguments, contenders, cells)
    return finish(result, collective_text(result, arguments.phase), arguments.out)


def act_peers(config: Config, arguments: options.Peers) -> int:
    contenders = contenders_for(config, arguments, arguments.contenders)
    if not arguments.contenders:
        contenders = matrix.contenders(contenders)
    known = known_workloads(config)
    for name in arguments.workloads:
        find_workload(known, name)
    cells = [
        (workload, ranks)
        for workload, ranks in matrix.cells(known)
        if (not arguments.workloads or workload in arguments.workloads)
        and (not arguments.ranks or ranks in arguments.ranks)
    ]
    if not cells:
        raise BenchError("no cell of the table matches --workloads and --ranks")
    result = measure_cells(config, arguments, contenders, cells)
    return finish(result, collective_text(result, arguments.phase), arguments.out)


def act_run(config: Config, arguments: options.One) -> int:
    contenders = contenders_for(config, arguments, [arguments.contender])
    result = measure_cells(config, arguments, contenders, [(arguments.workload, arguments.ranks)])
    status = finish(result, collective_text(result, arguments.phase), arguments.out)
    return status or (EXIT_FAILED if any(entry["error"] for entry in result["launches"]) else 0)


def act_overhead(config: Config, arguments: options.Overhead) -> int:
    contenders = with_default_hints(contenders_for(config, arguments, arguments.contenders))
    result = result_of(NAME, config, arguments, contenders)
    job = Job(Workload(NAME), arguments.ranks, bytes=MIB, repeats=arguments.repeats, timeout_s=arguments.timeout)
    plan = Plan([job], contenders, arguments.rounds, arguments.seed, arguments.dir, arguments.quiet)
    measure(result, arguments, plan, launch_overhead)
    return finish(result, overhead_text(result), arguments.out)


def act_overlap(config: Config, arguments: options.Overlap) -> int:
    ours = overlap.of_ours(contenders_for(config, arguments, arguments.contenders))
    cells = [(workload, ranks) for workload in arguments.workloads for ranks in arguments.ranks]
    jobs = jobs_for(config, arguments, cells)
    chosen = overlap.contenders(ours, vars(arguments))
    result = result_of(overlap.NAME, config, arguments, chosen)
    plan = Plan(jobs, chosen, arguments.rounds, arguments.seed, arguments.dir, arguments.quiet)
    measure(result, arguments, plan, launch_worker)
    return finish(result, overlap.overlap_text(result), arguments.out)


def act_posix(config: Config, arguments: options.Posix) -> int:
    result = posix.empty_result(config, arguments)
    file = ResultFile(result, arguments.out)
    try:
        posix.run(config, arguments, file.add)
    finally:
        file.save()
    show(posix.posix_text(result), arguments.out)
    return EXIT_FAILED if posix.errors_of(result) else 0


def act_patterns(config: Config, arguments: options.Patterns) -> int:
    result = result_of(PATTERNS, config, arguments, patterns_run.contenders(config, arguments))
    file = ResultFile(result, arguments.out)
    try:
        patterns_run.Run(config, arguments, list(result["launches"])).run(file.add)
    finally:
        file.save()
    status = finish(result, patterns_text(result), arguments.out)
    if arguments.plot and plot.draw(result, arguments.plot):
        print(f"Figure: {arguments.plot}")
    return status


def act_choice(config: Config, arguments: options.Choice) -> int:
    if arguments.list_cases:
        names = (case.name for case in chosen_cases(arguments.cases, arguments.file_system, arguments.ranks))
        print("\n".join(names))
        return 0
    if arguments.virtual:
        result = result_of(CHOICE, config, arguments, [])
        virtual.Run(config, arguments, result["launches"]).run(ResultLines(result, arguments.out).add)
        return finish(result, choice_text(result), arguments.out)
    result = result_of(CHOICE, config, arguments, [choice_run.contender(config, arguments)])
    # --resume measures cases that failed again.
    result["launches"] = [entry for entry in result["launches"] if not entry["error"]]
    run = choice_run.Run(config, arguments, result["launches"])
    not_begun = run.run(ResultLines(result, arguments.out).add)
    status = finish(result, choice_text(result), arguments.out)
    if not_begun:
        print(f"nacre-bench: --max-seconds: {not_begun} cases were not begun; --resume measures them", file=sys.stderr)
    return status


def act_simulated(config: Config, arguments: options.Simulated) -> int:
    result = result_of(SIMULATED, config, arguments, [choice_run.contender(config, arguments)])
    # --resume measures cases that failed again.
    result["launches"] = [entry for entry in result["launches"] if not entry["error"]]
    run = simulated_run.Run(config, arguments, result["launches"])
    run.run(ResultLines(result, arguments.out).add)
    return finish(result, simulated_text(result), arguments.out)


def act_published(config: Config, arguments: options.Published) -> int:
    print(published_run.run(config, arguments))
    return 0


def act_growth(config: Config, arguments: options.Growth) -> int:
    print(growth_run.run(config, arguments))
    return 0


def act_scale(config: Config, arguments: options.Scale) -> int:
    print(scale_run.run(config, arguments))
    return 0


def act_check(config: Config, arguments: options.Check) -> int:
    if arguments.native == arguments.preload:
        raise BenchError("check: exactly one of --native and --preload is needed")
    return 0 if check.check(config, arguments) else EXIT_FAILED


def act_compare(config: Config, arguments: options.Compare) -> int:
    print(compare_text((arguments.first, arguments.second), arguments.phase))
    return 0


def act_show(config: Config, arguments: options.Show) -> int:
    result = read_result(arguments.result)
    if result["kind"] == NAME:
        print(overhead_text(result))
    elif result["kind"] == overlap.NAME:
        print(overlap.overlap_text(result))
    elif result["kind"] == posix.NAME:
        print(posix.posix_text(result))
    elif result["kind"] == CHOICE:
        print(choice_text(result))
    elif result["kind"] == SIMULATED:
        print(simulated_text(result))
    elif result["kind"] == PATTERNS:
        print(patterns_text(result))
        if arguments.plot:
            plot.draw(result, arguments.plot)
    else:
        print(collective_text(result, arguments.phase))
    return 0


@dataclasses.dataclass(frozen=True)
class Verb:
    name: str
    options: type
    act: Callable[[Config, Any], int]
    help: str


VERBS = (
    Verb("list", options.Nothing, act_list, "List the workloads, the contenders and their settings."),
    Verb("collective", options.Collective, act_collective, "Measure Nacre and the peers in turn, and print ratios."),
    Verb(
        "peers",
        options.Peers,
        act_peers,
        "Measure every workload with Nacre and every peer (over an hour), and print a summary.",
    ),
    Verb("run", options.One, act_run, "Measure one workload with one contender."),
    Verb(
        NAME,
        options.Overhead,
        act_overhead,
        "Measure the time of open and close, of 4-byte writes, and of setting views.",
    ),
    Verb(
        overlap.NAME,
        options.Overlap,
        act_overlap,
        "Measure how well a collective call overlaps its exchange with the access to a slow store.",
    ),
    Verb(
        posix.NAME,
        options.Posix,
        act_posix,
        "Measure small writes and reads of one process with and without the buffers of nacre run --iobuf.",
    ),
    Verb(
        PATTERNS,
        options.Patterns,
        act_patterns,
        "Measure the N-OST patterns and the collective call of the MPI itself.",
    ),
    Verb(
        CHOICE,
        options.Choice,
        act_choice,
        "Compare the plan that Nacre chooses without a hint with the best hints, in 222 cases (over an hour).",
    ),
    Verb(
        SIMULATED,
        options.Simulated,
        act_simulated,
        "Compare the times that nacre simulate predicts with those that the testbed measures.",
    ),
    Verb(
        PUBLISHED,
        options.Published,
        act_published,
        "Simulate the papers' experiments on their machines in virtual time, and write a page.",
    ),
    Verb(
        GROWTH,
        options.Growth,
        act_growth,
        "Show what grows with the ranks of a job: messages, peers, bytes and memory, in virtual time.",
    ),
    Verb(
        SCALE,
        options.Scale,
        act_scale,
        "Show what a rank of a job of a million ranks sends and holds (two minutes, 7 GB of memory).",
    ),
    Verb("check", options.Check, act_check, "Run all workloads at a small size and check every byte."),
    Verb("compare", options.Compare, act_compare, "Print the ratios of the second result to the first."),
    Verb("show", options.Show, act_show, "Print a result again."),
)


def status_of(act: Callable[[], int]) -> int:
    # SIGTERM raises KeyboardInterrupt, so that a terminated run saves its measurements and removes its files.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return act()
    except BenchError as error:
        print(f"nacre-bench: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        # The reader closed the pipe. Python flushes standard output at exit, which would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("nacre-bench: interrupted", file=sys.stderr)
        return 130


def main(argv: list[str] | None = None, default_config: str | None = None) -> None:
    app = typer.Typer(
        help=HELP,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    config_path = default_config

    @app.callback()
    def top(config: str = typer.Option(None, "--config", hidden=True)) -> None:
        nonlocal config_path
        config_path = config or default_config

    def register(verb: Verb) -> None:
        def act(chosen: object) -> None:
            raise typer.Exit(status_of(lambda: verb.act(read_config(config_path), chosen)))

        app.command(verb.name, help=verb.help)(options.command(verb.options, act))

    for verb in VERBS:
        register(verb)
    app(argv, prog_name="nacre-bench")
