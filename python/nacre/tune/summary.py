"""Prints what a tune has found."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as PrintedTable

from nacre.tune import result as results
from nacre.tune.result import Result, Table


def remarks(result: Result) -> list[str]:
    """What the machine file says in comments: no figure of its vocabulary holds it."""
    return [*results.best_sentences(result), *results.hint_sentences(result), *results.change_sentences(result)]


def show(result: Result) -> None:
    console = Console(emoji=False, highlight=False)
    console.print(_printed(results.figure_table(result)))
    for name, why in sorted(result.found.missing.items()):
        console.print(f"not written: {name}: {why}", markup=False)
    for table in (results.setting_table(result), results.comparison_table(result)):
        if table.rows:
            console.print()
            console.print(_printed(table))
    for sentence in remarks(result):
        console.print(sentence, markup=False, soft_wrap=True)


def as_json(result: Result) -> dict:
    return {
        "figures": {name: {"value": one.value, "spread": one.spread} for name, one in result.found.figures.items()},
        "not_measured": result.found.missing,
        "best_hints": results.best_hints(result),
        "remarks": remarks(result),
    }


def _printed(table: Table) -> PrintedTable:
    printed = PrintedTable(box=None, header_style="bold")
    for number, column in enumerate(table.columns):
        printed.add_column(column, justify="right" if number else "left", overflow="fold")
    for row in table.rows:
        printed.add_row(*row)
    return printed
