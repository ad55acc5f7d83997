"""The cells and contenders by which Nacre is judged against its peers."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

from .contenders import Contender

RANKS = 8
# What `nacre-bench patterns` runs beside `interleaved`; here `seg` stands for such accesses.
LEFT_OUT = ("pieces",)
# The first seven kinds of the project's table of workloads; some kinds are more than one workload.
SCALED = (
    ("seg",),
    ("strided", "interleaved"),
    ("hard-calls", "hard"),
    ("tile64", "tile8"),
    ("latency", "latency2m"),
    ("bt",),
    ("flash", "flash8"),
)
SCALED_RANKS = (4, 16)

# MPICH 4 as Debian builds it polls without yielding whatever is set, and tuned ROMIO of Open MPI is not in the
# project's table: they can be asked for.
CONTENDERS = ("*/M5", "*/O4", "*/O5", "M5", "M5t", "M5nlt", "O4", "O4R", "O5", "O5R", "ref", "memcpy")


def cells(workloads: Iterable[str]) -> list[tuple[str, int]]:
    """Workloads, each with a number of ranks."""
    scaled = [(workload, ranks) for ranks in SCALED_RANKS for kind in SCALED for workload in kind]
    return [(workload, RANKS) for workload in workloads if workload not in LEFT_OUT] + scaled


def contenders(everyone: list[Contender]) -> list[Contender]:
    return [one for one in everyone if any(fnmatch.fnmatchcase(one.name, pattern) for pattern in CONTENDERS)]
