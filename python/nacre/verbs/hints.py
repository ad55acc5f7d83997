"""`nacre hints`: every hint and variable, with default and meaning, as the library itself tells."""

from __future__ import annotations

import difflib
import json

import typer
from rich.console import Console
from rich.table import Table

from nacre import library, settings
from nacre.errors import UserError
from nacre.text import unwrapped

HELP = unwrapped("""List every hint and variable with its default and meaning.

Hints go into the program's MPI_Info, `nacre run --hint`, the environment or a configuration file.

[bold]Examples[/bold]

  nacre hints

  nacre hints striping

  nacre hints cb_nodes --json
""")


def register(app: typer.Typer) -> None:
    app.command("hints", help=HELP, short_help="List every hint and variable with its default and meaning.")(hints)


def hints(
    key: str = typer.Argument(None, metavar="[KEY]", help="Only those whose name contains this."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    entries = _matching(library.hints() + settings.VARIABLES, key or "")
    if as_json:
        print(json.dumps(entries, indent=2))
        return
    Console(highlight=False).print(_table(entries))


def _matching(entries: list[dict], key: str) -> list[dict]:
    found = [entry for entry in entries if key.lower() in f"{entry['name']} {entry.get('variable', '')}".lower()]
    if not found:
        near = difflib.get_close_matches(key, [entry["name"] for entry in entries], n=3, cutoff=0.5)
        raise UserError(
            f"no hint or variable is called {key!r}",
            f"Did you mean {', '.join(near)}?" if near else "`nacre hints` lists them all.",
        )
    return found


def _table(entries: list[dict]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("Hint", "Variable", "Takes", "Default", "Meaning"):
        table.add_column(column, overflow="fold")
    for entry in entries:
        hint, variable = (entry["name"], entry["variable"]) if "variable" in entry else ("", entry["name"])
        takes = entry.get("choices", "").replace("|", ", ") or entry.get("kind", "text")
        table.add_row(hint, variable, takes, str(entry["default"]), entry["meaning"])
    return table
