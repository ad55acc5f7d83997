"""`nacre run` and `nacre doctor` under a real Slurm: one controller and one node, on this machine, of our own.

Needs Debian's slurmctld, slurmd, slurm-client and munge (`make setup-long`) and root, for slurmd.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

DAEMONS = ["munged", "slurmctld", "slurmd", "srun"]
MISSING = [name for name in DAEMONS if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"no {', '.join(MISSING)} here: `make setup-long` installs Slurm"),
    pytest.mark.skipif(os.getuid() != 0, reason="slurmd runs as root only"),
]

CONFIGURATION = """\
ClusterName=nacre
SlurmctldHost={host}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
SlurmctldPort={controller_port}
SlurmdPort={node_port}
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={host} CPUs=8
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """The path of the configuration of a cluster that has started."""
    directory = tmp_path_factory.mktemp("slurm")
    directory.chmod(0o755)
    for name in ("state", "spool"):
        (directory / name).mkdir()
    key = directory / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    configuration = directory / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(
            host=socket.gethostname().split(".")[0],
            directory=directory,
            controller_port=free_port(),
            node_port=free_port(),
        )
    )
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
    assert f"2 ranks wrote a file with the right bytes; libnacre_{mpi}.so served" in result.stdout
