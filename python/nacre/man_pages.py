"""Manual pages in roff, made from the same texts as --help."""

from __future__ import annotations

import re
from collections.abc import Iterator

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from nacre import library


def pages(command: TyperGroup) -> dict[str, str]:
    """All pages by name: nacre, nacre-run, nacre-stripe-show and so on."""
    return {"-".join(words): _page(one, words, context) for one, words, context in _commands(command)}


def names(command: TyperGroup) -> list[str]:
    """The names of all pages."""
    return ["-".join(words) for _, words, _ in _commands(command)]


def _commands(
    command: object, words: tuple[str, ...] = ("nacre",), parent: typer.Context | None = None
) -> Iterator[tuple[object, tuple[str, ...], typer.Context]]:
    """A command and all commands below it, each with its words and context."""
    context = typer.Context(command, parent, words[-1], **command.context_settings)
    yield command, words, context
    for name, sub in sorted(getattr(command, "commands", {}).items()):
        if not sub.hidden:
            yield from _commands(sub, (*words, name), context)


def _page(command: object, words: tuple[str, ...], context: typer.Context) -> str:
    name = "-".join(words)
    short = _plain(command.get_short_help_str(limit=200)).rstrip(".")
    lines = [
        f'.TH {name.upper()} 1 "" "Nacre {library.version()}" "Nacre"',
        ".SH NAME", f"{name} \\- {_escaped(short)}",
        ".SH SYNOPSIS", f".B {' '.join(words)}", _escaped(_usage(command, context)),
        ".SH DESCRIPTION", *_description(command.help or ""),
    ]  # fmt: skip
    for title, kind, head in (("ARGUMENTS", TyperArgument, _argument), ("OPTIONS", TyperOption, _option)):
        shown = [one for one in command.get_params(context) if isinstance(one, kind) and not one.hidden]
        lines += [f".SH {title}"] if shown else []
        for one in shown:
            lines += [".TP", head(one), _escaped(_help(one, context))]
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


def _help(parameter: TyperArgument | TyperOption, context: typer.Context) -> str:
    """The text of --help, with the default."""
    _, text = parameter.get_help_record(context)
    return " ".join(_plain(text).replace("\\[", "[").split())


def _argument(argument: TyperArgument) -> str:
    return f"\\fI{_escaped(argument.metavar or argument.name.upper())}\\fR"


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
