"""One rank of `nacre tune`: loads the user's MPI and the compiled worker, and calls the worker.

Runs on the ranks with the standard library only, without the nacre package:
    rank.py MPI_LIBRARY WORKER DIRECTORY SECONDS REPETITIONS MEASUREMENT...
The worker measures; no loop that is timed runs in Python. It is not linked with an MPI, so that one worker serves every
MPI of its ABI.
"""

import ctypes
import sys


def main(library, worker, directory, seconds, repetitions, *words):
    ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
    array = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    run = ctypes.CDLL(worker).nacre_tune_worker
    return run(
        ctypes.c_char_p(directory.encode()),
        ctypes.c_double(float(seconds)),
        ctypes.c_int(int(repetitions)),
        ctypes.c_int(len(words)),
        array,
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
