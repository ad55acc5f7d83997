"""Runs the parts of CI, after `make setup-dev` (see .ci/run): `ci.py [PART]...` runs the named parts, or all parts but
those that run on request only.

The end of the output of a failed part is printed again at the end, where a log that is cut still has it.

The last line counts tests. A part without a JUnit file of ctest counts as one test. A part that fails without a failed
test, for example in the compiler, counts as one failed test. A failed part does not stop the next parts. A part that
cannot run here counts as one skipped test; the lines above the last one have the reason.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from count_tests import Counts, counts_of  # noqa: E402

FUZZ_SECONDS = 60
SIMULATION_SECONDS = 60
LAST_LINES = 30  # of a failed part, printed again
SKIP = 77  # exit status of a part without a JUnit file that cannot run here; it has printed "skipped: REASON"
SKIP_PREFIX = "skipped: "
CEPH_FOLDER = "/tmp/nacre-ceph"  # as in the Makefile
SOURCE = Path(__file__).resolve().parents[1]
BUILD = SOURCE / "build"


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of CI. Its commands run in order until one fails. `results`: the JUnit file that the last command
    writes."""

    name: str
    about: str
    commands: list[list[str]]
    results: Path | None = None
    on_request: bool = False  # runs only if it is named


@dataclasses.dataclass(frozen=True)
class Outcome:
    part: Part
    seconds: float
    counts: Counts
    last_lines: list[str]

    def why_skipped(self) -> str:
        reasons = [line for line in self.last_lines if line.startswith(SKIP_PREFIX)]
        return reasons[-1].removeprefix(SKIP_PREFIX) if reasons else "it printed no reason"


def preset_commands(preset: str, defines: list[str], targets: list[str], results: Path) -> list[list[str]]:
    """The commands that configure, build and test a preset of CMakePresets.json."""
    generator = [] if (BUILD / preset / "CMakeCache.txt").exists() else ["-G", "Ninja"]
    tests = ["--parallel", "2", "--output-junit", str(results)]
    return [
        ["cmake", "--preset", preset, *generator, *defines],
        ["cmake", "--build", "--preset", preset, *(["--target", *targets] if targets else [])],
        ["ctest", "--preset", preset, *tests],
    ]


def preset_part(preset: str, about: str, defines: tuple[str, ...] = (), targets: tuple[str, ...] = ()) -> Part:
    results = BUILD / preset / "test-results.xml"
    return Part(preset, about, preset_commands(preset, list(defines), list(targets), results), results)


def parts() -> list[Part]:
    tidy = [str(BUILD / "venv/tool/bin/python"), "scripts/tidy.py", str(BUILD)]
    simulation = [str(BUILD / "tests/simulation/simulation"), "--seconds", str(SIMULATION_SECONDS)]
    ceph = ["scripts/test-ceph.sh", str(BUILD), CEPH_FOLDER]
    return [
        Part("format", "clang-format and ruff", [["make", "check-format"]]),
        Part("build", "everything, with GCC", [["make"]]),
        Part("tidy", "clang-tidy and missing includes in the sources changed last", [tidy]),
        Part("test", "all tests except the long ones", [["make", "test"]], BUILD / "test-results.xml"),
        Part("faults", f"random programs with faults in virtual time for {SIMULATION_SECONDS} s", [simulation]),
        preset_part("fuzz", f"each fuzz target for {FUZZ_SECONDS} s", (f"-DNACRE_FUZZ_SECONDS={FUZZ_SECONDS}",)),
        preset_part("asan", "unit tests with AddressSanitizer and UndefinedBehaviorSanitizer"),
        preset_part("tsan", "unit tests of two floors with ThreadSanitizer"),
        Part("ceph", "files on a Ceph cluster; on request", [["make"], ceph], on_request=True),
    ]


def status_of(command: list[str], last_lines: collections.deque[str]) -> int:
    """The exit status of `command`. Its output goes to stdout; `last_lines` keeps the end of it."""
    print(f"+ {' '.join(command)}", flush=True)
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=SOURCE, **streams, text=True, errors="replace") as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            last_lines.append(line.rstrip("\n"))
    return process.returncode


def run(part: Part) -> Outcome:
    print(f"== {part.name}: {part.about}", flush=True)
    if part.results:
        part.results.unlink(missing_ok=True)
    begin = time.monotonic()
    last_lines: collections.deque[str] = collections.deque(maxlen=LAST_LINES)
    statuses = (status_of(command, last_lines) for command in part.commands)
    failure = next((status for status in statuses if status), 0)
    return Outcome(part, time.monotonic() - begin, counts_in(part, failure), list(last_lines))


def counts_in(part: Part, status: int) -> Counts:
    """The counts of a part whose commands have ended with `status`."""
    if not part.results:
        outcomes = {0: Counts(passed=[part.name]), SKIP: Counts(skipped=[part.name])}
        return outcomes.get(status, Counts(failed=[part.name]))
    counts = counts_of(part.results) or Counts()
    if status and not counts.failed:
        counts.failed.append(part.name)
    if not status and not counts.passed:
        counts.failed.append(f"{part.name}: no test ran")
    return counts


def table(outcomes: list[Outcome], setup_seconds: float) -> list[str]:
    rows = [("setup", setup_seconds, "", "packages and Python environments")]
    rows += [(o.part.name, o.seconds, o.counts.summary(), o.part.about) for o in outcomes]
    rows.append(("total", sum(row[1] for row in rows), "", ""))
    lines = []
    for name, seconds, counts, about in rows:
        clock = "{:3}:{:02}".format(*divmod(round(seconds), 60))
        lines.append(f"{name:<8} {clock}  {counts:<36} {about}".rstrip())
    return lines


def main() -> int:
    known = parts()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(part.name for part in known))
    parser.add_argument("--setup-seconds", type=float, default=0, help="seconds that the setup took, for the table")
    arguments = parser.parse_args()
    wanted = arguments.parts
    unknown = set(wanted) - {part.name for part in known}
    if unknown:
        parser.error(f"unknown part: {', '.join(sorted(unknown))}")
    outcomes = [run(part) for part in known if part.name in wanted or not (wanted or part.on_request)]
    for outcome in outcomes:
        if outcome.counts.failed:
            print(f"== the end of {outcome.part.name}, which failed", *outcome.last_lines, sep="\n")
    print("== parts and times")
    print(*table(outcomes, arguments.setup_seconds), sep="\n")
    for part in known:
        if part.on_request and not wanted:
            print(f"not run: {part.name}: only on request, with .ci/run {part.name}")
    for outcome in outcomes:
        if outcome.part.name in outcome.counts.skipped:
            print(f"{SKIP_PREFIX}{outcome.part.name}: {outcome.why_skipped()}")
    total = Counts.sum([outcome.counts for outcome in outcomes])
    for name in total.failed:
        print(f"failed: {name}")
    print(total.summary(), flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
