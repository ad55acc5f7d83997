"""Starts the worker on the ranks with the user's launcher, and collects what it measures."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from nacre import launchers, library, program, testbed
from nacre.errors import EXIT_CANNOT_RUN, UserError
from nacre.tune import rank
from nacre.tune.samples import Samples

END_SECONDS = 10
TAIL_LINES = 12


def worker_library(abi: str) -> Path:
    path = library.directory() / f"nacre-tune-{abi}.so"
    if not path.exists():
        raise UserError(f"{path} does not exist", "CMake builds it with NACRE_BUILD_TOOLS=ON.")
    return path


class Launcher:
    """The user's command, with the worker in place of its program."""

    def __init__(self, command: list[str], directory: Path):
        at, found = launchers.find_launcher(command)
        if found is None:
            raise UserError(f"{command[0]} is no launcher that nacre knows", "Try: nacre tune DIR -- mpiexec -n 4")
        contexts = found.launcher.contexts(command[at + 1 :])
        self.command = command if contexts[0].program else [*command, "PROGRAM"]
        abi, mpi = self._mpi(found, contexts[0].program)
        self.start = [sys.executable, rank.__file__, mpi, str(worker_library(abi))]
        self.directory = directory

    @staticmethod
    def _mpi(found: launchers.FoundLauncher, words: list[str]) -> tuple[str, str]:
        target = program.inspect(words) if words else None
        if target and target.abi and target.library:
            return target.abi, target.library
        beside = program.library_beside(Path(os.path.realpath(found.path)))
        if beside is None:
            raise UserError(
                f"no MPI library found beside {found.path}",
                "Add a program of that MPI to the command; nacre reads its MPI from it and does not run it.",
            )
        return beside

    def launch(
        self, work: Path, seconds: float, repetitions: int, measurements: list[str], with_nacre: bool = False
    ) -> launchers.Launch:
        """The command line and environment that start the worker. `with_nacre`: Nacre serves its MPI-IO."""
        if testbed.is_up(self.directory):
            work = self.directory / testbed.RANK_MOUNT / work.name
        worker = [*self.start, str(work), str(seconds), str(repetitions), *measurements]
        words = launchers.with_program(self.command, worker)
        if testbed.is_up(self.directory):
            nodes = testbed.nodes_of(self.directory)
            words = launchers.started_through(words, testbed.rank_words(self.directory, nodes))
        environment = dict(os.environ)
        if with_nacre:
            return launchers.prepare(words, {}, library.preload_path(None), environment)
        return launchers.Launch(words, environment, None, [])

    def run(self, launch: launchers.Launch, samples: Samples, progress: Callable[[], None]) -> None:
        """Runs the ranks to the end. If this process gets a signal, ends them."""
        words = launch.argv
        with tempfile.TemporaryFile("w+", errors="replace") as errors:
            try:
                process = subprocess.Popen(
                    words,
                    env=launch.environ,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                )
            except OSError as error:
                raise UserError(f"cannot execute {words[0]}: {error.strerror}", code=EXIT_CANNOT_RUN) from error
            try:
                for line in process.stdout:
                    samples.add_line(line)
                    progress()
                code = process.wait()
            finally:
                _end(process)
            if code:
                errors.seek(0)
                tail = "\n".join(errors.read().splitlines()[-TAIL_LINES:])
                raise UserError(f"the ranks failed: {words[0]} ended with {code}\n{tail}")


def _end(process: subprocess.Popen) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=END_SECONDS)
    process.kill()
