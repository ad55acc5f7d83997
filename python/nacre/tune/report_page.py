"""Writes the drawings, and one HTML page with them, their tables and nothing from elsewhere."""

from __future__ import annotations

import json
import sys
import time
from html import escape
from pathlib import Path

from nacre.errors import UserError, warn
from nacre.tune import drawing
from nacre.tune import result as results
from nacre.tune.machine_file import Heading
from nacre.tune.result import Result, Table

PAGE = "index.html"
SAMPLES = "samples.json"
COLOUR_SCHEMES = """:root{color-scheme:light dark;--text:#1c1f23;--back:#fff;--line:#c9ced6}
@media (prefers-color-scheme:dark){:root{--text:#dde1e6;--back:#15181c;--line:#3b424c}}
@media print{:root{--text:#000;--back:#fff;--line:#999}}
"""
PAGE_STYLE = (
    COLOUR_SCHEMES
    + """body{color:var(--text);background:var(--back);font:15px/1.5 system-ui,sans-serif;max-width:60rem;
margin:2rem auto;padding:0 1rem}
svg{color:var(--text);width:100%;height:auto}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:1rem 0}
th,td{padding:.2rem .8rem;text-align:right;border-bottom:1px solid var(--line)}
th:first-child,td:first-child{text-align:left;padding-left:0}
figure{margin:1rem 0;break-inside:avoid}
@media print{body{margin:0;max-width:none;font-size:10pt}table,figure{break-inside:avoid}}
"""
)
DRAWING_STYLE = f"<style>{COLOUR_SCHEMES}svg{{color:var(--text);background:var(--back)}}</style>"


def write(folder: Path, heading: Heading, found: Result) -> None:
    """Replaces the drawings, the page and the raw samples in `folder`."""
    drawings = _drawings(found)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in drawing.DRAWINGS:
            (folder / f"{name}.svg").unlink(missing_ok=True)
        for name, svg in drawings.items():
            at = svg.index(">") + 1
            (folder / f"{name}.svg").write_text(svg[:at] + DRAWING_STYLE + svg[at:])
        (folder / SAMPLES).write_text(json.dumps({"ranks": found.samples.ranks, "samples": found.samples.by_word}))
        (folder / PAGE).write_text(page(heading, found, drawings))
    except OSError as error:
        raise UserError(
            f"cannot write the figures to {folder}: {error.strerror}", "Name another folder with --figures."
        ) from error


def _drawings(found: Result) -> dict[str, str]:
    try:
        return drawing.draw(found)
    except drawing.Missing as missing:
        warn(f"no drawings, only tables: {missing}. Install it: {sys.executable} -m pip install matplotlib")
        return {}


def page(heading: Heading, found: Result, drawings: dict[str, str]) -> str:
    ranks = found.samples.ranks
    mount = f" at {heading.mount}" if heading.mount else ""
    parts = [
        f"<h1>{escape(heading.name)}</h1>",
        f"<p>File system {escape(heading.kind or 'unknown')}{escape(mount)}, measured by <code>nacre tune</code> on "
        f"{time.strftime('%Y-%m-%d')} with {ranks.get('ranks', 0)} ranks on {ranks.get('nodes', 0)} nodes: "
        f"<code>{escape(heading.command)}</code>. Behind each figure stands by how much its repetitions varied.</p>",
        *_section("What would change", drawings.get("comparison"), [results.comparison_table(found)]),
        *_sentences(results.change_sentences(found)),
        *_section("The best pattern", drawings.get("patterns"), [results.setting_table(found)]),
        *_sentences([*results.best_sentences(found), *results.hint_sentences(found)]),
        *_section("Bandwidth by size of call", drawings.get("calls"), [results.call_table(found)]),
    ]
    if found.where.osts:
        tables = [results.sharing_table(found), results.adding_table(found)]
        parts += _section("OSTs", drawings.get("osts"), tables)
    parts += _section("The machine file", None, [results.figure_table(found)])
    missing = [f"{name}: {why}" for name, why in sorted(found.found.missing.items())]
    if missing:
        parts += ["<h2>Not measured</h2>", *_sentences(missing)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(heading.name)}: nacre tune</title>"
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{PAGE_STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _section(title: str, svg: str | None, tables: list[Table]) -> list[str]:
    tables = [table for table in tables if table.rows]
    if not tables:
        return []
    parts = [f"<h2>{escape(title)}</h2>"]
    if svg:
        parts.append(f"<figure>{svg}</figure>")
    return [*parts, *map(_html, tables)]


def _html(table: Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in table.rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>'


def _sentences(sentences: list[str]) -> list[str]:
    items = "".join(f"<li>{escape(sentence)}</li>\n" for sentence in sentences)
    return [f"<ul>\n{items}</ul>"] if items else []
