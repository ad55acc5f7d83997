#!/usr/bin/env python3
"""Counts the requests that a program sends to the servers of a Lustre, by kind and phase, with Nacre and without.

    requests.py --mount /lustre/scratch/me [--second /mnt/second/scratch/me] --preload build/lib/libnacre.so \\
        --program 'mpich=mpiexec.mpich -n 4 ./phases-mpich' --program 'openmpi=mpiexec.openmpi -n 4 ./phases-openmpi'

A --program is a name and the command that starts phases.c, built with that MPI; the file, the folder and the ranks'
clients are added. As root, on a machine with `lctl`, and nothing else on that Lustre. With --second half of the ranks
are on a second client (on_clients.sh). Needs only the standard library of Python.
"""

from __future__ import annotations

import argparse
import collections
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

ON_CLIENTS = pathlib.Path(__file__).with_name("on_clients.sh").resolve()
PHASES = ("start", "open", "write", "later", "sync", "read", "alone", "close")
PARAMETERS = ("osc.*.stats", "mdc.*.stats", "ldlm.services.ldlm_cbd.stats")
COUNTED = re.compile(r"((?:ost|mds|ldlm)_(?!connect|statfs|ping)\w+)\s+(\d+) samples")
OF_A_SERVER = re.compile(r"osc\.\S+-osc-MDT")  # where the machine has a metadata server too
PHASE_SECONDS_MAX = 600
CALLBACKS = ("ldlm_bl_callback", "ldlm_gl_callback", "ldlm_cp_callback")

Counts = collections.Counter


def counters() -> Counts:
    """Requests of all clients of this machine, and callbacks to them, so far."""
    printed = subprocess.run(["lctl", "get_param", *PARAMETERS], capture_output=True, text=True, check=False)
    counts: Counts = Counts()
    for part in re.split(r"^(?=\w+\.\S+=)", printed.stdout, flags=re.MULTILINE):
        if OF_A_SERVER.match(part):
            continue
        for name, count in COUNTED.findall(part):
            counts[name] += int(count)
    if not counts:
        raise SystemExit(f"lctl shows no counters: {printed.stderr.strip() or 'is this machine a client of a Lustre?'}")
    return counts


def command_of(words: list[str], arguments: argparse.Namespace, directory: str, preload: str | None) -> list[str]:
    """The launcher's words, and before the program what puts a rank on its client and preloads Nacre."""
    place = next(at for at, word in enumerate(words) if pathlib.Path(word).name.startswith("phases"))
    before = ["env", f"LD_PRELOAD={preload}"] if preload else []
    if arguments.second:
        second = arguments.second / os.path.relpath(directory, arguments.mount)
        before = [str(ON_CLIENTS), directory, str(second), *before]
    return [*words[:place], *before, *words[place:]]


def counted(words: list[str], arguments: argparse.Namespace, preload: str | None) -> dict[str, Counts]:
    """What the program sent in each phase."""
    with tempfile.TemporaryDirectory(prefix="nacre-requests-", dir=arguments.mount) as directory, \
            tempfile.TemporaryDirectory(prefix="nacre-requests-") as folder:  # fmt: skip
        if arguments.layout:
            subprocess.run(["lfs", "setstripe", *shlex.split(arguments.layout), directory], check=True)
        command = command_of(words, arguments, directory, preload)
        command += [f"{directory}/file", folder, str(arguments.piece), str(arguments.bytes)]
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        found: dict[str, Counts] = {}
        before: Counts = Counts()
        for phase in PHASES:
            wait_for(pathlib.Path(folder) / f"{phase}.done", job)
            now = counters()
            found[phase] = now - before
            before = now
            (pathlib.Path(folder) / f"{phase}.counted").touch()
        if job.wait():
            raise SystemExit(f"{shlex.join(command)} ended with {job.returncode}")
    found.pop("start")
    return found


def wait_for(path: pathlib.Path, job: subprocess.Popen) -> None:
    end = time.monotonic() + PHASE_SECONDS_MAX
    while not path.exists():
        if job.poll() is not None or time.monotonic() > end:
            job.kill()
            raise SystemExit(f"the program did not reach {path.stem}: ended with {job.poll()}")
        time.sleep(0.05)


def table(results: dict[str, dict[str, Counts]]) -> str:
    """As Markdown: a row for each phase and kind of request that any program sent."""
    lines = ["| phase | requests | " + " | ".join(results) + " |", "|---|---|" + "---|" * len(results)]
    for phase in PHASES[1:]:
        kinds = sorted(
            {kind for found in results.values() for kind in found[phase]}, key=lambda one: (one in CALLBACKS, one)
        )
        for kind in kinds:
            lines.append(
                f"| {phase} | `{kind}` | " + " | ".join(str(found[phase][kind]) for found in results.values()) + " |"
            )
    for words, wanted in (("all requests", False), ("all callbacks", True)):
        sums = [
            sum(count for counts in found.values() for kind, count in counts.items() if (kind in CALLBACKS) == wanted)
            for found in results.values()
        ]
        lines.append(f"| **{words}** | | " + " | ".join(map(str, sums)) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mount", type=pathlib.Path, required=True, help="directory for the files")
    parser.add_argument("--second", type=pathlib.Path, help="the same directory in a second mount on this machine")
    parser.add_argument("--preload", required=True, help="libnacre.so")
    parser.add_argument("--program", action="append", required=True, metavar="NAME=COMMAND", help="repeatable")
    parser.add_argument("--layout", default="-c 4 -S 1m", help="of the directory, for lfs setstripe; empty: none")
    parser.add_argument("--piece", type=int, default=47008, help="bytes of a piece")
    parser.add_argument("--bytes", type=int, default=16 << 20, help="bytes of a collective call")
    arguments = parser.parse_args()
    results = {}
    for text in arguments.program:
        name, equals, command = text.partition("=")
        if not equals:
            parser.error(f"--program {text}: expected NAME=COMMAND")
        results[f"Nacre on {name}"] = counted(shlex.split(command), arguments, arguments.preload)
        results[f"{name} alone"] = counted(shlex.split(command), arguments, None)
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
