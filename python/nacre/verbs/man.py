"""`nacre man`: shows, prints or writes manual pages."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import typer

from nacre import man_pages
from nacre.errors import UserError
from nacre.text import unwrapped

SHORT_HELP = "Show a manual page, or write all of them."

HELP = unwrapped(f"""{SHORT_HELP}

NAME is a verb: run, report, stripe-show; nacre is the overview. On a terminal, nacre shows the page with the command
`man`, or the text of --help if `man` is missing. In a pipe or a file, the page is in roff. --write makes a file of each
page in DIR; a site writes them to share/man/man1.

[bold]Examples[/bold]

  nacre man report

  nacre man report > nacre-report.1

  nacre man --write /usr/local/share/man/man1

[bold]Exit codes[/bold]  0; 2: there is no such page, or DIR cannot be written.
""")


def register(app: typer.Typer) -> None:
    def complete_name() -> list[str]:
        return [name.removeprefix("nacre-") for name in man_pages.names(typer.main.get_command(app))]

    def man(
        name: str = typer.Argument(
            "",
            metavar="NAME",
            help="The verb.",
            show_default="the page of nacre itself",
            autocompletion=complete_name,
        ),
        write: str = typer.Option(None, "--write", metavar="DIR", help="Write all pages to this directory."),
    ) -> None:
        command = typer.main.get_command(app)
        pages = man_pages.pages(command)
        if write is not None:
            _write(pages, Path(write))
            return
        wanted = name.replace(" ", "-")
        if wanted not in pages:
            wanted = f"nacre-{wanted}" if name else "nacre"
        if wanted not in pages:
            names = ", ".join(page.removeprefix("nacre-") for page in pages if page != "nacre")
            raise UserError(f"there is no page {name!r}", f"The pages are {names}.")
        if not sys.stdout.isatty():
            print(pages[wanted], end="")
        elif not _show(pages[wanted]):
            command.main([*wanted.split("-")[1:], "--help"], prog_name="nacre")

    app.command("man", help=HELP, short_help=SHORT_HELP)(man)


def _show(page: str) -> bool:
    """Shows a page in roff on the terminal. False if `man` is missing or fails."""
    viewer = shutil.which("man")
    if viewer is None:
        return False
    return subprocess.run([viewer, "-l", "-"], input=page, text=True, check=False).returncode == 0


def _write(pages: dict[str, str], directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in pages.items():
            (directory / f"{name}.1").write_text(text)
    except OSError as error:
        raise UserError(f"cannot write {error.filename}: {error.strerror}") from error
