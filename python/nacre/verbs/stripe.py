"""`nacre stripe`: shows, recommends and sets layouts of Lustre and CephFS."""

from __future__ import annotations

import difflib
import errno
import json
import os
import shlex
import sys
from pathlib import Path

import typer
from typer.core import TyperCommand, TyperGroup

from nacre import ceph_client, file_system, layout_text, library, lustre_client, orangefs_client
from nacre.advice import has_lfs, run_with
from nacre.errors import UserError
from nacre.text import parse_bytes, unwrapped

INT_MAX = 2**31 - 1

HELP = "Show or recommend the layout of files on Lustre, CephFS or OrangeFS, or set it on Lustre."

GROUP_HELP = unwrapped(f"""{HELP}

`nacre stripe FILE` is short for `nacre stripe show FILE`.
""")

SHOW_HELP = unwrapped("""Show the layout of a file, or the default layout of a directory, as `lfs getstripe -y` does.

nacre reads the xattr lustre.lov and does not need lfs. On CephFS it shows the xattrs ceph.file.layout and
ceph.dir.layout, on OrangeFS the distribution and the number of data files. --raw reads a saved xattr, for example from
another machine: `getfattr -n lustre.lov --only-values FILE > BLOB`.

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


SET_HELP = unwrapped("""Create an empty file with a layout, or set the default layout of a directory.

`lfs setstripe` does the same. nacre writes the xattr lustre.lov and does not need lfs. PATH is a directory, or a new
file, on Lustre. New files of a directory get its default layout unless hints request another. nacre then shows the
layout.

OPTIONS are those of `lfs setstripe`, before or after PATH, as words or as one quoted word:

  -c COUNT   number of stripes, each on another OST; -1: all OSTs

  -S SIZE    stripe size in bytes, a multiple of 64k; suffixes k, m, g, t

  -i OST     first OST

  -o OSTS    list of OSTs, for example 0,2,4-6

  -p POOL    OST pool

  -C COUNT   number of stripes, several on an OST; -2: two on each OST

  -E END     begins a component that ends at byte END; -1: end of the file

  -L mdt     data of the component on the metadata target

  -d         removes the default layout of a directory; no other option

[bold]Examples[/bold]

  nacre stripe set -c 8 -S 4m /scratch/run1/out.h5

  nacre stripe set /scratch/run1 -E 64m -c 1 -E -1 -c 16 -S 4m

  nacre stripe set -d /scratch/run1

[bold]Exit codes[/bold]  0; 2: an option is invalid, PATH is not on Lustre or exists as a file, or Lustre refuses the
layout.
""")


class NoDefault(Exception):
    """A directory has no default layout of its own."""


class StripeGroup(TyperGroup):
    """Takes a file name in place of a command, and shows its layout."""

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> tuple:
        return super().resolve_command(ctx, ["show", *args] if self._is_file(args[0]) else args)

    def _is_file(self, word: str) -> bool:
        """Whether `word` is no command, no option, and no command with a typing error."""
        if word in self.commands or word.startswith("-"):
            return False
        return os.path.lexists(word) or not difflib.get_close_matches(word, self.commands)


class SetCommand(TyperCommand):
    """Has no short option, because click would look for it in a value: -pflash contains an h."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["--help"] if args == ["-h"] else args)


def register(app: typer.Typer) -> None:
    stripe = typer.Typer(
        cls=StripeGroup,
        help=GROUP_HELP,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    stripe.command("show", help=SHOW_HELP, short_help="Show the layout of a file.")(show)
    stripe.command("advise", help=ADVISE_HELP, short_help="Recommend a layout for a new file.")(advise)
    stripe.command(
        "set",
        cls=SetCommand,
        help=SET_HELP,
        short_help="Create a file with a layout, or set the default layout of a directory.",
        context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
    )(set_)
    app.add_typer(stripe, name="stripe", short_help=HELP)


def show(
    files: list[str] = typer.Argument(
        None, metavar="FILE", help="Files on Lustre, CephFS or OrangeFS, or directories."
    ),
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
            text = read(path)
        except NoDefault:
            layouts.append({"path": path, "has_default": False})
            if not as_json:
                print(
                    f"{path}: no layout of its own: new files get the default layout of the file system; on Lustre,"
                    " Nacre chooses the layout of the files that it creates, unless the file system's root has a"
                    " default layout"
                )
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
    is_on_ceph, is_on_orangefs = _is_on("ceph", directory), _is_on("orangefs", directory)
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
    without_lfs = ""
    hint = run_with(f"nacre_layout={options}")
    if is_on_ceph:
        command = _ceph_command(options, path)
    elif is_on_orangefs:
        command, hint = orangefs_client.command(*_numbers(options), directory), ""
    else:
        command, without_lfs = f"lfs setstripe {options} {path}", f"nacre stripe set {options} {path}"
    if as_json:
        advice = {"options": options, "command": command, "set": without_lfs, "run": hint, "reasons": reasons}
        print(json.dumps(advice, indent=2))
        return
    print(command)
    if without_lfs and not has_lfs():
        print(f"or, without lfs: {without_lfs}")
    if hint:
        print(f"or, without {'setfattr' if is_on_ceph else 'lfs'}: {hint}")
    for reason in reasons:
        print(f"  {reason}")


def set_(
    words: list[str] = typer.Argument(
        metavar="PATH|OPTION", help="A directory or a new file, and options of lfs setstripe."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the layout in JSON."),
) -> None:
    path, options = (words[-1], words[:-1]) if words[0].startswith("-") else (words[0], words[1:])
    osts = _osts_to_set(path)
    if options in (["-d"], ["--delete"]):
        _remove_default(path)
    else:
        _set_layout(path, " ".join(options), osts)
    show([path], [], as_json)


def _osts_to_set(path: str) -> int:
    """The number of OSTs of the Lustre on which `path` is or will be."""
    directory = path if os.path.isdir(path) else os.path.dirname(path) or "."
    try:
        return lustre_client.ost_count(directory)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EACCES):
            raise UserError(f"cannot open the directory {directory}: {os.strerror(error.errno)}") from error
        if _is_on("ceph", directory):
            raise UserError(
                f"cannot set the layout of {path}: {directory} is on CephFS, not on Lustre",
                "On CephFS, set the xattr ceph.dir.layout or ceph.file.layout with setfattr.",
            ) from error
        if _is_on("orangefs", directory):
            raise UserError(
                f"cannot set the layout of {path}: {directory} is on OrangeFS, not on Lustre",
                "On OrangeFS, set the layout of a directory with setfattr: nacre stripe advise prints the commands.",
            ) from error
        found = file_system.of(Path(directory))
        kind = found.kind if found else "an unknown file system"
        raise UserError(
            f"cannot set the layout of {path}: {directory} is on {kind}, not on Lustre",
            "Name a directory, or a new file, on Lustre.",
        ) from error


def _set_layout(path: str, options: str, osts: int) -> None:
    try:
        lustre_client.set_layout(path, library.layout_lov(options, osts))
    except ValueError as error:
        raise UserError(str(error)) from error
    except FileExistsError as error:
        raise UserError(
            f"{path} exists; only a new file can get a layout",
            "Name a new file and copy the data to it, or change the layout with `lfs migrate`.",
        ) from error
    except OSError as error:
        raise UserError(
            f"cannot set the layout {options!r} of {path}: {os.strerror(error.errno)}", _advice_on_refusal(error, osts)
        ) from error


def _advice_on_refusal(error: OSError, osts: int) -> str:
    if error.errno in (errno.EINVAL, errno.EREMOTEIO):
        return f"Check the numbers of OSTs (0 to {osts - 1}) and the pool; an OST may also be down."
    if error.errno in (errno.EPERM, errno.EACCES):
        return "Only the owner of a directory may set its layout, and a new file needs permission to write there."
    return ""


def _remove_default(path: str) -> None:
    if not os.path.isdir(path):
        raise UserError(f"-d: {path} is not a directory", "Only directories have a default layout.")
    try:
        os.removexattr(path, lustre_client.XATTR)
    except OSError as error:
        if error.errno != errno.ENODATA:  # otherwise it has none
            what = os.strerror(error.errno)
            raise UserError(f"cannot remove the default layout of {path}: {what}") from error


def _is_on(store: str, path: str) -> bool:
    found = file_system.of(Path(path))
    return found is not None and file_system.store(found.kind) == store


def _advise_default(as_json: bool) -> None:
    """For CephFS with an unknown number of OSDs."""
    reasons = [
        "successive objects of 4 MiB lie on OSDs that Ceph chooses, so that a large file uses all of them",
        "for a smaller file, whose objects several ranks access at once, give the number of OSDs with --osts",
    ]
    if as_json:
        print(json.dumps({"options": "", "command": "", "set": "", "run": "", "reasons": reasons}, indent=2))
        return
    print("Keep the default layout of CephFS.")
    for reason in reasons:
        print(f"  {reason}")


def _numbers(options: str) -> tuple[int, int]:
    """The stripe count and the stripe size in options of lfs setstripe as the library recommends them: -c COUNT -S
    SIZE."""
    _, count, _, size = options.split()
    return int(count), parse_bytes(size)


def _ceph_command(options: str, file: str) -> str:
    layout = ceph_client.setting(*_numbers(options))
    return f'touch {file} && setfattr -n {ceph_client.XATTR} -v "{layout}" {file}'


def _ost_count(directory: str) -> int:
    if not os.path.isdir(directory):
        what = os.strerror(errno.ENOTDIR if os.path.exists(directory) else errno.ENOENT)
        raise UserError(f"cannot open {directory}: {what}")
    try:
        return lustre_client.ost_count(directory)
    except OSError as error:
        advice = "Name a directory on Lustre, or give the number of OSTs (on OrangeFS: of servers) with --osts."
        raise UserError(f"{directory} is not on Lustre, so the number of OSTs is unknown", advice) from error


def _layout(path: str, lov: bytes) -> str:
    try:
        return library.layout_yaml(lov)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error


def _of_file(path: str) -> str:
    """The layout as text: that of lfs, or with the names that the file system has for it."""
    try:
        if _is_on("orangefs", path):
            return "".join(f"{name}: {value}\n" for name, value in orangefs_client.layout_of(path).items())
        lov = ceph_client.layout_of(path) if _is_on("ceph", path) else os.getxattr(path, lustre_client.XATTR)
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error
    except OSError as error:
        if error.errno == errno.ENODATA and os.path.isdir(path):
            raise NoDefault(path) from error
        if error.errno == errno.ENODATA:
            raise UserError(f"{path} has no layout yet", "A new file gets a layout when it is written.") from error
        if error.errno == errno.EOPNOTSUPP:
            where = "Lustre, CephFS or OrangeFS"
            raise UserError(f"{path} is not on {where}: it has no xattr {lustre_client.XATTR}") from error
        raise UserError(f"cannot read the layout of {path}: {os.strerror(error.errno)}") from error
    return _layout(path, lov)


def _of_blob(path: str) -> str:
    try:
        lov = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"--raw {path}: cannot read the file: {os.strerror(error.errno)}") from error
    return _layout(path, lov)
