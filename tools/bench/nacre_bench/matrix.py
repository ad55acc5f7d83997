"""The default cells and contenders of `nacre-bench peers`."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

from .contenders import Contender

RANKS = 8
# `pieces` is for `nacre-bench patterns`. Here `seg` measures the same access.
LEFT_OUT = ("pieces",)
# Kinds of workloads that also run at SCALED_RANKS. Some kinds have two workloads.
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

# Without MPICH 4, since Debian's build polls without yielding, whatever is set, and without tuned ROMIO of Open MPI.
# Both are measured if --contenders names them.
CONTENDERS = ("*/M5", "*/O4", "*/O5", "M5", "M5t", "M5nlt", "O4", "O4R", "O5", "O5R", "ref", "memcpy")


def cells(workloads: Iterable[str]) -> list[tuple[str, int]]:
    """Pairs of a workload and a number of ranks."""
    scaled = [(workload, ranks) for ranks in SCALED_RANKS for kind in SCALED for workload in kind]
    return [(workload, RANKS) for workload in workloads if workload not in LEFT_OUT] + scaled


def contenders(everyone: list[Contender]) -> list[Contender]:
    return [one for one in everyone if any(fnmatch.fnmatchcase(one.name, pattern) for pattern in CONTENDERS)]
