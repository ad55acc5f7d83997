#!/usr/bin/env python3
"""The dispatcher under one MPI: a program behaves as ever whether its calls go to Nacre or past it.

usage: dispatcher_test.py --run-module DIRECTORY --config mpi_test_config.json --mpi NAME --libraries DIRECTORY
                          --program passthrough --abi mpich|openmpi|mpiabi --calls-dlopen libcalls_dlopen.so
"""

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

PYTHON_PROGRAM = """
import ctypes, os
from mpi4py import MPI
name = os.path.join(os.environ["NACRE_TEST_SCRATCH"], "python.dat")
f = MPI.File.Open(MPI.COMM_WORLD, name, MPI.MODE_CREATE | MPI.MODE_RDWR)
f.Write_at(4 * MPI.COMM_WORLD.rank, b"abcd")
back = bytearray(4)
f.Read_at(4 * MPI.COMM_WORLD.rank, back)
f.Close()
assert back == b"abcd", back
assert ctypes.CDLL(None).nacre_calls_served() > 0
"""


@dataclass
class Case:
    """One way of running the program, and what is to come of it."""

    name: str
    program: list[str]
    preload: str
    complaints: int  # lines of Nacre's per rank
    environment: dict[str, str] = field(default_factory=dict)


def cases(arguments: argparse.Namespace, python: str, lonely: Path) -> list[Case]:
    dispatcher = str(arguments.libraries / "libnacre.so")
    library = str(arguments.libraries / f"libnacre_{arguments.abi}.so")
    served = [str(arguments.program), "served"]
    unserved = [str(arguments.program), "unserved"]
    found = [
        Case("served through the dispatcher", served, dispatcher, 0),
        Case("served by the library itself", served, library, 0),
        Case("disabled", unserved, dispatcher, 0, {"NACRE_DISABLE": "1"}),
        Case("the library is missing", unserved, str(lonely), 1),
        Case("another library calls dlopen", served, f"{dispatcher}:{arguments.calls_dlopen}", 0),
    ]
    if arguments.mpi in ("mpich5", "openmpi5"):
        found.append(Case("Python", [python, "-c", PYTHON_PROGRAM], dispatcher, 0))
    return found


def check(mpi_run, mpi, case: Case, ranks: int) -> bool:
    job = mpi_run.Job(
        mpi=mpi,
        ranks=ranks,
        program=case.program,
        preload=case.preload,
        environment=case.environment,
        quiet=True,
    )
    status, text = mpi_run.run(job)
    complaints = sum(line.startswith("nacre:") for line in text.splitlines())
    good = status == 0 and complaints == ranks * case.complaints
    print(f"{'ok' if good else 'FAILED'}: {case.name}, {ranks} ranks")
    if not good:
        print(f"exit status {status}, {complaints} lines of Nacre's; output:\n{text}")
    return good


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--run-module", required=True)
    parser.add_argument("--config", required=True)
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--libraries", type=Path, required=True)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--abi", required=True)
    parser.add_argument("--calls-dlopen", required=True)
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    sys.path.insert(0, arguments.run_module)
    import mpi_run

    mpi = mpi_run.Config.read(arguments.config).mpis[arguments.mpi]
    dispatcher = arguments.libraries / "libnacre.so"
    with tempfile.TemporaryDirectory() as directory:
        lonely = Path(shutil.copy(dispatcher, directory))
        results = [check(mpi_run, mpi, case, 2) for case in cases(arguments, mpi.python, lonely)]
    print(f"{len(results)} cases, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
