"""Runs one mpiexec and parses the JSON lines that its rank 0 prints. A launch that fails or hangs raises no exception:
the failure is part of the result."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
from collections.abc import Sequence

from .contenders import OURS, Contender
from .workloads import Workload

# A rank ends itself this many seconds after the time limit of its launch.
RANK_GRACE_S = 10
ERROR_TAIL = 600


@dataclasses.dataclass
class Outcome:
    """`error` is empty if the launch succeeded and, for a launch of Nacre, if Nacre was loaded into its ranks."""

    lines: list[dict]
    error: str = ""
    wrong_bytes: int = 0
    stopped: bool = False  # the launch took over its time limit

    @property
    def samples(self) -> list[dict]:
        return [line for line in self.lines if line["type"] == "sample" and not line["warmup"]]

    def line(self, kind: str) -> dict:
        return next((line for line in self.lines if line["type"] == kind), {})


def rank_command(contender: Contender) -> list[str]:
    """The words that start the program on a rank. They set LD_PRELOAD on the ranks only, not on the launcher, which
    might fail with it."""
    preload = ["env", f"LD_PRELOAD={contender.preload}"] if contender.preload else []
    return [*contender.rank_words, *preload]


def command_line(contender: Contender, ranks: int, program: list[str]) -> list[str]:
    return [contender.mpi.mpiexec, *contender.arguments, "-n", str(ranks), *rank_command(contender), *program]


def environment(contender: Contender) -> dict[str, str]:
    variables = {**os.environ, **contender.environment}
    variables.pop("LD_PRELOAD", None)
    if contender.mpi.family == "openmpi" and os.geteuid() == 0:
        for family in ("OMPI", "PRTE"):
            variables |= dict.fromkeys((f"{family}_ALLOW_RUN_AS_ROOT", f"{family}_ALLOW_RUN_AS_ROOT_CONFIRM"), "1")
    return variables


def end_group(process: subprocess.Popen) -> None:
    """Ends a launcher that hangs, first with SIGTERM: the launcher must end its ranks itself if they are in other
    process groups."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=5)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def parse_lines(text: str) -> list[dict]:
    """The JSON lines of the worker. MPIs print other lines between them."""
    lines = []
    for line in text.splitlines():
        if not line.startswith('{"type": '):
            continue
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return lines


def served_by_nacre(contender: Contender, loaded: list[str]) -> bool:
    """Whether Nacre was loaded into the ranks. libnacre.so loads the libnacre_*.so for the MPI of the process, so that
    one must be loaded too. A preload of another name (--preload) needs only itself."""
    preload = os.path.basename(contender.preload)
    if preload == "libnacre.so":
        return any(name.startswith("libnacre_") for name in loaded)
    return preload in loaded


def launch(
    contender: Contender, ranks: int, program: list[str], timeout_s: float, under: Sequence[str] = ()
) -> Outcome:
    """Runs one launch and waits for its end, at most `timeout_s`. `under` is a command line that runs the launcher."""
    process = subprocess.Popen(
        [*under, *command_line(contender, ranks, program)],
        env=environment(contender),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
        errors="replace",
    )
    hung = False
    try:
        output, errors = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        hung = True
        end_group(process)
        output, errors = process.communicate()
    except BaseException:
        end_group(process)
        raise
    outcome = Outcome(lines=parse_lines(output), stopped=hung)
    outcome.wrong_bytes = sum(line.get("wrong_bytes", 0) for line in outcome.lines)
    outcome.error = judge(contender, process.returncode, outcome, f"{timeout_s:g} s" if hung else "")
    if outcome.error:
        tail = "\n".join(line for line in errors.splitlines() if line.strip())[-ERROR_TAIL:]
        outcome.error += f"\n{tail}" if tail else ""
    return outcome


def judge(contender: Contender, status: int, outcome: Outcome, limit: str) -> str:
    """Why the launch failed; empty if it succeeded. `limit` is the time limit that it exceeded; "" if it did not."""
    if limit:
        return f"stopped: it took over {limit}"
    if outcome.wrong_bytes:
        return f"wrong bytes: {outcome.wrong_bytes}"
    if status != 0:
        return f"exit status {status}"
    end = outcome.line("end")
    if contender.role == OURS and not served_by_nacre(contender, end.get("loaded", [])):
        return f"{contender.preload} was not loaded into the ranks"
    return ""


def worker_arguments(contender: Contender, workloads: list[Workload], job) -> list[str]:
    """The worker's command line for a job, which has file, ranks, bytes, warmups, repeats, sync and timeout_s."""
    arguments = [word for workload in workloads for word in ("--workload", workload.name)]
    arguments += ["--file", job.file, "--bytes", str(job.bytes)]
    arguments += ["--engine", contender.engine, "--warmups", str(job.warmups), "--repeats", str(job.repeats)]
    arguments += ["--time-limit", str(int(job.timeout_s) + RANK_GRACE_S)]
    arguments += ["--sync"] if job.sync else []
    if contender.engine == "mpi-io":
        for key, value in contender.hints_for(job.ranks).items():
            arguments += ["--hint", f"{key}={value}"]
    return [contender.mpi.program("worker"), *arguments]
