"""`nacre stripe`: how files are striped over the OSTs of Lustre."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import typer

from nacre import library
from nacre.errors import UserError
from nacre.text import unwrapped

XATTR = "lustre.lov"

HELP = "Show how files are striped over the OSTs of Lustre."

SHOW_HELP = unwrapped("""Show the layout of a file, or the default of a directory, as YAML with the keys of
`lfs getstripe -y`.

The layout is read through the xattr lustre.lov, without lfs. --raw takes one that was saved, here or on another
machine: `getfattr -n lustre.lov --only-values FILE > BLOB`.

[bold]Examples[/bold]

  nacre stripe show /scratch/run1/out.h5

  nacre stripe show --raw out.lov

[bold]Exit codes[/bold]  0, or 2 where there is no layout, or one that cannot be read.
""")


def register(app: typer.Typer) -> None:
    stripe = typer.Typer(help=HELP, no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]})
    stripe.callback()(_group)
    stripe.command("show", help=SHOW_HELP, short_help="Show the layout of a file.")(show)
    app.add_typer(stripe, name="stripe", short_help=HELP)


def _group() -> None:
    """Typer leaves out the name of a command that is alone, unless there is this."""


def show(
    files: list[str] = typer.Argument(None, metavar="FILE...", help="Files and directories on Lustre."),
    raw: list[str] = typer.Option([], "--raw", metavar="BLOB", help="A saved xattr lustre.lov; - is standard input."),
) -> None:
    sources = [(path, _of_file) for path in files or []] + [(path, _of_blob) for path in raw]
    if not sources:
        raise UserError("nothing to show", "Name a file, or a saved xattr with --raw.")
    for path, read in sources:
        text = _layout(path, read(path))
        print(f"{path}:\n{text}" if len(sources) > 1 else text, end="")


def _layout(path: str, lov: bytes) -> str:
    try:
        return library.layout_yaml(lov)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error


def _of_file(path: str) -> bytes:
    try:
        return os.getxattr(path, XATTR)
    except OSError as error:
        if error.errno == errno.ENODATA:
            advice = "A directory without one has that of the file system; a new file gets one when it is written."
            raise UserError(f"{path} has no layout of its own", advice) from error
        if error.errno == errno.EOPNOTSUPP:
            raise UserError(f"{path} does not lie on Lustre: it has no xattr {XATTR}") from error
        raise UserError(f"{path}: {os.strerror(error.errno)}") from error


def _of_blob(path: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"--raw {path}: {os.strerror(error.errno)}") from error
