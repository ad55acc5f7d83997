"""The command line of nacre-bench."""

from __future__ import annotations

import argparse
import os
import signal
import sys

from . import check, machine, matrix, overlap, race
from .compare import compare_text
from .config import Config, read_config
from .contenders import Contender, all_contenders, choose, parse_pairs, preloads
from .errors import BenchError
from .overhead import NAME, launch_overhead, overhead_text, with_default_hints
from .patterns import NAME as PATTERNS
from .patterns import command as patterns_command
from .patterns import run as patterns_run
from .patterns.text import patterns_text
from .report import collective_text
from .results import FORMAT, ResultFile, library_digest, read_result, resumed
from .schedule import Hooks, Job, Plan, launch_worker, ours_failed, run_plan
from .units import MIB
from .values import numbers, positive, sizes, words
from .workloads import Workload, find_workload, known_workloads

EXIT_FAILED = 1
EXIT_USAGE = 2

EPILOG = """examples:
  nacre-bench list
  nacre-bench collective --out today.json
  nacre-bench collective --workloads interleaved,hard --ranks 4,8 --contenders 'N/*,M5t,O5R,ref'
  nacre-bench collective --preload old=/tmp/old/libnacre.so --preload new=build/lib/libnacre.so
  nacre-bench collective --hosts 4 --workloads interleaved,tile8
  nacre-bench peers --out peers.json
  nacre-bench overhead
  nacre-bench patterns --machine ranger --switch-off osts.client_cost=0 --out ranger.json --plot ranger.svg
  nacre-bench patterns --dir /lustre/scratch --osts 8,32 --aggregators 0.5x,1x,2x
  nacre-bench overlap --latency-us 2000 --bandwidth-mib 300 --cycles 256k,4m
  nacre-bench run --workload subarray3d --contender N/M5 --ranks 8
  nacre-bench compare yesterday.json today.json

The exit status is 1 if ours fails or a byte of ours is wrong, and 2 for a wrong command line. A peer that fails makes
`run` alone fail."""


def add_run_options(parser: argparse.ArgumentParser, rounds: int) -> None:
    parser.add_argument("--rounds", type=positive, default=rounds, help="launches of each (default %(default)s)")
    parser.add_argument("--dir", default="/dev/shm", help="where files are made (default %(default)s)")
    parser.add_argument("--out", metavar="FILE.json", help="write everything measured to this file, as it is measured")
    parser.add_argument("--resume", action="store_true", help="go on with what --out has from an interrupted run")
    parser.add_argument("--seed", type=int, default=1, help="of the order of launches (default %(default)s)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds a launch (default %(default)s)")
    parser.add_argument(
        "--preload", action="append", default=[], metavar="[NAME=]FILE", help="library to measure as ours"
    )
    parser.add_argument("--hint", action="append", default=[], metavar="KEY=VALUE", help="hint for ours")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")


def add_size_options(parser: argparse.ArgumentParser, repeats: int = 2) -> None:
    parser.add_argument("--size-mib", type=positive, default=256, help="of the file (default %(default)s)")
    parser.add_argument("--repeats", type=positive, default=repeats, help="a launch, that count (default %(default)s)")
    parser.add_argument("--warmups", type=int, default=1, help="a launch, that do not (default %(default)s)")
    parser.add_argument("--sync", action="store_true", help="MPI_File_sync before the close, timed")


def add_phase_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--phase", choices=("total", "data"), default="total", help="what GiB/s is of (default %(default)s)"
    )


def add_hosts_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--hosts", type=positive, default=0, metavar="N", help="spread the ranks over N hosts in namespaces, over TCP"
    )


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nacre-bench",
        description="Measures MPI-IO with and without Nacre side by side, and checks every byte.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--config", help=argparse.SUPPRESS)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    verbs.add_parser("list", help="the workloads, the contenders and their settings").set_defaults(act=act_list)

    collective = verbs.add_parser("collective", help="ours and the peers in turn, with ratios")
    collective.add_argument("--workloads", type=words, default=["interleaved", "subarray3d"], help="comma-separated")
    collective.add_argument("--ranks", type=numbers, default=[8], help="comma-separated (default 8)")
    collective.add_argument("--contenders", type=words, default=[], help="names or patterns, comma-separated")
    add_hosts_option(collective)
    add_size_options(collective)
    add_phase_option(collective)
    add_run_options(collective, rounds=5)
    collective.set_defaults(act=act_collective)

    peers = verbs.add_parser("peers", help="every workload against every peer: long, with a summary at the end")
    peers.add_argument("--workloads", type=words, default=[], help="these cells alone, comma-separated")
    peers.add_argument("--ranks", type=numbers, default=[], help="these cells alone, comma-separated")
    peers.add_argument("--contenders", type=words, default=[], help="names or patterns, comma-separated")
    add_hosts_option(peers)
    add_size_options(peers, repeats=1)
    add_phase_option(peers)
    add_run_options(peers, rounds=5)
    peers.add_argument(
        "--keep-all",
        action="store_true",
        help=f"in all rounds; else peers that are far behind after {race.ROUNDS} are left out of the rest",
    )
    peers.set_defaults(act=act_peers)

    one = verbs.add_parser("run", help="one workload by one contender, without anything to compare")
    one.add_argument("--workload", required=True)
    one.add_argument("--contender", required=True)
    one.add_argument("--ranks", type=positive, default=8)
    add_hosts_option(one)
    add_size_options(one)
    add_phase_option(one)
    add_run_options(one, rounds=1)
    one.set_defaults(act=act_run)

    overhead = verbs.add_parser(NAME, help="open and close, tiny writes, time and memory of views")
    overhead.add_argument("--ranks", type=positive, default=2, help="(default %(default)s)")
    overhead.add_argument("--contenders", type=words, default=[], help="names or patterns, comma-separated")
    overhead.add_argument("--repeats", type=positive, default=2, help="multiplies what a launch repeats")
    add_run_options(overhead, rounds=5)
    overhead.set_defaults(act=act_overhead)

    beside = verbs.add_parser(
        overlap.NAME, help="a collective over a slow store against its exchange and its file time"
    )
    beside.add_argument("--workloads", type=words, default=["tile8"], help="comma-separated (default tile8)")
    beside.add_argument("--ranks", type=numbers, default=[8], help="comma-separated (default 8)")
    beside.add_argument("--contenders", type=words, default=["*/M5"], help="of ours (default */M5)")
    beside.add_argument("--latency-us", type=int, default=1000, help="of a call of the store (default %(default)s)")
    beside.add_argument(
        "--bandwidth-mib", type=positive, default=400, help="a second and process (default %(default)s)"
    )
    beside.add_argument("--aggregators", type=positive, default=2, help="(default %(default)s)")
    beside.add_argument("--cycles", type=sizes, default=[256 << 10, 1 << 20, 4 << 20], help="bytes, k or m, of a round")
    beside.add_argument("--buffers", type=int, default=0, help="hint nacre_cycle_buffers; 0: automatic")
    add_size_options(beside)
    add_hosts_option(beside)
    add_run_options(beside, rounds=5)
    beside.set_defaults(act=act_overlap)

    patterns = patterns_command.add_parser(verbs)
    add_run_options(patterns, rounds=3)
    patterns.set_defaults(act=act_patterns, timeout=300)

    small = verbs.add_parser("check", help="small runs of all workloads, for their bytes alone")
    small.add_argument("--mpi", required=True)
    variant = small.add_mutually_exclusive_group(required=True)
    variant.add_argument("--native", action="store_true", help="the MPI alone")
    variant.add_argument("--preload", action="store_true", help="under Nacre")
    small.add_argument("--ranks", type=numbers, default=list(check.RANKS))
    small.add_argument("--timeout", type=float, default=90)
    small.add_argument("--damage", type=int, metavar="OFFSET", help="change this byte: it must be found")
    small.set_defaults(act=act_check)

    compare = verbs.add_parser("compare", help="two results, as ratios of the second to the first")
    compare.add_argument("first")
    compare.add_argument("second")
    add_phase_option(compare)
    compare.set_defaults(act=act_compare)

    show = verbs.add_parser("show", help="the text of a result")
    show.add_argument("result")
    add_phase_option(show)
    patterns_command.add_plot_option(show)
    show.set_defaults(act=act_show)
    return parser


def contenders_for(config: Config, arguments: argparse.Namespace, patterns: list[str]) -> list[Contender]:
    libraries = preloads(config, arguments.preload)
    if not libraries:
        print(f"nacre-bench: no {config.preload}: the peers are measured alone", file=sys.stderr)
    everyone = all_contenders(config, libraries, parse_pairs(arguments.hint, "--hint"))
    return choose([one for one in everyone if one.fits(getattr(arguments, "hosts", 0))], patterns)


def result_of(kind: str, config: Config, arguments: argparse.Namespace, contenders: list[Contender]) -> dict:
    """A result without launches; taken before them, for the load of the machine."""
    names = "workloads ranks hosts size_mib rounds repeats warmups sync seed timeout hint dir".split()
    names += "latency_us bandwidth_mib aggregators cycles buffers keep_all".split()
    names += "machine set switch_off switched_rounds osts patterns redistributed stripe_size mib_per_ost".split()
    settings = {name: getattr(arguments, name) for name in names if hasattr(arguments, name)}
    if kind == PATTERNS:
        settings["aggregators"] = [one.text for one in arguments.aggregators]
    facts = machine.describe(arguments.dir)
    result = {
        "format": FORMAT,
        "kind": kind,
        "version": config.version,
        "started": facts["time"],
        "machine": facts,
        "settings": settings,
        "contenders": [contender.describe() for contender in contenders],
        "libraries": {c.preload: library_digest(c.preload) for c in contenders if c.preload},
        "launches": [],
    }
    if arguments.resume and not arguments.out:
        raise BenchError("--resume: which run? --out FILE.json says it")
    return resumed(result, arguments.out) if arguments.resume and os.path.exists(arguments.out) else result


def measure(result: dict, arguments: argparse.Namespace, plan: Plan, launch) -> None:
    """Adds the launches that the result does not have."""
    file = ResultFile(result, arguments.out)
    try:
        run_plan(plan, Hooks(launch, file.add, before=list(result["launches"])))
    finally:
        file.save()


def finish(result: dict, text: str, out: str | None) -> int:
    print(text)
    if out:
        print(f"\nAll samples: {out}")
    failed = ours_failed(result["launches"], result["contenders"])
    for entry in failed[:1]:
        print(
            f"nacre-bench: {len(failed)} launches of ours failed, first {entry['contender']} in {entry['workload']} at "
            f"{entry['ranks']} ranks: {entry['error']}",
            file=sys.stderr,
        )
    return EXIT_FAILED if failed else 0


def act_list(config: Config, arguments: argparse.Namespace) -> int:
    print("Workloads:")
    for workload in known_workloads(config).values():
        print(f"  {workload.name:<12} {workload.summary}")
    print("\nContenders:")
    for contender in all_contenders(config, preloads(config, []), {}):
        hints = " ".join(f"{key}={value}" for key, value in contender.hints.items())
        suffix = f"; hints {hints}" if hints else ""
        print(f"  {contender.name:<12} {contender.role}: {contender.about}, {contender.mpi.name}{suffix}")
    if not preloads(config, []):
        print(f"  (none of ours: no {config.preload})")
    return 0


def jobs_for(config: Config, arguments: argparse.Namespace, cells: list[tuple[str, int]]) -> list[Job]:
    """One a cell: a workload, and about at how many ranks."""
    known = known_workloads(config)
    return [job_for(find_workload(known, name), ranks, arguments) for name, ranks in cells]


def job_for(workload: Workload, ranks: int, arguments: argparse.Namespace) -> Job:
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
    config: Config, arguments: argparse.Namespace, contenders: list[Contender], cells: list[tuple[str, int]]
) -> dict:
    jobs = jobs_for(config, arguments, cells)
    result = result_of("collective", config, arguments, contenders)
    plan = Plan(jobs, contenders, arguments.rounds, arguments.seed, arguments.dir, arguments.quiet)
    plan.races = not getattr(arguments, "keep_all", True)
    measure(result, arguments, plan, launch_worker)
    return result


def act_collective(config: Config, arguments: argparse.Namespace) -> int:
    contenders = contenders_for(config, arguments, arguments.contenders)
    cells = [(workload, ranks) for workload in arguments.workloads for ranks in arguments.ranks]
    result = measure_cells(config, arguments, contenders, cells)
    return finish(result, collective_text(result, arguments.phase), arguments.out)


def act_peers(config: Config, arguments: argparse.Namespace) -> int:
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
        raise BenchError("the matrix has no such cell")
    result = measure_cells(config, arguments, contenders, cells)
    return finish(result, collective_text(result, arguments.phase), arguments.out)


def act_run(config: Config, arguments: argparse.Namespace) -> int:
    contenders = contenders_for(config, arguments, [arguments.contender])
    result = measure_cells(config, arguments, contenders, [(arguments.workload, arguments.ranks)])
    status = finish(result, collective_text(result, arguments.phase), arguments.out)
    return status or (EXIT_FAILED if any(entry["error"] for entry in result["launches"]) else 0)


def act_overhead(config: Config, arguments: argparse.Namespace) -> int:
    contenders = with_default_hints(contenders_for(config, arguments, arguments.contenders))
    result = result_of(NAME, config, arguments, contenders)
    job = Job(Workload(NAME), arguments.ranks, bytes=MIB, repeats=arguments.repeats, timeout_s=arguments.timeout)
    plan = Plan([job], contenders, arguments.rounds, arguments.seed, arguments.dir, arguments.quiet)
    measure(result, arguments, plan, launch_overhead)
    return finish(result, overhead_text(result), arguments.out)


def act_overlap(config: Config, arguments: argparse.Namespace) -> int:
    ours = overlap.of_ours(contenders_for(config, arguments, arguments.contenders))
    cells = [(workload, ranks) for workload in arguments.workloads for ranks in arguments.ranks]
    jobs = jobs_for(config, arguments, cells)
    chosen = overlap.contenders(ours, vars(arguments))
    result = result_of(overlap.NAME, config, arguments, chosen)
    plan = Plan(jobs, chosen, arguments.rounds, arguments.seed, arguments.dir, arguments.quiet)
    measure(result, arguments, plan, launch_worker)
    return finish(result, overlap.overlap_text(result), arguments.out)


def act_patterns(config: Config, arguments: argparse.Namespace) -> int:
    result = result_of(PATTERNS, config, arguments, patterns_run.contenders(config, arguments))
    file = ResultFile(result, arguments.out)
    try:
        patterns_run.Run(config, arguments, list(result["launches"])).run(file.add)
    finally:
        file.save()
    status = finish(result, patterns_text(result), arguments.out)
    if arguments.plot and patterns_command.draw(config, result, arguments.plot):
        print(f"Figure: {arguments.plot}")
    return status


def act_check(config: Config, arguments: argparse.Namespace) -> int:
    return 0 if check.check(config, arguments) else EXIT_FAILED


def act_compare(config: Config, arguments: argparse.Namespace) -> int:
    print(compare_text((arguments.first, arguments.second), arguments.phase))
    return 0


def act_show(config: Config, arguments: argparse.Namespace) -> int:
    result = read_result(arguments.result)
    if result["kind"] == NAME:
        print(overhead_text(result))
    elif result["kind"] == overlap.NAME:
        print(overlap.overlap_text(result))
    elif result["kind"] == PATTERNS:
        print(patterns_text(result))
        if arguments.plot:
            patterns_command.draw(config, result, arguments.plot)
    else:
        print(collective_text(result, arguments.phase))
    return 0


def main(argv: list[str] | None = None, default_config: str | None = None) -> int:
    arguments = build_parser().parse_args(argv)
    # Ended either way, a run keeps what it has measured and leaves no file behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return arguments.act(read_config(arguments.config or default_config), arguments)
    except BenchError as error:
        print(f"nacre-bench: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        # Whoever read the text has seen enough; what Python flushes at its end has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("nacre-bench: interrupted", file=sys.stderr)
        return 130
