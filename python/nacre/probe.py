"""The probe of `nacre doctor`: writes a file through MPI-IO and reports whether Nacre served the calls.

Runs on the ranks with the standard library only, without the nacre package, in one of two ways:
    probe.py FILE mpi4py             through the mpi4py of the Python that runs it
    probe.py FILE ABI LIBRARY        through an MPI library, called as a C program of that ABI would
Rank 0 prints one line, "NACRE-PROBE {...}", which `first_outcome` reads.
"""

import ctypes
import json
import os
import sys

MARK = "NACRE-PROBE "
BYTES = 65536
CREATE_FLAGS = {"mpich": 1 | 4, "openmpi": 1 | 4, "mpiabi": 2 | 256}  # MODE_CREATE | MODE_WRONLY


class Mpi:
    """Calls MPI with the handles and constants of an ABI."""

    def __init__(self, abi, library):
        self.own = ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
        # The first definition in loading order, to which the calls of a program are bound.
        self.bound = ctypes.CDLL(None)
        if abi == "openmpi":
            symbol = lambda name: ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self.own, name)))  # noqa: E731
            self.world, self.info = symbol("ompi_mpi_comm_world"), symbol("ompi_mpi_info_null")
            self.byte, self.ignore = symbol("ompi_mpi_byte"), ctypes.c_void_p(0)
        elif abi == "mpich":
            self.world, self.info = ctypes.c_int(0x44000000), ctypes.c_int(0x1C000000)
            self.byte, self.ignore = ctypes.c_int(0x4C00010D), ctypes.c_void_p(1)
        else:
            self.world, self.info = ctypes.c_void_p(0x101), ctypes.c_void_p(0x130)
            self.byte, self.ignore = ctypes.c_void_p(0x247), ctypes.c_void_p(0)
        self.flags = CREATE_FLAGS[abi]

    def call(self, name, *arguments):
        code = getattr(self.bound, name)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name} returned {code}")


def write_with_library(path, abi, library):
    mpi = Mpi(abi, library)
    mpi.call("MPI_Init", None, None)
    rank, size, file = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p()
    mpi.call("MPI_Comm_rank", mpi.world, ctypes.byref(rank))
    mpi.call("MPI_Comm_size", mpi.world, ctypes.byref(size))
    data = (ctypes.c_char * BYTES)(*([bytes([65 + rank.value % 26])] * BYTES))
    mpi.call("MPI_File_open", mpi.world, path.encode(), mpi.flags, mpi.info, ctypes.byref(file))
    offset = ctypes.c_longlong(rank.value * BYTES)
    mpi.call("MPI_File_write_at_all", file, offset, data, BYTES, mpi.byte, mpi.ignore)
    mpi.call("MPI_File_close", ctypes.byref(file))
    report(path, rank.value, size.value)
    mpi.call("MPI_Finalize")


def write_with_mpi4py(path):
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_WRONLY)
    file.Write_at_all(rank * BYTES, bytes([65 + rank % 26]) * BYTES)
    file.Close()
    report(path, rank, size)


def report(path, rank, size):
    if rank != 0:
        return
    with open("/proc/self/maps") as maps:
        loaded = sorted({line.split()[-1] for line in maps if "/libnacre" in line})
    served = 0
    # The libraries are loaded with local symbols, so the probe asks each one. libnacre.so only forwards calls to them.
    for library in loaded:
        if library.endswith("/libnacre.so"):
            continue
        function = ctypes.CDLL(library).nacre_calls_served
        function.restype = ctypes.c_ulonglong
        served = max(served, function())
    with open(path, "rb") as file:
        content = file.read()
    expected = b"".join(bytes([65 + other % 26]) * BYTES for other in range(size))
    outcome = {
        "calls_served": served,
        "ranks": size,
        "libraries": loaded,
        "right_bytes": content == expected,
        "preload": os.environ.get("LD_PRELOAD", ""),
    }
    print(MARK + json.dumps(outcome), flush=True)


def first_outcome(output):
    """The first complete outcome in the output of a launcher, or None.

    If the launcher does not connect the processes, each process is a rank 0 and prints an outcome. Several outcomes may
    then be on one line.
    """
    decoder = json.JSONDecoder()
    for text in output.split(MARK)[1:]:
        try:
            return decoder.raw_decode(text)[0]
        except json.JSONDecodeError:
            continue
    return None


if __name__ == "__main__":
    if sys.argv[2] == "mpi4py":
        write_with_mpi4py(sys.argv[1])
    else:
        write_with_library(*sys.argv[1:])
