"""Hosts in namespaces (tools/hosts), which the tests over several nodes and nacre-bench stand on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "hosts"
sys.path.insert(0, str(TOOL))

import nacre_hosts  # noqa: E402

WHY_NOT = nacre_hosts.why_unavailable()
needs_hosts = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
ON_ALL_THREE = 'for host in node1 node2 node3; do "$AGENT" $host "$COMMAND"; done'


def over_hosts(hosts: int, ranks: int, command: list[object], environment: dict, share: object = ""):
    return subprocess.run(
        [*nacre_hosts.over_hosts(hosts, ranks, str(share)), *(str(word) for word in command)],
        env={**environment, "AGENT": str(nacre_hosts.AGENT)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip


def on_all_three(command: str, environment: dict, share: object = "") -> list[str]:
    """What the command prints on each of three hosts, by a line each."""
    result = over_hosts(3, 3, ["sh", "-c", ON_ALL_THREE], {**environment, "COMMAND": command}, share)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@needs_hosts
def test_all_hosts_resolve_the_name_and_address_of_each_host(clean_environment):
    assert on_all_three("hostname", clean_environment) == ["node1", "node2", "node3"]
    known = on_all_three("getent hosts node1 node2 node3 | wc -l", clean_environment)
    assert known == ["3"] * 3
    shown = on_all_three("ip -brief -4 address show dev eth0", clean_environment)
    assert [line.split()[2] for line in shown] == ["10.77.0.1/24", "10.77.0.2/24", "10.77.0.3/24"]


@needs_hosts
def test_two_hosts_share_no_memory_and_no_process(clean_environment):
    # Each host leaves a file behind and sees none of the others'.
    assert on_all_three("ls /dev/shm /run | wc -w; touch /dev/shm/left /run/left", clean_environment) == ["2"] * 3
    for kind in ("ipc", "pid", "mnt", "net", "uts"):
        assert len(set(on_all_three(f"readlink /proc/self/ns/{kind}", clean_environment))) == 3
    assert on_all_three("cat /proc/1/comm", clean_environment) == ["sleep"] * 3


@needs_hosts
def test_all_hosts_share_files_and_the_shared_directory_in_dev_shm(clean_environment, tmp_path):
    assert on_all_three(f"echo x >> {tmp_path}/file; wc -l < {tmp_path}/file", clean_environment) == ["1", "2", "3"]
    share = Path(f"/dev/shm/nacre-test-hosts-{os.getpid()}/inner")
    share.mkdir(parents=True)
    try:
        assert on_all_three(f"echo x >> {share}/f; wc -l < {share}/f", clean_environment, share) == ["1", "2", "3"]
        assert (share / "f").read_text() == "x\n" * 3
    finally:
        (share / "f").unlink(missing_ok=True)
        share.rmdir()
        share.parent.rmdir()


@needs_hosts
@pytest.mark.parametrize("ranks", [8, 9])
def test_launchers_spread_their_ranks_evenly_without_options(mpiexec, clean_environment, ranks):
    # prterun never returns where a rank on one host has ended before all of another's have begun.
    result = over_hosts(4, ranks, [*mpiexec, "-n", ranks, "sh", "-c", "hostname; sleep 1"], clean_environment)
    assert result.returncode == 0, result.stderr
    assert Counter(result.stdout.split()) == {"node1": ranks - 6, "node2": 2, "node3": 2, "node4": 2}


@needs_hosts
def test_the_exit_code_is_the_commands(clean_environment):
    assert over_hosts(1, 1, ["sh", "-c", "exit 5"], clean_environment).returncode == 5
    assert over_hosts(1, 1, ["sh", "-c", "kill -TERM $$"], clean_environment).returncode == 128 + signal.SIGTERM


def is_running(mark: str) -> bool:
    """Whether a process has the mark among its arguments."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark in path.read_text().split("\0"):
                return True
        except OSError:
            continue
    return False


def wait_until(condition) -> bool:
    deadline = time.monotonic() + 600
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


@needs_hosts
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_survives_the_end_of_nacre_hosts(clean_environment, number):
    """Neither a process on a host nor, with the last process of its namespaces, a network interface."""
    mark = f"{time.time():.6f}"[4:]  # a number of seconds that nobody else sleeps for
    process = subprocess.Popen(
        [*nacre_hosts.over_hosts(2, 2, ""), nacre_hosts.AGENT, "node2", f"sleep {mark}"], env=clean_environment
    )
    assert wait_until(lambda: is_running(mark))
    process.send_signal(number)
    process.wait(timeout=600)
    assert wait_until(lambda: not is_running(mark))


@needs_hosts
def test_without_root_nacre_hosts_says_why_it_skips(clean_environment):
    command = ["setpriv", "--reuid", "65534", sys.executable, str(TOOL / "nacre_hosts.py")]
    result = subprocess.run(
        [*command, "--hosts", "1", "--ranks", "1", "true"], env=clean_environment, capture_output=True, text=True
    )
    assert (result.returncode, result.stderr) == (77, "skipped: hosts in namespaces need root\n")


@pytest.mark.parametrize(("hosts", "ranks"), [(0, 1), (2, 1), (201, 500)])
def test_an_invalid_number_of_hosts_is_refused(clean_environment, hosts, ranks):
    result = over_hosts(hosts, ranks, ["true"], clean_environment)
    assert result.returncode == 2
    assert "--hosts must be 1 to 200 and at most --ranks" in result.stderr
