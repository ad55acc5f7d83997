"""One rank of `nacre tune`: loads the user's MPI and the compiled worker, and calls the worker.

Runs on the ranks with the standard library only, without the nacre package:
    rank.py MPI_LIBRARY WORKER DIRECTORY SECONDS REPETITIONS MEASUREMENT...
The worker measures; no loop that is timed runs in Python. It is not linked with an MPI, so that one worker serves every
MPI of its ABI.
"""

import ctypes
import json
import os
import sys

LUSTRE = "/sys/fs/lustre"
MIB = 1 << 20


def file_system_of(directory, mounts="/proc/self/mounts"):
    """The name of the Lustre file system of a directory; empty if it is on another file system."""
    best, name = "", ""
    directory = os.path.realpath(directory)
    with open(mounts, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            source, mount, kind = line.split()[:3]
            if len(mount) >= len(best) and os.path.commonpath([mount, directory]) == mount:
                best = mount
                name = source.rpartition(":/")[2].partition("/")[0] if kind == "lustre" else ""
    return name


def client_settings(name, root=LUSTRE):
    """What the node's client of Lustre file system `name` is set to, as figures of a machine file. A client has the
    settings of each OST apart; one OST stands for all."""
    settings = {}
    for folder, setting, figure, unit in (
        ("osc", "max_pages_per_rpc", "rpc_bytes", os.sysconf("SC_PAGE_SIZE")),
        ("osc", "max_rpcs_in_flight", "rpcs_in_flight", 1),
        ("osc", "max_dirty_mb", "dirty_bytes", MIB),
        ("llite", "max_read_ahead_per_file_mb", "read_bytes", MIB),
    ):
        begin = f"{name}-OST" if folder == "osc" else f"{name}-"
        try:
            entries = (entry for entry in os.listdir(f"{root}/{folder}") if entry.startswith(begin))
            found = min(entry for entry in entries if "-osc-MDT" not in entry)  # a server's own
            with open(f"{root}/{folder}/{found}/{setting}", encoding="ascii") as file:
                settings[figure] = round(float(file.read()) * unit)
        except (OSError, ValueError):  # another version of Lustre has none, or calls it differently
            continue
    return settings


def main(library, worker, directory, seconds, repetitions, *words):
    name = file_system_of(directory)
    client = client_settings(name) if name else {}
    ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
    array = (ctypes.c_char_p * (len(words) + 1))(*(word.encode() for word in words), None)
    run = ctypes.CDLL(worker).nacre_tune_worker
    return run(
        ctypes.c_char_p(directory.encode()),
        ctypes.c_char_p(json.dumps(client).encode()),
        ctypes.c_double(float(seconds)),
        ctypes.c_int(int(repetitions)),
        array,
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
