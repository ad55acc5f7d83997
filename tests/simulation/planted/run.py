#!/usr/bin/env python3
"""Shows that the fault driver finds bugs: plants each bug of this folder and runs the driver until it goes wrong.

Each NAME.patch begins with a line that says what it breaks. The script applies it to a scratch worktree of the last
commit, builds the driver there, runs it from seed 1, and prints a table: after how many programs the driver found the
bug, in how many seconds, and what it said.

    run.py [--runs N] [--seed S] [--jobs J] [--folder DIR] [NAME]...
    run.py --check        only whether all patches apply to the working tree
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SOURCE = FOLDER.parents[2]
FOUND = re.compile(r"^seed (\d+): (.*)$", re.MULTILINE)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=20_000, help="programs to run at most for each bug")
    options.add_argument("--seed", type=int, default=1, help="first seed")
    options.add_argument("--jobs", type=int, default=2, help="compilers at a time")
    options.add_argument("--folder", help="build here, and keep it for the next time")
    options.add_argument("--check", action="store_true", help="only check that the patches apply")
    options.add_argument("names", nargs="*", metavar="NAME", help="bugs; default: all")
    chosen = options.parse_args()
    patches = [FOLDER / f"{name}.patch" for name in chosen.names] or sorted(FOLDER.glob("*.patch"))
    if chosen.check:
        return check(patches)
    if chosen.folder:
        return run_all(patches, Path(chosen.folder).resolve(), chosen)
    with tempfile.TemporaryDirectory(prefix="nacre-planted-") as scratch:
        return run_all(patches, Path(scratch) / "nacre", chosen)


def check(patches: list[Path]) -> int:
    wrong = [patch.stem for patch in patches if git(SOURCE, "apply", "--check", patch, check=False).returncode != 0]
    print(
        f"{len(patches)} patches, {len(wrong)} do not apply: {', '.join(wrong)}" if wrong else f"{len(patches)} apply"
    )
    return 1 if wrong else 0


def run_all(patches: list[Path], tree: Path, chosen: argparse.Namespace) -> int:
    if not tree.exists():
        git(SOURCE, "worktree", "add", "--detach", tree, "HEAD")
    try:
        rows = [(patch, *run(patch, tree, chosen)) for patch in patches]
    finally:
        if not chosen.folder:
            git(SOURCE, "worktree", "remove", "--force", tree)
    print("\n| planted bug | found by program | seconds | what the driver says |\n|---|---|---|---|")
    for patch, programs, seconds, words in rows:
        found = f"{programs:,}" if programs else f"not in {chosen.runs:,}"
        print(f"| {description(patch)} | {found} | {seconds:.0f} | {words} |")
    return 0 if all(programs for _, programs, _, _ in rows) else 1


def run(patch: Path, tree: Path, chosen: argparse.Namespace) -> tuple[int, float, str]:
    """The number of the first program that went wrong, 0 for none; after how many seconds; and what is wrong."""
    git(tree, "apply", patch)
    try:
        driver = build(tree, chosen.jobs)
        begin = time.monotonic()
        command = [driver, "--seed", str(chosen.seed), "--runs", str(chosen.runs), "--no-shrinking"]
        ended = subprocess.run(command, capture_output=True, text=True)
        seconds = time.monotonic() - begin
    finally:
        git(tree, "apply", "--reverse", patch)
    print(f"{patch.stem}:\n{ended.stdout}{ended.stderr}", file=sys.stderr, flush=True)
    if found := FOUND.search(ended.stdout):
        return int(found[1]) - chosen.seed + 1, seconds, found[2]
    return 0, seconds, ""


def build(tree: Path, jobs: int) -> Path:
    folder = tree / "build"
    if not (folder / "CMakeCache.txt").exists():
        call("cmake", "-S", tree, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo")
    call("cmake", "--build", folder, "--target", "simulation", "--parallel", str(jobs))
    return folder / "tests/simulation/simulation"


def description(patch: Path) -> str:
    return patch.read_text().splitlines()[0].rstrip(".")


def git(tree: Path, *words: str | Path, check: bool = True) -> subprocess.CompletedProcess:
    return subprocess.run(["git", "-C", tree, *words], check=check, capture_output=True, text=True)


def call(*command: str | Path) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
