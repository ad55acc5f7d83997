"""Just enough of ELF to say which shared libraries a program needs."""

from __future__ import annotations

import dataclasses
import struct
from pathlib import Path

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB = 1, 5


@dataclasses.dataclass(frozen=True)
class Elf:
    """An ELF program or library. `dynamic`: it is loaded with shared libraries."""

    needed: tuple[str, ...]
    dynamic: bool


def read(path: Path) -> Elf | None:
    """What `path` needs, or None where it is no 64-bit little-endian ELF file."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) < 64 or data[:4] != b"\x7fELF" or data[4] != 2 or data[5] != 1:
        return None
    try:
        return _parse(data)
    except (struct.error, ValueError, IndexError):
        return None


def _parse(data: bytes) -> Elf:
    (header_offset,) = struct.unpack_from("<Q", data, 32)
    entry_size, count = struct.unpack_from("<HH", data, 54)
    segments = []
    for index in range(count):
        kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, header_offset + index * entry_size)
        segments.append((kind, offset, address, size))
    dynamic = next((segment for segment in segments if segment[0] == _PT_DYNAMIC), None)
    if dynamic is None:
        return Elf((), False)
    tags = list(struct.iter_unpack("<qQ", data[dynamic[1] : dynamic[1] + dynamic[3] // 16 * 16]))
    strings = next((value for tag, value in tags if tag == _DT_STRTAB), None)
    has_interpreter = any(segment[0] == _PT_INTERP for segment in segments)
    if strings is None:
        return Elf((), has_interpreter)
    table = _file_offset(segments, strings)
    needed = tuple(_string(data, table + value) for tag, value in tags if tag == _DT_NEEDED)
    return Elf(needed, has_interpreter or bool(needed))


def _file_offset(segments: list[tuple[int, int, int, int]], address: int) -> int:
    for kind, offset, start, size in segments:
        if kind == _PT_LOAD and start <= address < start + size:
            return address - start + offset
    raise ValueError("address in no segment")


def _string(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode(errors="replace")
