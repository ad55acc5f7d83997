"""Whether HDF5 or netCDF makes the calls on a file: remedies then name calls of these libraries, not of MPI.

The name of a file says it, or its first bytes: in the report, or of the file, if this machine has it."""

from __future__ import annotations

import functools
import os
import stat

from nacre import lustre_client
from nacre.jobs import FileGroup

HDF5, NETCDF, OTHER = "HDF5", "netCDF", ""
SUFFIXES = {HDF5: (".h5", ".hdf5", ".he5"), NETCDF: (".nc", ".nc4", ".cdf")}
# Files of netCDF-4 are files of HDF5. HDF5's signature comes later in a file with a user block.
SIGNATURES = {b"\x89HDF\r\n\x1a\n": HDF5, b"CDF\x01": NETCDF, b"CDF\x02": NETCDF, b"CDF\x05": NETCDF}


def of(group: FileGroup) -> str:
    """HDF5, NETCDF or OTHER; of several files, the format of the first by name."""
    for name, suffixes in SUFFIXES.items():
        if group.name.endswith(suffixes):
            return name
    recorded = next((one["signature"] for one in group.reports if one.get("signature")), "")
    begin = bytes.fromhex(recorded) or _first_bytes(lustre_client.as_seen_here(min(group.paths)))
    return next((name for signature, name in SIGNATURES.items() if begin.startswith(signature)), OTHER)


@functools.cache
def _first_bytes(path: str) -> bytes:
    """Empty if the file cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a FIFO without a writer does not block
    except OSError:
        return b""
    try:
        return os.read(descriptor, 8) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)
