"""The run: the operations of all ranks, the samples, and the page."""

from __future__ import annotations

import json
import pathlib
import subprocess
import tempfile

from ..config import Config
from ..errors import BenchError
from ..growth.run import decisions
from ..options import Scale
from ..patterns.place import name_library
from ..schedule import Progress
from .samples import Job, samples, simulate
from .text import page

RANKS_PER_NODE = 64
SAMPLED_NODES = 64


def run(config: Config, arguments: Scale) -> str:
    name_library(config)
    job = Job(arguments.nodes, RANKS_PER_NODE, arguments.osts)
    chosen = samples(job, SAMPLED_NODES)
    progress = Progress(len(chosen) + 1, arguments.quiet)
    of_all = operations(config.scale, job)
    progress.tell(f"operations of {job.ranks:,} ranks")
    found = {}
    for sample in chosen:
        with tempfile.TemporaryDirectory(prefix="nacre-bench-") as folder:
            found[sample] = simulate(sample, arguments.machine, pathlib.Path(folder))
        progress.tell(f"{sample.algorithm}, {sample.title}")
    text = page(job, decisions(config.decision), of_all, found)
    if arguments.out:
        pathlib.Path(arguments.out).write_text(text)
    return text


def operations(program: str, job: Job) -> list[dict]:
    """What the collective operations of all ranks of the job cost, which `program` runs in one process."""
    words = [program, *map(str, (job.nodes, job.ranks_per_node, job.osts))]
    result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode:
        why = result.stderr.strip() or f"ended with {result.returncode}; a million ranks need 7 GB of memory"
        raise BenchError(f"{' '.join(words)}: {why}")
    return [json.loads(line) for line in result.stdout.splitlines()]
