"""Writes a parallel HDF5 file with h5py, collectively and independently. Each rank then reads the slabs of another
rank.

Usage: checkpoint_h5py.py FILE [EDGE]. Fails on any difference.
"""

import sys

import h5py
import numpy as np
from mpi4py import MPI


def slab(rank: int, size: int, edge: int) -> slice:
    return slice(edge * rank // size, edge * (rank + 1) // size)


def cells(rows: slice, edge: int) -> np.ndarray:
    x, y = np.meshgrid(np.arange(rows.start, rows.stop), np.arange(edge), indexing="ij")
    return (x * edge + y).astype(np.float64)


def main() -> None:
    name = sys.argv[1]
    edge = int(sys.argv[2]) if len(sys.argv) > 2 else 512
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    mine = slab(rank, size, edge)
    comm.Barrier()
    begin = MPI.Wtime()

    with h5py.File(name, "w", driver="mpio", comm=comm) as file:
        by_rows = file.create_dataset("by_rows", (edge, edge), dtype="f8", track_times=False)
        by_columns = file.create_dataset("by_columns", (edge, edge), dtype="f8", track_times=False)
        log = file.create_dataset("log", (size,), dtype="i8", track_times=False)
        file.attrs["edge"] = edge
        with by_rows.collective:
            by_rows[mine, :] = cells(mine, edge)
        with by_columns.collective:
            by_columns[:, mine] = cells(mine, edge).T
        log[rank] = rank * rank

    other = slab((rank + 1) % size, size, edge)
    with h5py.File(name, "r", driver="mpio", comm=comm) as file:
        with file["by_columns"].collective:
            columns = file["by_columns"][:, other]
        rows = file["by_rows"][other, :]
        expected = cells(other, edge)
        if not (np.array_equal(columns.T, expected) and np.array_equal(rows, expected)):
            raise SystemExit(f"rank {rank}: the data read differ from the data written")
        if file["log"][rank] != rank * rank:
            raise SystemExit(f"rank {rank}: the log entry is wrong")

    comm.Barrier()
    if rank == 0:
        print(f"io_seconds {MPI.Wtime() - begin:.6f}")


if __name__ == "__main__":
    main()
