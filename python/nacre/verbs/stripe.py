"""`nacre stripe`: shows and recommends layouts of Lustre and CephFS."""

from __future__ import annotations

import errno
import json
import os
import shlex
import sys
from pathlib import Path

import typer

from nacre import ceph_client, file_system, layout_text, library, lustre_client
from nacre.advice import run_with
from nacre.errors import UserError
from nacre.text import parse_bytes, unwrapped

INT_MAX = 2**31 - 1

HELP = "Show the layout of files on Lustre or CephFS, or recommend one."

SHOW_HELP = unwrapped("""Show the layout of a file, or the default layout of a directory, as `lfs getstripe -y` does.

nacre reads the xattr lustre.lov and does not need lfs. On CephFS it shows the xattrs ceph.file.layout and
ceph.dir.layout. --raw reads a saved xattr, for example from another machine:
`getfattr -n lustre.lov --only-values FILE > BLOB`.

[bold]Examples[/bold]

  nacre stripe show /scratch/run1/out.h5

  nacre stripe show --json out.h5

  nacre stripe show --raw out.lov

[bold]Exit codes[/bold]  0; 2: a file has no layout, or nacre cannot read it.
""")


ADVISE_HELP = unwrapped("""Recommend a layout for a new file, with reasons, the lfs command and the hint.

SIZE is the size of the complete file in bytes, or with the suffix k, m, g or t (powers of 1024). --nodes and --ranks
are the numbers of nodes and ranks that write or read the file together. Without --osts, nacre asks the Lustre of DIR
for its number of OSTs. On CephFS nacre cannot ask: give the number of OSDs to get a striped layout.

[bold]Examples[/bold]

  nacre stripe advise 800g --nodes 64 --ranks 4096 /scratch/run1

  nacre stripe advise 20g --nodes 4 --ranks 256 --osts 48

[bold]Exit codes[/bold]  0; 2: an argument is invalid, or the number of OSTs is unknown.
""")


class NoDefault(Exception):
    """A directory has no default layout of its own."""


def register(app: typer.Typer) -> None:
    stripe = typer.Typer(help=HELP, no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]})
    stripe.command("show", help=SHOW_HELP, short_help="Show the layout of a file.")(show)
    stripe.command("advise", help=ADVISE_HELP, short_help="Recommend a layout for a new file.")(advise)
    app.add_typer(stripe, name="stripe", short_help=HELP)


def show(
    files: list[str] = typer.Argument(None, metavar="FILE", help="Files and directories on Lustre or CephFS."),
    raw: list[str] = typer.Option(
        [], "--raw", metavar="BLOB", help="Saved xattr lustre.lov; - is standard input. Repeatable."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON: a list of layouts, with the names of lfs's YAML."),
) -> None:
    sources = [(path, _of_file) for path in files or []] + [(path, _of_blob) for path in raw]
    if not sources:
        raise UserError("no file to show", "Name a file on Lustre, or a saved xattr with --raw.")
    wrong = []
    layouts = []
    for path, read in sources:
        try:
            text = _layout(path, read(path))
        except NoDefault:
            layouts.append({"path": path, "has_default": False})
            if not as_json:
                print(f"{path}: no layout of its own: new files get the default of the file system")
            continue
        except UserError as error:
            wrong.append(error)
            continue
        layouts.append({"path": path, **layout_text.parse(text)})
        if not as_json:
            print(f"{path}:\n{text}" if len(sources) > 1 else text, end="", flush=True)
    if as_json:
        print(json.dumps(layouts, indent=2))
    if wrong:
        raise UserError("\n".join(error.problem for error in wrong), wrong[0].advice)


def advise(
    size: str = typer.Argument(metavar="SIZE", help="Size of the complete file."),
    directory: str = typer.Argument(
        ".", metavar="DIR", help="Directory of the file.", show_default="the current directory"
    ),
    nodes: int = typer.Option(
        1, "--nodes", metavar="N", max=INT_MAX, help="Number of nodes that access the file together."
    ),
    ranks: int = typer.Option(
        None, "--ranks", metavar="P", max=INT_MAX, help="Number of ranks on all nodes.", show_default="one per node"
    ),
    osts: int = typer.Option(
        None,
        "--osts",
        metavar="C",
        max=INT_MAX,
        help="Number of OSTs to choose from.",
        show_default="all of the Lustre of DIR",
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    try:
        byte_count = parse_bytes(size)
    except ValueError as error:
        raise UserError(f"SIZE {error}", "Give bytes, or a number with k, m, g or t: 4096, 64m, 20g, 2t.") from error
    is_on_ceph = _is_on_ceph(directory)
    if is_on_ceph and osts is None:
        _advise_default(as_json)
        return
    osts = _ost_count(directory) if osts is None else osts
    try:
        file = library.ExpectedFile(byte_count, nodes, nodes if ranks is None else ranks, osts)
        options, reasons = library.layout_advice(directory, file)
    except ValueError as error:
        raise UserError(str(error)) from error
    path = shlex.quote(os.path.join(directory, "FILE"))
    command = _ceph_command(options, path) if is_on_ceph else f"lfs setstripe {options} {path}"
    hint = run_with(f"nacre_layout={options}")
    if as_json:
        print(json.dumps({"options": options, "command": command, "run": hint, "reasons": reasons}, indent=2))
        return
    print(command)
    print(f"or, without {'setfattr' if is_on_ceph else 'lfs'}: {hint}")
    for reason in reasons:
        print(f"  {reason}")


def _is_on_ceph(path: str) -> bool:
    found = file_system.of(Path(path))
    return found is not None and file_system.store(found.kind) == "ceph"


def _advise_default(as_json: bool) -> None:
    """For CephFS with an unknown number of OSDs."""
    reasons = [
        "successive objects of 4 MiB lie on OSDs that Ceph chooses, so that a large file uses all of them",
        "for a smaller file, whose objects several ranks access at once, give the number of OSDs with --osts",
    ]
    if as_json:
        print(json.dumps({"options": "", "command": "", "run": "", "reasons": reasons}, indent=2))
        return
    print("Keep the default layout of CephFS.")
    for reason in reasons:
        print(f"  {reason}")


def _ceph_command(options: str, file: str) -> str:
    """`options`: of lfs setstripe, as the library recommends them: -c COUNT -S SIZE."""
    _, count, _, size = options.split()
    layout = ceph_client.setting(int(count), parse_bytes(size))
    return f'touch {file} && setfattr -n {ceph_client.XATTR} -v "{layout}" {file}'


def _ost_count(directory: str) -> int:
    if not os.path.isdir(directory):
        what = os.strerror(errno.ENOTDIR if os.path.exists(directory) else errno.ENOENT)
        raise UserError(f"cannot open {directory}: {what}")
    try:
        return lustre_client.ost_count(directory)
    except OSError as error:
        advice = "Name a directory on Lustre, or give the number of OSTs with --osts."
        raise UserError(f"{directory} is not on Lustre, so the number of OSTs is unknown", advice) from error


def _layout(path: str, lov: bytes) -> str:
    try:
        return library.layout_yaml(lov)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error


def _of_file(path: str) -> bytes:
    try:
        return ceph_client.layout_of(path) if _is_on_ceph(path) else os.getxattr(path, lustre_client.XATTR)
    except OSError as error:
        if error.errno == errno.ENODATA and os.path.isdir(path):
            raise NoDefault(path) from error
        if error.errno == errno.ENODATA:
            raise UserError(f"{path} has no layout yet", "A new file gets a layout when it is written.") from error
        if error.errno == errno.EOPNOTSUPP:
            raise UserError(f"{path} is not on Lustre or CephFS: it has no xattr {lustre_client.XATTR}") from error
        raise UserError(f"cannot read the layout of {path}: {os.strerror(error.errno)}") from error


def _of_blob(path: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"--raw {path}: cannot read the file: {os.strerror(error.errno)}") from error
