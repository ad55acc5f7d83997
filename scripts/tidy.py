"""Runs clang-tidy on the sources that were changed last: `tidy.py BUILD [--base COMMIT | --all] [--list]`.

The base commit of the changes is the first that exists of: --base; NACRE_CI_BASE; the merge base of HEAD and the
default branch of the remote; the last commit that is at least a day older than HEAD. For a changed header, the source
of the same name is checked. At most FILES_MAX sources are checked, the last changed first; `make lint` checks all.

Precompiled headers hide missing includes, so the sources are checked without them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

FILES_MAX = 24
DAY_SECONDS = 24 * 60 * 60
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
CHECKED = ("src/", "testbed/", "tools/")


def git(*arguments: str) -> str:
    """The output of a git command; empty if it fails."""
    result = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return result.stdout.strip() if result.returncode == 0 else ""


def base_of_changes() -> str:
    wanted = os.environ.get("NACRE_CI_BASE")
    if wanted:
        return wanted
    fork = git("merge-base", "HEAD", "refs/remotes/origin/HEAD")
    if fork and fork != git("rev-parse", "HEAD"):
        return fork
    head_time = int(git("log", "-1", "--format=%ct") or 0)
    # %ct is the commit date, the field that --before compares.
    return git("rev-list", "-1", f"--before={head_time - DAY_SECONDS}", "HEAD") or EMPTY_TREE


def changed_sources(base: str) -> list[Path]:
    """The changed C++ sources that still exist, the last changed first."""
    revisions = ["HEAD"] if base == EMPTY_TREE else [f"{base}..HEAD"]
    committed = git("log", "--format=", "--name-only", *revisions, "--", *CHECKED).splitlines()
    uncommitted = git("diff", "--name-only", "HEAD", "--", *CHECKED).splitlines()
    found: dict[Path, None] = {}
    for name in [*uncommitted, *committed]:
        path = Path(name)
        source = path.with_suffix(".cc") if path.suffix == ".h" else path
        if source.suffix == ".cc" and source.exists():
            found.setdefault(source)
    return list(found)


def all_sources() -> list[Path]:
    return sorted(source for folder in CHECKED for source in Path(folder).rglob("*.cc"))


def without_precompiled_headers(build: Path) -> Path:
    """A directory with the compile commands of `build`, less their precompiled headers."""
    commands = json.loads((build / "compile_commands.json").read_text())
    for command in commands:
        command["command"] = re.sub(r"-Winvalid-pch |-include \S*cmake_pch\.hxx ", "", command["command"])
    directory = build / "tidy"
    directory.mkdir(exist_ok=True)
    (directory / "compile_commands.json").write_text(json.dumps(commands))
    return directory


def check(sources: list[Path], build: Path) -> int:
    patterns = [f"/{source}$" for source in sources]
    jobs = ["-j", str(os.cpu_count() or 1)]
    commands = without_precompiled_headers(build)
    command = ["run-clang-tidy-16", "-quiet", "-p", str(commands), *jobs, *patterns]
    return subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--base", help="check the sources changed since this commit")
    parser.add_argument("--all", action="store_true", help="check all sources")
    parser.add_argument("--list", action="store_true", help="print the sources, without checking them")
    arguments = parser.parse_args()
    if arguments.all:
        sources = all_sources()
    else:
        base = arguments.base or base_of_changes()
        sources = changed_sources(base)
        print(f"{len(sources)} sources were changed since {base[:12]}", flush=True)
        if len(sources) > FILES_MAX:
            print(f"checking the {FILES_MAX} sources that were changed last", flush=True)
            sources = sources[:FILES_MAX]
    if arguments.list:
        print(*sources, sep="\n")
        return 0
    return check(sources, arguments.build) if sources else 0


if __name__ == "__main__":
    sys.exit(main())
