"""The verb on the command line, and what it prints and draws."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from ..config import Config
from ..values import numbers, positive, size_bytes, words
from . import NAME
from .cells import aggregators

PLOT_SECONDS = 120
PACKAGES = pathlib.Path(__file__).resolve().parents[2]


def add_plot_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plot", metavar="FILE.svg", help="draw it, with matplotlib; .png and .pdf do too")


def add_parser(verbs: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Without the options that every run has."""
    parser = verbs.add_parser(NAME, help="a file in every N-OST pattern and by the MPI's own collective")
    parser.add_argument("--machine", metavar="NAME|FILE", help="on a testbed that plays it, in the place of --dir")
    add = parser.add_argument
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the machine, over the file's")
    add(
        "--switch-off",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="write once more on the machine with this setting changed, beside the others",
    )
    add("--switched-rounds", type=positive, default=1, help="of those launches (default %(default)s)")
    add("--osts", type=numbers, default=[8, 16, 24], help="comma-separated (default 8,16,24)")
    add(
        "--aggregators",
        type=aggregators,
        default=aggregators("0.5x,1x,2x"),
        help="comma-separated numbers, or multiples of the OSTs (default 0.5x,1x,2x)",
    )
    add("--patterns", type=numbers, default=[1, 2, 4, 8, 16], help="OSTs an aggregator (default 1,2,4,8,16)")
    add("--redistributed", type=numbers, default=[1], help="of the patterns, by two-phase beside them (default 1)")
    add("--stripe-size", type=size_bytes, default=0, help="bytes, k or m (default: the machine's; 1m in a directory)")
    add("--mib-per-ost", type=positive, default=8, help="of the file (default %(default)s)")
    add("--contenders", type=words, default=[], help="names or patterns (default */M5, M5 and O5)")
    add_plot_option(parser)
    return parser


def draw(config: Config, result: dict, path: str) -> bool:
    """Whether there is a figure; what is missing is told."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as source:
        json.dump(result, source)
        source.flush()
        python = config.plot_python if os.path.exists(config.plot_python) else sys.executable
        done = subprocess.run(
            [python, "-m", "nacre_bench.patterns.plot", source.name, path],
            env={**os.environ, "PYTHONPATH": str(PACKAGES)},
            capture_output=True,
            text=True,
            timeout=PLOT_SECONDS,
            check=False,
        )
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        print(f"nacre-bench: --plot: nothing was drawn: {reason} (`make setup` has matplotlib)", file=sys.stderr)
    return done.returncode == 0
