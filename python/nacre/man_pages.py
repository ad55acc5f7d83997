"""Manual pages in roff, made from the same texts as --help."""

from __future__ import annotations

import re

import typer
from typer.core import TyperGroup, TyperOption

from nacre import library


def pages(command: TyperGroup) -> dict[str, str]:
    """All pages by name: nacre, nacre-run, nacre-stripe-show and so on."""
    found = {}

    def visit(one: object, words: list[str], parent: typer.Context | None) -> None:
        context = typer.Context(one, parent, words[-1], **one.context_settings)
        found["-".join(words)] = _page(one, words, context)
        for name, sub in sorted(getattr(one, "commands", {}).items()):
            if not sub.hidden:
                visit(sub, [*words, name], context)

    visit(command, ["nacre"], None)
    return found


def _page(command: object, words: list[str], context: typer.Context) -> str:
    name = "-".join(words)
    short = _plain(command.get_short_help_str(limit=200)).rstrip(".")
    lines = [
        f'.TH {name.upper()} 1 "" "Nacre {library.version()}" "Nacre"',
        ".SH NAME", f"{name} \\- {_escaped(short)}",
        ".SH SYNOPSIS", f".B {' '.join(words)}", _escaped(_usage(command, context)),
        ".SH DESCRIPTION", *_description(command.help or ""),
    ]  # fmt: skip
    options = [parameter for parameter in command.get_params(context) if isinstance(parameter, TyperOption)]
    if options:
        lines.append(".SH OPTIONS")
        for option in options:
            if not option.hidden:
                lines += [".TP", _option(option), _escaped(_plain(option.help or ""))]
    related = sorted(getattr(command, "commands", {}))
    if related:
        lines += [".SH COMMANDS"]
        for one in related:
            short = _plain(command.commands[one].get_short_help_str(limit=200))
            lines += [".TP", f"\\fB{name}-{one}\\fR(1)", _escaped(short)]
    elif len(words) > 1:
        lines += [".SH SEE ALSO", f".BR {'-'.join(words[:-1])} (1)"]
    return "\n".join(lines) + "\n"


def _usage(command: object, context: typer.Context) -> str:
    return " ".join(_plain(piece) for piece in command.collect_usage_pieces(context))


def _option(option: TyperOption) -> str:
    ordered = sorted((*option.opts, *option.secondary_opts), key=len)  # click has -h and --help in any order
    names = ", ".join(f"\\fB{_escaped(name)}\\fR" for name in ordered)
    value = _escaped(option.metavar or "VALUE")
    return names if option.is_flag else f"{names} \\fI{value}\\fR"


def _description(text: str) -> list[str]:
    """Paragraphs; a line that is [bold]Examples[/bold] and the like begins a section, indented lines are literal."""
    lines = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        heading = re.match(r"\s*\[bold\]([^\[]*)\[/bold\]\s*", paragraph)
        if heading:
            lines.append(f".SH {heading[1].upper()}")
            paragraph = paragraph[heading.end() :]
        if not paragraph.strip():
            continue
        if paragraph.startswith("  "):
            lines += [".PP", ".nf", ".RS", _escaped(_plain(paragraph.strip())), ".RE", ".fi"]
        else:
            lines += [".PP", _escaped(_plain(" ".join(paragraph.split())))]
    return lines


def _plain(text: str) -> str:
    """Without the markup of rich."""
    return re.sub(r"\[/?(?:bold|dim|italic)\]", "", text)


def _escaped(text: str) -> str:
    """A text of roff: no word of it is a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)
