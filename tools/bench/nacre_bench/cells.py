"""Computes the figures of a cell (one workload at one number of ranks) from the records of its launches."""

from __future__ import annotations

import dataclasses
import statistics

from .contenders import PEER
from .units import GIB

WRITE, READ = "write", "read"
DIRECTIONS = (WRITE, READ)
PHASES = {"total": "total_s", "data": "data_s"}

# One figure of each launch, by round. A higher "rate" is better; for all other figures, lower is better.
Series = dict[int, float]


@dataclasses.dataclass
class Cell:
    workload: str
    ranks: int
    bytes: int
    # Keys: contender, direction, figure. Figures: rate (GiB/s), cpu and open_close (seconds), memory_mean and
    # memory_max (bytes).
    series: dict[tuple[str, str, str], Series]
    errors: dict[str, list[str]]

    def of(self, contender: str, direction: str, figure: str) -> Series:
        return self.series.get((contender, direction, figure), {})

    def median(self, contender: str, direction: str, figure: str) -> float | None:
        values = self.of(contender, direction, figure).values()
        return statistics.median(values) if values else None

    def best(self, names: list[str], direction: str) -> str | None:
        """The contender in `names` with the highest median rate; None if none was measured."""
        rates = {name: self.median(name, direction, "rate") for name in names}
        measured = [name for name in names if rates[name] is not None]
        return max(measured, key=lambda name: rates[name], default=None)


def seconds_from_open(one: dict) -> float:
    """The seconds of a pass from when all ranks have opened the file to when all have closed it."""
    return one["total_s"] - one["open_s"]


def launch_figures(entry: dict, phase: str) -> dict[tuple[str, str], float]:
    """The figures of a launch, by direction and figure. Times are medians over the counted repeats. Memory is the
    maximum over all repeats, warm-ups included, because the machine must have that memory."""
    samples = [line for line in entry["lines"] if line["type"] == "sample"]
    counted = [line for line in samples if not line["warmup"]]
    figures = {}
    if not counted:
        return figures
    for direction in DIRECTIONS:
        passes = [line[direction] for line in counted]
        everything = [line[direction] for line in samples]
        seconds = statistics.median(one[PHASES[phase]] for one in passes)
        figures[direction, "rate"] = counted[0]["bytes"] / seconds / GIB
        figures[direction, "cpu"] = statistics.median(one["cpu_s"] for one in passes)
        figures[direction, "open_close"] = statistics.median(one["open_s"] + one["close_s"] for one in passes)
        figures[direction, "memory_mean"] = max(one["memory_mean"] for one in everything)
        figures[direction, "memory_max"] = max(one["memory_max"] for one in everything)
    return figures


def cells_of(result: dict, phase: str = "total") -> list[Cell]:
    """All cells, in the order of their launches. A failed launch contributes an error and no figures."""
    cells: dict[tuple[str, int], Cell] = {}
    for entry in result["launches"]:
        key = entry["workload"], entry["ranks"]
        cell = cells.setdefault(key, Cell(*key, bytes=0, series={}, errors={}))
        if entry["error"]:
            cell.errors.setdefault(entry["contender"], []).append(entry["error"])
            continue
        for (direction, figure), value in launch_figures(entry, phase).items():
            cell.series.setdefault((entry["contender"], direction, figure), {})[entry["round"]] = value
        sizes = [line["bytes"] for line in entry["lines"] if line["type"] == "sample"]
        cell.bytes = max([cell.bytes, *sizes])
    return list(cells.values())


def names_of(result: dict, role: str) -> list[str]:
    return [contender["name"] for contender in result["contenders"] if contender["role"] == role]


def peers_of(result: dict) -> list[str]:
    return names_of(result, PEER)
