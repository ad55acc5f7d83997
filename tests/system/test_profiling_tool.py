"""Nacre beside a profiling tool that is preloaded too. Debian has no package of Darshan's library, so profiling_tool.c
wraps calls as that library does."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

RANKS = 3
# Each rank: a collective write in pieces of 64 B, which aggregators move, 10 independent writes, and a collective read.
PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_File file;
  MPI_Datatype pieces;
  int rank, size, i, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* data = malloc(4096 * sizeof(int));
  for (i = 0; i < 4096; ++i) data[i] = 10000 * rank + i;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_Type_vector(256, 16, 16 * size, MPI_INT, &pieces);
  MPI_Type_commit(&pieces);
  MPI_File_set_view(file, 64 * rank, MPI_INT, pieces, "native", MPI_INFO_NULL);
  MPI_File_write_at_all(file, 0, data, 4096, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  for (i = 0; i < 10; ++i) MPI_File_write_at(file, i, data + i, 1, MPI_INT, MPI_STATUS_IGNORE);
  for (i = 0; i < 4096; ++i) data[i] = -1;
  MPI_File_read_at_all(file, 0, data, 4096, MPI_INT, MPI_STATUS_IGNORE);
  for (i = 0; i < 4096; ++i) wrong += data[i] != 10000 * rank + i;
  MPI_File_close(&file);
  MPI_Finalize();
  return wrong != 0;
}
"""
SEEN = re.compile(
    r"tool (\d): (\d+) opens, (\d+) calls, (\d+) bytes; by POSIX (\d+) opens, (\d+) bytes written, (\d+) read"
)


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def family(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def tool(family, tmp_path) -> Path:
    """The tool and the program, compiled for the MPI; returns the tool."""
    (tmp_path / "app.c").write_text(PROGRAM)
    source = Path(__file__).with_name("profiling_tool.c")
    made = tmp_path / "tool.so"
    for words in (["app.c", "-o", "app"], ["-shared", "-fPIC", source, "-o", made]):
        subprocess.run([f"mpicc.{family}", "-O1", *words], cwd=tmp_path, check=True, timeout=600)
    return made


def totals(lines: list[dict]) -> dict[str, int]:
    """Calls and bytes of the reports of MPI-IO, and bytes moved to and from the file."""
    kinds = [(name, kind) for line in lines for name, kind in line["kinds"].items()]

    def of(direction: str) -> int:
        return sum(kind["file_bytes"]["sum"] for name, kind in kinds if name.endswith(direction))

    return {
        "calls": sum(line["calls"] for line in lines),
        "bytes": sum(line["bytes_read"] + line["bytes_written"] for line in lines),
        "written": of("write"),
        "read": of("read"),
    }


@pytest.mark.parametrize("options", [(), ("--posix",)])
def test_a_tool_and_nacre_see_the_same_calls(nacre, family, tool, tmp_path, options):
    launcher = [f"mpiexec.{family}", *(["--oversubscribe"] if family == "openmpi" else []), "-n", str(RANKS)]
    run = nacre("run", *options, "--report", "io.jsonl", "--", *launcher, "./app", "data", LD_PRELOAD=tool)
    assert run.returncode == 0, run.stdout + run.stderr
    seen = sorted(tuple(map(int, one)) for one in SEEN.findall(run.stdout))
    assert [one[0] for one in seen] == list(range(RANKS))
    assert all(one[1:4] == (1, 12, 2 * 4096 * 4 + 10 * 4) for one in seen)
    lines = [json.loads(line) for line in (tmp_path / "io.jsonl").read_text().splitlines()]
    found = totals([line for line in lines if "plans" in line])
    assert found["calls"] == sum(one[2] for one in seen)
    assert found["bytes"] == sum(one[3] for one in seen)
    assert found["written"] == sum(one[5] for one in seen) >= RANKS * 4096 * 4
    assert found["read"] <= sum(one[6] for one in seen)  # the report reads a few bytes of the file at its close
    assert sum(one[4] for one in seen) >= 1
    assert "LD_PRELOAD" not in run.stderr
