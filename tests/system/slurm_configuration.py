"""The configuration of a Slurm of one node, for the tests."""

from __future__ import annotations

import socket
from pathlib import Path

TEXT = """\
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
PlugStackConfig={directory}/plugstack.conf
NodeName={host} CPUs=8
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


def configuration(directory: Path) -> str:
    """slurm.conf of a Slurm whose files are in `directory`."""
    host = socket.gethostname().split(".")[0]
    return TEXT.format(host=host, directory=directory, controller_port=free_port(), node_port=free_port())
