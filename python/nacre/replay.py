"""The calls of a job that left a report, in the form in which `nacre-simulate --calls` makes them again."""

from __future__ import annotations

import math
import os
from pathlib import Path

from nacre import reports, testbed
from nacre.errors import UserError
from nacre.jobs import single_rank
from nacre.reports import METADATA_TARGET
from nacre.text import plural

KINDS = {
    "independent_write": "write independent",
    "collective_write": "write collective",
    "independent_read": "read independent",
    "collective_read": "read collective",
}
# Hints that the simulation sets by itself, or that name files of the job.
LEFT_OUT = {"nacre_machine", "nacre_report"}
# Reports that agree in these are of the same file of the same job.
OF_FILE = ("file", "job", "run")
# Where a layout comes from that a new file would not get by itself: not from hints, and not from Nacre's choice.
FOREIGN_LAYOUTS = ("default", "file", "")


def find(path: str, pattern: str | None) -> dict:
    """The report of the file with the most time, of those that match `pattern` and moved data.

    A job that writes a file and opens it again to read it leaves two reports. They count as one with two `parts`.
    """
    found = reports.read([path], pattern)
    slowest = next((one for one in found if _with_data(one)), found[0])
    of_file = [one for one in found if all(one[name] == slowest[name] for name in OF_FILE)]
    # A job that was recorded with --posix leaves a report of its POSIX calls too, which has no shapes.
    by_mpi_io = [one for one in of_file if "source" not in one]
    others = [one for one in of_file if "source" in one]
    if any(map(_with_data, by_mpi_io)):
        report = _joined(by_mpi_io)
        report["left_out"] += ["the POSIX calls on the file"] if any(map(_with_data, others)) else []
    else:
        report = _joined(of_file)
    files = {one["file"] for one in found if one["run"] == slowest["run"] and _with_data(one)} - {slowest["file"]}
    report["left_out"] += [f"{plural(len(files), 'more file')} of the job (--file)"] if files else []
    _leave_out_unseen(report)
    _check(report, path)
    return report


def _joined(opens: list[dict]) -> dict:
    """The slowest of `opens` that moved data; `opens` begin with the slowest. If it only wrote or only read, it is
    joined with the slowest open of the same ranks that only did the opposite."""
    moved = [one for one in opens if _with_data(one)] or opens
    first = moved[0]
    other = next((one for one in moved[1:] if _same_ranks(first, one) and _are_opposite(first, one)), None)
    count = len(opens) - (1 if other is None else 2)
    left_out = [f"{plural(count, 'more open')} of the file"] if count else []
    if other is None:
        return first | {"parts": [first], "left_out": left_out}
    writer, reader = (first, other) if _directions(first) == ["write"] else (other, first)
    kinds = _with_data(writer) | _with_data(reader)
    return writer | {"kinds": kinds, "parts": [writer, reader], "left_out": left_out}


def _same_ranks(one: dict, other: dict) -> bool:
    """Whether the opens may be of the same ranks."""
    return all(one[name] == other[name] for name in ("ranks", "nodes")) and single_rank(one) == single_rank(other)


def _are_opposite(one: dict, other: dict) -> bool:
    """Whether one of the opens only wrote, and the other only read."""
    return sorted([_directions(one), _directions(other)]) == [["read"], ["write"]]


def _with_data(report: dict) -> dict[str, dict]:
    return {name: kind for name, kind in report["kinds"].items() if kind["bytes"]["sum"]}


def _directions(report: dict) -> list[str]:
    return sorted({name.rpartition("_")[2] for name in _with_data(report)})


def _leave_out_unseen(report: dict) -> None:
    """A report keeps the calls of a few ranks. A kind of calls that only others made has no shapes, and is left out if
    there are kinds with shapes."""
    unseen = [name for name, kind in _with_data(report).items() if not kind["shapes"]]
    if len(unseen) == len(_with_data(report)):
        return
    report["kinds"] = {name: kind for name, kind in report["kinds"].items() if name not in unseen}
    report["left_out"] += [f"the {reports.KINDS[name]}, by ranks whose calls the report lacks" for name in unseen]


def notes(report: dict, ranks: int) -> list[str]:
    """What the simulation by `ranks` ranks leaves out."""
    left_out = [f"left out: {calls}" for calls in report["left_out"]]
    copies, more = divmod(ranks, report["ranks"])
    if copies == 0:
        left_out.append(f"left out: all but the first {ranks} of the {plural(report['ranks'], 'rank')} of the job")
    elif more:
        left_out.append(f"the last copy of the job has only {more} of its {plural(report['ranks'], 'rank')}")
    return left_out


def _check(report: dict, path: str) -> None:
    where = f"{path}: the report of {report['file']}"
    record = "Record the job again with this version: nacre run --report io.jsonl mpiexec ..."
    kinds = _with_data(report)
    if not kinds:
        raise UserError(f"{where} has no call that moved data", "Name another file with --file PATTERN.")
    for name, kind in kinds.items():
        if not kind["shapes"]:
            raise UserError(
                f"{where} has no shapes of its {reports.KINDS[name]} (an older version, POSIX, Darshan, or the calls of"
                " ranks that a report does not keep)",
                record,
            )
        without = [shape["rank"] for shape in kind["shapes"] if "type" not in shape]
        if without:
            raise UserError(
                f"{where} lacks the view of rank {without[0]} in its {reports.KINDS[name]}: its type takes more than"
                " the 512 bytes that a report keeps",
                "Simulate the workload of nacre-bench that is most like it, for example: nacre simulate climate",
            )


def calls_text(report: dict) -> str:
    """What RecordedJob::parse reads (src/sim/program/recorded_job.h)."""
    lines = [f"ranks {report['ranks']}"]
    kinds = _with_data(report)
    for name, words in KINDS.items():
        kind = kinds.get(name)
        if kind is None:
            continue
        lines.append(f"kind {words} {kind['ranks']} {kind['calls']['sum']} {kind['bytes']['sum']}")
        lines += [_shape_line(shape) for shape in kind["shapes"]]
    return "\n".join(lines) + "\n"


def _shape_line(shape: dict) -> str:
    figures = [shape["rank"], shape["origin"], shape["first_byte"], shape["bytes"], shape.get("step_bytes", "-")]
    return f"shape {' '.join(map(str, figures))} {shape['type']}"


def hints(report: dict) -> list[str]:
    """The hints of the job. Those of the open file say what its last component has. They are left out if Nacre chose
    its layout, which it chooses again, or if layout_hints() has several components."""
    is_replaced = report.get("layout_origin") == "nacre" or len(report["layout"]) > 1
    kept = {name: hint for name, hint in report["hints"].items() if not (is_replaced and hint["from"] == "open file")}
    return [f"{name}={hint['value']}" for name, hint in kept.items() if name not in LEFT_OUT]


def layout_hints(report: dict) -> list[str]:
    """Hints that give a new file the layout of the job's file, which it had or got by default."""
    if not report["layout"] or report.get("layout_origin", "") not in FOREIGN_LAYOUTS:
        return []
    last = report["layout"][-1]
    if len(report["layout"]) == 1:
        return [f"striping_factor={last['stripes']}", f"striping_unit={last['stripe_bytes']}"]
    components = [f"-E {-1 if region is last else region['end']} {_striping(region)}" for region in report["layout"]]
    return [f"nacre_layout={' '.join(components)}"]


def _striping(region: dict) -> str:
    """Options of `lfs setstripe` for one component."""
    if region["osts"] == [METADATA_TARGET]:
        return "-L mdt"
    return f"-c {region['stripes']} -S {region['stripe_bytes']}"


def ranks_per_node(report: dict) -> int:
    return math.ceil(report["ranks"] / max(1, report["nodes"]))


def machine_of(report: dict) -> str:
    """The machine that the report names, if it is a machine file."""
    machine = report["machine"]
    if machine in testbed.machines() or os.path.isfile(machine):
        return machine
    raise UserError(
        f"--machine is missing: the report of {report['file']} names no machine file that is here"
        + (f" ({machine})" if machine else ""),
        "Name one that `nacre tune` has written, or a machine that comes with Nacre.",
    )


def measured_stages(report: dict) -> dict[str, float]:
    """The seconds of the slowest rank, by stage of the simulation, of all opens that it covers."""

    def of_kinds(word: str) -> float:
        return sum(kind["seconds"]["max"] for name, kind in report["kinds"].items() if name.endswith(word))

    def of_other(name: str) -> float:
        calls = [one["other_calls"][name] for one in report["parts"] if name in one["other_calls"]]
        return sum(one["seconds"]["max"] for one in calls)

    return {
        "open": sum(one["open_seconds"]["max"] for one in report["parts"]),
        "view": of_other("set_view"),
        "write": of_kinds("_write"),
        "sync": of_other("sync"),
        "read": of_kinds("_read"),
        "close": sum(one["close_seconds"]["max"] for one in report["parts"]),
    }


def heading(report: dict) -> str:
    name = Path(report["file"]).name
    return f"{name} of a job with {plural(report['ranks'], 'rank')} on {plural(report['nodes'], 'node')}"
