"""The contenders, each with its best settings: Nacre over each MPI, the peers, and the limits."""

from __future__ import annotations

import dataclasses
import fnmatch
import os

from .config import Config, Mpi
from .errors import BenchError
from .workloads import Workload

OURS, PEER, LIMIT = "ours", "peer", "limit"
NACRE = "N"
REF, HAND = "ref", "hand"

# Settings of every contender over an MPI, Nacre and peers alike. With more ranks than cores, MPICH's shared-memory
# transport and Open MPI's way of waiting make both several times slower without these settings.
MPI_ENVIRONMENT = {"mpich": {"MPIR_CVAR_NOLOCAL": "1"}, "openmpi": {}}
MPI_ARGUMENTS = {"mpich": (), "openmpi": ("--oversubscribe", "--mca", "mpi_yield_when_idle", "1")}

# M for MPICH or O for Open MPI, and the major version.
SHORT_NAMES = {"mpich5": "M5", "mpich4": "M4", "openmpi4": "O4", "openmpi5": "O5"}

AGGREGATORS_MAX = 4

# MPI_Finalize of Debian's MPICH 4 (over UCX) hangs over TCP in any program: see tests/conformance/leave_together.c.
HANGING_ON_HOSTS = ("mpich4",)


@dataclasses.dataclass(frozen=True)
class Contender:
    name: str
    role: str
    mpi: Mpi
    about: str
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    hints: dict[str, str] = dataclasses.field(default_factory=dict)
    engine: str = "mpi-io"
    preload: str = ""
    # Pattern of the names of the workloads that it runs.
    workloads: str = "*"
    hosts_only: bool = False
    # Words before the program in the command line of each rank.
    rank_words: tuple[str, ...] = ()

    def hints_for(self, ranks: int) -> dict[str, str]:
        """The hints, with cb_nodes limited to `ranks`: ROMIO refuses more aggregators than ranks."""
        hints = dict(self.hints)
        if "cb_nodes" in hints:
            hints["cb_nodes"] = str(min(int(hints["cb_nodes"]), ranks))
        return hints

    def runs(self, workload: Workload) -> bool:
        return fnmatch.fnmatchcase(workload.name, self.workloads) and (workload.hand or self.engine != HAND)

    def fits(self, hosts: int) -> bool:
        """Whether it is measured with its ranks spread over `hosts` hosts. 0: all ranks on this machine, no
        namespaces."""
        return self.mpi.name not in HANGING_ON_HOSTS if hosts else not self.hosts_only

    def describe(self) -> dict:
        return {
            "name": self.name,
            "role": self.role,
            "mpi": self.mpi.name,
            "about": self.about,
            "arguments": list(self.arguments),
            "environment": self.environment,
            "hints": self.hints,
            "preload": self.preload,
        }


def over(mpi: Mpi, **fields) -> Contender:
    arguments = MPI_ARGUMENTS[mpi.family] + fields.pop("arguments", ())
    return Contender(mpi=mpi, arguments=arguments, environment=MPI_ENVIRONMENT[mpi.family], **fields)


def peers_over(mpi: Mpi) -> list[Contender]:
    short = SHORT_NAMES.get(mpi.name, mpi.name)
    # Without cb_config_list, ROMIO uses one aggregator per node.
    tuned = {"cb_config_list": "*:*", "cb_nodes": str(AGGREGATORS_MAX)}
    if mpi.family == "openmpi":
        romio = ("--mca", "io", "^ompio")
        return [
            over(mpi, name=short, role=PEER, about="OMPIO", arguments=("--mca", "io", "ompio")),
            over(mpi, name=f"{short}R", role=PEER, about="ROMIO", arguments=romio),
            over(mpi, name=f"{short}Rt", role=PEER, about="ROMIO, tuned", arguments=romio, hints=tuned),
        ]
    no_sieving = {**tuned, "romio_ds_read": "disable", "romio_ds_write": "disable"}
    return [
        over(mpi, name=f"{short}t", role=PEER, about="ROMIO, tuned", hints=tuned),
        over(
            mpi,
            name=f"{short}nlt",
            role=PEER,
            about="ROMIO, tuned, without data sieving",
            hints=no_sieving,
            workloads="ind*",
        ),
        over(mpi, name=short, role=PEER, about="ROMIO, one aggregator per host", hosts_only=True),
    ]


def ours_over(mpi: Mpi, name: str, preload: str, hints: dict[str, str]) -> Contender:
    short = SHORT_NAMES.get(mpi.name, mpi.name)
    return over(mpi, name=f"{name}/{short}", role=OURS, about="Nacre", preload=preload, hints=hints)


def limits(mpis: list[Mpi]) -> list[Contender]:
    """`ref` and `memcpy` exchange no data, so they run over the first MPI only. `hand` exchanges data, so it runs over
    each MPI."""
    return [
        over(
            mpis[0],
            name=REF,
            role=LIMIT,
            about="the same bytes, contiguous, with plain pwrite and pread",
            engine="plain",
        ),
        over(mpis[0], name="memcpy", role=LIMIT, about="the same bytes, copied once in memory", engine="memcpy"),
        *[hand_over(mpi) for mpi in mpis],
    ]


def hand_over(mpi: Mpi) -> Contender:
    name = f"{HAND}/{SHORT_NAMES.get(mpi.name, mpi.name)}"
    return over(mpi, name=name, role=LIMIT, about="as a good user would write it, without MPI-IO", engine=HAND)


def parse_pairs(items: list[str], what: str) -> dict[str, str]:
    pairs = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not key or not equals:
            raise BenchError(f"{what} {item}: expected KEY=VALUE")
        pairs[key] = value
    return pairs


def preloads(config: Config, wanted: list[str]) -> dict[str, str]:
    """The names and paths of the libraries to measure. `wanted`: values of --preload, PATH or NAME=PATH. If it is
    empty, the library of the build tree, if that exists."""
    result = {}
    for item in wanted:
        name, equals, path = item.partition("=")
        result[name if equals else NACRE] = os.path.abspath(path if equals else item)
    for path in result.values():
        if not os.path.exists(path):
            raise BenchError(f"--preload: file {path} does not exist")
    if not wanted and os.path.exists(config.preload):
        result[NACRE] = config.preload
    return result


def all_contenders(config: Config, libraries: dict[str, str], hints: dict[str, str]) -> list[Contender]:
    """Nacre first, then the peers, then the limits."""
    mpis = sorted(config.mpis.values(), key=lambda mpi: list(SHORT_NAMES).index(mpi.name))
    ours = [ours_over(mpi, name, path, hints) for name, path in libraries.items() for mpi in mpis]
    peers = [peer for mpi in mpis for peer in peers_over(mpi)]
    return ours + peers + (limits(mpis) if mpis else [])


def choose(contenders: list[Contender], patterns: list[str]) -> list[Contender]:
    """The contenders whose name matches one of `patterns`; all contenders if there are no patterns."""
    if not patterns:
        return contenders
    for pattern in patterns:
        if not any(fnmatch.fnmatchcase(contender.name, pattern) for contender in contenders):
            names = ", ".join(contender.name for contender in contenders)
            raise BenchError(f"no contender matches {pattern}; the contenders are: {names}")
    return [c for c in contenders if any(fnmatch.fnmatchcase(c.name, pattern) for pattern in patterns)]
