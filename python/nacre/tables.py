"""Tables on the terminal."""

from __future__ import annotations

from rich.table import Table


def grid(*columns: str) -> Table:
    """A table whose first column is text; all other columns are numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left", overflow="fold", no_wrap=index > 0)
    return table
