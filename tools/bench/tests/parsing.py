"""A command line, parsed as nacre-bench does it."""

import typer
from nacre_bench import options


def parsed(kind: type, *words: str):
    """The options that `words` make."""
    seen = []
    app = typer.Typer()
    app.command()(options.command(kind, seen.append))
    app(list(words), standalone_mode=False)
    return seen[0]
