"""Installed by pip and by CMake into throw-away places, Nacre runs from there without the tree that it was built in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARIES = {"libnacre.so", "libnacre_mpich.so", "libnacre_openmpi.so", "libnacre_mpiabi.so"}
PROGRAM = (
    "#include <nacre/nacre.h>\n#include <mpi.h>\n#include <stdio.h>\n"
    + """
int main(int argc, char** argv) {
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_close(&file);
  printf("%s %d\\n", nacre_version(), nacre_calls_served() > 0);
  return MPI_Finalize();
}
"""
)


def run(*command: object, **options) -> subprocess.CompletedProcess:
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=1500, **options)
    assert result.returncode == 0, f"{words}\n{result.stdout}\n{result.stderr}"
    return result


@pytest.fixture(scope="module")
def prefix(build: Path, tmp_path_factory) -> Path:
    """`cmake --install`, then moved: the tree may lie anywhere."""
    first = tmp_path_factory.mktemp("cmake") / "first"
    run("cmake", "--install", build, "--prefix", first)
    return Path(shutil.move(first, first.with_name("moved")))


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


def sections(path: Path) -> str:
    return run("readelf", "-SW", path).stdout


def is_stripped(path: Path) -> bool:
    # A stripped library has 2 MB; its debug information alone had 45.
    return ".debug_info" not in sections(path) and path.stat().st_size < 6 << 20


def installed(nacre: Path, clean_environment: dict[str, str], tmp_path: Path, *arguments: object) -> str:
    return run(nacre, *arguments, env=clean_environment, cwd=tmp_path).stdout


def test_cmake_installs_libraries_header_command_and_pkg_config(prefix):
    names = {path.name for path in prefix.rglob("*") if path.is_file()}
    assert LIBRARIES | {"nacre", "nacre.h", "nacre.pc", "file_systems.toml", "LICENSE", "README.md"} <= names


def test_cmake_installs_libraries_and_programs_without_debug_information(prefix):
    programs = [*prefix.rglob("libnacre*.so"), *prefix.rglob("nacre-testbed")]
    assert {path.name for path in programs} >= LIBRARIES
    assert [path for path in programs if not is_stripped(path)] == []
    assert not list(prefix.rglob("*.debug"))


def test_with_the_option_debug_information_is_installed_for_each_library(build, tmp_path):
    code = (build / "src/mpi/cmake_install.cmake").read_text().replace('set(with_debug "OFF")', 'set(with_debug "ON")')
    (tmp_path / "install.cmake").write_text(code)
    run("cmake", f"-DCMAKE_INSTALL_PREFIX={tmp_path}", "-P", tmp_path / "install.cmake")
    libraries = {path.name: path for path in tmp_path.rglob("libnacre*.so")}
    assert set(libraries) == LIBRARIES
    for name, library in libraries.items():
        assert is_stripped(library)
        assert ".gnu_debuglink" in sections(library)
        assert ".debug_info" in sections(library.parent / ".debug" / f"{name}.debug")


def test_the_installed_command_works_after_the_prefix_is_moved(prefix, build, clean_environment, tmp_path):
    clean_environment["NACRE_PYTHON"] = str(build / "venv/tool/bin/python")
    output = installed(prefix / "bin/nacre", clean_environment, tmp_path, "doctor", "true")
    assert f"0.1.0 in {prefix}" in output


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_a_program_links_with_the_flags_of_pkg_config(prefix, clean_environment, tmp_path, mpi):
    [pc] = prefix.rglob("nacre.pc")
    environment = {**clean_environment, "PKG_CONFIG_PATH": str(pc.parent)}
    flags = run("pkg-config", "--cflags", "--libs", "nacre", env=environment).stdout.split()
    (tmp_path / "app.c").write_text(PROGRAM)
    run(f"mpicc.{mpi}", "app.c", "-o", "app", *flags, cwd=tmp_path)
    output = run(f"mpiexec.{mpi}", "-n", 1, "./app", "data", cwd=tmp_path, env=clean_environment).stdout
    assert output == "0.1.0 1\n"


def test_pip_installs_libraries_and_command(environment, clean_environment, tmp_path):
    [package] = environment.glob("lib/python3*/site-packages/nacre")
    libraries = list(package.glob("lib/libnacre*"))
    assert {path.name for path in libraries} == LIBRARIES
    assert [path for path in libraries if not is_stripped(path)] == []
    output = installed(environment / "bin/nacre", clean_environment, tmp_path, "doctor", "true")
    assert f"0.1.0 in {package}/lib" in output
    assert (package / "file_systems.toml").is_file()


def test_the_command_that_pip_installed_serves_a_program(environment, build, clean_environment, tmp_path):
    command = [build / "venv/mpich/bin/mpiexec", "-n", 2, build / "venv/mpich/bin/python", "train.py"]
    output = installed(environment / "bin/nacre", clean_environment, tmp_path, "doctor", "--", *command)
    assert "libnacre_mpich.so served" in output


def test_without_typer_the_command_says_what_to_install(source, tmp_path):
    code = f"import sys; sys.path.insert(0, {str(source / 'python')!r}); from nacre.cli import main; main()"
    result = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, timeout=600)
    assert result.returncode == 1
    assert "pip install typer rich" in result.stderr
