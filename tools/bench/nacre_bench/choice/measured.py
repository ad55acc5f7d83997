"""Machine files of emulated machines and of local file systems, with the costs of messages, copies and calls that are
measured on this computer.

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
CALL_BYTES = 1 << 20
# Files without layouts, whose writers take turns. Their only OST costs nothing.
UNSTRIPED = {"osts": {"count": 1}, "striping": {"count": 0}, "clients": {"one_writer": 1}}


@dataclasses.dataclass(frozen=True)
class Ranks:
    count: int
    nodes: int


def machine_file(machine: str, one: Contender, where: Place, ranks: Ranks) -> str:
    """The text of the file of an emulated machine, with the figures that the worker of `nacre tune` measures for
    `ranks`. `one` has the words that put them on the nodes of the testbed."""
    sections = tomllib.loads(pathlib.Path(testbed.machine_file(machine)).read_text())
    place = _place(ranks)
    samples = _measured(one, where, place, plan.on_nodes(place))
    found = figures.find_on_nodes(samples, place)
    for write, name in ((True, "write_call_ns"), (False, "read_call_ns")):
        add_least(found, f"clients.{name}", samples, plan.cached_word(write))
    return _with_figures(sections, found)


def add_least(found: figures.Findings, name: str, samples: Samples, word: str) -> None:
    """Adds the least time of a successful call if `nacre tune` rejects the figure: longer times are waits for cores on
    which other ranks poll. Without a time of calls, a simulated node makes all its writes before it gives up a lock."""
    calls = [sample["seconds"] / sample["count"] for sample in samples.by_word.get(word, []) if not sample["error"]]
    if name in found.missing and calls:
        found.add(name, figures.Figure(min(calls) * 1e9, 0.0))


def local_machine_file(one: Contender, where: Place, ranks: Ranks) -> str:
    """The text of a file for the directory `where`, which is on a file system without stripes. The ranks are assigned
    to emulated nodes in blocks."""
    place = _place(ranks)
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    node = f'NACRE_NODE_ID=$(({rank} / {place.ranks_per_node})) exec "$@"'
    on_nodes = dataclasses.replace(one, rank_words=("sh", "-c", node, "sh"))
    calls = {name: plan.call_word(place, name == "write", CALL_BYTES) for name in ("write", "read")}
    samples = _measured(on_nodes, where, place, [*plan.on_nodes(place), *calls.values()])
    found = figures.find_on_nodes(samples, place)
    for name, word in calls.items():
        found.add(f"clients.{name}_bandwidth", samples.rate(word))
    return _with_figures({name: dict(values) for name, values in UNSTRIPED.items()}, found)


def _with_figures(sections: dict[str, dict], found: figures.Findings) -> str:
    for name, figure in found.figures.items():
        section, key = name.split(".")
        sections.setdefault(section, {})[key] = round(figure.value)
    return machine_text(sections)


def _place(ranks: Ranks) -> plan.Place:
    return plan.Place(ranks.count, ranks.nodes, -(-ranks.count // ranks.nodes), 0, VOLUME)


def machine_text(sections: dict[str, dict]) -> str:
    lines = []
    for section, values in sections.items():
        lines += [f"[{section}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items()), ""]
    return "\n".join(lines)


def _measured(one: Contender, where: Place, place: plan.Place, measurements: list[str]) -> Samples:
    words = [*Launcher([one.mpi.mpiexec, "-n", str(place.ranks)], where.here).start, str(where.there)]
    words += [str(SECONDS), str(REPETITIONS), *measurements]
    command = [one.mpi.mpiexec, *one.arguments, "-n", str(place.ranks), *one.rank_words, *words]
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
    return samples
