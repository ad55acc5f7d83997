"""`nacre-bench check`: runs all workloads at a small size and checks every byte. Measures nothing."""

from __future__ import annotations

import dataclasses
import os
import tempfile
import typing

from .config import Config
from .contenders import PEER, Contender, hand_over, ours_over, over
from .launch import Outcome, launch, worker_arguments
from .schedule import Job
from .workloads import Workload, known_workloads

if typing.TYPE_CHECKING:
    from .options import Check

BYTES = 500_000


def check_outcome(outcome: Outcome, damage: int | None) -> str:
    """Why the check failed; empty if it passed. With `damage`, the check passes if the worker reports wrong bytes."""
    if damage is None:
        return outcome.error
    return "" if outcome.wrong_bytes else "the worker did not find the changed byte"


def check_contenders(config: Config, arguments: Check) -> list[Contender]:
    mpi = config.mpi(arguments.mpi)
    if arguments.preload:
        rank_words = tuple(os.environ.get("NACRE_TEST_RANK_WORDS", "").split())
        return [dataclasses.replace(ours_over(mpi, "N", config.preload, {}), rank_words=rank_words)]
    return [over(mpi, name=mpi.name, role=PEER, about="the MPI without Nacre"), hand_over(mpi)]


def check_jobs(config: Config, contender: Contender, wishes: list[int]) -> list[tuple[int, list[Workload]]]:
    """Numbers of ranks, in ascending order, each with the workloads to run at that number."""
    jobs: dict[int, list[Workload]] = {}
    for workload in known_workloads(config).values():
        if not contender.runs(workload):
            continue
        for ranks in dict.fromkeys(workload.nearest_ranks(wish) for wish in wishes):
            jobs.setdefault(ranks, []).append(workload)
    return sorted(jobs.items())


def check(config: Config, arguments: Check) -> bool:
    """Runs and prints all checks. Returns whether all passed."""
    passed = True
    with tempfile.TemporaryDirectory(prefix="nacre-bench-", dir=os.environ.get("NACRE_TEST_DIR")) as scratch:
        job = Job(Workload(""), 1, BYTES, 0, 1, timeout_s=arguments.timeout, file=os.path.join(scratch, "file"))
        for contender in check_contenders(config, arguments):
            for ranks, workloads in check_jobs(config, contender, arguments.ranks):
                program = worker_arguments(contender, workloads, dataclasses.replace(job, ranks=ranks))
                program += [] if arguments.damage is None else ["--damage", str(arguments.damage)]
                outcome = launch(contender, ranks, program, arguments.timeout)
                error = check_outcome(outcome, arguments.damage)
                count = len({line["workload"] for line in outcome.lines if line["type"] == "sample"})
                print(f"{contender.name}, {ranks} ranks, {count} workloads: {error or 'passed'}")
                passed = passed and not error
    return passed
