"""`nacre simulate`: runs a workload on Nacre's engine in virtual time."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from nacre import reports, testbed
from nacre.errors import EXIT_PROBLEM, EXIT_USAGE, UserError
from nacre.tables import grid
from nacre.text import amount, duration, parse_bytes, unwrapped

HELP = unwrapped("""Predict what a workload would do on a machine, by running Nacre's engine in virtual time.

The ranks, messages, copies and file accesses are those that the library would make on such a job; only their time is
simulated, with the figures of a machine file. WORKLOAD is a name of nacre-bench: interleaved, pieces, seg, strided,
hard, tile64, tile8, subarray3d or uneven. Each --setting adds a column to the table: hints, separated by commas.

[bold]Examples[/bold]

  nacre simulate --machine ranger --nodes 16 --ranks-per-node 4 --bytes 4g interleaved

  nacre simulate --machine site.toml --nodes 512 --ranks-per-node 64 --bytes 64g tile64
  --setting cb_nodes=64 --setting cb_nodes=256,striping_factor=64

[bold]Exit codes[/bold]  0; 1: a simulated call failed; 2: wrong usage.
""")

NANOSECONDS = 1e9
STAGES = ("open", "view", "write", "sync", "read", "close")


@dataclass
class Setting:
    """The hints of one column, and what the job did with them."""

    name: str
    hints: list[str]
    outcome: dict
    report: dict

    def seconds(self, stage: str) -> float:
        return self.outcome["stages_ns"][stage] / NANOSECONDS

    @property
    def total_ns(self) -> int:
        return sum(self.outcome["stages_ns"].values())

    @property
    def plan(self) -> dict:
        """The plan of the writes with the most time; empty if there is none."""
        plans = [plan for plan in self.report.get("plans", []) if plan["call"] == "write"]
        return max(plans, key=lambda one: one["seconds"]["max"], default={})


def register(app: typer.Typer) -> None:
    app.command("simulate", help=HELP, short_help="Predict a workload's time on a machine, in virtual time.")(simulate)


def simulate(
    workload: str = typer.Argument(..., metavar="WORKLOAD", help="Name of a workload of nacre-bench."),
    machine: str = typer.Option(
        ..., "--machine", metavar="NAME|FILE", help="Machine that comes with Nacre, or a file."
    ),
    nodes: int = typer.Option(1, "--nodes", metavar="N", min=1, help="Number of nodes of the job."),
    per_node: int = typer.Option(1, "--ranks-per-node", metavar="M", min=1, help="Ranks of each node."),
    size: str = typer.Option("1g", "--bytes", metavar="BYTES", help="Size of the file: k, m, g and t are accepted."),
    block: str = typer.Option("", "--block", metavar="BYTES", help="Size of a block, for workloads with blocks."),
    reads: bool = typer.Option(False, "--read", help="Read the file after writing it."),
    settings: list[str] = typer.Option(
        [], "--setting", metavar="HINTS", help="NAME=VALUE[,...]: a column. Repeatable."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON: what the job did with each setting."),
) -> None:
    program = testbed.program("nacre-simulate", "`make` builds it.")
    command = [program, "--nodes", str(nodes), "--ranks-per-node", str(per_node)]
    command += ["--machine", testbed.machine_file(machine), "--bytes", _bytes("--bytes", size)]
    command += ["--block", _bytes("--block", block)] if block else []
    command += ["--read"] if reads else []
    hints = [f"nacre_machine={testbed.machine_file(machine)}"]
    columns = [("as is", [])] + [(text, text.split(",")) for text in settings]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda column: _run(command, workload, column[0], hints + column[1]), columns))
    if as_json:
        print(json.dumps([{"setting": one.name, **one.outcome, "report": one.report} for one in found], indent=2))
        return
    _show(Console(highlight=False, soft_wrap=True), found)


def _bytes(option: str, text: str) -> str:
    try:
        return str(parse_bytes(text))
    except ValueError as error:
        raise UserError(f"{option}: {error}") from error


def _run(command: list[str], workload: str, name: str, hints: list[str]) -> Setting:
    with tempfile.TemporaryDirectory(prefix="nacre-simulate-") as folder:
        report = Path(folder) / "report.jsonl"
        options = [word for hint in [*hints, f"nacre_report={report}"] for word in ("--hint", hint)]
        ended = subprocess.run([*command, *options, workload], capture_output=True, text=True)
        if ended.returncode != 0:
            problem = ended.stderr.removeprefix("nacre-simulate: ").strip()
            code = EXIT_USAGE if ended.returncode == EXIT_USAGE else EXIT_PROBLEM
            raise UserError(problem or f"nacre-simulate ended with status {ended.returncode}", code=code)
        lines = reports.read([str(report)]) if report.exists() else []
        return Setting(name, hints, json.loads(ended.stdout), lines[0] if lines else {})


def _show(console: Console, found: list[Setting]) -> None:
    first = found[0].outcome
    console.print(
        f"{first['workload']}: {amount(first['bytes'])} by {first['ranks']} ranks on {first['nodes']} nodes, simulated"
    )
    table = grid("", *(one.name for one in found))
    for stage in STAGES:
        if any(one.seconds(stage) for one in found):
            table.add_row(stage, *(duration(one.seconds(stage)) for one in found))
    table.add_row("write and sync", *(_rate(one) for one in found))
    table.add_row("algorithm", *(one.plan.get("algorithm", "-") for one in found))
    table.add_row("aggregators", *(str(one.plan.get("aggregators", "-")) for one in found))
    table.add_row("OSTs written", *(str(_osts(one)) for one in found))
    table.add_row("lock callbacks", *(str(sum(one.outcome["traffic"]["osts"]["lock_callbacks"])) for one in found))
    for phase, words in reports.PHASES.items():
        times = [_phase(one, phase) for one in found]
        if any(times):
            table.add_row(f"  {words}", *(duration(seconds) for seconds in times))
    for index, resource in enumerate(first["resources"]):
        if any(one.outcome["resources"][index]["busy_ns_max"] for one in found):
            table.add_row(f"  busy: {resource['name']}", *(_busy(one, index) for one in found))
    table.add_row("bottleneck", *(_bottleneck(one) for one in found))
    console.print(table)
    console.print("Times of phases are medians over ranks. busy: share of the time, of the busiest one.")


def _rate(one: Setting) -> str:
    seconds = one.seconds("write") + one.seconds("sync")
    return f"{amount(one.outcome['bytes'] / seconds)}/s" if seconds else "-"


def _osts(one: Setting) -> int:
    return sum(1 for count in one.outcome["traffic"]["osts"]["bytes_written"] if count)


def _phase(one: Setting, phase: str) -> float:
    kinds = one.report.get("kinds", {})
    return kinds["collective_write"]["phases"][phase]["median"] if "collective_write" in kinds else 0


def _busy(one: Setting, index: int) -> str:
    return f"{one.outcome['resources'][index]['busy_ns_max'] / max(1, one.total_ns):.0%}"


def _bottleneck(one: Setting) -> str:
    busiest = max(one.outcome["resources"], key=lambda resource: resource["busy_ns_max"])
    return busiest["name"] if busiest["busy_ns_max"] else "-"
