"""The run: all points, as many at once as there are cores; then the page."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib

from ..config import Config
from ..options import Published
from ..patterns.place import name_library
from ..schedule import Progress
from . import counts, patterns
from .points import outcome_of
from .text import page


def run(config: Config, arguments: Published) -> str:
    name_library(config)
    points = list(dict.fromkeys([*patterns.points(), *counts.points()]))
    progress = Progress(len(points), arguments.quiet)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for point, found in zip(points, pool.map(outcome_of, points), strict=True):
            progress.tell(f"{point.machine}, {point.workload}, {point.nodes} nodes: {found.mib_per_second:,.0f} MiB/s")
    text = page()
    if arguments.out:
        pathlib.Path(arguments.out).write_text(text)
    return text
