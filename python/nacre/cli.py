"""The command `nacre`. Each verb has its own file in nacre/verbs."""

from __future__ import annotations

import sys

HELP = """Run MPI programs, unchanged, on Nacre, an MPI-IO library made for Lustre.

[bold]Examples[/bold]

  nacre doctor -- mpiexec -n 4 ./app                 # does Nacre work here?

  nacre run --report io.jsonl -- mpiexec -n 4 ./app  # run and record

  nacre report io.jsonl                              # what to change

  nacre explain io.jsonl                             # how collective calls ran
"""


def main() -> None:
    try:
        import typer
        from rich.console import Console

        from nacre import newer_python  # noqa: F401
    except ModuleNotFoundError as missing:
        needed = ["typer", "rich"] + (["tomli"] if sys.version_info < (3, 11) else [])
        sys.exit(
            f"nacre: {missing}. nacre needs the Python packages {', '.join(needed[:-1])} and {needed[-1]}.\n"
            f"Install them for {sys.executable}: pip install {' '.join(needed)}\n"
            "The library works without this command: set LD_PRELOAD=.../libnacre.so on the ranks."
        )

    from nacre import library
    from nacre.errors import UserError
    from nacre.verbs import compare, doctor, explain, hints, man, report, run, simulate, stripe, testbed, tune

    app = typer.Typer(
        name="nacre",
        help=HELP,
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def show_version(wanted: bool) -> None:
        if wanted:
            print(f"nacre {library.version()}")
            print(f"commit {library.commit()}")
            print(f"ABIs {', '.join(library.built_abis()) or 'none'}, in {library.directory()}")
            raise typer.Exit

    @app.callback()
    def top(
        version: bool = typer.Option(
            False, "--version", callback=show_version, is_eager=True, help="Show the version, its commit, and its ABIs."
        ),
    ) -> None:
        pass

    for verb in (run, doctor, report, compare, explain, hints, stripe, testbed, simulate, tune, man):
        verb.register(app)
    try:
        app(prog_name="nacre")
    except UserError as error:
        console = Console(emoji=False, stderr=True, highlight=False, soft_wrap=True)
        console.print(f"nacre: {error.problem}", markup=False, style="red")
        if error.advice:
            console.print(error.advice, markup=False)
        sys.exit(error.code)
