"""The parts of CI, after `make setup-dev` (.ci/run): `ci.py [PART]...` runs them all, or only those named.

A part whose tests ctest counts adds their numbers to the last line, any other part counts as one. A part that fails
before or beside its tests, in a compiler say, counts as one failed. All parts are run, whatever fails before them.
"""

from __future__ import annotations

import argparse
import dataclasses
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from count_tests import Counts, counts_of  # noqa: E402

FUZZ_SECONDS = 60
SOURCE = Path(__file__).resolve().parents[1]
BUILD = SOURCE / "build"


@dataclasses.dataclass(frozen=True)
class Part:
    """Commands, run in turn as long as they succeed, and the JUnit file that the last of them writes."""

    name: str
    about: str
    commands: list[list[str]]
    results: Path | None = None


@dataclasses.dataclass(frozen=True)
class Outcome:
    part: Part
    seconds: float
    counts: Counts


def preset_commands(preset: str, defines: list[str], targets: list[str], results: Path) -> list[list[str]]:
    """Configures, builds and tests one of CMakePresets.json."""
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
    tidy = [str(BUILD / "venv/tool/bin/python"), "scripts/tidy_changed.py", str(BUILD)]
    return [
        Part("format", "clang-format and ruff", [["make", "check-format"]]),
        Part("build", "everything, with GCC", [["make"]]),
        Part("tidy", "clang-tidy on what was changed last", [tidy]),
        Part("test", "all tests but the long ones", [["make", "test"]], BUILD / "test-results.xml"),
        preset_part("fuzz", f"each fuzz target for {FUZZ_SECONDS} s", (f"-DNACRE_FUZZ_SECONDS={FUZZ_SECONDS}",)),
        preset_part("asan", "unit tests under AddressSanitizer and UndefinedBehaviorSanitizer"),
        preset_part("tsan", "in-process tests under ThreadSanitizer"),
    ]


def succeeded(command: list[str]) -> bool:
    print(f"+ {' '.join(command)}", flush=True)
    return subprocess.run(command, cwd=SOURCE, stdin=subprocess.DEVNULL, check=False).returncode == 0


def run(part: Part) -> Outcome:
    print(f"== {part.name}: {part.about}", flush=True)
    if part.results:
        part.results.unlink(missing_ok=True)
    begin = time.monotonic()
    passed = all(succeeded(command) for command in part.commands)
    counts = counts_of(part.results) if part.results else None
    if counts is None:
        counts = Counts(passed=[part.name] if passed and not part.results else [])
    if not passed and not counts.failed:
        counts.failed.append(part.name)
    if passed and part.results and not counts.passed:
        counts.failed.append(f"{part.name}: no test ran")
    return Outcome(part, time.monotonic() - begin, counts)


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
    parser.add_argument("--setup-seconds", type=float, default=0, help="for the table")
    arguments = parser.parse_args()
    wanted = arguments.parts
    strangers = set(wanted) - {part.name for part in known}
    if strangers:
        parser.error(f"no part is called {', '.join(sorted(strangers))}")
    outcomes = [run(part) for part in known if not wanted or part.name in wanted]
    print("== the parts and their time")
    print(*table(outcomes, arguments.setup_seconds), sep="\n")
    total = Counts.sum([outcome.counts for outcome in outcomes])
    for name in total.failed:
        print(f"failed: {name}")
    print(total.summary(), flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
