"""Parses command lines as nacre-bench does."""

import typer
from nacre_bench import options


def parsed(kind: type, *words: str):
    """The options object for the command line `words`."""
    seen = []
    app = typer.Typer()
    app.command()(options.command(kind, seen.append))
    app(list(words), standalone_mode=False)
    return seen[0]
