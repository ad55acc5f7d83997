"""Installed by pip into a throw-away place, Nacre runs from there without the tree that it was built in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installing import LIBRARIES, is_stripped, run


@pytest.fixture(scope="module")
def environment(source: Path, build: Path, tmp_path_factory) -> Path:
    """A virtual environment with `pip install` of a copy of the source tree."""
    copy = tmp_path_factory.mktemp("pip") / "source"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
    venv = copy.with_name("venv")
    run("/usr/bin/python3", "-m", "venv", venv)
    defines = f"-DNACRE_TEST_MPICH_WHEEL={build}/venv/mpich"
    run(venv / "bin/pip", "install", "--disable-pip-version-check", copy, env={**os.environ, "CMAKE_ARGS": defines})
    shutil.rmtree(copy)
    return venv


def test_pip_installs_libraries_and_command(environment, clean_environment, tmp_path, version):
    [package] = environment.glob("lib/python3*/site-packages/nacre")
    libraries = list(package.glob("lib/libnacre*"))
    assert {path.name for path in libraries} == LIBRARIES
    assert [path for path in libraries if not is_stripped(path)] == []
    output = run(environment / "bin/nacre", "doctor", "true", env=clean_environment, cwd=tmp_path).stdout
    assert f"{version} in {package}/lib" in output
    assert (package / "file_systems.toml").is_file()


def test_the_command_that_pip_installed_serves_a_program(environment, build, clean_environment, tmp_path):
    command = [build / "venv/mpich/bin/mpiexec", "-n", 2, build / "venv/mpich/bin/python", "train.py"]
    output = run(environment / "bin/nacre", "doctor", "--", *command, env=clean_environment, cwd=tmp_path).stdout
    assert "libnacre_mpich.so served" in output


def test_without_typer_the_command_says_what_to_install(source, tmp_path):
    code = f"import sys; sys.path.insert(0, {str(source / 'python')!r}); from nacre.cli import main; main()"
    result = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, timeout=600)
    assert result.returncode == 1
    assert "pip install typer rich" in result.stderr
