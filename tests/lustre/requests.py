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
import re
import subprocess
import sys

import phased

PARAMETERS = ("osc.*.stats", "mdc.*.stats", "ldlm.services.ldlm_cbd.stats")
COUNTED = re.compile(r"((?:ost|mds|ldlm)_(?!connect|statfs|ping)\w+)\s+(\d+) samples")
OF_A_SERVER = re.compile(r"osc\.\S+-osc-MDT")  # where the machine has a metadata server too
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


def counted(words: list[str], arguments: argparse.Namespace, preload: str | None) -> dict[str, Counts]:
    """What the program sent in each phase."""
    found: dict[str, Counts] = {}
    before: Counts = Counts()

    def count(phase: str, _file: str) -> None:
        nonlocal before
        now = counters()
        found[phase] = now - before
        before = now

    status, printed = phased.run(words, arguments, preload, count)
    if status:
        raise SystemExit(f"the program ended with {status}: {printed}")
    found.pop("start")
    return found


def totals(counts: Counts) -> tuple[int, int]:
    """The requests, and the callbacks."""
    callbacks = sum(counts[kind] for kind in CALLBACKS)
    return sum(counts.values()) - callbacks, callbacks


def table(results: dict[str, dict[str, Counts]]) -> str:
    """As Markdown: a row for each phase and kind of request that any program sent."""
    lines = ["| phase | requests | " + " | ".join(results) + " |", "|---|---|" + "---|" * len(results)]
    for phase in phased.PHASES[1:]:
        kinds = {kind for found in results.values() for kind in found[phase]}
        for kind in sorted(kinds, key=lambda one: (one in CALLBACKS, one)):
            cells = " | ".join(str(found[phase][kind]) for found in results.values())
            lines.append(f"| {phase} | `{kind}` | {cells} |")
    sums = [totals(sum(found.values(), Counts())) for found in results.values()]
    for at, words in enumerate(("all requests", "all callbacks")):
        lines.append(f"| **{words}** | | " + " | ".join(str(of_program[at]) for of_program in sums) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    phased.add_arguments(parser)
    arguments = parser.parse_args()
    results = {}
    for name, words in phased.programs_of(parser, arguments).items():
        results[f"Nacre on {name}"] = counted(words, arguments, arguments.preload)
        results[f"{name} alone"] = counted(words, arguments, None)
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
