#!/usr/bin/env python3
"""Runs one MPI test program as the tests want it: the ranks get the preload, the launcher does not; more
ranks than cores yield to each other; the program gets a scratch directory of its own; a hang ends.

    mpi_run.py --config mpi_test_config.json --mpi mpich4 -n 4 [--hosts 2] [--native] -- PROGRAM ARGS

The configuration is written by NacreMpiTest.cmake. In the environment:
NACRE_TEST_NATIVE=1   the MPI alone, without the preload (as --native)
NACRE_TEST_DIR        where files are made (default: the system's temporary directory)
NACRE_TEST_RANK_WORDS what stands before the command of each rank (tests/lustre/on_clients.sh)
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "hosts"))

import nacre_hosts  # noqa: E402

SKIP = nacre_hosts.UNAVAILABLE


@dataclasses.dataclass
class Mpi:
    """One MPI on this machine, as the configuration describes it."""

    name: str
    family: str  # "mpich" or "openmpi"
    mpiexec: str
    python: str = ""
    environment: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Config:
    mpis: dict[str, Mpi]
    preload: str

    @staticmethod
    def read(path: os.PathLike | str) -> Config:
        data = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        mpis = {name: Mpi(name=name, **fields) for name, fields in data["mpis"].items()}
        return Config(mpis=mpis, preload=data["preload"])


def native_wanted() -> bool:
    return os.environ.get("NACRE_TEST_NATIVE", "0") not in ("", "0")


def launcher(mpi: Mpi, ranks: int) -> list[str]:
    command = [mpi.mpiexec]
    if mpi.family == "openmpi":
        command += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
    return [*command, "-n", str(ranks)]


def launcher_environment(mpi: Mpi) -> dict[str, str]:
    environment = dict(os.environ)
    environment.pop("LD_PRELOAD", None)
    if mpi.family == "openmpi":
        environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
        environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    else:
        environment["MPIR_CVAR_POLLS_BEFORE_YIELD"] = "1"
    return environment


def scratch_directory() -> str:
    return tempfile.mkdtemp(prefix="nacre-test-", dir=os.environ.get("NACRE_TEST_DIR"))


def end_group(process: subprocess.Popen) -> None:
    """Ends the launcher and what it started; launchers need a moment to end their ranks."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            continue


@dataclasses.dataclass
class Job:
    mpi: Mpi
    ranks: int
    program: list[str]
    preload: str = ""
    timeout: float = 600
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    quiet: bool = False
    hosts: int = 0  # in namespaces, the ranks spread over them; 0: the ranks are where the launcher is
    preload_too: str = ""


def preload_list(job: Job) -> str:
    """What a test brings along stands before Nacre, whose functions it may call, and after a sanitizer, which has to
    be the first."""
    *sanitizers, nacre = job.preload.split(":")
    return ":".join(library for library in [*sanitizers, job.preload_too, nacre] if library)


def rank_environment(job: Job, scratch: str) -> list[str]:
    """The `env` command that the launcher starts, which starts the program."""
    variables = {**job.mpi.environment, **job.environment, "NACRE_TEST_SCRATCH": scratch}
    if preload_list(job):
        variables["LD_PRELOAD"] = preload_list(job)
    if job.preload:
        variables["NACRE_TEST_EXPECT"] = "1"
    return ["env", *(f"{name}={value}" for name, value in variables.items())]


def command_line(job: Job, scratch: str) -> list[str]:
    where = nacre_hosts.over_hosts(job.hosts, job.ranks, scratch) if job.hosts else []
    words = [*os.environ.get("NACRE_TEST_RANK_WORDS", "").split(), *rank_environment(job, scratch)]
    return [*where, *launcher(job.mpi, job.ranks), *words, *job.program]


def run(job: Job) -> tuple[int, str]:
    """The exit status (124: ended for taking too long) and, if quiet, the output."""
    scratch = scratch_directory()
    output = subprocess.PIPE if job.quiet else None
    process = subprocess.Popen(
        command_line(job, scratch),
        env=launcher_environment(job.mpi),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if job.quiet else None,
        start_new_session=True,
        text=True,
        errors="replace",
    )
    try:
        text, _ = process.communicate(timeout=job.timeout)
        return process.returncode, text or ""
    except subprocess.TimeoutExpired:
        end_group(process)
        text, _ = process.communicate()
        return 124, (text or "") + f"\nended: still running after {job.timeout:g} s\n"
    finally:
        if process.poll() is None:
            end_group(process)
        shutil.rmtree(scratch, ignore_errors=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", required=True)
    parser.add_argument("--mpi", required=True)
    parser.add_argument("-n", dest="ranks", type=int, required=True)
    parser.add_argument("--hosts", type=int, default=0, help="in namespaces, to spread the ranks over")
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--native", action="store_true")
    parser.add_argument("--native-fails", default="", help="why the MPI alone does not pass this one")
    parser.add_argument("--preload-too", default="", metavar="LIBRARY", help="before Nacre, or without it")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    arguments.program = arguments.program[1:] if arguments.program[:1] == ["--"] else arguments.program
    return arguments


def main() -> int:
    # Ended from outside, it ends its ranks too: run() cleans up on the way out.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    arguments = parse_arguments()
    config = Config.read(arguments.config)
    native = arguments.native or native_wanted()
    if native and arguments.native_fails:
        print(f"skipped: {arguments.mpi} alone does not pass: {arguments.native_fails}")
        return SKIP
    if not native and not os.path.exists(config.preload.split(":")[-1]):
        print(f"{config.preload} is not there: build the library, or set NACRE_TEST_NATIVE=1 for the MPI alone")
        return 1
    job = Job(
        mpi=config.mpis[arguments.mpi],
        ranks=arguments.ranks,
        program=arguments.program,
        preload="" if native else config.preload,
        timeout=arguments.timeout,
        environment=dict(item.split("=", 1) for item in arguments.env),
        hosts=arguments.hosts,
        preload_too=arguments.preload_too,
    )
    status, text = run(job)
    if text:
        print(text, end="")
    if status not in (0, SKIP):
        print(f"{arguments.mpi}, {arguments.ranks} ranks, exit status {status}: {' '.join(arguments.program)}")
    return status


if __name__ == "__main__":
    sys.exit(main())
