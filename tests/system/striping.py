"""Layouts as a Lustre takes them by xattr, and a testbed that does (docs/testbed.md): what the tests on it share."""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

LAYOUT = "lustre.lov"
DELAY_CREATE = 0o20400
MAGIC_V1, MAGIC_COMPOSITE = 0x0BD10BD0, 0x0BD60BD0
RAID0, OVERSTRIPED = 0x1, 0x201
ANY_OST, ALL_OSTS = 0xFFFF, 0xFFFF
END_OF_FILE = 2**64 - 1


@contextlib.contextmanager
def mounted(build: Path, directory: Path, *options: str) -> Iterator[list[Path]]:
    """Two mounts of one testbed with four OSTs."""
    program = build / "bin" / "nacre-testbed"
    if not program.exists():
        pytest.skip("the testbed was not built: there is no libfuse3")
    command = [str(program), "--nodes", "2", "--osts", "4", *options, str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
        if served.stdout.readline() != "ready\n":
            reason = served.stderr.read().strip()
            pytest.skip(f"nothing can be mounted here: {reason}")
        try:
            yield [directory / "0", directory / "1"]
        finally:
            served.send_signal(signal.SIGTERM)
            assert served.wait(timeout=600) == 0
    assert not any(os.path.ismount(directory / str(node)) for node in range(2))


def plain(count: int = 0, size: int = 0, first: int = ANY_OST, pattern: int = RAID0) -> bytes:
    return struct.pack("<IIQQIHH", MAGIC_V1, pattern, 0, 0, size, count, first)


def composite(*components: tuple[int, int, bytes], ids: tuple[int, ...] = ()) -> bytes:
    """Of (begin, end, plain layout) each."""
    place = 32 + 48 * len(components)
    heads, bodies = b"", b""
    for number, (begin, end, body) in enumerate(components):
        known = ids[number] if ids else 0
        heads += struct.pack("<IIQQII", known, 0, begin, end, place + len(bodies), len(body)) + bytes(16)
        bodies += body
    size = place + len(bodies)
    return struct.pack("<IIIHHH", MAGIC_COMPOSITE, size, 0, 0, len(components), 0) + bytes(14) + heads + bodies


def delay_create(path: Path) -> int:
    return os.open(path, os.O_CREAT | os.O_RDWR | DELAY_CREATE, 0o644)


def count_of(lov: bytes) -> int:
    return struct.unpack_from("<H", lov, 28)[0]


def json_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("{")]
