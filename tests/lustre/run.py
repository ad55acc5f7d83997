#!/usr/bin/env python3
"""Runs the tests that access files on a mounted file system, and counts them by suite, clients, ranks and MPI.

    run.py --build build --mount /lustre/scratch/me [--second /mnt/second/scratch/me]

`make test-mount`, `make test-lustre` and `make test-ceph` call it (docs/testing.md). It needs no compiler and only the
standard library of Python, so that it also runs in a tree that `make pack-lustre` has packed, where
BUILD/lustre_tests.json stands for ctest.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cmake"))

import mpi_run  # noqa: E402

ON_CLIENTS = pathlib.Path(__file__).with_name("on_clients.sh").resolve()
RANKS = (2, 3, 4)
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
PROGRAM = re.compile(r"conformance/(?P<name>[^/]+)/(?P<mpi>[^/]+)/(?P<ranks>\d+)")
# The tests of layouts, by the type of the mount; elsewhere those of Lustre.
LAYOUTS = {"ceph": "ceph", "fuse.ceph-fuse": "ceph"}
LUSTRE_LAYOUTS = "layout_hints|stripe"
# What these test is not the file system of NACRE_TEST_DIR.
ELSEWHERE = re.compile(
    r"conformance/(hosts_|nodes/|differential_oracle|limits_(tmpfs|readonly|shm)|differential_striped)"
)
# On CephFS aggregators, and groups on several nodes, have whole objects of 4 MiB; these tests expect stripes of 64 KiB.
NOT_ON_CEPH = re.compile("conformance/(faults_2/|(groups|groups_2_a_node)/.*, 2 clients)")
# Settings of the library under which random programs run too. They give files 4 stripes, and domains of one stripe.
STRIPED = {"NACRE_LAYOUT": "-c 4 -S 64k", "NACRE_SATURATION_BYTES": "1k", "NACRE_ALGORITHM": "two_phase"}
VARIANTS = {
    "striped": STRIPED,
    "components": {**STRIPED, "NACRE_LAYOUT": "-E 128k -c 3 -S 64k -E -1 -c 2"},
    "turns": {**STRIPED, "NACRE_PATTERN": "stripes"},
    "narrow": {**STRIPED, "NACRE_WRITE_LOCKS": "narrow"},
    "ahead": {**STRIPED, "NACRE_WRITE_LOCKS": "ahead"},
    "group": {**STRIPED, "NACRE_WRITE_LOCKS": "group"},
    "direct": {**STRIPED, "NACRE_DIRECT_READ": "true", "NACRE_DIRECT_WRITE": "true"},
}
VARIANT_CASES = 12


@dataclasses.dataclass
class Test:
    """One command to run, on one client or on two."""

    name: str
    suite: str
    command: list[str]
    mpi: str = "-"
    ranks: int = 0  # 0: the test starts programs at several numbers of ranks
    clients: int = 1
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    timeout: float = 600

    @property
    def title(self) -> str:
        return f"{self.name}, {self.clients} client{'s' if self.clients > 1 else ''}"


def registered_tests(build: pathlib.Path) -> list[dict]:
    """The tests of ctest, their properties by name."""
    if shutil.which("ctest"):
        ctest = ["ctest", "--test-dir", str(build), "--show-only=json-v1"]
        listed = subprocess.run(ctest, check=True, capture_output=True, text=True).stdout
    else:
        listed = (build / "lustre_tests.json").read_text(encoding="utf-8")
    tests = []
    for test in json.loads(listed)["tests"]:
        properties = {one["name"]: one["value"] for one in test.get("properties", [])}
        if "command" in test:
            tests.append({**properties, "name": test["name"], "command": with_this_python(test["command"])})
    return tests


def with_this_python(command: list[str]) -> list[str]:
    """Without the Python of the machine that built the tests, if this machine does not have it."""
    is_missing = pathlib.Path(command[0]).name.startswith("python") and not os.path.exists(command[0])
    return [sys.executable, *command[1:]] if is_missing else command


def with_option(command: list[str], option: str, value: object) -> list[str]:
    changed = list(command)
    changed[changed.index(option) + 1] = str(value)
    return changed


def conformance_tests(tests: list[dict], with_long: bool) -> Iterator[Test]:
    """Each program at 2, 3 and 4 ranks. A program that is registered at one number of ranks needs that number."""
    families = collections.defaultdict(dict)
    for test in tests:
        found = PROGRAM.fullmatch(test["name"])
        left_out = ELSEWHERE.match(test["name"]) or "--native" in test["command"]
        if found and not left_out and (with_long or "long" not in test["LABELS"]):
            families[found["name"], found["mpi"]][int(found["ranks"])] = test
    for (name, mpi), by_ranks in families.items():
        one = next(iter(by_ranks.values()))
        suite = "differential" if name.startswith("differential") else "conformance"
        for ranks in sorted(by_ranks) if len(by_ranks) == 1 else RANKS:
            command = with_option(one["command"], "-n", ranks)
            yield Test(f"{suite}/{name}/{mpi}/{ranks}", suite, command, mpi, ranks, timeout=one["TIMEOUT"])


def variant_tests(tests: list[dict]) -> Iterator[Test]:
    for test in tests:
        found = PROGRAM.fullmatch(test["name"])
        if not found or found["name"] not in {f"differential_{ranks}" for ranks in RANKS}:
            continue
        for variant, variables in VARIANTS.items():
            command = with_option(test["command"], "--cases", VARIANT_CASES)
            place = command.index("--")
            command[place:place] = [f"--env={name}={value}" for name, value in variables.items()]
            name = f"differential/{variant}/{found['mpi']}/{found['ranks']}"
            yield Test(name, "differential", command, found["mpi"], int(found["ranks"]), timeout=test["TIMEOUT"])


def with_ranks(suite: str, command: list[str]) -> list[str]:
    """At 2, 3 and 4 ranks, if the command starts programs at several numbers of ranks."""
    words = [str(ranks) for ranks in RANKS]
    if suite == "mpi4py":
        first = command.index("--ranks") + 1
        last = next(place for place in range(first, len(command) + 1) if not "".join(command[place:][:1]).isdecimal())
        return [*command[:first], *words, *command[last:]]
    return [*command, "--ranks", ",".join(words)] if suite == "workloads" else command


def other_tests(tests: list[dict], mount_type: str, with_long: bool) -> Iterator[Test]:
    """The store's unit tests, the tests of layouts, the benchmark's workloads, and the suites of other projects."""
    suites = {
        r"unit/(store)": "store",
        rf"system/({LAYOUTS.get(mount_type, LUSTRE_LAYOUTS)})": "layouts",
        r"bench/workloads/([^/]+)/preload": "workloads",
        r"conformance/mpi4py_files/([^/]+)": "mpi4py",
    }
    if with_long:
        suites[r"conformance/hdf5_testpar/([^/]+)"] = "hdf5"
    for test in tests:
        for pattern, suite in suites.items():
            found = re.fullmatch(pattern, test["name"])
            if found:
                mpi = found[1] if suite in ("workloads", "mpi4py", "hdf5") else "-"
                command = with_ranks(suite, test["command"])
                variables = dict(one.split("=", 1) for one in test.get("ENVIRONMENT", []))
                yield Test(test["name"], suite, command, mpi, 0, 1, variables, test.get("TIMEOUT", 600))


def on_two_clients(test: Test) -> Test | None:
    """None if the test starts no ranks."""
    if test.suite == "store" or test.name == "system/stripe":
        return None
    return dataclasses.replace(test, clients=2)


def selected_tests(arguments: argparse.Namespace, mpis: list[str]) -> list[Test]:
    registered = registered_tests(arguments.build)
    mounted = mount_type(arguments.mount)
    left_out = NOT_ON_CEPH if LAYOUTS.get(mounted) == "ceph" else None
    one_client = [
        *other_tests(registered, mounted, arguments.long),
        *conformance_tests(registered, arguments.long),
        *variant_tests(registered),
    ]
    two_clients = [test for test in map(on_two_clients, one_client) if test] if arguments.second else []
    chosen = [
        test
        for test in [*one_client, *two_clients]
        if test.mpi in ("-", *mpis) and test.clients in arguments.clients and re.search(arguments.only, test.title)
        if not (left_out and left_out.match(test.title))
    ]
    if arguments.resume and arguments.out.exists():
        done = {json.loads(line)["test"] for line in arguments.out.read_text(encoding="utf-8").splitlines()}
        chosen = [test for test in chosen if test.title not in done]
    return chosen


def present_mpis(arguments: argparse.Namespace) -> list[str]:
    """The MPIs that the tests were built for and that this machine has."""
    present = []
    for name, mpi in mpi_run.Config.read(arguments.build / "mpi_test_config.json").mpis.items():
        if arguments.mpis and name not in arguments.mpis:
            continue
        if shutil.which(mpi.mpiexec):
            present.append(name)
        else:
            print(f"{name} is left out: this machine has no {mpi.mpiexec}")
    return present


def run_test(test: Test, arguments: argparse.Namespace, directory: str) -> tuple[str, str]:
    """The outcome and the output."""
    timeout = test.timeout * arguments.patience
    environment = {**os.environ, **test.environment, "NACRE_TEST_DIR": directory, "PYTHONDONTWRITEBYTECODE": "1"}
    if test.clients > 1:
        second = arguments.second / os.path.relpath(directory, arguments.mount)
        environment["NACRE_TEST_SECOND"] = str(second)
        environment["NACRE_TEST_RANK_WORDS"] = f"{ON_CLIENTS} {directory} {second}"
    command = test.command
    if "--timeout" in command[: command.index("--") if "--" in command else 0]:
        command = with_option(command, "--timeout", timeout)
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        errors="replace",
    )
    try:
        text, _ = process.communicate(timeout=timeout + 60)
    except subprocess.TimeoutExpired:
        mpi_run.end_group(process)
        text, _ = process.communicate()
        return FAILED, f"{text}\nended: still running after {timeout + 60:g} s\n"
    outcomes = {0: PASSED, mpi_run.SKIP: SKIPPED}
    return outcomes.get(process.returncode, FAILED), text


def cases_in(suite: str, text: str) -> str:
    """What the test says of its own cases."""
    patterns = {"layouts": r"\d+ passed.* in ", "mpi4py": r"mpi4py on .*", "differential": r"differential: .*"}
    found = re.findall(patterns[suite], text) if suite in patterns else []
    return f" ({'; '.join(one.removesuffix(' in ') for one in found)})" if found else ""


def run_tests(tests: list[Test], arguments: argparse.Namespace) -> dict[tuple, collections.Counter]:
    """The number of tests by outcome, of each suite, clients, ranks and MPI."""
    counts: dict[tuple, collections.Counter] = collections.defaultdict(collections.Counter)
    for number, test in enumerate(tests, 1):
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(
            prefix="nacre-tests-", dir=arguments.mount, ignore_cleanup_errors=True
        ) as directory:
            outcome, text = run_test(test, arguments, directory)
        seconds = time.monotonic() - begin
        counts[test.suite, test.clients, test.ranks, test.mpi][outcome] += 1
        cases = cases_in(test.suite, text)
        print(f"{number}/{len(tests)} {outcome}: {test.title}, {seconds:.0f} s{cases}", flush=True)
        if outcome == FAILED or arguments.verbose:
            print(text, flush=True)
        elif outcome == SKIPPED:
            print("".join(f"    {line}\n" for line in text.splitlines() if "skip" in line), end="", flush=True)
        if arguments.out:
            line = {"test": test.title, "outcome": outcome, "seconds": round(seconds, 1)}
            with arguments.out.open("a", encoding="utf-8") as out:
                print(json.dumps({**line, "output": text} if outcome == FAILED else line), file=out)
    return counts


def print_counts(counts: dict[tuple, collections.Counter]) -> None:
    total: collections.Counter = collections.Counter()
    print(f"\n{'suite':14}{'clients':>8}{'ranks':>6}  {'MPI':10}{PASSED:>8}{FAILED:>8}{SKIPPED:>8}")
    for (suite, clients, ranks, mpi), found in sorted(counts.items()):
        total += found
        numbers = "".join(f"{found[outcome]:>8}" for outcome in (PASSED, FAILED, SKIPPED))
        print(f"{suite:14}{clients:>8}{ranks or '-':>6}  {mpi:10}{numbers}")
    print(f"{total[PASSED]} passed, {total[FAILED]} failed, {total[SKIPPED]} skipped")


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tree = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--build", type=pathlib.Path, default=tree / "build", help="build tree")
    parser.add_argument("--mount", type=pathlib.Path, required=True, help="directory for the tests' files")
    parser.add_argument("--second", type=pathlib.Path, help="the same directory in a second mount on this machine")
    parser.add_argument("--clients", type=numbers, default=[1, 2], help="1, 2 or 1,2 (default)")
    parser.add_argument("--mpis", type=lambda text: text.split(","), default=[], help="default: all that are here")
    parser.add_argument("--only", default="", metavar="REGEX", help="run the tests whose title matches")
    parser.add_argument("--long", action="store_true", help="also run the long tests and HDF5's own")
    parser.add_argument("--patience", type=float, default=1, help="factor of all time limits, for slow machines")
    parser.add_argument("--out", type=pathlib.Path, help="append a line of JSON for each test")
    parser.add_argument("--resume", action="store_true", help="leave out the tests that --out has a line of")
    parser.add_argument("--list", action="store_true", help="print the titles only")
    parser.add_argument("--verbose", action="store_true", help="print the output of passed tests too")
    arguments = parser.parse_args()
    if arguments.resume and not arguments.out:
        parser.error("--resume needs --out")
    arguments.mount = arguments.mount.resolve()
    arguments.second = arguments.second and arguments.second.resolve()
    return arguments


def mount_type(directory: pathlib.Path) -> str:
    """For example lustre; empty if it is unknown."""
    number = mount_of(directory)
    for line in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.split()[0] == number:
            return line.partition(" - ")[2].partition(" ")[0]
    return ""


def mount_of(directory: pathlib.Path) -> str:
    """The kernel's number of the mount. All mounts of a Lustre have the same st_dev."""
    opened = os.open(directory, os.O_RDONLY)
    try:
        about = pathlib.Path(f"/proc/self/fdinfo/{opened}").read_text(encoding="ascii")
    finally:
        os.close(opened)
    return next(line.split()[1] for line in about.splitlines() if line.startswith("mnt_id:"))


def why_not_two_clients(mount: pathlib.Path, second: pathlib.Path) -> str:
    """Why the two directories do not serve as one directory of two clients; empty if they do."""
    if mount_of(mount) == mount_of(second):
        return f"{mount} and {second} are in the same mount, so they are one client"
    with tempfile.NamedTemporaryFile(prefix="nacre-tests-", dir=mount) as probe:
        if not (second / pathlib.Path(probe.name).name).exists():
            return f"a file in {mount} is not in {second}"
    user = [] if os.getuid() == 0 else ["--map-root-user"]
    probe = subprocess.run(["unshare", *user, "--mount", "--uts", "true"], capture_output=True, text=True, check=False)
    return probe.stderr.strip() if probe.returncode else ""


def main() -> int:
    # Ended from outside, it ends the test in progress and removes its files on the way out.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    arguments = parse_arguments()
    if arguments.second and (why := why_not_two_clients(arguments.mount, arguments.second)):
        print(f"--second {arguments.second}: no second client: {why}", file=sys.stderr)
        return 2
    tests = selected_tests(arguments, present_mpis(arguments))
    if arguments.list:
        print(*(test.title for test in tests), sep="\n")
        return 0
    if not tests:
        print("no test is selected", file=sys.stderr)
        return 2
    counts = run_tests(tests, arguments)
    print_counts(counts)
    return 1 if any(found[FAILED] for found in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
