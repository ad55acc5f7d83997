"""Bare Debian systems of other releases, as directories to chroot into."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

MOUNTS = """
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
mount --rbind /sys "$1/sys"
mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
  DEBIAN_FRONTEND=noninteractive \
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 \
  PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 sh -c "cd /root; $2"
"""


class Failed(AssertionError):
    pass


@dataclasses.dataclass(frozen=True)
class System:
    root: Path

    def run(self, command: str, timeout: int = 1800) -> str:
        """Runs a shell command as root in the system, in namespaces of its own, and returns what it prints."""
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", MOUNTS, "sh", str(self.root)]
        result = subprocess.run(
            [*words, command],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            stdin=subprocess.DEVNULL,
        )
        if result.returncode:
            raise Failed(f"{command}: status {result.returncode}\n{result.stdout}\n{result.stderr}")
        return result.stdout + result.stderr

    def put(self, path: Path, place: str) -> None:
        (self.root / place.lstrip("/")).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, self.root / place.lstrip("/"))

    def install(self, packages: Sequence[str]) -> None:
        self.run(f"apt-get install -q -y --no-install-recommends {' '.join(packages)}")


def mirror() -> str:
    """The mirror of Debian that this machine uses."""
    command = ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Label: Debian"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[0]


def bare(suite: str, directory: Path) -> System:
    """The smallest system of a release that has apt; made once, and copied for each test that changes it."""
    root = directory / suite
    if not (root / "complete").exists():
        shutil.rmtree(root, ignore_errors=True)
        command = ["debootstrap", "--variant=minbase", suite, str(root), mirror()]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=3600)
        for name in ("resolv.conf", "hosts"):
            shutil.copy(f"/etc/{name}", root / "etc" / name)
        System(root).run("apt-get update -q")
        (root / "complete").touch()
    return System(root)


def why_none() -> str:
    """Why this machine cannot make systems; empty if it can."""
    if os.getuid() != 0:
        return "only root can make a chroot"
    missing = [name for name in ("debootstrap", "apt-get", "unshare") if shutil.which(name) is None]
    return f"no {', '.join(missing)} here: `make setup-package` installs what Debian has" if missing else ""
