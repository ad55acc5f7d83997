"""Reads bench.json, which the build writes: the MPIs with their workers, and the path of Nacre's library."""

from __future__ import annotations

import dataclasses
import json
import pathlib

from .errors import BenchError


@dataclasses.dataclass(frozen=True)
class Mpi:
    name: str
    family: str  # "mpich" or "openmpi"
    mpiexec: str
    programs: str  # the folder of the worker and of the overhead program that are built with this MPI

    def program(self, name: str) -> str:
        return str(pathlib.Path(self.programs) / name)


@dataclasses.dataclass(frozen=True)
class Config:
    version: str
    preload: str
    decision: str  # the program that measures how long the choice of a plan takes
    mpis: dict[str, Mpi]
    scale: str = ""  # the program that runs the operations of a million ranks
    posix: str = ""  # the program that writes and reads a file in small calls

    def mpi(self, name: str) -> Mpi:
        if name not in self.mpis:
            raise BenchError(
                f"--mpi {name}: this build does not have that MPI; it has: {', '.join(self.mpis) or 'none'}"
            )
        return self.mpis[name]


def read_config(path: str | None) -> Config:
    if not path:
        raise BenchError("--config is needed: give the path of the bench.json that the build wrote")
    try:
        data = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchError(
            f"cannot read {path}: {error.strerror}. Run `make` first: nacre-bench runs from a build tree."
        ) from error
    mpis = {name: Mpi(name=name, **fields) for name, fields in data["mpis"].items()}
    return Config(data["version"], data["preload"], data["decision"], mpis, data["scale"], data["posix"])
