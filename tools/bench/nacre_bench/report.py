"""The text of a result of `collective`, `peers` and `run`."""

from __future__ import annotations

from nacre.text import amount

from .cells import DIRECTIONS, WRITE, Cell, cells_of, peers_of
from .contenders import LIMIT
from .machine import sentence
from .ratios import comparisons
from .summary import Judged, summary_text
from .tables import mib, number, table


def failed_launches(result: dict) -> list[str]:
    return [
        f"{entry['contender']}, round {entry['round'] + 1} failed: {entry['error']}"
        for entry in result["launches"]
        if entry["error"]
    ]


def settings_text(result: dict, a_launch: str) -> str:
    lines = [f"nacre-bench {result['version']}, {result['started']}: {sentence(result['machine'])}"]
    settings = result["settings"]
    if settings.get("hosts"):
        lines.append(
            f"The ranks of each launch are spread evenly over {settings['hosts']} emulated hosts (namespaces). The "
            "hosts share the cores and the file system of this machine, but no other memory. They communicate over TCP."
        )
    lines.append(
        f"{settings['rounds']} rounds; each launches every contender once, in random order (seed {settings['seed']}). "
        f"A launch: {a_launch}."
    )
    return "\n".join([*lines, *contender_lines(result)])


def contender_lines(result: dict) -> list[str]:
    lines = ["Contenders:"]
    versions = mpi_versions(result)
    for contender in result["contenders"]:
        words = [f"{key}={value}" for key, value in contender["environment"].items()]
        words += list(contender["arguments"])
        words += [f"hint {key}={value}" for key, value in contender["hints"].items()]
        words += [f"LD_PRELOAD={contender['preload']}"] if contender["preload"] else []
        about = f"{contender['about']} over {versions.get(contender['name'], contender['mpi'])}"
        lines.append(f"  {contender['name']:<7} {about}; {' '.join(words)}")
    if peers_of(result):
        lines.append(
            "These peers are built without a Lustre driver (ROMIO's, OMPIO's fs/lustre) and use their generic drivers."
        )
    return lines


def mpi_versions(result: dict) -> dict[str, str]:
    """The version that the MPI reports, by contender."""
    versions = {}
    for entry in result["launches"]:
        for line in entry["lines"]:
            if line["type"] == "start":
                versions[entry["contender"]] = " ".join(line["mpi"].split(",")[0].split())
    return versions


def cell_table(cell: Cell, result: dict) -> str:
    header = ["", "GiB/s write", "read", "CPU s write", "read", "MiB/rank mean", "max", "open+close ms write", "read"]
    best = {direction: cell.best(peers_of(result), direction) for direction in DIRECTIONS}
    rows = []
    for contender in result["contenders"]:
        name = contender["name"]
        if cell.median(name, WRITE, "rate") is None:
            continue
        marks = {d: "*" if best[d] == name else " " for d in DIRECTIONS}
        row = [name]
        row += [number(cell.median(name, d, "rate")) + marks[d] for d in DIRECTIONS]
        row += [number(cell.median(name, d, "cpu")) for d in DIRECTIONS]
        if contender["role"] == LIMIT:
            row += ["", "", "", ""]
        else:
            row += [mib(most(cell, name, figure)) for figure in ("memory_mean", "memory_max")]
            row += [number(milliseconds(cell.median(name, d, "open_close")), 1) for d in DIRECTIONS]
        rows.append(row)
    return table(header, rows)


def fewer_rounds(cell: Cell) -> dict[str, int]:
    """The number of rounds of each contender without a failure that ran in fewer rounds than others: because it was far
    behind, or because the run was interrupted."""
    counts = {name: len(values) for (name, _, figure), values in cell.series.items() if figure == "rate"}
    most_rounds = max(counts.values(), default=0)
    return {name: count for name, count in counts.items() if count < most_rounds and name not in cell.errors}


def milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000


def most(cell: Cell, name: str, figure: str) -> float | None:
    values = [cell.median(name, direction, figure) for direction in DIRECTIONS]
    return max((value for value in values if value is not None), default=None)


def ratio_rows(judged: Judged) -> list[list[str]]:
    """One row for each Nacre contender and direction."""
    return [
        [
            one.name,
            one.direction,
            one.peer or "-",
            str(one.time or "-"),
            *[number(value) for value in (one.cpu, one.memory, one.of_ref, one.of_hand)],
        ]
        for one in judged.comparisons
    ]


def cell_text(judged: Judged, result: dict) -> str:
    cell = judged.cell
    hosts = result["settings"].get("hosts")
    ranks = f"{cell.ranks} ranks on {hosts} hosts" if hosts else f"{cell.ranks} ranks"
    parts = [f"{cell.workload}, {ranks}, {amount(cell.bytes)} (* fastest peer)"]
    parts.append(cell_table(cell, result))
    fewer = fewer_rounds(cell)
    if fewer:
        parts.append("  Measured in fewer rounds: " + ", ".join(f"{name} {count}" for name, count in fewer.items()))
    rows = ratio_rows(judged)
    if rows and peers_of(result):
        parts.append(
            "  Nacre compared with the fastest peer of the cell (time above 1: Nacre is faster; CPU, memory below 1: "
            "it uses less):"
        )
        header = ["", "", "peer", "time [95 %]", "CPU", "memory", "of ref", "of hand"]
        parts.append(table(header, rows))
    for name, errors in cell.errors.items():
        first = errors[0].splitlines()
        parts.append(f"  {name}: {len(errors)} launches failed: " + "\n    ".join(first[:6]))
    return "\n".join(parts)


def collective_text(result: dict, phase: str = "total") -> str:
    cells = cells_of(result, phase)
    counted = "from open to close" if phase == "total" else "the data calls and set_view only"
    settings = result["settings"]
    a_launch = f"{settings['warmups']} warm-up and {settings['repeats']} counted repeats"
    parts = [settings_text(result, a_launch), f"GiB/s: {counted}; medians over the rounds."]
    judged = [Judged(cell, comparisons(cell, result)) for cell in cells]
    parts += [cell_text(one, result) for one in judged]
    summary = summary_text(judged, result)
    return "\n\n".join(parts + ([summary] if summary else []))
