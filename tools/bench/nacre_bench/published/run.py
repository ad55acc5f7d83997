"""The run: all points, small ones as many at once as there are cores; then the page."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib

from ..config import Config
from ..options import Published
from ..patterns.place import name_library
from ..schedule import Progress
from . import counts, opal, patterns
from .points import Point, outcome_of
from .text import page

MANY_NODES = 32


def takes_much_memory(point: Point) -> bool:
    """Whether many nodes may have cycle buffers, whose marks the simulator keeps."""
    return point.nodes > MANY_NODES and ("nacre_algorithm", "direct") not in point.hints


def run(config: Config, arguments: Published) -> str:
    name_library(config)
    points = list(dict.fromkeys([*patterns.points(), *counts.points(), *opal.points()]))
    progress = Progress(len(points), arguments.quiet)
    for at_once, some in (
        (os.cpu_count(), [point for point in points if not takes_much_memory(point)]),
        (1, [point for point in points if takes_much_memory(point)]),
    ):
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            for point, found in zip(some, pool.map(outcome_of, some), strict=True):
                rate = f"{found.mib_per_second:,.0f} MiB/s"
                progress.tell(f"{point.machine}, {point.workload}, {point.nodes} nodes: {rate}")
    text = page()
    if arguments.out:
        pathlib.Path(arguments.out).write_text(text)
    return text
