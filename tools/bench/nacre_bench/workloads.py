"""The workloads, as the worker lists them."""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess

from .config import Config
from .errors import BenchError


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    summary: str = ""
    ranks: str = "any"  # or "square": runs only at square numbers of ranks
    hand: bool = False  # the worker also has a hand-written version without MPI-IO

    def nearest_ranks(self, wish: int) -> int:
        if self.ranks == "any":
            return wish
        below = math.isqrt(wish) ** 2
        above = (math.isqrt(wish) + 1) ** 2
        return below if wish - below <= above - wish else above


def known_workloads(config: Config) -> dict[str, Workload]:
    """Asks the worker of the first MPI for its workloads, by name."""
    for mpi in config.mpis.values():
        try:
            output = subprocess.run(
                [mpi.program("worker"), "--list"], capture_output=True, text=True, check=True, timeout=60
            ).stdout
        except (OSError, subprocess.SubprocessError) as error:
            raise BenchError(f"cannot run {mpi.program('worker')}: {error}. Build it with `make`.") from error
        return {line["name"]: Workload(**line) for line in map(json.loads, output.splitlines())}
    raise BenchError("the build found no MPI to measure with; see docs/BENCHMARKING.md")


def find_workload(known: dict[str, Workload], name: str) -> Workload:
    if name not in known:
        raise BenchError(f"unknown workload {name}; the workloads are: {', '.join(known)}")
    return known[name]
