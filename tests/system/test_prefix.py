"""`cmake --install` into a prefix: the command, and programs that use CMake or pkg-config, find everything there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from installing import LIBRARIES, is_stripped, run, sections

CONSUMER = Path(__file__).resolve().parent / "consumer"
SPACK_REPOSITORY = "packaging/spack/spack_repo/nacre"


@pytest.fixture(scope="module")
def prefix(build: Path, tmp_path_factory) -> Path:
    """`cmake --install`, then moved: the tree may lie anywhere."""
    first = tmp_path_factory.mktemp("cmake") / "first"
    run("cmake", "--install", build, "--prefix", first)
    return Path(shutil.move(first, first.with_name("moved")))


@pytest.fixture
def command(prefix, build, clean_environment):
    """The installed command with arguments."""
    environment = {**clean_environment, "NACRE_PYTHON": str(build / "venv/tool/bin/python")}
    return lambda *arguments, **options: run(prefix / "bin/nacre", *arguments, env=environment, **options).stdout


def test_libraries_header_command_and_package_files_are_installed(prefix):
    names = {path.name for path in prefix.rglob("*") if path.is_file()}
    files = {"nacre", "nacre.h", "nacre.pc", "nacreConfig.cmake", "file_systems.toml", "LICENSE", "README.md"}
    assert LIBRARIES | files <= names


def test_libraries_and_programs_are_installed_without_debug_information(prefix):
    programs = [*prefix.rglob("libnacre*.so"), *prefix.rglob("nacre-testbed")]
    assert {path.name for path in programs} >= LIBRARIES
    assert [path for path in programs if not is_stripped(path)] == []
    assert not list(prefix.rglob("*.debug"))


def test_with_the_option_debug_information_is_installed_for_each_library(build, tmp_path):
    code = (build / "src/mpi/cmake_install.cmake").read_text().replace('set(with_debug "OFF")', 'set(with_debug "ON")')
    (tmp_path / "install.cmake").write_text(code)
    run("cmake", f"-DCMAKE_INSTALL_PREFIX={tmp_path}", "-P", tmp_path / "install.cmake")
    libraries = {path.name: path for path in tmp_path.rglob("libnacre*.so")}
    assert set(libraries) == LIBRARIES - {"libnacre_posix.so"}
    for name, library in libraries.items():
        assert is_stripped(library)
        assert ".gnu_debuglink" in sections(library)
        assert ".debug_info" in sections(library.parent / ".debug" / f"{name}.debug")


def test_the_command_works_after_the_prefix_is_moved(prefix, command, version, tmp_path):
    assert f"{version} in {prefix}" in command("doctor", "true", cwd=tmp_path)


def test_the_command_runs_no_module_of_the_working_directory(command, version, tmp_path):
    for name in ("json", "random", "typer"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not this one')\n")
    assert f"nacre {version}" in command("--version", cwd=tmp_path)


def test_the_command_names_its_version_its_commit_and_its_abis(prefix, command, version, source):
    first, commit, abis = command("--version").splitlines()
    assert first == f"nacre {version}"
    assert re.fullmatch(r"commit ([0-9a-f]{12,40}(-dirty)?|unknown)", commit)
    assert abis.startswith(f"ABIs mpich, openmpi, mpiabi, in {prefix}/")


def test_the_recipes_have_the_version(version, source):
    assert f"version = '{version}'" in (source / f"packaging/easybuild/nacre-{version}.eb").read_text()
    recipe = (source / SPACK_REPOSITORY / "packages/nacre/package.py").read_text()
    compile(recipe, "package.py", "exec")
    assert f'version("{version}")' in recipe


def test_spack_accepts_the_place_of_the_repository(source):
    """From version 2.0 of its package API on, Spack wants spack_repo/NAMESPACE; it refused packaging/spack."""
    settings = (source / SPACK_REPOSITORY / "repo.yaml").read_text()
    assert re.search(r"^  api: v2\.", settings, re.MULTILINE)
    assert re.search(r"^  namespace: (.*)$", settings, re.MULTILINE)[1] == Path(SPACK_REPOSITORY).name
    assert Path(SPACK_REPOSITORY).parent.name == "spack_repo"


def pc_of(prefix: Path, environment: dict[str, str]) -> dict[str, str]:
    [pc] = prefix.rglob("nacre.pc")
    return {**environment, "PKG_CONFIG_PATH": str(pc.parent)}


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_a_program_links_with_the_flags_of_pkg_config(prefix, clean_environment, tmp_path, mpi, version):
    environment = pc_of(prefix, clean_environment)
    assert run("pkg-config", "--modversion", "nacre", env=environment).stdout.strip() == version
    flags = run("pkg-config", "--cflags", "--libs", "nacre", env=environment).stdout.split()
    run(f"mpicc.{mpi}", CONSUMER / "app.c", "-o", "app", *flags, cwd=tmp_path)
    expect_served(mpi, "./app", tmp_path, clean_environment, version)


def expect_served(mpi: str, program: str, directory: Path, environment: dict[str, str], version: str) -> None:
    """Runs the program on one rank and on two."""
    for ranks in (1, 2):
        words = [f"mpiexec.{mpi}", *(["--oversubscribe"] if mpi == "openmpi" else []), "-n", ranks, program, "data"]
        words_printed = run(*words, cwd=directory, env=environment).stdout.split()
        assert [words_printed[0], words_printed[2]] == [version, "1"]
        assert (directory / "data").read_bytes() == b"x" * ranks


def configure_consumer(prefix: Path, directory: Path, mpi: str, *words: str) -> subprocess.CompletedProcess:
    command = ["cmake", "-S", CONSUMER, "-B", directory, f"-DCMAKE_PREFIX_PATH={prefix}"]
    options = [f"-DMPI_C_COMPILER=mpicc.{mpi}", f"-DMPIEXEC_EXECUTABLE=mpiexec.{mpi}", *words]
    return subprocess.run([str(w) for w in [*command, *options]], capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize(("mpi", "program"), [("mpich", "app"), ("openmpi", "app"), ("openmpi", "app_openmpi")])
def test_a_cmake_project_finds_and_links_it(prefix, clean_environment, tmp_path, mpi, program, version):
    configured = configure_consumer(prefix, tmp_path / "build", mpi)
    assert configured.returncode == 0, configured.stderr
    run("cmake", "--build", tmp_path / "build", "--target", program)
    expect_served(mpi, f"build/{program}", tmp_path, clean_environment, version)


def test_a_cmake_project_is_refused_if_an_abi_is_missing(prefix, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(prefix, copy)
    [library] = copy.rglob("libnacre_mpich.so")
    library.unlink()
    configured = configure_consumer(copy, tmp_path / "build", "mpich")
    assert configured.returncode != 0
    assert "mpich" in configured.stderr
