"""The build, from a clone: `make`, and CMake on a machine that has little."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# What is on PATH, of a machine with a compiler, CMake and Python, and nothing that Nacre's tests need.
TOOLS = ["cc", "c++", "gcc", "g++", "as", "ld", "ar", "ranlib", "nm", "cmake", "make", "sh", "env"]


def run(*command: object, **options) -> subprocess.CompletedProcess:
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=600, check=False, **options)


@pytest.fixture(scope="module")
def bare_path(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("bare") / "bin"
    directory.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found, f"{tool} is missing"
        (directory / tool).symlink_to(found)
    return directory


def configure(source: Path, directory: Path, path: Path, header: Path, *options: str) -> subprocess.CompletedProcess:
    """Configures with the tools in `path` and one mpi.h, and nothing found of what the system has besides."""
    return run(
        "cmake",
        *("-S", source, "-B", directory, "-G", "Unix Makefiles"),
        "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",
        f"-DNACRE_MPICH_INCLUDE={header}",
        f"-DPython3_EXECUTABLE={sys.executable}",
        *options,
        env={"PATH": str(path), "HOME": str(directory.parent)},
    )


@pytest.fixture(scope="module")
def header(build: Path) -> Path:
    """The mpi.h that the build found."""
    text = (build / "CMakeCache.txt").read_text()
    [found] = [line.split("=")[1] for line in text.splitlines() if line.startswith("NACRE_MPICH_INCLUDE:")]
    return Path(found)


@pytest.fixture(scope="module")
def bare(source: Path, bare_path: Path, header: Path, tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess]:
    directory = tmp_path_factory.mktemp("configured") / "build"
    return directory, configure(source, directory, bare_path, header)


def test_cmake_needs_a_compiler_python_and_one_mpi_header(bare):
    _, configured = bare
    assert configured.returncode == 0, configured.stdout + configured.stderr


@pytest.mark.parametrize("what", ["on mpich4", "on openmpi5", "on mpiabi", "the testbed", "unit tests"])
def test_a_part_that_is_left_out_is_named_in_one_line(bare, what):
    _, configured = bare
    lines = [line for line in configured.stdout.splitlines() if what in line]
    assert len(lines) == 1, configured.stdout
    assert lines[0].startswith("-- Left out: ")


def test_with_require_all_a_missing_dependency_is_an_error(source, bare_path, header, tmp_path):
    configured = configure(source, tmp_path / "build", bare_path, header, "-DNACRE_REQUIRE_ALL=ON")
    assert configured.returncode != 0
    assert "unit tests (no doctest)" in " ".join(configured.stderr.split())


def test_without_a_system_tomlplusplus_the_copy_is_used(bare):
    _, configured = bare
    assert "third_party/tomlplusplus" in configured.stdout


def test_the_headers_of_the_system_tomlplusplus_take_precedence(source, bare_path, header, tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "tomlplusplusConfig.cmake").write_text(
        "add_library(tomlplusplus::tomlplusplus INTERFACE IMPORTED)\n"
        "target_include_directories(tomlplusplus::tomlplusplus INTERFACE /opt/toml/include)\n"
    )
    (package / "tomlplusplusConfigVersion.cmake").write_text("set(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
    configured = configure(source, tmp_path / "build", bare_path, header, f"-Dtomlplusplus_DIR={package}")
    assert "-- toml++ from /opt/toml/include" in configured.stdout.splitlines()


@pytest.mark.parametrize(
    ("mpi", "abis"), [("mpich5", ["mpich", "mpiabi"]), ("openmpi5", ["openmpi"])], ids=["mpich5", "openmpi5"]
)
def test_the_libraries_are_built_for_the_mpis_of_the_given_directories_only(source, build, tmp_path, mpi, abis):
    directory = build / "venv" / mpi.rstrip("5") / "include"
    options = [f"-DNACRE_MPI_INCLUDES={directory}", "-DNACRE_BUILD_TESTS=OFF", "-DNACRE_BUILD_TOOLS=OFF"]
    configured = run("cmake", "-S", source, "-B", tmp_path / "build", "-G", "Unix Makefiles", *options)
    assert configured.returncode == 0, configured.stderr
    found = ", ".join(f"{abi} ({directory})" for abi in abis)
    assert f"-- Nacre for the MPI ABIs {found}" in configured.stdout.splitlines()


def test_a_given_directory_without_an_mpi_header_is_refused(source, tmp_path):
    options = [f"-DNACRE_MPI_INCLUDES={tmp_path}", "-DNACRE_BUILD_TESTS=OFF", "-DNACRE_BUILD_TOOLS=OFF"]
    configured = run("cmake", "-S", source, "-B", tmp_path / "build", "-G", "Unix Makefiles", *options)
    assert configured.returncode != 0
    assert f"NACRE_MPI_INCLUDES={tmp_path}: no mpi.h of a known ABI" in " ".join(configured.stderr.split())


def test_install_before_building_says_what_to_build(bare, tmp_path):
    directory, _ = bare
    installed = run("cmake", "--install", directory, "--prefix", tmp_path / "prefix")
    assert installed.returncode != 0
    assert "Nothing was installed" in installed.stderr
    assert not (tmp_path / "prefix").exists()


def test_make_creates_the_environment_before_the_command(source, tmp_path):
    """`make -j2` of a fresh clone failed: "cannot create nacre-source.pth"."""
    planned = run("make", "-j2", "--dry-run", f"BUILD={tmp_path / 'build'}", "SETUP_PACKAGES=no", cwd=source)
    assert planned.returncode == 0, planned.stderr
    assert planned.stdout.index("touch " + str(tmp_path / "build/stamps/venv-tool")) < planned.stdout.index(
        "nacre-source.pth"
    )
