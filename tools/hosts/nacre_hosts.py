#!/usr/bin/env python3
"""Runs a command on several emulated hosts on one machine, to test programs across node boundaries.

    nacre_hosts.py --hosts 4 --ranks 8 -- mpiexec -n 8 ./app

Each host has its own namespaces for network, names, IPC, processes and mounts: an address on a bridge that joins all
hosts, a host name, process numbers, a /dev/shm and a TMPDIR. The hosts share all other files, and also --share DIR,
even if it lies in /dev/shm. The command runs on an additional host, called front. Environment variables tell the
launchers of MPICH and Open MPI the hosts and an even share of the ranks for each, so mpiexec needs no options for them.

All processes end if this process ends, even if it is killed; the kernel removes the namespaces.
Needs root, iproute2 and util-linux. If the system does not allow namespaces, prints the reason and exits with 77.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
AGENT = HERE / "agent.sh"
# In a tmpfs that only the front sees.
STATE = pathlib.Path("/run/nacre-hosts")
FRONT = "front"
NETWORK = "10.77.0"
HOSTS_MAX = 200
# The exit status if no hosts can be created. ctest treats it as a skip.
UNAVAILABLE = 77

IN_NAMESPACES = ("unshare", "--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--kill-child")
PROBE = "ip link add name probe type bridge && ip link add name a0 type veth peer name b0 && mount -t tmpfs tmpfs /run"


@dataclasses.dataclass(frozen=True)
class Host:
    name: str
    address: str
    ranks: int


def hosts_for(count: int, ranks: int) -> list[Host]:
    """`count` hosts with the ranks spread evenly. If that leaves a remainder, the first hosts get one rank more."""
    each, more = divmod(ranks, count)
    return [Host(f"node{i + 1}", f"{NETWORK}.{i + 1}", each + (i < more)) for i in range(count)]


def over_hosts(count: int, ranks: int, share: str) -> list[str]:
    """The words before the command line of a launcher that make it start its ranks on `count` hosts."""
    return [sys.executable, __file__, "--hosts", str(count), "--ranks", str(ranks), "--share", share, "--"]


def why_unavailable() -> str:
    """Why this machine cannot create hosts; empty if it can."""
    if os.geteuid() != 0:
        return "hosts in namespaces need root"
    try:
        probe = subprocess.run([*IN_NAMESPACES, "sh", "-c", PROBE], capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        return "hosts in namespaces need util-linux (unshare)"
    return f"hosts in namespaces cannot be created here: {probe.stderr.strip()}" if probe.returncode else ""


def launcher_environment(hosts: list[Host]) -> dict[str, str]:
    """Environment variables for the launchers: Hydra (MPICH), ORTE (Open MPI 4) and PRRTE (Open MPI 5). They turn
    binding off: the hosts share the cores, so the first ranks of all hosts would be bound to the same core."""
    hydra_hosts, openmpi_hosts = STATE / "hydra", STATE / "openmpi"
    hydra_hosts.write_text("".join(f"{host.name}:{host.ranks}\n" for host in hosts))
    openmpi_hosts.write_text("".join(f"{host.name} slots={host.ranks}\n" for host in hosts))
    openmpi = {
        "OMPI_MCA_plm_rsh_agent": str(AGENT),
        "OMPI_MCA_orte_default_hostfile": str(openmpi_hosts),
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PRTE_MCA_plm_ssh_agent": str(AGENT),
        "PRTE_MCA_prte_default_hostfile": str(openmpi_hosts),
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        "PRTE_MCA_rmaps_default_mapping_policy": "slot",
    }
    as_root = ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM")
    openmpi |= {f"{family}_{word}": "1" for family in ("OMPI", "PRTE") for word in as_root}
    hydra = {
        "HYDRA_LAUNCHER": "rsh",
        "HYDRA_LAUNCHER_EXEC": str(AGENT),
        "HYDRA_HOST_FILE": str(hydra_hosts),
    }
    return {**hydra, **openmpi, "TMPDIR": "/run", "NACRE_HOSTS_STATE": str(STATE)}


def run(*words: str, text: str = "") -> None:
    subprocess.run(words, input=text, text=True, check=True)


def make_front(hosts: list[Host]) -> None:
    run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/run")
    STATE.mkdir()
    pathlib.Path("/proc/sys/kernel/hostname").write_text(FRONT)
    names = STATE / "names"
    lines = ["127.0.0.1 localhost", f"{NETWORK}.254 {FRONT}", *(f"{host.address} {host.name}" for host in hosts)]
    names.write_text("".join(f"{line}\n" for line in lines))
    run("mount", "--bind", str(names), "/etc/hosts")
    bridge = f"""\
        link set lo up
        link add name bridge type bridge
        address add {NETWORK}.254/24 dev bridge
        link set bridge up
        """
    run("ip", "-batch", "-", text=bridge)


def start_host(host: Host, share: str) -> subprocess.Popen:
    words = [*IN_NAMESPACES, str(HERE / "host.sh"), host.name, share]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def join_host(host: Host, process: subprocess.Popen) -> None:
    """Waits until the host is set up, and connects it to the bridge."""
    number = process.stdout.readline().strip()
    if not number:
        raise RuntimeError(f"emulated host {host.name} did not start")
    (STATE / host.name).write_text(f"{number}\n")
    link = f"""\
        link add name {host.name} type veth peer name eth0 netns {number}
        link set {host.name} master bridge up
        """
    run("ip", "-batch", "-", text=link)
    end = f"""\
        link set lo up
        address add {host.address}/24 dev eth0
        link set eth0 up
        """
    run("nsenter", "--target", number, "--net", "ip", "-batch", "-", text=end)


def front(arguments: argparse.Namespace) -> int:
    """Runs in the first process of the front. Creates the hosts, runs the command and returns its exit status."""
    hosts = hosts_for(arguments.hosts, arguments.ranks)
    make_front(hosts)
    processes = [start_host(host, arguments.share) for host in hosts]
    for host, process in zip(hosts, processes, strict=True):
        join_host(host, process)
    environment = {**os.environ, **launcher_environment(hosts)}
    status = subprocess.run(arguments.command, env=environment, check=False).returncode
    return status if status >= 0 else 128 - status


def supervise(words: list[str]) -> int:
    """Runs this program again as the first process of the front. The kernel kills the front when this process ends."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    front_of = [*IN_NAMESPACES, "--mount-proc", sys.executable, __file__, "--front", *words]
    process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *front_of])
    try:
        return process.wait()
    finally:
        process.kill()
        process.wait()


def parse_arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, required=True)
    parser.add_argument("--ranks", type=int, required=True, help="number of ranks that the command will start")
    parser.add_argument("--share", default="", metavar="DIR", help="directory in /dev/shm that all hosts share")
    parser.add_argument("--front", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args(words)
    if not 1 <= arguments.hosts <= min(arguments.ranks, HOSTS_MAX):
        parser.error(f"--hosts must be 1 to {HOSTS_MAX} and at most --ranks")
    return arguments


def main() -> int:
    words = sys.argv[1:]
    arguments = parse_arguments(words)
    if arguments.front:
        return front(arguments)
    why = why_unavailable()
    if why:
        print(f"skipped: {why}", file=sys.stderr)
        return UNAVAILABLE
    return supervise(words)


if __name__ == "__main__":
    sys.exit(main())
