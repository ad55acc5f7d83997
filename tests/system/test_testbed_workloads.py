"""Every workload on a striped file system: by the MPIs' own MPI-IO, and by Nacre in every pattern and layout."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path

import pytest

BYTES = "600000"
NODES, RANKS, OSTS = 2, 4, 4
# MPICH 4's mpiexec crashes over a command of thousands of words.
TASKS_A_LAUNCH = 40
FAMILIES = ("openmpi4", "openmpi5", "mpich5", "mpich4")
LAYOUTS = {
    "plain": "-c 3 -S 64k",
    "overstriped": "-C 7 -S 64k",
    "composite": "-E 128k -c 1 -S 64k -E 512k -C 6 -S 64k -E -1 -c 4 -S 128k",
}
WAYS = {
    "chosen": {},
    "direct": {"nacre_algorithm": "direct"},
    "even": {"nacre_algorithm": "two_phase", "nacre_pattern": "even"},
    "blocks": {"nacre_algorithm": "two_phase", "nacre_pattern": "stripes", "nacre_osts_per_aggregator": "2"},
    "osts": {"nacre_algorithm": "two_phase", "nacre_pattern": "osts", "cb_nodes": "2"},
    "shared by turns": {"nacre_algorithm": "two_phase", "nacre_pattern": "osts", "cb_nodes": "4"},
    "shared by ranges": {
        "nacre_algorithm": "two_phase",
        "nacre_pattern": "osts",
        "nacre_ost_sharing": "ranges",
        "nacre_osts_per_aggregator": "4",
        "cb_nodes": "4",
    },
    "group lock": {
        "nacre_algorithm": "two_phase",
        "nacre_pattern": "stripes",
        "nacre_write_locks": "group",
        "cb_nodes": "3",
    },
    "locks ahead": {"nacre_algorithm": "two_phase", "nacre_write_locks": "ahead", "cb_nodes": "4"},
    "narrow locks": {"nacre_algorithm": "two_phase", "nacre_write_locks": "narrow", "cb_nodes": "4"},
    "segments": {"nacre_algorithm": "static_segmentation"},
}

pytestmark = pytest.mark.usefixtures("node_namespaces")


@pytest.fixture
def workloads(worker: Path) -> list[str]:
    listed = subprocess.run([worker, "--list"], capture_output=True, text=True, check=True, timeout=600)
    return [json.loads(line)["name"] for line in listed.stdout.splitlines()]


def wrong_bytes(output: str) -> dict[str, int]:
    """By what a sample was called."""
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {line["workload"]: line["wrong_bytes"] for line in lines if line["type"] == "sample"}


def task(workload: str, label: str, hints: dict[str, str]) -> list[str]:
    words = ["--workload", workload, "--label", label]
    for name, value in hints.items():
        words += ["--task-hint", f"{name}={value}"]
    return words


def run_tasks(nacre, launch: list[str], tasks: dict[str, list[str]], *options: str) -> None:
    placed = ["testbed", "run", "--nodes", NODES, "--osts", OSTS, *options]
    sized = ["--bytes", BYTES, "--warmups", "0", "--repeats", "1", "--file", "{}/f"]
    everything = list(tasks)
    for first in range(0, len(everything), TASKS_A_LAUNCH):
        labels = everything[first : first + TASKS_A_LAUNCH]
        words = [word for label in labels for word in tasks[label]]
        done = nacre(*placed, "--", *launch[:1], "-n", RANKS, *launch[1:], *sized, *words)
        assert done.returncode == 0, done.stderr
        assert wrong_bytes(done.stdout) == dict.fromkeys(labels, 0)


def test_nacre_writes_the_same_bytes_in_every_pattern_and_layout(
    nacre, family: str, mpiexec: list[str], worker: Path, workloads: list[str]
) -> None:
    """Each MPI has another third of what there is, three of them all of it."""
    everything = itertools.product(enumerate(workloads), enumerate(WAYS.items()), enumerate(LAYOUTS.items()))
    tasks = {}
    for (i, workload), (j, (way, hints)), (k, (layout, words)) in everything:
        if (i + j + k + FAMILIES.index(family)) % len(LAYOUTS) == 0:
            label = f"{workload}, {way}, {layout}"
            tasks[label] = task(workload, label, {"nacre_layout": words, **hints})
    run_tasks(nacre, [*mpiexec, worker], tasks)


def test_the_mpi_itself_writes_the_same_bytes(nacre, mpiexec: list[str], worker: Path, workloads: list[str]) -> None:
    striped = ["--set", "striping.count=3", "--set", "striping.size=65536"]
    tasks = {workload: task(workload, workload, {}) for workload in workloads}
    run_tasks(nacre, [*mpiexec, worker], tasks, "--without-nacre", *striped)
