"""Writes checkpoints of a distributed array with mpi4py and NumPy: collective, independent and shared-pointer I/O.

Usage: checkpoint.py FILE [EDGE]. Writes FILE, reads it back in another distribution, and fails on any difference.
"""

import sys

import numpy as np
from mpi4py import MPI

HEADER_BYTES = 4096
STEPS = 4


def block(dims: list[int], coordinates: list[int], edge: int) -> tuple[list[int], list[int]]:
    """The start and the shape of the block of a process in a cube with edges of `edge` cells."""
    starts = [edge * c // n for c, n in zip(coordinates, dims, strict=True)]
    ends = [edge * (c + 1) // n for c, n in zip(coordinates, dims, strict=True)]
    return starts, [end - start for start, end in zip(starts, ends, strict=True)]


def cells(starts: list[int], shape: list[int], edge: int, step: int) -> np.ndarray:
    """The cells of a block at a step. All cells of a step differ."""
    x, y, z = np.meshgrid(*[np.arange(s, s + n) for s, n in zip(starts, shape, strict=True)], indexing="ij")
    return ((x * edge + y) * edge + z + step * 0.5).astype(np.float64)


def filetype(starts: list[int], shape: list[int], edge: int) -> MPI.Datatype:
    return MPI.DOUBLE.Create_subarray([edge] * 3, shape, starts).Commit()


def write(comm: MPI.Cartcomm, name: str, edge: int) -> None:
    rank, size = comm.Get_rank(), comm.Get_size()
    starts, shape = block(comm.Get_topo()[0], comm.Get_coords(rank), edge)
    view = filetype(starts, shape, edge)
    file = MPI.File.Open(comm, name, MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Set_size(0)

    # Independent: each rank writes its line of the header, at an explicit offset.
    line = np.array([rank, size, *starts, *shape], dtype=np.int64)
    file.Write_at(rank * line.nbytes, line)

    # Collective: all ranks write each step through a view.
    step_bytes = edge**3 * 8
    for step in range(STEPS):
        file.Set_view(HEADER_BYTES + step * step_bytes, MPI.DOUBLE, view)
        file.Write_all(cells(starts, shape, edge, step))

    # Shared file pointer: the ranks write a trailer in rank order.
    file.Set_view(HEADER_BYTES + STEPS * step_bytes, MPI.BYTE, MPI.BYTE)
    file.Write_ordered(f"rank {rank:4d} of {size:4d}\n".encode())
    file.Close()
    view.Free()


def verify(comm: MPI.Cartcomm, name: str, edge: int) -> None:
    """Reads the steps as slabs instead of blocks, in turn with collective and with nonblocking independent calls."""
    rank, size = comm.Get_rank(), comm.Get_size()
    starts, shape = block([size, 1, 1], [rank, 0, 0], edge)
    step_bytes = edge**3 * 8
    file = MPI.File.Open(comm, name, MPI.MODE_RDONLY)
    view = filetype(starts, shape, edge)
    for step in range(STEPS):
        data = np.full(shape, np.nan)
        file.Set_view(HEADER_BYTES + step * step_bytes, MPI.DOUBLE, view)
        if step % 2 == 0:
            file.Read_all(data)
        else:
            file.Iread_at(0, data).Wait()
        if not np.array_equal(data, cells(starts, shape, edge, step)):
            raise SystemExit(f"rank {rank}: step {step}: the data read differ from the data written")
    file.Set_view(0, MPI.BYTE, MPI.BYTE)
    line = np.zeros(8, dtype=np.int64)
    neighbour = (rank + 1) % size
    file.Read_at(neighbour * line.nbytes, line)
    if list(line[:2]) != [neighbour, size]:
        raise SystemExit(f"rank {rank}: the header line of rank {neighbour} is wrong: {line}")
    file.Close()
    view.Free()


def main() -> None:
    name = sys.argv[1]
    edge = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    dims = MPI.Compute_dims(MPI.COMM_WORLD.Get_size(), 3)
    comm = MPI.COMM_WORLD.Create_cart(dims)
    comm.Barrier()
    begin = MPI.Wtime()
    write(comm, name, edge)
    verify(comm, name, edge)
    comm.Barrier()
    if comm.Get_rank() == 0:
        print(f"io_seconds {MPI.Wtime() - begin:.6f}")


if __name__ == "__main__":
    main()
