"""`nacre hints`: prints every hint and variable with default and meaning, as the library reports them."""

from __future__ import annotations

import json
import os
import sys

import typer
from rich.console import Console
from rich.table import Table

from nacre import ceph_client, library, lustre_client, orangefs_client, settings
from nacre.errors import UserError
from nacre.findings import osts
from nacre.text import near, unwrapped

PIPE_WIDTH = 160

HELP = unwrapped("""List hints and variables with their defaults and meanings, or show the hints for a file.

Set a hint in the program's MPI_Info, with `nacre run --hint`, in the environment or in a configuration file. For FILE,
which need not exist, nacre shows the hints that configuration files and variables set, the source of each, and the
machine file or class by which plans would be compared. The program's MPI_Info overrides them. For an existing file on
Lustre, CephFS or OrangeFS nacre also shows the layout, of each part of a file whose layout grows.

[bold]Examples[/bold]

  nacre hints

  nacre hints striping

  nacre hints cb_nodes --json

  nacre hints /scratch/run1/out.nc
""")


def register(app: typer.Typer) -> None:
    app.command("hints", help=HELP, short_help="List hints and variables, or show the hints for a file.")(hints)


def complete_key() -> list[str]:
    """For the completion of a shell: all hints and variables."""
    try:
        entries = library.hints() + settings.VARIABLES
    except UserError:
        return []
    return [entry[field] for entry in entries for field in ("name", "variable") if field in entry]


def hints(
    key: str = typer.Argument(
        None,
        metavar="KEY|FILE",
        help="Part of a name; or a file: an existing one, or any path with a slash.",
        autocompletion=complete_key,
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    if key and ("/" in key or os.path.exists(key)):
        _show_for(key, as_json)
        return
    entries = _matching(library.hints() + settings.VARIABLES, key or "")
    if as_json:
        print(json.dumps(entries, indent=2))
        return
    _console().print(_table(entries))


def _console() -> Console:
    """A console that is wide enough for the table if its width is unknown: for a pipe or a file."""
    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(emoji=False, highlight=False, width=None if has_width else PIPE_WIDTH)


def _show_for(path: str, as_json: bool) -> None:
    try:
        found = library.hints_for(path)
    except ValueError as error:
        raise UserError(str(error)) from error
    found["layout"] = _regions(path) if os.path.isfile(path) else []
    if as_json:
        print(json.dumps(found, indent=2))
        return
    console = _console()
    if found["hints"]:
        rows = [(name, of["value"], of["from"]) for name, of in found["hints"].items()]
        console.print(_table_of(("Hint", "Value", "From"), rows))
    else:
        console.print(
            f"No configuration file and no variable sets a hint for {path}: the defaults apply.", markup=False
        )
    if layout := osts.in_words(found["layout"]):
        text = f"layout of the file: {layout}. Striping hints apply to new files only."
        console.print(text, markup=False, soft_wrap=True)
    console.print(f"machine: {found['machine']} (see nacre_machine)", markup=False)
    for note in found["notes"]:
        console.print(note, markup=False)


def _regions(path: str) -> list[dict]:
    return lustre_client.regions(path) or ceph_client.regions(path) or orangefs_client.regions(path)


def _matching(entries: list[dict], key: str) -> list[dict]:
    found = [entry for entry in entries if key.lower() in f"{entry['name']} {entry.get('variable', '')}".lower()]
    if not found:
        names = near(key, [entry["name"] for entry in entries])
        raise UserError(
            f"no hint or variable has {key!r} in its name",
            f"Did you mean {' or '.join(names)}?" if names else "List all with `nacre hints`.",
        )
    return found


def _table(entries: list[dict]) -> Table:
    rows = []
    for entry in entries:
        hint, variable = (entry["name"], entry["variable"]) if "variable" in entry else ("", entry["name"])
        takes = entry.get("choices", "").replace("|", ", ") or entry.get("kind", "text")
        if entry.get("used", True):
            rows.append((hint, variable, takes, str(entry["default"]), entry["meaning"]))
    ignored = ", ".join(entry["name"] for entry in entries if not entry.get("used", True))
    if ignored:
        rows.append(
            ("(ignored)", "", "", "", f"accepted, returned by MPI_File_get_info and otherwise ignored: {ignored}")
        )
    return _table_of(("Hint", "Variable", "Takes", "Default", "Meaning"), rows)


def _table_of(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    # Users copy names and search for them: a name is never wrapped.
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column in ("Hint", "Variable"))
    for row in rows:
        table.add_row(*row)
    return table
