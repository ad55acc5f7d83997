"""The machine files of the published machines, and what their comments say of each figure."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import tomllib

from ..errors import BenchError

MACHINES = pathlib.Path(__file__).resolve().parent / "machines"
SECTION = re.compile(r"\[(?P<name>\w+)\]")
# A comment says whether the figure is the paper's, and what it stands for.
FIGURE = re.compile(r"(?P<key>\w+) = (?P<value>\S+) +# (?P<origin>paper|assumed): (?P<why>.+)")


# Costs that a machine file may leave out.
COSTS = (
    "nodes.bandwidth",
    "nodes.copy_bandwidth",
    "nodes.memory_bandwidth",
    "nodes.piece_ns",
    "messages.near_ns",
    "messages.far_ns",
    "messages.bandwidth",
    "clients.write_call_ns",
    "clients.write_bandwidth",
    "clients.read_call_ns",
    "clients.read_bandwidth",
    "servers.bandwidth",
    "servers.client_cost",
    "uplinks.bandwidth",
    "uplinks.client_cost",
    "osts.latency_us",
    "osts.client_cost",
    "locks.latency_us",
    "opens.us",
)


@dataclasses.dataclass(frozen=True)
class Figure:
    name: str  # section.key
    value: str
    origin: str
    why: str


def names() -> list[str]:
    return sorted(path.stem for path in MACHINES.glob("*.toml"))


def sections_of(machine: str) -> dict[str, dict]:
    return tomllib.loads(_text(machine))


def figures(machine: str) -> list[Figure]:
    """All figures of a machine. Raises BenchError for a line that is not as SECTION and FIGURE, so that none is left
    without its origin."""
    found, section = [], ""
    for number, line in enumerate(_text(machine).splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if header := SECTION.fullmatch(line):
            section = header["name"]
        elif one := FIGURE.fullmatch(line):
            found.append(Figure(f"{section}.{one['key']}", one["value"].strip('"'), one["origin"], one["why"]))
        else:
            raise BenchError(f"{machine}.toml:{number}: expected KEY = VALUE  # paper|assumed: WHY, not {line!r}")
    return found


def assumptions(machine: str) -> list[Figure]:
    return [one for one in figures(machine) if one.origin == "assumed"]


def free_of_charge(machine: str) -> list[str]:
    """The costs that the file of the machine does not name, so that they take no time."""
    named = {one.name for one in figures(machine)}
    return [name for name in COSTS if name not in named]


def _text(machine: str) -> str:
    return (MACHINES / f"{machine}.toml").read_text()
