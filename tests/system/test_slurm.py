"""`nacre run`, `nacre doctor` and the SPANK plugin under a real Slurm: one controller and one node, on this machine, of
our own.

Needs Debian's slurmctld, slurmd, slurm-client, libslurm-dev and munge (`make setup-long`) and root, for slurmd.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
import slurm_configuration

DAEMONS = ["munged", "slurmctld", "slurmd", "srun"]
MISSING = [name for name in DAEMONS if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"no {', '.join(MISSING)} here: `make setup-long` installs Slurm"),
    pytest.mark.skipif(os.getuid() != 0, reason="slurmd runs as root only"),
]


@pytest.fixture(scope="module")
def spank_plugin(source, tmp_path_factory) -> Path:
    """The SPANK plugin, built as a site builds it."""
    build = tmp_path_factory.mktemp("spank")
    for command in (["cmake", "-S", source / "packaging/slurm", "-B", build], ["cmake", "--build", build]):
        subprocess.run(command, check=True, timeout=600)
    return build / "nacre.so"


@pytest.fixture(scope="module")
def slurm(tmp_path_factory, spank_plugin, build):
    """The path of the configuration of a cluster that has started."""
    directory = tmp_path_factory.mktemp("slurm")
    directory.chmod(0o755)
    plugstack(directory, spank_plugin, f"library={build}/lib/libnacre.so")
    for name in ("state", "spool"):
        (directory / name).mkdir()
    key = directory / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    configuration = directory / "slurm.conf"
    configuration.write_text(slurm_configuration.configuration(directory))
    munge = [
        f"--{name}={directory}/munge.{name.split('-')[0]}" for name in ("socket", "pid-file", "log-file", "seed-file")
    ]
    path = {"PATH": f"{os.environ['PATH']}:/usr/sbin", "SLURM_CONF": str(configuration)}
    environment = {**os.environ, **path}
    processes = []
    try:
        for command in (
            ["munged", "--foreground", "--force", f"--key-file={key}", *munge],
            ["slurmctld", "-D", "-c", "-f", str(configuration)],
            ["slurmd", "-D", "-f", str(configuration)],
        ):
            log = (directory / f"{command[0]}.out").open("wb")
            processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
            time.sleep(1)
        wait_until_idle(environment, directory)
        yield str(configuration)
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(timeout=600)


def plugstack(directory: Path, plugin: Path, arguments: str) -> None:
    (directory / "plugstack.conf").write_text(f"optional {plugin} {arguments}\n")


def wait_until_idle(environment: dict[str, str], directory: Path) -> None:
    deadline = time.monotonic() + 600
    state = ""
    while time.monotonic() < deadline:
        result = subprocess.run(
            ["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True, timeout=600
        )
        state = result.stdout.strip() + result.stderr.strip()
        if result.stdout.strip() == "idle":
            return
        time.sleep(0.5)
    logs = "\n".join(path.read_text(errors="replace")[-1000:] for path in directory.glob("*.*o*") if path.is_file())
    pytest.fail(f"Slurm did not start: {state}\n{logs}")


def show(nacre, slurm: str, *options: str, **environment: str) -> list[str]:
    script = 'echo "[$LD_PRELOAD][$NACRE_HINTS]"'
    command = ["srun", *options, "-n", 2, "/bin/sh", "-c", script]
    result = nacre(
        "run", "--hint", "cb_nodes=2", "--hint", "*.h5:cb_nodes=1", *command, SLURM_CONF=slurm, **environment
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


HINTS = "[*:cb_nodes=2,*.h5:cb_nodes=1]"


@pytest.mark.parametrize("options", [[], ["--export=ALL"], ["--export=NONE"], ["--export", "PATH,HOME"]])
def test_the_tasks_have_the_preload_and_the_settings(nacre, slurm, options):
    assert show(nacre, slurm, *options) == [f"[{nacre.library}]{HINTS}"] * 2


def test_a_preload_of_the_user_is_kept_and_comes_first(nacre, slurm):
    expected = [f"[libm.so.6:{nacre.library}]{HINTS}"] * 2
    assert show(nacre, slurm, LD_PRELOAD="libm.so.6") == expected
    assert show(nacre, slurm, "--export=ALL,LD_PRELOAD=libm.so.6") == expected


def test_the_exit_code_is_a_tasks(nacre, slurm):
    assert nacre("run", "srun", "-n", 1, "/bin/sh", "-c", "exit 9", SLURM_CONF=slurm).returncode == 9


@pytest.mark.parametrize(("mpi", "plugin"), [("mpich", "pmi2"), ("openmpi", "pmix")])
def test_a_programs_io_is_proved_to_go_through_nacre(nacre, slurm, tmp_path, mpi, plugin):
    (tmp_path / "app.c").write_text("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }\n")
    subprocess.run([f"mpicc.{mpi}", "app.c", "-o", "app"], cwd=tmp_path, check=True, timeout=600)
    result = nacre("doctor", "--", "srun", f"--mpi={plugin}", "-n", 2, "./app", SLURM_CONF=slurm)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"2 ranks wrote a file and read the same bytes back; libnacre_{mpi}.so served" in result.stdout


def with_plugin(slurm: str, environment: dict[str, str], *words: object, **more: str) -> subprocess.CompletedProcess:
    """A command of Slurm without `nacre run`."""
    environment = {**environment, "SLURM_CONF": slurm, **more}
    return subprocess.run(
        [str(word) for word in words], env=environment, capture_output=True, text=True, timeout=600, check=False
    )


def shown_with_plugin(slurm: str, environment: dict[str, str], *options: str, **more: str) -> str:
    script = 'echo "[$LD_PRELOAD][$NACRE_HINTS][$NACRE_DISABLE]"'
    result = with_plugin(slurm, environment, "srun", "-Q", *options, "-n", 1, "/bin/sh", "-c", script, **more)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout.strip()


def test_the_plugin_preloads_nacre_with_the_hints_of_its_option(nacre, slurm, clean_environment):
    def shown(*options: str, **more: str) -> str:
        return shown_with_plugin(slurm, clean_environment, *options, **more)

    assert shown() == "[][][]"
    assert shown("--nacre") == f"[{nacre.library}][][]"
    assert shown("--nacre=cb_nodes=2,*.h5:cb_nodes=1") == f"[{nacre.library}][*:cb_nodes=2,*.h5:cb_nodes=1][]"
    assert shown("--nacre=cb_nodes=2", NACRE_HINTS="*:cb_nodes=4") == f"[{nacre.library}][*:cb_nodes=4,*:cb_nodes=2][]"
    assert shown("--nacre", LD_PRELOAD="libm.so.6") == f"[libm.so.6:{nacre.library}][][]"
    # Hints that begin like those that are there already count nevertheless.
    assert shown("--nacre=cb_nodes=8", NACRE_HINTS="*:cb_nodes=80").endswith("[*:cb_nodes=80,*:cb_nodes=8][]")
    assert shown("--nacre=off") == "[][][1]"


def test_the_plugin_can_be_on_by_default(nacre, slurm, spank_plugin, clean_environment):
    directory = Path(slurm).parent
    before = (directory / "plugstack.conf").read_text()
    plugstack(directory, spank_plugin, f"library={nacre.library} default=on")
    try:
        assert shown_with_plugin(slurm, clean_environment) == f"[{nacre.library}][][]"
        quiet = with_plugin(slurm, clean_environment, "srun", "-n", 1, "/bin/true", NACRE_DISABLE="1")
        assert "has no effect" not in quiet.stderr
        assert shown_with_plugin(slurm, clean_environment, "--nacre=off") == "[][][1]"
    finally:
        (directory / "plugstack.conf").write_text(before)


def test_without_the_library_on_the_node_the_plugin_says_so_and_the_tasks_run(slurm, spank_plugin, clean_environment):
    directory = Path(slurm).parent
    before = (directory / "plugstack.conf").read_text()
    plugstack(directory, spank_plugin, "library=/nowhere/libnacre.so")
    try:
        result = with_plugin(slurm, clean_environment, "srun", "--nacre", "-n", 1, "/bin/sh", "-c", "echo $LD_PRELOAD")
    finally:
        (directory / "plugstack.conf").write_text(before)
    assert (result.returncode, result.stdout) == (0, "\n")
    assert "cannot read /nowhere/libnacre.so on this node" in result.stderr


def test_nacre_in_a_job_that_switches_it_off_says_so(slurm, clean_environment):
    result = with_plugin(slurm, {**clean_environment, "NACRE_DISABLE": "1"}, "srun", "--nacre", "-n", 1, "/bin/true")
    assert result.returncode == 0
    assert "--nacre has no effect, because NACRE_DISABLE is 1 in this job" in result.stderr


def test_the_plugin_serves_a_batch_script_and_its_steps(nacre, slurm, clean_environment, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text('#!/bin/sh\necho "[$LD_PRELOAD]"\nsrun -n 1 /bin/sh -c \'echo "[$LD_PRELOAD]"\'\n')
    out = tmp_path / "out"
    result = with_plugin(slurm, clean_environment, "sbatch", "--wait", "--nacre", "-n", 1, "-o", out, script)
    assert result.returncode == 0, result.stderr
    assert out.read_text() == f"[{nacre.library}]\n" * 2


@pytest.mark.parametrize(("mpi", "pmi"), [("mpich", "pmi2"), ("openmpi", "pmix")])
def test_the_plugin_serves_a_programs_io(slurm, source, clean_environment, tmp_path, mpi, pmi):
    compiler = [f"mpicc.{mpi}", source / "tests/system/writer.c", "-o", "app"]
    subprocess.run(compiler, cwd=tmp_path, check=True, timeout=600)
    report, data = tmp_path / "io.jsonl", tmp_path / "data"
    options = [f"--nacre=nacre_report={report}", f"--mpi={pmi}", "-n", 2]
    result = with_plugin(slurm, clean_environment, "srun", *options, tmp_path / "app", data)
    assert result.returncode == 0, result.stderr
    assert data.read_bytes() == b"xx"
    [line] = report.read_text().splitlines()
    assert json.loads(line)["file"] == str(data)
