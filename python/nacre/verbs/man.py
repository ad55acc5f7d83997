"""`nacre man`: prints or writes manual pages."""

from __future__ import annotations

from pathlib import Path

import typer

from nacre import man_pages
from nacre.errors import UserError
from nacre.text import unwrapped

HELP = unwrapped("""Print a manual page, or write all of them.

NAME is a verb: run, report, stripe-show; nacre is the page of all. The page is in roff, for `man`. --write makes a file
of each page in DIR; a site writes them to share/man/man1.

[bold]Examples[/bold]

  nacre man report | man -l -

  nacre man --write /usr/local/share/man/man1

[bold]Exit codes[/bold]  0; 2: there is no such page, or DIR cannot be written.
""")


def register(app: typer.Typer) -> None:
    def man(
        name: str = typer.Argument("", metavar="[NAME]", help="The verb.", show_default="the page of nacre itself"),
        write: str = typer.Option(None, "--write", metavar="DIR", help="Write all pages to this directory."),
    ) -> None:
        pages = man_pages.pages(typer.main.get_command(app))
        if write is not None:
            _write(pages, Path(write))
            return
        wanted = name.replace(" ", "-")
        if wanted not in pages:
            wanted = f"nacre-{wanted}" if name else "nacre"
        if wanted not in pages:
            names = ", ".join(page.removeprefix("nacre-") for page in pages if page != "nacre")
            raise UserError(f"there is no page {name!r}", f"The pages are {names}.")
        print(pages[wanted], end="")

    app.command("man", help=HELP, short_help="Print a manual page, or write all of them.")(man)


def _write(pages: dict[str, str], directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in pages.items():
            (directory / f"{name}.1").write_text(text)
    except OSError as error:
        raise UserError(f"cannot write {error.filename}: {error.strerror}") from error
