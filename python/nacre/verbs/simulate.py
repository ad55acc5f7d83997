"""`nacre simulate`: runs a workload on Nacre's engine in virtual time."""

from __future__ import annotations

import copy
import itertools
import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from nacre import described_calls, progress, replay, reports, testbed
from nacre.advice import run_with
from nacre.errors import EXIT_PROBLEM, EXIT_USAGE, UserError, only_one_output
from nacre.jobs import Job, jobs_of
from nacre.newer_python import tomllib
from nacre.page import document
from nacre.settings import REPORT_HINT
from nacre.tables import grid
from nacre.text import amount, duration, parse_bytes, plural, unwrapped

HELP = unwrapped("""Predict what a workload or a recorded job would do on a machine, in virtual time.

Runs Nacre's engine. The ranks, messages, copies and file accesses are those that the library would make on such a job;
only their time is simulated, with the figures of a machine file. WORKLOAD is a name of nacre-bench, such as
interleaved, tile64, bt, flash or steps. With --report the program is a job that left a report: what would it do with
other stripes, nodes, aggregators or hints? With --calls the program is described by a TOML file. Each --setting adds a
column to the table: hints, and figures of the machine (SECTION.KEY=VALUE), separated by commas. --set changes a figure
of the machine in all columns. --best compares stripes, algorithms and aggregators by the cost model, and simulates the
best of them. --html draws when each node, OST and rank was busy.

[bold]Examples[/bold]

  nacre simulate --machine ranger --nodes 16 --ranks-per-node 4 --bytes 4g interleaved

  nacre simulate --machine site.toml --nodes 512 --ranks-per-node 64 --bytes 64g tile64 --setting cb_nodes=64

  nacre simulate --machine site.toml --nodes 64 --bytes 64g tile64 --setting osts.count=32,striping_factor=32

  nacre simulate --calls model.toml --machine site.toml --nodes 64 --ranks-per-node 32

  nacre simulate --report io.jsonl --machine site.toml --osts 64 --nodes 512

  nacre simulate --report io.jsonl --machine site.toml --html io.html

  nacre simulate --report io.jsonl --machine site.toml --best

[bold]Exit codes[/bold]  0; 1: a simulated call failed; 2: wrong usage.
""")

NANOSECONDS = 1e9
DEFAULT_BYTES = "1g"
DEFAULT_OSTS = 8  # of a machine file that has no count (src/machine/machine.h)
BEST, ALGORITHMS = 4, 2  # settings that --best simulates; of one number of stripes
BUSY_SHARE = 0.5  # of the time, above which a resource counts as the bottleneck
LAYOUTS = ("nacre_layout", "overstriping_ratio", "overstriping_factor")  # hints that change what stripe counts mean
# Hints that --best sets.
SEARCHED = ("striping_factor", "nacre_algorithm", "cb_nodes", "nacre_pattern")
FOOTNOTE = (
    "Times of phases are medians over ranks. busy: share of the time during which the busiest resource of the kind was"
    " in use."
)
STAGES = ("open", "view", "write", "sync", "reopen", "read", "close")


@dataclass
class Setting:
    """The hints of one column, and what the job did with them."""

    name: str
    hints: list[str]
    outcome: dict
    report: dict

    def seconds(self, stage: str) -> float:
        return self.outcome["stages_ns"][stage] / NANOSECONDS

    def hint(self, name: str) -> str:
        return next((hint.partition("=")[2] for hint in self.hints if hint.startswith(f"{name}=")), "-")

    @property
    def total_ns(self) -> int:
        return sum(self.outcome["stages_ns"].values())

    @property
    def bytes(self) -> int:
        return self.outcome["bytes_written"] or self.outcome["bytes_read"]

    @property
    def plan(self) -> dict:
        """The plan of the writes with the most time, or of the reads if there are no writes; empty if there is none."""
        call = "write" if self.outcome["bytes_written"] else "read"
        plans = [plan for plan in self.report.get("plans", []) if plan["call"] == call]
        return max(plans, key=lambda one: one["seconds"]["max"], default={})


def register(app: typer.Typer) -> None:
    app.command("simulate", help=HELP, short_help="Predict a workload's time on a machine, in virtual time.")(simulate)


def simulate(
    workload: str = typer.Argument("", metavar="WORKLOAD", help="Name of a workload of nacre-bench."),
    machine: str = typer.Option(
        "", "--machine", metavar="NAME|FILE", help="Machine that comes with Nacre, or a file. Default: the report's."
    ),
    report: str = typer.Option("", "--report", metavar="FILE", help="Simulate the job that left this report."),
    calls: str = typer.Option("", "--calls", metavar="FILE", help="Simulate the calls that this TOML file describes."),
    pattern: str = typer.Option(None, "--file", metavar="PATTERN", help="The file of the report to simulate."),
    nodes: int = typer.Option(
        0, "--nodes", metavar="N", min=0, show_default="1; that of the report", help="Number of nodes of the job."
    ),
    per_node: int = typer.Option(
        0, "--ranks-per-node", metavar="M", min=0, show_default="1; that of the report", help="Ranks of each node."
    ),
    osts: int = typer.Option(
        0,
        "--osts",
        metavar="N",
        min=0,
        show_default="Nacre's choice; that of the report",
        help="Stripe the file over N OSTs.",
    ),  # fmt: skip
    size: str = typer.Option(
        "", "--bytes", metavar="BYTES", show_default="1g", help="Size of the file: k, m, g and t are accepted."
    ),
    block: str = typer.Option("", "--block", metavar="BYTES", help="Size of a block, for workloads with blocks."),
    reads: bool = typer.Option(False, "--read", help="Read the file after writing it."),
    assignments: list[str] = typer.Option(
        [], "--set", metavar="SECTION.KEY=VALUE", help="Change a figure of the machine. Repeatable."
    ),
    settings: list[str] = typer.Option(
        [], "--setting", metavar="NAME=VALUE[,...]", help="Hints and figures of the machine: a column. Repeatable."
    ),
    check: bool = typer.Option(
        False, "--check", help="Move real bytes, and check each byte that is read, and the file at the end."
    ),
    best: bool = typer.Option(False, "--best", help="Add columns: the settings that the cost model finds best."),
    html: str = typer.Option(
        None, "--html", metavar="OUT", help="Write the table, and drawings of nodes, OSTs and ranks over time, to OUT."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON: what the job did with each setting."),
) -> None:
    only_one_output([name for name, value in {"--html": html, "--json": as_json}.items() if value])
    if sum(map(bool, (workload, report, calls))) != 1:
        raise UserError("expected one of WORKLOAD, --report FILE and --calls FILE", "See nacre simulate --help.")
    _check_options(
        {"--bytes": size, "--block": block, "--read": reads, "--file": pattern is not None}, workload, report
    )
    if html is not None:
        document.check_writable(html)
    recorded = replay.find(report, pattern) if report else None
    if not machine and recorded is None:
        raise UserError("--machine is missing", "Name a machine that comes with Nacre, or a machine file.")
    nodes = nodes or (recorded["nodes"] if recorded else 1)
    ranks = nodes * per_node or _rank_count(recorded, calls, nodes)
    with tempfile.TemporaryDirectory(prefix="nacre-simulate-") as folder:
        machine = machine or replay.machine_of(recorded)
        figures = Figures(testbed.machine_file(machine), assignments, osts, Path(folder))
        command = [testbed.program("nacre-simulate", "`make` builds it.")]
        command += ["--nodes", str(nodes), "--ranks", str(ranks)]
        command += ["--timelines"] if html is not None else []
        command += ["--block", _bytes("--block", block)] if block else []
        command += ["--read"] if reads else []
        moved = ["--check"] if check else []
        hints_of_job = replay.hints(recorded) if recorded else []
        hints = _hints_with(hints_of_job, [f"striping_factor={osts}"] if osts else [])
        as_is = _hints_with(replay.layout_hints(recorded), hints) if recorded else hints
        if recorded or calls:
            made = Path(folder) / "calls"
            text = replay.calls_text(recorded) if recorded else described_calls.calls_text(calls, ranks)
            made.write_text(text)
            command += ["--calls", str(made)]
        else:
            command += ["--bytes", _bytes("--bytes", size or DEFAULT_BYTES), workload]
        columns = [("as is", [])] + [(text, text.split(",")) for text in settings]
        kept = _kept_by_search(as_is, osts)
        candidates = _best_of(_searched([*command, *figures.options([])], _merged(kept))) if best else []
        columns += [(f"best {number}", one["hints"]) for number, one in enumerate(candidates, 1)]
        with progress.shown() as show, ThreadPoolExecutor(os.cpu_count()) as pool:

            def simulated(column: tuple[str, list[str]]) -> Setting:
                name, words = column
                of_machine, chosen = _divided(words)
                words = [*command, *moved, *figures.options(of_machine)]
                return _run(words, show(name), name, _hints_with(as_is, chosen), figures.name(machine, of_machine))

            found = list(pool.map(simulated, columns))
    notes = replay.notes(recorded, ranks) if recorded else []
    if as_json:
        print(json.dumps([_entry(one, notes) for one in found], indent=2))
        return
    unchanged = recorded and ranks == recorded["ranks"] and nodes == recorded["nodes"] and not assignments
    lines = _notes(found, replay.heading(recorded) if recorded else Path(calls).name)
    lines += [f"note: {note}" for note in notes]
    lines += [f"Every byte was checked: {amount(found[0].outcome['bytes_checked'])} of the file."] if check else []
    rows = _rows(found)
    if html is not None:
        document.write(html, document.of_simulation(lines, [one.name for one in found], rows, _jobs(found)))
        return
    _show(Console(emoji=False, highlight=False, soft_wrap=True), lines, found, rows)
    if unchanged and not osts:
        _show_measured(recorded)
    if best:
        _show_fastest(found, dict(columns), hints_of_job)


def _entry(one: Setting, notes: list[str]) -> dict:
    """The JSON of a column. `notes`: what the simulation leaves out of the recorded job."""
    return {"setting": one.name, "hints": one.hints, "notes": notes, **one.outcome, "report": one.report}


def _rank_count(recorded: dict | None, calls: str, nodes: int) -> int:
    """That of the report, on no more nodes; what the description of calls needs; otherwise one for each node."""
    if recorded:
        is_larger = nodes > recorded["nodes"]
        return nodes * replay.ranks_per_node(recorded) if is_larger else recorded["ranks"]
    return max(nodes, (described_calls.rank_count(calls) if calls else None) or 0)


def _check_options(given: dict[str, object], workload: str, report: str) -> None:
    """Refuses the options that would have no effect. `given`: whether they have a value."""
    wrong = next((name for name in ("--bytes", "--block", "--read") if given[name] and not workload), None)
    if wrong is not None:
        raise UserError(f"{wrong} is for a WORKLOAD: the calls of a report or a file are as they stand there")
    if given["--file"] and not report:
        raise UserError("--file is for --report: it chooses a file of the report")


class Figures:
    """The machine of the columns: `file`, with `assignments` (SECTION.KEY=VALUE) in all columns, and at least `osts`
    OSTs."""

    def __init__(self, file: str, assignments: list[str], osts: int, folder: Path):
        self._file, self._folder = file, folder
        self._copies = itertools.count()
        try:
            self._sections = tomllib.loads(Path(file).read_text())
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise UserError(f"--machine {file}: {error}") from error
        stray = next((name for name, values in self._sections.items() if not isinstance(values, dict)), None)
        if stray is not None:
            raise UserError(f"--machine {file}: {stray} is not in a section", "Figures stand below a line as [osts].")
        for section, values in self._sections.items():
            odd = next((key for key, value in values.items() if not isinstance(value, (str, int, float))), None)
            if odd is not None:
                raise UserError(
                    f"--machine {file}: {section}.{odd} is neither text nor a number", "See docs/machine.md."
                )
        wrong = next((words for words in assignments if not _is_figure(words)), None)
        if wrong is not None:
            raise UserError(f"--set {wrong}: expected SECTION.KEY=VALUE", "A hint is set with --setting.")
        self._assignments = list(assignments)
        count = str(self._sections.get("osts", {}).get("count", DEFAULT_OSTS))
        if osts and not (count.isdecimal() and osts <= int(count)):
            self._assignments.insert(0, f"osts.count={osts}")

    def options(self, more: list[str]) -> list[str]:
        """Options of nacre-simulate for the machine with `more` assignments."""
        assignments = self._assignments + more
        file = self._changed(assignments) if assignments else self._file
        return ["--machine", file, "--hint", f"nacre_machine={file}"]

    def name(self, machine: str, more: list[str]) -> str:
        """What reports call the machine with `more` assignments."""
        return ", ".join([machine, *self._assignments, *more])

    def _changed(self, assignments: list[str]) -> str:
        """A copy of the machine file."""
        sections = copy.deepcopy(self._sections)
        for words in assignments:
            name, _, value = words.partition("=")
            section, _, key = name.partition(".")
            sections.setdefault(section, {})[key] = int(value) if value.isdecimal() else value
        lines = []
        for section, values in sections.items():
            lines += [f"[{section}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items()), ""]
        changed = self._folder / f"{next(self._copies)}" / Path(self._file).name
        changed.parent.mkdir()
        changed.write_text("\n".join(lines))
        return str(changed)


def _is_figure(words: str) -> bool:
    """Whether the words set a figure of the machine, and not a hint."""
    name, equals, _ = words.partition("=")
    return "." in name and bool(equals)


def _divided(words: list[str]) -> tuple[list[str], list[str]]:
    """Of a column: figures of the machine, and hints."""
    return [one for one in words if _is_figure(one)], [one for one in words if not _is_figure(one)]


def _merged(hints: list[str]) -> list[str]:
    """The last value of each hint."""
    return list({hint.partition("=")[0]: hint for hint in hints}.values())


def _hints_with(hints: list[str], more: list[str]) -> list[str]:
    """`hints` with `more`. A new number of stripes replaces a layout, which would override it."""
    names = {hint.partition("=")[0] for hint in more}
    replaced = LAYOUTS if "striping_factor" in names and not names & set(LAYOUTS) else ()
    return _merged([hint for hint in hints if hint.partition("=")[0] not in replaced] + more)


def _bytes(option: str, text: str) -> str:
    try:
        return str(parse_bytes(text))
    except ValueError as error:
        raise UserError(f"{option}: {error}") from error


def _started(command: list[str], note: Callable[[str], None] | None = None) -> str:
    """What nacre-simulate prints. `note` gets the lines about its progress."""
    # A pipe that nobody reads meanwhile would stop the program when it is full.
    with tempfile.TemporaryFile("w+") as out:
        with subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True) as started:
            problems = []
            for line in started.stderr:
                if note is not None and line.startswith(progress.PREFIX):
                    note(line)
                else:
                    problems.append(line)
        out.seek(0)
        printed = out.read()
    if started.returncode != 0:
        problem = "".join(problems).removeprefix("nacre-simulate: ").strip()
        code = EXIT_USAGE if started.returncode == EXIT_USAGE else EXIT_PROBLEM
        raise UserError(problem or f"nacre-simulate ended with status {started.returncode}", code=code)
    return printed


def _kept_by_search(hints: list[str], osts: int) -> list[str]:
    """The hints that --best leaves as they are: not those of a report that it searches itself."""
    free = [name for name in SEARCHED if name != "striping_factor" or not osts]
    free += [] if osts else LAYOUTS
    return [hint for hint in hints if hint.partition("=")[0] not in free]


def _searched(command: list[str], hints: list[str]) -> list[dict]:
    """Settings, the fastest first by the cost model."""
    words = [word for hint in hints for word in ("--hint", hint)]
    return json.loads(_started([*command, "--search", *words]))


def _best_of(candidates: list[dict]) -> list[dict]:
    """The first few: of a number of stripes at most two, with different algorithms. The cost model is too rough to tell
    settings apart that differ less."""
    taken: list[dict] = []
    for one in candidates:
        stripes, algorithm = one["hints"][:2]
        of_stripes = [other["hints"] for other in taken if other["hints"][0] == stripes]
        if len(taken) < BEST and len(of_stripes) < ALGORITHMS and algorithm not in (hints[1] for hints in of_stripes):
            taken.append(one)
    return taken


def _run(command: list[str], note: Callable[[str], None] | None, name: str, hints: list[str], machine: str) -> Setting:
    with tempfile.TemporaryDirectory(prefix="nacre-simulate-") as folder:
        report = Path(folder) / "report.jsonl"
        options = [word for hint in [*hints, f"{REPORT_HINT}={report}"] for word in ("--hint", hint)]
        options += ["--progress"] if note is not None else []
        outcome = json.loads(_started([*command, *options], note))
        lines = reports.read([str(report)]) if report.exists() else []
        return Setting(name, hints, outcome, _of_job(lines[0], machine) if lines else {})


def _of_job(report: dict, machine: str) -> dict:
    """A report without what it says of the program that simulates, which differs from run to run and from computer to
    computer. `machine`: the name that it gets, for that of a temporary file."""
    hints = {name: one for name, one in report["hints"].items() if name != REPORT_HINT}
    for one in hints.values():
        one["value"] = machine if one["value"] == report["machine"] else one["value"]
    of_program = {"run": "simulated", "program": [], "job": "", "hosts": []}
    return report | of_program | {"machine": machine, "hints": hints}


def _notes(found: list[Setting], name: str) -> list[str]:
    """The job in one line, and what was guessed of it. `name`: of its calls; empty: that of the workload."""
    first = found[0].outcome
    name = name or first["workload"]
    job = f"{amount(found[0].bytes)} by {plural(first['ranks'], 'rank')} on {plural(first['nodes'], 'node')}"
    return [f"{name}: {job}, simulated", *(f"note: {guess}" for guess in first["guesses"])]


def _rows(found: list[Setting]) -> list[list[str]]:
    """The table: a column for each setting."""
    rows = [
        [hint, *(one.hint(hint) for one in found)]
        for hint in (SEARCHED if any(one.name.startswith("best ") for one in found) else ())
    ]
    for stage in STAGES:
        if any(one.seconds(stage) for one in found):
            rows.append([stage, *(duration(one.seconds(stage)) for one in found)])
    if any(one.outcome["bytes_written"] for one in found):
        rows.append(["write and sync", *(_rate(one) for one in found)])
    rows.append(["algorithm", *(one.plan.get("algorithm", "-") for one in found)])
    rows.append(["aggregators", *(str(one.plan.get("aggregators", "-")) for one in found)])
    rows.append(["OSTs written", *(str(_osts(one)) for one in found)])
    rows.append(["messages of a rank", *(_messages(one) for one in found)])
    rows.append(["lock callbacks", *(str(sum(one.outcome["traffic"]["osts"]["lock_callbacks"])) for one in found)])
    for phase, words in reports.PHASES.items():
        times = [_phase(one, phase) for one in found]
        if any(times):
            rows.append([f"  {words}", *(duration(seconds) for seconds in times)])
    for index, resource in enumerate(found[0].outcome["resources"]):
        if any(one.outcome["resources"][index]["busy_ns_max"] for one in found):
            rows.append([f"  busy: {resource['name']}", *(_busy(one, index) for one in found)])
    rows.append(["bottleneck", *(_bottleneck(one) for one in found)])
    return rows


def _show(console: Console, lines: list[str], found: list[Setting], rows: list[list[str]]) -> None:
    for line in lines:
        console.print(line)
    table = grid("", *(one.name for one in found))
    for row in rows:
        table.add_row(*row)
    console.print(table)
    console.print(FOOTNOTE)


def _show_measured(report: dict) -> None:
    stages = [f"{stage} {duration(time)}" for stage, time in replay.measured_stages(report).items() if time]
    print(f"Measured, slowest rank: {', '.join(stages)}")


def _jobs(found: list[Setting]) -> list[tuple[dict, Job | None]]:
    """What the job did with each setting, and its report as that of a job."""
    return [(one.outcome, jobs_of([one.report])[0] if one.report else None) for one in found]


def _show_fastest(found: list[Setting], columns: dict[str, list[str]], hints_of_job: list[str]) -> None:
    fastest = min(found, key=lambda one: one.total_ns)
    if fastest is found[0]:
        print("No setting is faster than the job as it is.")
        return
    of_machine, hints = _divided(columns[fastest.name])
    times = [duration(one.total_ns / NANOSECONDS) for one in (fastest, found[0])]
    if any(hint.startswith("nacre_layout=") for hint in hints_of_job):  # it overrides striping_factor
        hints = [hint.replace("striping_factor=", "nacre_layout=-c ", 1) for hint in hints]
    words = run_with(*hints)
    how = f"{words}, on another machine ({', '.join(of_machine)})" if of_machine else words
    print(f"Fastest: {fastest.name}, {times[0]} instead of {times[1]}: {how}")


def _rate(one: Setting) -> str:
    seconds = one.seconds("write") + one.seconds("sync")
    return f"{amount(one.outcome['bytes_written'] / seconds)}/s" if seconds else "-"


def _osts(one: Setting) -> int:
    return sum(1 for count in one.outcome["traffic"]["osts"]["bytes_written"] if count)


def _messages(one: Setting) -> str:
    """Those that a rank sends, and those of the rank that sends the most."""
    of_rank = one.outcome["messages"]["of_rank"]
    return f"{of_rank['mean']:.0f}, at most {of_rank['max']}"


def _phase(one: Setting, phase: str) -> float:
    kinds = one.report.get("kinds", {})
    name = "collective_write" if one.outcome["bytes_written"] else "collective_read"
    return kinds[name]["phases"][phase]["median"] if name in kinds else 0


def _busy(one: Setting, index: int) -> str:
    return f"{one.outcome['resources'][index]['busy_ns_max'] / max(1, one.total_ns):.0%}"


def _bottleneck(one: Setting) -> str:
    """The busiest kind of resource, unless all are idle most of the time."""
    busiest = max(one.outcome["resources"], key=lambda resource: resource["busy_ns_max"])
    is_idle = busiest["busy_ns_max"] <= BUSY_SHARE * one.total_ns
    return "latencies and locks" if is_idle else busiest["name"]
