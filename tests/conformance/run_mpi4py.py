#!/usr/bin/env python3
"""Runs the tests of mpi4py on files with Nacre over one MPI, at several rank counts, and counts the outcomes.

A run passes if
- every case passes on every rank,
- no case is skipped that the MPI alone runs,
- the cases of test_io and test_file that the suite skips for this MPI run and pass too.

    run_mpi4py.py --config build/mpi_test_config.json --suite build/mpi4py-4.1.2 --mpi openmpi4 --ranks 1 2 3 4 7

Debian's MPIs run with mpi4py from PyPI, which loads the given MPI library. For the standard ABI, mpi4py is built once
from its source package, under --work.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.fspath(pathlib.Path(__file__).resolve().parent.parent / "cmake"))
from mpi_run import Config, Job, Mpi, native_wanted, run  # noqa: E402

# All modules of the suite that use files (grep MPI.File test_*.py), and the modules on point-to-point calls, which
# Nacre intercepts too.
MODULES = (
    "test_io",
    "test_file",
    "test_errhandler",
    "test_errorcode",
    "test_exceptions",
    "test_handle",
    "test_info",
    "test_objmodel",
    "test_subclass",
    "test_datatype",
    "test_request",
    "test_grequest",
    "test_status",
    "test_p2p_buf",
    "test_p2p_buf_matched",
    "test_p2p_obj",
    "test_p2p_obj_matched",
)
HERE = pathlib.Path(__file__).resolve().parent


def library_path(name: str) -> str:
    """The path at which the system finds a shared library."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
    for line in known.splitlines():
        if line.split()[:1] == [name]:
            return os.path.realpath(line.split()[-1])
    raise SystemExit(f"{name} was not found by ldconfig")


def environment_for(mpi: Mpi, work: pathlib.Path) -> dict[str, str]:
    """Environment variables that make the mpi4py of mpi.python load this MPI."""
    if mpi.name == "mpich4":
        # The wheel's module needs libmpi.so.12; Debian names the same library libmpich.so.12.
        directory = work / "mpich4-lib"
        directory.mkdir(parents=True, exist_ok=True)
        link = directory / "libmpi.so.12"
        if not link.exists():
            link.symlink_to(library_path("libmpich.so.12"))
        return {"LD_LIBRARY_PATH": os.fspath(directory), "MPI4PY_LIBMPI": os.fspath(link)}
    if mpi.name == "openmpi4":
        return {"MPI4PY_LIBMPI": library_path("libmpi.so.40")}
    if mpi.name == "mpiabi":
        return {"PYTHONPATH": os.fspath(work / "mpi4py-mpiabi")}
    return {}


def files_in_test_directory() -> dict[str, str]:
    """What makes the suite create its files in NACRE_TEST_DIR."""
    directory = os.environ.get("NACRE_TEST_DIR")
    return {"TMPDIR": directory} if directory else {}


def build_for_standard_abi(mpi: Mpi, suite: pathlib.Path, work: pathlib.Path) -> None:
    """Builds mpi4py with libmpi_abi once. Several tests may call this concurrently."""
    site = work / "mpi4py-mpiabi"
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "mpi4py-mpiabi.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (site / "mpi4py" / "__init__.py").exists():
            return
        print("building mpi4py for the standard ABI", flush=True)
        with tempfile.TemporaryDirectory(dir=work) as scratch:
            source = pathlib.Path(scratch) / "source"
            target = pathlib.Path(scratch) / "site"
            shutil.copytree(suite, source)
            compiler = os.fspath(pathlib.Path(mpi.mpiexec).parent / "mpicc_abi")
            command = [mpi.python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, source]
            subprocess.run(command, check=True, env={**os.environ, "MPICC": compiler, "CFLAGS": "-O0"})
            target.rename(site)


@dataclasses.dataclass
class Run:
    """The outcomes of the cases of one launch: for each case, the worst outcome of all ranks."""

    status: int
    output: str
    ranks_reporting: int = 0
    vendor: str = ""
    served: int = -1
    outcomes: dict[str, str] = dataclasses.field(default_factory=dict)
    reasons: dict[str, str] = dataclasses.field(default_factory=dict)
    seconds: float = 0

    def merge(self, rank: int, report: dict) -> None:
        self.ranks_reporting += 1
        self.vendor = report["vendor"]
        self.served = report["served"] if self.served < 0 else min(self.served, report["served"])
        severity = {"passed": 0, "skipped": 1, "failed": 2}
        for case, outcome in report["outcomes"].items():
            if severity[outcome] >= severity[self.outcomes.get(case, "passed")]:
                self.outcomes[case] = outcome
                if case in report["reasons"]:
                    self.reasons[case] = f"rank {rank}: {report['reasons'][case]}"

    def cases(self, outcome: str) -> set[str]:
        return {case for case, found in self.outcomes.items() if found == outcome}


def launch(arguments: argparse.Namespace, mpi: Mpi, ranks: int, preload: str) -> Run:
    reports = pathlib.Path(tempfile.mkdtemp(prefix="nacre-mpi4py-"))
    every_file_case = "1" if preload or arguments.no_skip else "0"
    program = [mpi.python, HERE / "mpi4py_rank.py", arguments.suite / "test", reports, every_file_case]
    program += arguments.modules
    job = Job(
        mpi=mpi,
        ranks=ranks,
        program=list(map(os.fspath, program)),
        preload=preload,
        timeout=arguments.timeout,
        environment={**environment_for(mpi, arguments.work), **files_in_test_directory()},
        quiet=True,
    )
    begin = time.monotonic()
    result = Run(*run(job))
    result.seconds = time.monotonic() - begin
    for path in sorted(reports.iterdir()):
        result.merge(int(path.stem), json.loads(path.read_text(encoding="utf-8")))
    shutil.rmtree(reports)
    return result


def complaints(found: Run, ranks: int, native: Run | None, through_nacre: bool) -> list[str]:
    """Why this run failed; empty if it passed."""
    said = [f"{case}: {found.reasons[case].strip()}" for case in sorted(found.cases("failed"))]
    if found.status:
        said.append(f"exit status {found.status}; the end of the output:\n{found.output[-3000:]}")
    if found.ranks_reporting != ranks:
        said.append(f"{found.ranks_reporting} of {ranks} ranks reported")
    if through_nacre and found.served <= 0:
        said.append("no call was served by Nacre: the preload is not in effect")
    if native and found.ranks_reporting == ranks:
        lost = native.cases("passed") - found.cases("passed") - found.cases("failed")
        said += [f"{case}: the MPI alone runs it: {found.reasons.get(case, 'not run')}" for case in sorted(lost)]
    return said


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", required=True)
    parser.add_argument("--suite", type=pathlib.Path, required=True, help="mpi4py's source package, unpacked")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="directory for what is made once")
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3, 4, 7])
    parser.add_argument("--modules", nargs="+", choices=MODULES, default=MODULES, metavar="MODULE", help="only these")
    parser.add_argument("--timeout", type=float, default=1500, help="seconds for each launch")
    parser.add_argument("--native", action="store_true", help="the MPI alone")
    parser.add_argument("--no-skip", action="store_true", help="with --native: also what the suite skips for this MPI")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    config = Config.read(arguments.config)
    mpi = config.mpis[arguments.mpi]
    through_nacre = not (arguments.native or native_wanted())
    if not (arguments.suite / "test" / "test_io.py").exists():
        print(f"{arguments.suite} has no mpi4py source package; `make setup-test` unpacks it")
        return 1
    if mpi.name == "mpiabi":
        build_for_standard_abi(mpi, arguments.suite, arguments.work)
    # The cases that an MPI skips do not depend on the number of ranks.
    native = launch(arguments, mpi, 1, "") if through_nacre else None
    failed = False
    totals: collections.Counter[str] = collections.Counter()
    for ranks in arguments.ranks:
        found = launch(arguments, mpi, ranks, config.preload if through_nacre else "")
        counts = {outcome: len(found.cases(outcome)) for outcome in ("passed", "failed", "skipped")}
        totals.update(counts)
        more = len(found.cases("passed") - native.cases("passed")) if native else 0
        print(
            f"mpi4py on {mpi.name} ({found.vendor}), {ranks} ranks: {counts['passed']} passed, "
            f"{counts['failed']} failed, {counts['skipped']} skipped, {more} more than the MPI alone, "
            f"{found.seconds:.1f} s",
            flush=True,
        )
        for line in complaints(found, ranks, native, through_nacre):
            failed = True
            print("  " + line, flush=True)
    print(f"mpi4py on {mpi.name}: {totals['passed']} cases passed in all")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
