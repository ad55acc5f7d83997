"""The run: all points, one after the other, and the page."""

from __future__ import annotations

import json
import pathlib
import subprocess

from ..config import Config
from ..options import Growth
from ..patterns.place import name_library
from ..schedule import Progress
from .points import figures_of, points
from .text import draw, page


def run(config: Config, arguments: Growth) -> str:
    name_library(config)
    chosen = points(arguments.nodes)
    progress = Progress(len(chosen), arguments.quiet)
    found = {}
    for point in chosen:
        found[point] = figures_of(point, arguments.machine)
        progress.tell(f"{point.title}, {point.ranks:,} ranks: {found[point].messages.mean:.1f} messages a rank")
    text = page(found, decisions(config.decision))
    if arguments.out:
        pathlib.Path(arguments.out).write_text(text)
    if arguments.plot:
        draw(found, arguments.plot)
    return text


def decisions(program: str) -> list[dict]:
    """How long the choice of a plan takes, for jobs of up to a million ranks."""
    result = subprocess.run([program], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]
