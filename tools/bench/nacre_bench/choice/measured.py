"""Machine files of emulated machines, with what messages, copies and calls cost on this computer.

The testbed emulates links, servers, OSTs and locks. Its nodes share the cores of this computer, so messages and copies
cost what they cost here, and more the more ranks there are. `nacre tune` at a site measures both."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import subprocess
import tomllib

from nacre import testbed
from nacre.tune import figures, plan
from nacre.tune.ranks import Launcher
from nacre.tune.samples import Samples

from ..contenders import Contender
from ..errors import BenchError
from ..launch import environment
from ..patterns.place import Place

SECONDS = 60
REPETITIONS = 5
VOLUME = 64 << 20


@dataclasses.dataclass(frozen=True)
class Ranks:
    count: int
    nodes: int


def machine_file(machine: str, one: Contender, where: Place, ranks: Ranks) -> str:
    """The text of the file of an emulated machine, with the figures that the worker of `nacre tune` measures for
    `ranks`. `one` has the words that put them on the nodes of the testbed."""
    sections = tomllib.loads(pathlib.Path(testbed.machine_file(machine)).read_text())
    for name, figure in _measured(one, where, ranks).figures.items():
        section, key = name.split(".")
        sections.setdefault(section, {})[key] = round(figure.value)
    return machine_text(sections)


def machine_text(sections: dict[str, dict]) -> str:
    lines = []
    for section, values in sections.items():
        lines += [f"[{section}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items()), ""]
    return "\n".join(lines)


def _measured(one: Contender, where: Place, ranks: Ranks) -> figures.Findings:
    place = plan.Place(ranks.count, ranks.nodes, -(-ranks.count // ranks.nodes), 0, VOLUME)
    words = [*Launcher([one.mpi.mpiexec, "-n", str(ranks.count)], where.here).start, str(where.there)]
    words += [str(SECONDS), str(REPETITIONS), *plan.on_nodes(place)]
    command = [one.mpi.mpiexec, *one.arguments, "-n", str(ranks.count), *one.rank_words, *words]
    try:
        result = subprocess.run(
            command, env=environment(one), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=3 * SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise BenchError(f"the worker of nacre tune did not end in {3 * SECONDS} s") from error
    if result.returncode:
        raise BenchError(f"the worker of nacre tune failed: {result.stderr[-400:]}")
    samples = Samples()
    for line in result.stdout.splitlines():
        samples.add_line(line)
    return figures.find_on_nodes(samples, place)
