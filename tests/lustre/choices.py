#!/usr/bin/env python3
"""What Nacre chooses on a Lustre without a hint, and what it asks of the servers, beside the MPI alone.

    choices.py --mount /lustre/scratch/me [--second /mnt/second/scratch/me] --preload build/lib/libnacre.so \\
        --program 'mpich=mpiexec.mpich -n 4 build/tools/bench/mpich4/worker'

A --program is a name and the command that starts the worker of nacre-bench, built with that MPI. Each workload is
written, synced and read collectively; the requests to the servers and the callbacks to the clients are counted over
all of it, the opens included. A second launch, which is not counted, checks every byte: as each rank reads it through
MPI-IO, and as plain reads find it from the client of another rank. As root, on a machine with `lctl`, and nothing else
on that Lustre. With --second half of the ranks are on a second client (on_clients.sh). Needs only the standard library
of Python.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile

import phased
import requests

WORKLOADS = "seg,pieces,interleaved,hard,tile64,bt,block4d,flash8,steps,header,uneven"
LAUNCH_SECONDS_MAX = 900


@dataclasses.dataclass
class Run:
    """One launch of the worker."""

    requests: int
    callbacks: int
    plans: dict[str, str]  # by direction; of Nacre only


def run(words: list[str], preload: str | None, workload: str, arguments: argparse.Namespace) -> Run:
    with phased.directory_on(arguments) as directory, tempfile.TemporaryDirectory(prefix="nacre-") as folder:
        report = pathlib.Path(folder) / "report.jsonl"
        variables = [f"LD_PRELOAD={preload}", f"NACRE_REPORT={report}"] if preload else []
        command = phased.on_clients(words, "worker", arguments, directory, variables)
        command += ["--workload", workload, "--file", f"{directory}/file"]
        command += ["--bytes", str(arguments.bytes), "--warmups", "0", "--repeats", "1", "--sync"]
        counts = requests.counters()
        _launch([*command, "--no-file-check"], workload)
        counts = requests.counters() - counts
        plans = _plans(report) if preload else {}
        _launch(command, workload)
    return Run(*requests.totals(counts), plans)


def _launch(command: list[str], workload: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=LAUNCH_SECONDS_MAX, check=False)
    if done.returncode:
        sys.exit(f"{workload}: the worker ended with {done.returncode}: {done.stderr.strip()[-2000:]}")


def _plans(report: pathlib.Path) -> dict[str, str]:
    """The plan of most calls of each direction, in words."""
    best: dict[str, dict] = {}
    for line in report.read_text().splitlines():
        for plan in json.loads(line).get("plans", []):
            if plan["calls"] > best.get(plan["call"], {"calls": 0})["calls"]:
                best[plan["call"]] = plan
    return {call: _words(plan) for call, plan in best.items()}


def _words(plan: dict) -> str:
    if plan["algorithm"] == "direct":
        return "direct"
    pattern = f" {plan['pattern']}" if plan["algorithm"] == "two_phase" else ""
    return f"{plan['algorithm']}, {plan['aggregators']}{pattern}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    phased.add_common_arguments(parser)
    parser.add_argument("--workloads", default=WORKLOADS, help="names, separated by commas")
    arguments = parser.parse_args()
    programs = phased.programs_of(parser, arguments)
    columns = [f"{way} {name}" for name in programs for way in ("Nacre on", "only")]
    print("| workload | plan of the write | of the read | " + " | ".join(columns) + " |")
    print("|---|---|---|" + "---|" * len(columns), flush=True)
    for workload in arguments.workloads.split(","):
        plans: dict[str, str] = {}
        cells = []
        for words in programs.values():
            for preload in (arguments.preload, None):
                one = run(words, preload, workload, arguments)
                plans = plans or one.plans
                cells.append(f"{one.requests}, {one.callbacks}")
        print(
            f"| {workload} | {plans.get('write', '')} | {plans.get('read', '')} | " + " | ".join(cells) + " |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
