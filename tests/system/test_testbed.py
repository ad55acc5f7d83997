"""The testbed, mounted: what a Lustre does with layouts (docs/testbed.md), any program's files, and Nacre on it."""

from __future__ import annotations

import concurrent.futures
import ctypes
import errno
import fcntl
import functools
import json
import mmap
import os
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Command, brought_up
from nacre import testbed
from striping import (
    DELAY_CREATE,
    END_OF_FILE,
    LAYOUT,
    OVERSTRIPED,
    composite,
    count_of,
    delay_create,
    json_lines,
    mounted,
    plain,
)


def fails_with(number: int, call, *arguments) -> bool:
    with pytest.raises(OSError) as raised:
        call(*arguments)
    return raised.value.errno == number


def test_an_installation_without_a_testbed_says_how_to_build_it(nacre: Command, tmp_path: Path) -> None:
    libraries = tmp_path / "prefix/lib"
    libraries.mkdir(parents=True)
    (libraries / "libnacre.so").symlink_to(nacre.library)
    done = nacre("testbed", "up", tmp_path / "mounts", NACRE_LIBRARY_DIR=str(libraries))
    assert done.returncode == 2
    assert "program nacre-testbed not found" in done.stderr
    assert "libfuse3-dev" in done.stderr


def test_a_layout_set_on_a_file_without_one_is_visible_on_all_nodes(nodes: list[Path]) -> None:
    file = delay_create(nodes[0] / "f")
    assert fails_with(errno.ENODATA, os.getxattr, file, LAYOUT)
    assert fails_with(errno.EBADF, os.pwrite, file, b"x", 0)
    assert os.pread(file, 10, 0) == b""
    os.setxattr(file, LAYOUT, plain(count=3, size=1 << 20))
    lov = os.getxattr(nodes[1] / "f", LAYOUT)
    assert count_of(lov) == 3
    assert len(lov) == 32 + 3 * 24
    os.setxattr(file, LAYOUT, plain(count=4))  # no error, and no change
    assert os.getxattr(file, LAYOUT) == lov
    os.pwrite(file, b"y" * 3_000_000, 5)
    os.close(file)
    assert (nodes[1] / "f").read_bytes() == bytes(5) + b"y" * 3_000_000


def test_a_later_open_for_writing_gives_the_default_layout(nodes: list[Path]) -> None:
    os.close(delay_create(nodes[0] / "f"))
    os.close(os.open(nodes[1] / "f", os.O_RDONLY))
    assert fails_with(errno.ENODATA, os.getxattr, nodes[0] / "f", LAYOUT)
    os.close(os.open(nodes[1] / "f", os.O_WRONLY))
    assert count_of(os.getxattr(nodes[0] / "f", LAYOUT)) == 1


def test_new_files_and_directories_inherit_the_default_layout(nodes: list[Path]) -> None:
    directory = nodes[0] / "d"
    directory.mkdir()
    os.setxattr(directory, LAYOUT, plain(count=0xFFFF, size=1 << 17))
    (directory / "e").mkdir()
    (directory / "e" / "f").write_bytes(b"x")
    assert count_of(os.getxattr(directory / "e" / "f", LAYOUT)) == 4
    os.close(os.open(directory / "g", os.O_CREAT | os.O_WRONLY | os.O_APPEND))
    assert count_of(os.getxattr(directory / "g", LAYOUT)) == 1
    os.removexattr(directory, LAYOUT)
    assert fails_with(errno.ENODATA, os.getxattr, directory, LAYOUT)


@pytest.mark.parametrize(
    ("layout", "number"),
    [
        (plain(size=100_000), errno.EINVAL),
        (plain(count=1, first=4), errno.EINVAL),
        (plain()[:20], errno.ERANGE),
        (b"\x11" * 32, errno.ERANGE),
    ],
    ids=["size", "first OST", "short", "magic"],
)
def test_invalid_layouts_are_refused(nodes: list[Path], layout: bytes, number: int) -> None:
    file = delay_create(nodes[0] / "f")
    assert fails_with(number, os.setxattr, file, LAYOUT, layout)
    os.close(file)


def test_a_file_may_have_several_stripes_on_an_ost(nodes: list[Path]) -> None:
    file = delay_create(nodes[0] / "f")
    os.setxattr(file, LAYOUT, plain(count=8, pattern=OVERSTRIPED))
    assert len(os.getxattr(file, LAYOUT)) == 32 + 8 * 24
    os.close(file)


def test_a_file_with_a_head_can_get_its_tail_from_another_node(nodes: list[Path]) -> None:
    file = delay_create(nodes[0] / "f")
    os.setxattr(file, LAYOUT, composite((0, 1 << 20, plain(count=1))))
    os.pwrite(file, b"head", 0)
    assert fails_with(errno.ENODATA, os.pwrite, file, b"x", 1 << 20)
    other = os.open(nodes[1] / "f", os.O_RDWR)
    os.setxattr(other, "lustre.lov.add", composite((1 << 20, END_OF_FILE, plain(count=4, size=1 << 16))))
    assert os.pwrite(file, b"tail" * 100_000, 1 << 20) == 400_000
    assert os.pread(other, 8, (1 << 20) + 4) == b"tailtail"
    os.close(file)
    os.close(other)


def test_the_number_of_osts_can_be_read(nodes: list[Path]) -> None:
    directory = os.open(nodes[0], os.O_RDONLY)
    assert struct.unpack("i4x", fcntl.ioctl(directory, 0x800866A8, bytes(8)))[0] == 4
    os.close(directory)


def test_files_behave_as_in_posix(nodes: list[Path]) -> None:
    path = nodes[0] / "f"
    path.write_bytes(bytes(range(256)) * 1000)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE) as mapped:
        assert mapped[255_990:256_000] == bytes(range(246, 256))
    os.truncate(path, 100)
    assert (nodes[1] / "f").stat().st_size == 100
    path.rename(nodes[0] / "g")
    assert sorted(entry.name for entry in nodes[1].iterdir()) == ["g"]
    (nodes[1] / "s").symlink_to("g")
    assert (nodes[0] / "s").read_bytes() == bytes(range(100))
    os.link(nodes[0] / "g", nodes[0] / "h")
    assert (nodes[1] / "g").stat().st_nlink == 2
    os.setxattr(nodes[0] / "g", "user.x", b"1")
    assert os.listxattr(nodes[1] / "g") == [LAYOUT, "user.x"]
    with (nodes[0] / "g").open("r+b") as file:
        os.posix_fallocate(file.fileno(), 0, 5000)
        os.fsync(file.fileno())
        (nodes[1] / "g").unlink()
        assert os.pread(file.fileno(), 3, 97) == bytes([97, 98, 99])
    with (nodes[0] / "a").open("ab") as one, (nodes[1] / "a").open("ab") as other:
        for appended in (one, other):
            appended.write(b"x" * 10)
            appended.flush()
    assert (nodes[0] / "a").stat().st_size == 20


def test_file_locks_work_between_nodes(nodes: list[Path]) -> None:
    (nodes[0] / "f").touch()
    files = [os.open(node / "f", os.O_RDWR) for node in nodes]
    fcntl.lockf(files[0], fcntl.LOCK_EX, 100, 0)
    assert fails_with(errno.EAGAIN, fcntl.lockf, files[1], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 50)
    fcntl.lockf(files[1], fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 100)
    fcntl.lockf(files[0], fcntl.LOCK_UN, 100, 0)
    fcntl.lockf(files[1], fcntl.LOCK_EX, 1, 50)
    for file in files:
        os.close(file)


def test_a_file_opened_with_o_trunc_is_empty_on_all_nodes(nodes: list[Path]) -> None:
    path = nodes[0] / "f"
    file = delay_create(path)
    os.setxattr(file, LAYOUT, plain(count=2, first=1))
    os.write(file, b"x" * 100)
    os.close(file)
    layout = os.getxattr(path, LAYOUT)
    path.write_bytes(b"y" * 10)
    assert [(node / "f").read_bytes() for node in nodes] == [b"y" * 10] * 2
    assert os.getxattr(path, LAYOUT) == layout


def test_all_opens_that_create_a_file_at_the_same_time_succeed(nodes: list[Path]) -> None:
    together = threading.Barrier(4)

    def open_all(number: int) -> None:
        for i in range(50):
            together.wait(timeout=600)
            os.close(os.open(nodes[number % 2] / f"f{i}", os.O_RDWR | os.O_CREAT))

    with concurrent.futures.ThreadPoolExecutor() as others:
        list(others.map(open_all, range(4)))
    assert len(list(nodes[0].iterdir())) == 50


def test_locks_of_an_open_file_end_when_it_is_closed(nodes: list[Path]) -> None:
    """F_OFD_SETLK, as Nacre's: the kernel does not tell FUSE of their end."""
    (nodes[0] / "f").touch()
    lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 10, 0)
    first, other = (os.open(node / "f", os.O_RDWR) for node in nodes)
    fcntl.fcntl(first, fcntl.F_OFD_SETLK, lock)
    assert fails_with(errno.EAGAIN, fcntl.fcntl, other, fcntl.F_OFD_SETLK, lock)
    os.close(first)
    fcntl.fcntl(other, fcntl.F_OFD_SETLKW, lock)
    os.close(other)


def test_flock_excludes_other_opens_on_all_nodes(nodes: list[Path]) -> None:
    (nodes[0] / "f").touch()
    first, same, other = (os.open(node / "f", os.O_RDWR) for node in (nodes[0], nodes[0], nodes[1]))
    fcntl.flock(first, fcntl.LOCK_EX)
    for file in (same, other):
        assert fails_with(errno.EAGAIN, fcntl.flock, file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    fcntl.lockf(other, fcntl.LOCK_EX | fcntl.LOCK_NB)  # another kind of lock
    fcntl.flock(first, fcntl.LOCK_SH)
    fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
    os.close(first)
    fcntl.flock(other, fcntl.LOCK_UN)
    fcntl.flock(same, fcntl.LOCK_EX)
    for file in (same, other):
        os.close(file)


def worker_info(worker: Path, environment: dict[str, str], mpiexec: list[str], path: Path, *hints: str) -> dict:
    """Writes and checks a file with four ranks; the info that the file says is in use."""
    words = [word for hint in hints for word in ("--hint", hint)]
    sized = ["--workload", "tile8", "--bytes", "3000000", "--warmups", "0", "--repeats", "1", "--file", str(path)]
    done = subprocess.run(
        [*mpiexec, "-n", "4", str(worker), *sized, *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [line["wrong_bytes"] for line in lines if line["type"] == "sample"] == [0]
    return lines[-1]["info"]


def test_nacre_stripes_new_files_by_hints(
    worker: Path, clean_environment: dict[str, str], mpiexec: list[str], nacre, nodes: list[Path], tmp_path: Path
) -> None:
    report = tmp_path / "report"
    settings = {"LD_PRELOAD": str(nacre.library), "NACRE_TESTBED": "1", "NACRE_REPORT": str(report)}
    asked = ("striping_factor=3", "striping_unit=65536", "start_iodevice=2")
    info = worker_info(worker, {**clean_environment, **settings}, mpiexec, nodes[0] / "f", *asked)
    assert (info["striping_factor"], info["striping_unit"], info["start_iodevice"]) == ("3", "65536", "2")
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert lines[0]["hints"]["striping_factor"] == {"value": "3", "from": "open file", "requested_by": "program"}
    exchanged = [plan for plan in lines[0]["plans"] if "aggregators" in plan]
    assert exchanged
    assert all(plan["pattern"] == "osts" and 1 <= plan["osts"]["most"] <= 3 for plan in exchanged)


def test_the_mpis_own_mpi_io_runs_on_the_testbed(
    worker: Path, clean_environment: dict[str, str], mpiexec: list[str], nodes: list[Path]
) -> None:
    worker_info(worker, clean_environment, mpiexec, nodes[0] / "f")


def test_doctor_completes_the_layout_that_a_killed_job_left(nacre, nodes: list[Path]) -> None:
    path = nodes[0] / "f"
    file = delay_create(path)
    os.setxattr(file, LAYOUT, composite((0, 1 << 20, plain(count=1))))
    found = nacre("doctor", path, NACRE_TESTBED="1")
    assert found.returncode == 1
    assert "the layout does not cover the whole file: writes after its end fail" in found.stdout
    assert fails_with(errno.ENODATA, os.pwrite, file, b"x", 1 << 20)
    repaired = nacre("doctor", "--repair", path)
    assert repaired.returncode == 0, repaired.stderr
    assert os.pwrite(file, b"x", 1 << 20) == 1
    assert "the layout covers the whole file" in nacre("doctor", path).stdout
    os.close(file)
    assert nacre("doctor", "--repair").returncode == 2


def test_status_shows_the_traffic_of_osts(nacre, played: Path) -> None:
    os.setxattr(played / "0", LAYOUT, plain(count=4, size=1 << 16))
    file = os.open(played / "0" / "f", os.O_CREAT | os.O_WRONLY)
    os.write(file, b"x" * (1 << 18))
    os.fsync(file)
    counters = json.loads(nacre("testbed", "status", "--json", "--reset", played).stdout)
    assert counters["osts"]["bytes_written"] == [1 << 16] * 4
    assert counters["osts"]["clients"] == [1] * 4
    assert counters["nodes"]["bytes_written"] == [1 << 18, 0]
    assert counters["nodes"]["lock_callbacks"] == [0, 0]
    assert (played / "1" / "f").read_bytes() == b"x" * (1 << 18)
    counters = json.loads(nacre("testbed", "status", "--json", played).stdout)
    assert counters["osts"]["bytes_written"] == [0] * 4
    assert counters["osts"]["bytes_read"] == [1 << 16] * 4
    assert counters["nodes"]["lock_callbacks"] == [4, 0]
    assert "osts.count = 4" in nacre("testbed", "status", "--machine", played).stdout
    assert json.loads(nacre("testbed", "status", "--machine", "--json", played).stdout)["osts"]["count"] == 4
    assert "lock" in nacre("testbed", "status", played).stdout
    assert "lock" in nacre("testbed", "status", "--at", played).stdout
    os.close(file)


def test_fault_injects_faults(nacre, played: Path) -> None:
    file = os.open(played / "0" / "f", os.O_CREAT | os.O_RDWR)
    for fault, number in (("no_space", errno.ENOSPC), ("error 1", errno.EIO), ("error_at 5", errno.EIO)):
        for ost in range(4):
            assert nacre("testbed", "fault", "--at", played, *f"ost {ost} {fault}".split()).returncode == 0
        assert fails_with(number, os.pwrite, file, b"x" * 10, 0)
    for ost in range(4):
        assert nacre("testbed", "fault", "--at", played, "ost", ost, "well").returncode == 0
    assert os.pwrite(file, b"x" * 10, 0) == 10
    assert nacre("testbed", "fault", "--at", played, "node", 0, "evicted").returncode == 0
    assert fails_with(errno.EIO, os.fsync, file)
    assert os.pread(file, 10, 0) == bytes(10)  # lost
    assert os.pwrite(file, b"x" * 10, 0) == 10
    assert nacre("testbed", "fault", "--at", played, "node", 0, "evicted").returncode == 0
    assert fails_with(errno.EIO, os.close, file)
    for ost in range(4):
        nacre("testbed", "fault", "--at", played, "ost", ost, "no_space")
    full = os.open(played / "0" / "g", os.O_CREAT | os.O_RDWR)
    assert fails_with(errno.ENOSPC, os.posix_fallocate, full, 0, 1 << 20)
    os.close(full)
    wrong = nacre("testbed", "fault", "--at", played, "ost", 4, "well")
    assert wrong.returncode == 2
    assert "ost 4 well" in wrong.stderr
    assert "OSTs 0 to 3 and nodes 0 to 1" in " ".join(wrong.stderr.split())


def test_files_get_fewer_stripes_where_an_ost_creates_no_objects(nacre, played: Path) -> None:
    """As on a real Lustre: without an error, with another first OST, and with objects there again once it is well."""
    assert nacre("testbed", "fault", "--at", played, *"ost 1 no_objects".split()).returncode == 0
    for name, layout, count, first in (("all", plain(count=4), 3, None), ("first", plain(count=1, first=1), 1, 2)):
        file = delay_create(played / "0" / name)
        os.setxattr(file, LAYOUT, layout)
        lov = os.getxattr(file, LAYOUT)
        assert count_of(lov) == count
        assert first in (None, struct.unpack_from("<I", lov, 32 + 20)[0])
        os.close(file)
    assert nacre("testbed", "fault", "--at", played, *"ost 1 well".split()).returncode == 0
    os.setxattr(played / "0", LAYOUT, plain(count=4))
    (played / "0" / "later").touch()
    assert count_of(os.getxattr(played / "0" / "later", LAYOUT)) == 4


def test_a_node_that_sets_a_layout_second_sees_none_until_it_accesses_the_file(nodes: list[Path]) -> None:
    """As on a real Lustre, which tells both nodes that their layout is set."""
    first = delay_create(nodes[0] / "race")
    second = os.open(nodes[1] / "race", os.O_RDWR | DELAY_CREATE)
    for file in (first, second):
        with pytest.raises(OSError, match="No data available"):
            os.getxattr(file, LAYOUT)
    for file, osts in ((first, 2), (second, 3)):
        os.setxattr(file, LAYOUT, plain(osts))
    assert count_of(os.getxattr(first, LAYOUT)) == 2
    with pytest.raises(OSError, match="No data available"):
        os.getxattr(second, LAYOUT)
    assert os.pread(second, 1, 0) == b""
    assert count_of(os.getxattr(second, LAYOUT)) == 2
    os.close(first)
    os.close(second)


PREALLOCATE = """
import sys
from mpi4py import MPI
comm = MPI.COMM_WORLD
file = MPI.File.Open(comm, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at_all(4 * comm.rank, b"kept")
file.Sync()
file.Preallocate(5 << 20)
file.Sync()
assert file.Get_size() == 5 << 20, file.Get_size()
file.Close()
"""


@pytest.mark.usefixtures("node_namespaces")
def test_preallocated_bytes_are_kept_if_osts_refuse_fallocate(
    nacre: Command, nodes: list[Path], tmp_path: Path
) -> None:
    """The node that asked goes on to see the size it asked for, as a client of a real Lustre does."""
    with brought_up(nacre, tmp_path / "refusing", "--set", "osts.fallocate=0") as directory:
        here, there = directory / "0", directory / "1"
        file = os.open(here / "false", os.O_CREAT | os.O_RDWR)
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.fallocate(file, 0, ctypes.c_long(0), ctypes.c_long(1000)) == -1
        assert ctypes.get_errno() == errno.EOPNOTSUPP
        assert [os.fstat(file).st_size, (there / "false").stat().st_size] == [1000, 0]
        os.close(file)
        wait_until(lambda: (here / "false").stat().st_size == 0)  # the kernel tells of a close when it is over

        launch = ["mpiexec.openmpi", "--oversubscribe", "-n", "2", "/usr/bin/python3", "-c", PREALLOCATE, "{}/f"]
        done = nacre("testbed", "run", "--at", directory, "--", *launch)
        assert done.returncode == 0, done.stderr
        expected = b"kept" * 2 + bytes((5 << 20) - 8)
        assert [(node / "f").read_bytes() == expected for node in (here, there)] == [True, True]


def test_statfs_returns_the_size_and_the_number_of_files(nodes: list[Path]) -> None:
    before = os.statvfs(nodes[0])
    assert before.f_frsize * before.f_blocks >= before.f_frsize * before.f_bfree > 1 << 40
    assert before.f_bavail <= before.f_bfree
    assert before.f_ffree <= before.f_files
    (nodes[1] / ("x" * before.f_namemax)).touch()
    assert fails_with(errno.ENAMETOOLONG, (nodes[1] / ("x" * (before.f_namemax + 1))).touch)
    assert os.statvfs(nodes[0]).f_ffree == before.f_ffree - 1


def files_on_osts(directory: Path, count: int) -> list[int]:
    """One with its only stripe on each of so many OSTs."""
    files = [delay_create(directory / f"on {ost}") for ost in range(count)]
    for ost, file in enumerate(files):
        os.setxattr(file, LAYOUT, plain(count=1, first=ost))
    return files


def written_and_synced(file: int, data: bytes) -> int:
    written = os.pwrite(file, data, 0)
    os.fsync(file)
    return written


def test_accesses_to_a_hung_ost_wait_until_it_is_well(played: Path) -> None:
    hung, well = files_on_osts(played / "0", 2)
    elsewhere, data = played / "1" / "on 0", b"x" * 1000
    testbed.inject(played, "ost 0 hung")
    with concurrent.futures.ThreadPoolExecutor() as others:
        try:
            waiting = others.submit(written_and_synced, hung, data)
            wait_until(lambda: testbed.counters(played)["osts"]["requests"][0] == 1)
            # Meanwhile other OSTs are written to, and nodes hear of files.
            assert others.submit(written_and_synced, well, data).result(timeout=600) == len(data)
            assert elsewhere.stat().st_size == len(data)
            reading = others.submit(elsewhere.read_bytes)  # which has to be written back before
            wait_until(lambda: testbed.counters(played)["osts"]["lock_callbacks"][0] == 1)
            assert not waiting.done()
            assert not reading.done()
        finally:
            testbed.inject(played, "ost 0 well")
        assert waiting.result(timeout=600) == len(data)
        assert reading.result(timeout=600) == data
    for file in (hung, well):
        os.close(file)


def test_processes_of_a_node_write_to_a_file_at_the_same_time(played: Path) -> None:
    """As on Lustre. The kernel locks the inode of a FUSE file during a write and an fsync."""
    path, stripe = played / "0" / "shared", 1 << 16
    made = delay_create(path)
    os.setxattr(made, LAYOUT, plain(count=2, size=stripe, first=0))
    os.ftruncate(made, 2 * stripe)

    def written(offset: int, sync: bool) -> None:
        file = os.open(path, os.O_WRONLY)
        os.pwrite(file, b"x" * stripe, offset)
        if sync:
            os.fsync(file)
        os.close(file)

    testbed.inject(played, "ost 0 hung")
    with concurrent.futures.ThreadPoolExecutor() as others:  # threads do as well as processes
        try:
            waiting = others.submit(written, 0, True)
            wait_until(lambda: testbed.counters(played)["osts"]["requests"][0] == 1)
            others.submit(written, stripe, False).result(timeout=600)
            assert not waiting.done()
        finally:
            testbed.inject(played, "ost 0 well")
        waiting.result(timeout=600)
    assert path.read_bytes() == b"x" * 2 * stripe
    os.close(made)


def test_requests_queue_longer_at_a_slow_ost(nacre: Command, nodes: list[Path], tmp_path: Path) -> None:
    """Four at once where one is served at a time: of these the last three wait."""
    settings = ("osts.threads=1", "osts.latency_us=10000", "nodes.rpc_bytes=65536")
    words = [word for setting in settings for word in ("--set", setting)]
    with brought_up(nacre, tmp_path / "slow", *words) as directory:
        testbed.inject(directory, "ost 1 slow 20")
        for file in files_on_osts(directory / "0", 2):
            written_and_synced(file, bytes(4 << 16))
            os.close(file)
        counters = testbed.counters(directory)["osts"]
        assert counters["requests"] == [4, 4, 0, 0]
        usual, slow, *others = counters["queue_us"]
        assert 0 < usual <= (1 + 2 + 3) * 10_000 < slow
        assert others == [0, 0]
        testbed.reset(directory)
        assert testbed.counters(directory)["osts"]["queue_us"] == [0] * 4


def files_in(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


def bytes_in(directory: Path) -> int:
    return sum((directory / name).stat().st_size for name in files_in(directory))


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_objects_on_disk_are_files_until_their_file_is_removed(build: Path, tmp_path: Path) -> None:
    objects = tmp_path / "objects"
    far, written = 1 << 40, os.urandom(3_000_000)
    with mounted(build, tmp_path / "testbed", "--objects", str(objects)) as nodes:
        os.setxattr(nodes[0], LAYOUT, plain(count=4, size=1 << 16))
        file = os.open(nodes[0] / "f", os.O_CREAT | os.O_RDWR)
        os.pwrite(file, written, 5)
        os.pwrite(file, b"end", far)
        os.fsync(file)
        assert [Path(name).parent.name for name in files_in(objects)] == ["0", "1", "2", "3"]
        for node in nodes:
            with (node / "f").open("rb") as seen:
                assert seen.read(3_000_010) == bytes(5) + written + bytes(5)
                seen.seek(far - 1)
                assert seen.read() == b"\0end"
        os.truncate(nodes[1] / "f", 100)
        os.truncate(nodes[1] / "f", 1000)
        assert os.pread(file, 2000, 0) == bytes(5) + written[:95] + bytes(900)
        assert bytes_in(objects) == 100
        (nodes[1] / "f").unlink()
        assert os.pread(file, 5, 5) == written[:5]
        os.close(file)
        wait_until(lambda: bytes_in(objects) == 0)  # the kernel tells of a close when it is over
        (nodes[1] / "kept").write_bytes(written)
    assert not objects.exists()


def test_a_full_disk_of_the_objects_is_an_error_of_the_write(build: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", str(disk)], check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        with mounted(build, tmp_path / "testbed", "--objects", str(disk)) as nodes:
            file = os.open(nodes[0] / "f", os.O_CREAT | os.O_RDWR)
            assert fails_with(errno.ENOSPC, os.pwrite, file, b"x" * (1 << 20), 1 << 19)
            os.ftruncate(file, 1)
            assert os.pwrite(file, b"x" * 1000, 0) == 1000
            os.fsync(file)
            os.close(file)
            assert (nodes[1] / "f").read_bytes() == b"x" * 1000
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_the_error_names_a_directory_that_cannot_store_objects(nacre, nodes: list[Path], tmp_path: Path) -> None:
    def refusal(objects: Path) -> str:
        up = nacre("testbed", "up", "--objects", objects, tmp_path / "played")
        assert up.returncode == 2
        return " ".join(up.stderr.split())

    full = tmp_path / "full"
    full.mkdir()
    (full / "x").touch()
    assert f"the directory for objects is not empty: {full}" in refusal(full)
    assert files_in(full) == ["x"]
    assert f"make the directory for objects {full / 'x'}: file exists" in refusal(full / "x")
    assert f"make the directory for objects {tmp_path / 'a' / 'b'}: no such file" in refusal(tmp_path / "a" / "b")
    within = tmp_path / "played" / "0"
    assert f"--objects {within} is within {tmp_path / 'played'}, where it is mounted" in refusal(within)
    assert not within.exists()


def test_objects_stay_on_disk_until_down(nacre, nodes: list[Path], tmp_path: Path) -> None:
    directory, objects = tmp_path / "played", tmp_path / "objects"
    objects.mkdir()
    up = nacre("testbed", "up", "--osts", "4", "--objects", objects, directory)
    assert up.returncode == 0, up.stderr
    (directory / "1" / "f").write_bytes(b"x" * 1000)
    assert len(files_in(objects)) == 1
    assert nacre("testbed", "down", directory).returncode == 0
    assert list(objects.iterdir()) == []


def test_down_cleans_up_after_a_killed_testbed(nacre, played: Path) -> None:
    os.kill(int((played / "testbed.pid").read_text()), signal.SIGKILL)
    assert "was killed" in nacre("testbed", "up", played).stderr
    assert "was killed" in nacre("testbed", "status", played).stderr
    assert nacre("testbed", "down", "--at", played).returncode == 0
    assert nacre("testbed", "up", "--set", "nodes.count=2", played).returncode == 0


def test_the_error_names_a_file_that_prevents_a_mount(nacre, nodes: list[Path], tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "1").write_text("mine")
    up = nacre("testbed", "up", tmp_path / "d")
    assert up.returncode == 2
    assert f"cannot mount: {tmp_path}/d/1 exists and is not a directory" in up.stderr
    up = nacre("testbed", "up", tmp_path / "d" / "1")
    assert up.returncode == 2
    assert f"cannot mount in {tmp_path}/d/1: " in up.stderr
    assert (tmp_path / "d" / "1").read_text() == "mine"


@pytest.mark.usefixtures("node_namespaces")
def test_a_terminated_run_stops_its_testbed(nacre, nodes: list[Path], tmp_path: Path) -> None:
    wanted = tmp_path / "wanted"
    command = [nacre.path, "testbed", "run", "--at", wanted, "--", "sh", "-c", "echo running; sleep 600"]
    with subprocess.Popen(command, env=nacre.environment, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "running\n"
        assert os.path.ismount(wanted / "0")
        run.terminate()
        assert run.wait(timeout=600) == 128 + signal.SIGTERM
    assert not wanted.exists()


def test_errors_of_machines_say_what_is_wrong(nacre, nodes: list[Path], tmp_path: Path) -> None:
    machine = tmp_path / "machine.toml"
    machine.write_text("[osts]\ncount = 0\n")
    up = nacre("testbed", "up", "--machine", machine, tmp_path / "d")
    assert up.returncode == 2
    assert f"{machine}:2: osts.count = 0: it takes 1 to 65536" in up.stderr
    without_layouts = nacre("testbed", "up", "--set", "striping.count=0", tmp_path / "d")
    assert without_layouts.returncode == 2
    assert "striping.count = 0: files on the testbed have layouts" in without_layouts.stderr
    unknown = nacre("testbed", "up", "--machine", "cray-1", tmp_path / "d")
    assert "cray-1" in unknown.stderr
    assert "ranger" in unknown.stderr


@pytest.mark.usefixtures("node_namespaces")
def test_a_full_ost_is_an_error_on_every_rank(clean_environment: dict[str, str], nacre, played: Path) -> None:
    assert nacre("testbed", "fault", "--at", played, "ost", 2, "no_space").returncode == 0
    script = """
import sys
from mpi4py import MPI
info = MPI.Info.Create()
info.Set("striping_factor", "4")
info.Set("striping_unit", "65536")
file = MPI.File.Open(MPI.COMM_WORLD, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR, info)
try:
    file.Write_at_all(300_000 * MPI.COMM_WORLD.rank, bytearray(300_000))
except MPI.Exception as error:
    print(error.Get_error_class() == MPI.ERR_NO_SPACE, flush=True)
file.Close()
"""
    launch = ["mpiexec.openmpi", "--oversubscribe", "-n", "4", "/usr/bin/python3", "-c", script, "{}/f"]
    done = nacre("testbed", "run", "--at", played, "--", *launch)
    assert done.stdout.count("True") == 4, done.stderr


@pytest.mark.usefixtures("node_namespaces")
def test_each_rank_is_on_its_node(nacre, mpiexec: list[str], nodes: list[Path]) -> None:
    show = "echo $(cat /proc/sys/kernel/hostname) $NACRE_NODE_ID > {}/$(cat /proc/sys/kernel/hostname).$$; cat {}/*"
    done = nacre("testbed", "run", "--nodes", 2, "--", *mpiexec, "-n", 4, "sh", "-c", show)
    assert done.returncode == 0, done.stderr
    assert {"node0 0", "node1 1"} == set(done.stdout.splitlines())


def group_lock(file: Path, number: int, *, give: bool = False) -> None:
    text = f"{file.stat().st_ino} {number}"
    os.setxattr(file.parent, "testbed.group_unlock" if give else "testbed.group_lock", text.encode())


@pytest.mark.usefixtures("node_namespaces")
def test_a_path_on_the_mount_of_one_node_is_warned_of(nacre, played: Path, tmp_path: Path) -> None:
    path = played / "1" / "out"
    warned = nacre("testbed", "run", "--at", played, "--", "echo", f"file={path}")
    assert warned.stdout.split() == [f"file={path}"], warned.stderr
    assert f"warning: {played}/1 is the mount of node 1, and all ranks" in " ".join(warned.stderr.split())
    for word in ("{}/1/out", played / "10x"):
        quiet = nacre("testbed", "run", "--at", played, "--", "echo", word)
        assert (quiet.returncode, quiet.stderr) == (0, "")
    one = tmp_path / "one"
    quiet = nacre("testbed", "run", "--nodes", 1, "--at", one, "--", "echo", one / "0" / "out")
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_only_holders_of_a_group_lock_can_write(nodes: list[Path]) -> None:
    paths = [node / "f" for node in nodes]
    files = [os.open(path, os.O_CREAT | os.O_RDWR) for path in paths]
    group_lock(paths[0], 7)
    assert fails_with(errno.EBUSY, group_lock, paths[1], 8)
    assert fails_with(errno.EINVAL, group_lock, paths[1], 0)
    assert fails_with(errno.ENOENT, os.setxattr, nodes[0], "testbed.group_lock", b"12345 7")
    assert fails_with(errno.EINVAL, os.setxattr, nodes[0], "testbed.group_lock", b"7")
    group_lock(paths[1], 7)
    for i in range(64):
        os.pwrite(files[i % 2], bytes([i]) * 4096, i * 4096)
    group_lock(paths[1], 7, give=True)
    assert fails_with(errno.EINVAL, functools.partial(group_lock, give=True), paths[1], 7)
    with concurrent.futures.ThreadPoolExecutor() as others:
        waiting = others.submit(os.pwrite, files[1], b"x", 64 * 4096)
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.5)
        group_lock(paths[1], 7)  # while a write of this node waits for it
        assert waiting.result(timeout=600) == 1
        group_lock(paths[1], 7, give=True)
        waiting = others.submit(os.pwrite, files[1], b"x", 64 * 4096)
        os.close(files[0])  # as a killed process does
        assert waiting.result(timeout=600) == 1
    assert os.pread(files[1], 64 * 4096, 0) == b"".join(bytes([i]) * 4096 for i in range(64))
    os.close(files[1])


LOCKED_CALLS = """
import sys
from mpi4py import MPI
comm = MPI.COMM_WORLD
info = MPI.Info.Create()
for pair in "nacre_algorithm=two_phase cb_nodes=4 nacre_layout=-c+2+-S+64k nacre_write_locks=group".split():
    name, _, value = pair.replace("+", " ").partition("=")
    info.Set(name, value)

def opened(comm, name):
    file = MPI.File.Open(comm, sys.argv[1] + name, MPI.MODE_CREATE | MPI.MODE_RDWR, info)
    file.Set_view(comm.rank * 1000, MPI.BYTE, MPI.BYTE.Create_vector(1, 1000, 1).Create_resized(0, 4000).Commit())
    return file

data = bytes([comm.rank]) * 300_000
blocking = opened(comm, "blocking")
for step in range(3):
    blocking.Write_at_all(step * len(data), data)
blocking.Close()
nonblocking = opened(comm, "nonblocking")
nonblocking.Iwrite_at_all(0, data).Wait()
nonblocking.Close()
# Rank 2's part of a call on another open of the file is pending while it is in a blocking one.
first = comm.Split(0 if comm.rank < 3 else MPI.UNDEFINED)
last = comm.Split(0 if comm.rank >= 2 else MPI.UNDEFINED)
beside = opened(last, "pending") if comm.rank >= 2 else None
file = opened(first, "pending") if comm.rank < 3 else None
comm.Barrier()
pending = beside.Iwrite_at_all(4_000_000, data) if comm.rank == 2 else None
if file:
    file.Write_at_all(0, data)
    file.Close()
comm.Barrier()
if comm.rank == 3:
    pending = beside.Iwrite_at_all(4_000_000, data)
if pending:
    pending.Wait()
    beside.Close()
"""


@pytest.mark.usefixtures("node_namespaces")
def test_a_group_lock_is_not_taken_while_another_write_is_pending(nacre, nodes: list[Path], tmp_path) -> None:
    launch = ["mpiexec.openmpi", "--oversubscribe", "-n", "4", "/usr/bin/python3", "-c", LOCKED_CALLS, "{}/"]
    for threads, held in (("single", "group"), ("multiple", "usual")):
        report = tmp_path / threads
        script = f"import mpi4py; mpi4py.rc.thread_level = {threads!r}\n{LOCKED_CALLS}"
        launch[6] = script
        done = nacre("testbed", "run", "--nodes", 4, "--osts", 2, "--report", report, "--", *launch)
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in report.read_text().splitlines()]
        locks = {Path(line["file"]).name: {plan["write_locks"] for plan in line["plans"]} for line in lines}
        assert locks["blocking"] == {held}
        assert locks["nonblocking"] == {"usual"}
        assert locks["pending"] == {"usual"}


@pytest.mark.usefixtures("node_namespaces")
def test_aggregators_that_share_osts_use_the_requested_locks(
    build: Path, nacre, nodes: list[Path], tmp_path: Path
) -> None:
    worker = build / "tools" / "bench" / "openmpi4" / "worker"
    shared = {"nacre_algorithm": "two_phase", "cb_nodes": "4", "nacre_layout": "-c 2 -S 64k"}
    group, narrow = {**shared, "nacre_write_locks": "group"}, {**shared, "nacre_write_locks": "narrow"}
    ahead = {**shared, "nacre_write_locks": "ahead"}
    # Hints, what the file was written under, and whether one of the nodes took a lock from another.
    asked: dict[str, tuple[dict[str, str], str | None, bool | None]] = {
        "shared": (shared, "usual", True),
        "group": (group, "group", False),
        "in Cray's words": ({**shared, "cray_cb_write_lock_mode": "1"}, "group", False),
        "narrow": (narrow, "narrow", False),
        "ahead": (ahead, "ahead", False),
        "ahead, in ranges": ({**ahead, "nacre_pattern": "even"}, "ahead", False),
        "ahead, in Cray's words": ({**shared, "cray_cb_write_lock_mode": "2"}, "ahead", False),
        "one writer an object": ({**group, "cb_nodes": "2"}, "usual", False),
        "not by stripes": ({**group, "nacre_pattern": "even"}, "usual", None),
        "objects not made yet": ({**group, "nacre_layout": "-E 1m -c 1 -S 64k -E -1 -c 2 -S 64k"}, "usual", None),
        "past the cache": ({**group, "direct_write": "true"}, "usual", None),
        "ahead, past the cache": ({**ahead, "direct_write": "true"}, "ahead", False),
        "direct": ({**narrow, "nacre_algorithm": "direct"}, None, None),
    }
    for name, (hints, locks, are_taken) in asked.items():
        report = tmp_path / name
        words = [word for hint, value in hints.items() for word in ("--hint", f"{hint}={value}")]
        sized = ["--workload", "interleaved", "--bytes", "4000000", "--warmups", "0", "--repeats", "1"]
        counted = ["--counters", "testbed.counters", "--write-only"]
        launch = ["mpiexec.openmpi", "--oversubscribe", "-n", "4", worker, *sized, "--file", "{}/f", *words, *counted]
        done = nacre("testbed", "run", "--nodes", 4, "--osts", 4, "--report", report, "--", *launch)
        assert done.returncode == 0, done.stderr
        written = json.loads(report.read_text().splitlines()[0])
        assert [plan.get("write_locks") for plan in written["plans"]] == [locks], name
        assert "start_iodevice" in written["hints"]  # of objects made by the write itself, too
        refused = [note for note in written["notes"] if note.startswith("hint nacre_write_locks: ")]
        noted = {
            "past the cache": "O_DIRECT",
            "not by stripes": "domains",
            "objects not made yet": "do not exist yet",
            "direct": "two_phase",
        }
        assert [noted[name] in note for note in refused] == ([True] if name in noted else []), name
        sample = next(line for line in map(json.loads, json_lines(done.stdout)) if line["type"] == "sample")
        callbacks = sum(json.loads(sample["write_counters"])["nodes"]["lock_callbacks"])
        assert are_taken is None or (callbacks > 0) == are_taken, name


@pytest.mark.usefixtures("node_namespaces")
def test_unaligned_pieces_call_no_lock_back(build: Path, nacre, nodes: list[Path]) -> None:
    """Of 47,008 bytes, dealt to the ranks in turn: each node has the lock on an object once, and nobody wants it."""
    worker = build / "tools" / "bench" / "openmpi4" / "worker"
    laid = [
        "--hint",
        "nacre_layout=-c 4 -S 64k",
        "--hint",
        "nacre_saturation_bytes=64k",
        "--counters",
        testbed.COUNTERS,
    ]
    sized = ["--bytes", "4000000", "--warmups", "0", "--repeats", "1", "--write-only", "--file", "{}/f"]
    ours, direct = ["--workload", "hard", "--workload", "hard-calls"], ["--task-hint", "nacre_algorithm=direct"]
    tasks = [*ours, "--workload", "hard", "--label", "direct", *direct]
    launch = ["mpiexec.openmpi", "--oversubscribe", "-n", "4", worker, *tasks, *sized, *laid]
    done = nacre("testbed", "run", "--nodes", 4, "--osts", 4, "--set", "locks.wide=1", "--", *launch)
    assert done.returncode == 0, done.stderr
    samples = [line for line in map(json.loads, json_lines(done.stdout)) if line["type"] == "sample"]
    by_osts, by_calls, by_ranks = (json.loads(sample["write_counters"])["nodes"] for sample in samples)
    assert by_osts["lock_grants"] == [1] * 4
    assert by_osts["lock_callbacks"] == [0] * 4
    assert by_calls["lock_callbacks"] == [0] * 4
    assert sum(by_ranks["lock_callbacks"]) > 0


def test_wrong_hints_are_refused_before_a_testbed_starts(nacre, tmp_path: Path) -> None:
    for hint, words in (
        ("nacre_layout=-q 0", "layout option -q: unknown"),
        ("stripe_count=3", 'unknown hint "stripe_count"'),
    ):
        refused = nacre("testbed", "run", "--at", tmp_path / "none", "--hint", hint, "--", "true")
        assert refused.returncode == 2
        assert words in " ".join(refused.stderr.split())
        assert not (tmp_path / "none").exists()
    for option in ("--summary", "--posix", "--iobuf=*", "--disable=*", "--abi=mpich", "--top=1", "--report=r"):
        refused = nacre("testbed", "run", option, "--without-nacre", "--", "true")
        assert refused.returncode == 2
        assert "--without-nacre" in refused.stderr
    refused = nacre("testbed", "run", "--at", tmp_path / "none", "--dry-run", "--", "true")
    assert refused.returncode == 2
    assert f"no testbed runs at {tmp_path}/none" in " ".join(refused.stderr.split())
    refused = nacre("testbed", "run", "--posix", "--", "true")
    assert refused.returncode == 2
    assert "--posix: nothing would be reported" in refused.stderr


def test_the_options_of_nacre_run_are_options_of_a_testbed_run(nacre) -> None:
    """Regression: --dry-run, --iobuf, --disable and --abi were missing."""

    def options_of(page: str) -> dict[str, str]:
        entries = nacre("man", page).stdout.partition(".SH OPTIONS\n.TP\n")[2].partition(".SH")[0].split(".TP\n")
        return dict(entry.split("\n", 1) for entry in entries)

    of_run = options_of("run")
    assert len(of_run) > 8
    assert of_run.items() <= options_of("testbed-run").items()


@pytest.mark.usefixtures("node_namespaces")
def test_options_of_nacre_run_reach_the_ranks_on_the_nodes(nacre, played: Path) -> None:
    words = ["--disable", "*.tmp", "--abi", "mpich", "--iobuf", "*.log:count=2"]
    show = ["sh", "-c", 'echo "[$NACRE_EXCLUDE $NACRE_IOBUF $LD_PRELOAD]"; ls {}', "{}"]
    run = nacre("testbed", "run", "--at", played, *words, "--", *show)
    libraries = nacre.library.parent
    preload = f"{libraries}/libnacre_posix.so:{libraries}/libnacre_mpich.so"
    assert run.stdout == f"[*.tmp *.log:count=2 {preload}]\n", run.stderr
    dry = json.loads(nacre("testbed", "run", "--at", played, "--dry-run", "--json", *words, "--", *show).stdout)
    assert dry["command"][-3:] == [*(word.replace("{}", f"{played}/node") for word in show[1:])]
    assert dry["environment"] == {
        "LD_PRELOAD": f"{libraries}/libnacre_mpich.so", "NACRE_EXCLUDE": "*.tmp", "NACRE_IOBUF": "*.log:count=2",
    }  # fmt: skip
    again = nacre("testbed", "run", "--at", played, "--dry-run", "--without-nacre", "--", "echo", "{}")
    assert again.stdout.endswith(f" {played} 2 echo {played}/node\n"), again.stderr


def test_nacre_run_is_refused_where_all_ranks_would_be_on_one_node(nacre) -> None:
    refused = nacre("testbed", "run", "--", "nacre", "run", "--", "mpiexec", "-n", "2", "true")
    assert refused.returncode == 2
    assert "all ranks would be on one node" in " ".join(refused.stderr.split())


def test_calls_of_posix_on_the_nodes_are_counted(nacre, played: Path, node_namespaces, tmp_path: Path) -> None:
    program = tmp_path / "both"
    source = Path(__file__).with_name("both_interfaces.c")
    subprocess.run(["mpicc.mpich", source, "-o", program], check=True, timeout=600)
    words = ["--posix", "--report", "io.jsonl", "--", "mpiexec.mpich", "-n", 2, program, "{}"]
    run = nacre("testbed", "run", "--at", played, *words)
    assert run.returncode == 0, run.stderr
    (job,) = json.loads(nacre("report", "--summary", "--json", "io.jsonl").stdout)
    written = {Path(one["name"]).name: one["bytes_written"] for one in job["files"]}
    assert (written["data"], written["log"]) == (2000, 5)
    assert job["hosts"] == ["node0", "node1"]
