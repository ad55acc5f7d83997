"""Describes the machine and the file system of a run."""

from __future__ import annotations

import datetime
import os
import pathlib
import platform
import socket

from nacre import file_system


def first_match(path: str, key: str) -> str:
    try:
        for line in pathlib.Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    except OSError:
        pass
    return ""


def has_autogroups() -> bool:
    """Whether the kernel gives each session its own share of the cores. mpiexec of MPICH begins a session for each
    rank, and a rank that yields its core then does not yield it to the other ranks."""
    try:
        return pathlib.Path("/proc/sys/kernel/sched_autogroup_enabled").read_text(encoding="ascii").strip() == "1"
    except OSError:
        return False


def describe(directory: str) -> dict:
    mount = file_system.of(pathlib.Path(directory))
    return {
        "host": socket.gethostname(),
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cpu": first_match("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory": first_match("/proc/meminfo", "MemTotal"),
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", "") if os.path.exists("/etc/os-release") else "",
        "load": list(os.getloadavg()),
        "autogroups": has_autogroups(),
        "directory": directory,
        "file_system": mount.kind if mount else "unknown",
    }


def sentence(machine: dict) -> str:
    autogroups = ", autogroups on" if machine.get("autogroups") else ""
    return (
        f"{machine['cores']} cores ({machine['cpu'] or 'unknown'}), {machine['memory']}, Linux {machine['kernel']}, "
        f"{machine['directory']} ({machine['file_system']}), load at the start {machine['load'][0]:.1f}"
        f"{autogroups}"
    )
