#!/usr/bin/env python3
"""Runs a Ceph cluster with a CephFS in a folder of this machine, and mounts it as several clients. Needs root.

    ceph_cluster.py up FOLDER            start it; FOLDER/0 and FOLDER/1 are two mounts by ceph-fuse, two clients
    ceph_cluster.py down FOLDER          stop it and discard its files
    ceph_cluster.py with FOLDER COMMAND  start it, run COMMAND, stop it; exit status 77: it cannot run here

One monitor, one manager, one metadata server and a few OSDs that keep objects in memory, on loopback addresses, with a
configuration of their own in FOLDER and without authentication. Needs Debian's ceph-mon, ceph-mgr, ceph-osd, ceph-mds
and ceph-fuse. `ceph -c FOLDER/ceph.conf -s` shows its state.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path

PROGRAMS = ("ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds", "ceph-fuse", "ceph", "monmaptool", "ceph-authtool")
PACKAGES = "ceph-mon ceph-mgr ceph-osd ceph-mds ceph-fuse"
FILE_SYSTEM = "nacre"
META_POOL, DATA_POOL, SECOND_POOL = "nacre_meta", "nacre_data", "nacre_second"
FILE_BYTES_MAX = 16 << 40  # the default, 1 TiB, is less than the tests of large files need
START_SECONDS = 180
SKIP = 77

CONFIGURATION = """[global]
fsid = {fsid}
mon_host = {monitor}
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
run_dir = {folder}/run
admin_socket = {folder}/run/$cluster-$name-$pid.asok
pid_file = {folder}/run/$name.pid
log_file = {folder}/log/$name.log
crash_dir = {folder}/run
mon_data = {folder}/data/mon.$id
mgr_data = {folder}/data/mgr.$id
mds_data = {folder}/data/mds.$id
osd_data = {folder}/data/osd.$id
keyring = {folder}/keyring
osd_objectstore = memstore
memstore_device_bytes = {osd_bytes}
osd_crush_chooseleaf_type = 0
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_autoscale_mode = off
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
osd_op_num_shards = 2
osd_op_num_threads_per_shard = 1
ms_async_op_threads = 2
mds_cache_memory_limit = 268435456
{page_cache}
"""


class NotHere(Exception):
    """Why a cluster cannot run on this machine."""


def check_machine() -> None:
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        raise NotHere(f"{', '.join(missing)}: not installed; Debian: apt-get install {PACKAGES}")
    if os.geteuid() != 0:
        raise NotHere("only root can mount by ceph-fuse")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        raise NotHere("/dev/fuse: cannot open it")


class Cluster:
    def __init__(self, folder: Path, osds: int = 4, osd_mib: int = 2048, clients: int = 2, page_cache: bool = True):
        self.folder, self.osds, self.osd_mib = folder.resolve(), osds, osd_mib
        self.clients, self.page_cache = clients, page_cache
        self.configuration = self.folder / "ceph.conf"

    def run(self, *words: object, timeout: float = START_SECONDS) -> str:
        """Runs a program of Ceph on this cluster. Returns what it prints."""
        command = [str(words[0]), "-c", str(self.configuration), *map(str, words[1:])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def check_folder(self) -> None:
        if self.configuration.exists():
            raise RuntimeError(f"{self.folder} has a cluster already: ceph_cluster.py down {self.folder}")

    def up(self) -> None:
        for name in ("run", "log", "data"):
            (self.folder / name).mkdir(parents=True)
        self._start_monitor()
        self._start("mgr", "x")
        for number in range(self.osds):
            identity = str(uuid.uuid4())
            self.run("ceph", "osd", "new", identity, number)
            (self.folder / "data" / f"osd.{number}").mkdir()
            self.run("ceph-osd", "-i", number, "--mkfs", "--osd-uuid", identity)
            self.run("ceph-osd", "-i", number)
        self._create_file_system()
        for number in range(self.clients):
            mount = self.folder / str(number)
            mount.mkdir()
            pid_file = self.folder / "run" / f"client.{number}.pid"
            self.run("ceph-fuse", "-n", "client.admin", "--pid-file", pid_file, mount)

    def _mounts(self) -> list[str]:
        """Mounts whose client has not unmounted them at its end. Asks no file system: it may hang."""
        points = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        return [point for point in points if point.startswith(f"{self.folder}/")]

    def _start_monitor(self) -> None:
        ports = free_ports(2)
        monitor = f"[v2:127.0.0.1:{ports[0]},v1:127.0.0.1:{ports[1]}]"
        fsid = str(uuid.uuid4())
        page_cache = "" if self.page_cache else "fuse_disable_pagecache = true"
        text = CONFIGURATION.format(
            fsid=fsid, monitor=monitor, folder=self.folder, osd_bytes=self.osd_mib << 20, page_cache=page_cache
        )
        self.configuration.write_text(text)
        keyring, monmap = self.folder / "keyring", self.folder / "monmap"
        self.run("ceph-authtool", "--create-keyring", keyring, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *")
        self.run("monmaptool", "--create", "--clobber", "--fsid", fsid, "--addv", "a", monitor, monmap)
        self.run("ceph-mon", "-i", "a", "--mkfs", "--monmap", monmap, "--keyring", keyring)
        self.run("ceph-mon", "-i", "a")

    def _start(self, kind: str, name: str) -> None:
        (self.folder / "data" / f"{kind}.{name}").mkdir()
        self.run(f"ceph-{kind}", "-i", name)

    def _create_file_system(self) -> None:
        for pool, groups in ((META_POOL, 8), (DATA_POOL, 32), (SECOND_POOL, 8)):
            self.run("ceph", "osd", "pool", "create", pool, groups)
        self.run("ceph", "fs", "new", FILE_SYSTEM, META_POOL, DATA_POOL)
        self.run("ceph", "fs", "add_data_pool", FILE_SYSTEM, SECOND_POOL)
        self.run("ceph", "fs", "set", FILE_SYSTEM, "max_file_size", FILE_BYTES_MAX)
        for flag in ("noscrub", "nodeep-scrub"):
            self.run("ceph", "osd", "set", flag)
        self._start("mds", "a")
        end = time.monotonic() + START_SECONDS
        while "up:active" not in self.run("ceph", "mds", "stat"):
            if time.monotonic() > end:
                raise RuntimeError(f"no metadata server after {START_SECONDS} s: see {self.folder}/log")
            time.sleep(0.5)

    def down(self) -> None:
        for kind in ("client", "mds", "osd", "mgr", "mon"):
            end_processes(sorted((self.folder / "run").glob(f"{kind}.*.pid")), f"ceph-{kind}")
            for mount in self._mounts() if kind == "client" else []:
                subprocess.run(["umount", "--lazy", "--no-canonicalize", mount], check=False)
        for name in ("run", "log", "data"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        for name in ("keyring", "monmap", "ceph.conf"):
            (self.folder / name).unlink(missing_ok=True)
        for mount in self.folder.glob("[0-9]"):
            mount.rmdir()


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as sockets:
        opened = [sockets.enter_context(socket.socket()) for _ in range(count)]
        for one in opened:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in opened]


def end_processes(pid_files: list[Path], program: str) -> None:
    """Ends the processes of these files, if they are still this program, and waits."""
    program = {"ceph-client": "ceph-fuse"}.get(program, program)
    numbers = [int(text) for text in (file.read_text().strip() for file in pid_files) if text]
    for number in numbers:
        if runs(number, program):
            os.kill(number, signal.SIGTERM)
    patience = time.monotonic() + 10
    while any(runs(number, program) for number in numbers):
        time.sleep(0.1)
        if time.monotonic() > patience:
            for number in numbers:
                if runs(number, program):
                    os.kill(number, signal.SIGKILL)


def runs(number: int, program: str) -> bool:
    try:
        return Path(f"/proc/{number}/comm").read_text().strip() == program
    except OSError:
        return False


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("up", "down", "with"))
    parser.add_argument("--osds", type=int, default=4, help="number of OSDs (default: 4)")
    parser.add_argument("--osd-mib", type=int, default=2048, help="size of each OSD in MiB (default: 2048)")
    parser.add_argument("--clients", type=int, default=2, help="number of mounts (default: 2)")
    parser.add_argument("--no-page-cache", action="store_true", help="mount with fuse_disable_pagecache")
    parser.add_argument("folder", type=Path)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if bool(arguments.command) != (arguments.action == "with"):
        parser.error("`with` takes a command; `up` and `down` take none")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    cluster = Cluster(
        arguments.folder, arguments.osds, arguments.osd_mib, arguments.clients, not arguments.no_page_cache
    )
    if arguments.action == "down":
        cluster.down()
        return 0
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        check_machine()
    except NotHere as reason:
        print(f"skipped: {reason}")
        return SKIP
    cluster.check_folder()
    try:
        cluster.up()
        if arguments.action == "with":
            return subprocess.run(arguments.command, check=False).returncode
    except BaseException:
        cluster.down()
        raise
    finally:
        if arguments.action == "with":
            cluster.down()
    return 0


if __name__ == "__main__":
    sys.exit(main())
