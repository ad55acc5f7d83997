"""The environment variables and files that configure the library. Their definition is in src/file."""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from nacre.errors import UserError
from nacre.newer_python import tomllib
from nacre.text import near

HINTS = "NACRE_HINTS"
REPORT = "NACRE_REPORT"
REPORT_HINT = "nacre_report"
STRIPING_HINTS = ("striping_factor", "striping_unit", "start_iodevice", "overstriping_ratio", "overstriping_factor")
RUN = "NACRE_RUN"
SUMMARY = "NACRE_SUMMARY"
EXCLUDE = "NACRE_EXCLUDE"
DISABLE = "NACRE_DISABLE"
IOBUF = "NACRE_IOBUF"
# The file in which the commands of a job record their reports, for a `nacre run --summary` around them. It concerns
# this command alone: no variable of the library begins so.
REPORTS_OF_JOB = "_NACRE_REPORTS_OF_JOB"
SYSTEM_CONFIG = "NACRE_SYSTEM_CONFIG"
CONFIG = "NACRE_CONFIG"

# Variables that do not set one hint. The library lists the others (`nacre_hints_json`).
VARIABLES = [
    dict(zip(("name", "default", "meaning"), row))
    for row in (
        (HINTS, "", "hints by file name: glob:key=value:key=value,glob2:key=value; for all files: *:cb_nodes=8"),
        ("MPICH_MPIIO_HINTS", "", "the same for Cray MPICH; Nacre reads it, and NACRE_HINTS overrides it"),
        ("ROMIO_HINTS", "", "file of lines KEY VALUE for ROMIO; Nacre reads it, and MPICH_MPIIO_HINTS overrides it"),
        (DISABLE, "0", "1: leave all files to the MPI's own MPI-IO"),
        (EXCLUDE, "", "comma-separated globs of files that Nacre leaves to the MPI's own MPI-IO"),
        ("NACRE_INCLUDE", "", "comma-separated globs of the only files that Nacre serves; unset: all files"),
        (SYSTEM_CONFIG, "/etc/nacre/config.toml", "the site's configuration file"),
        (CONFIG, "~/.config/nacre/config.toml", "the user's configuration file"),
        (IOBUF, "", "files that libnacre_posix.so buffers: glob:size=4m:count=4:prefetch=1,glob2 (docs/posix.md)"),
        (SUMMARY, "0", "1: `nacre run` prints a summary when the job ends, as with --summary"),
        (RUN, "", "name of the launch in reports; `nacre run` sets it"),
        ("NACRE_NODE_ID", "", "name of the node; ranks share memory only if it is equal; for emulated nodes"),
        ("NACRE_TESTBED", "", "if set: treat files on a mount of nacre-testbed as files on Lustre"),
        ("NACRE_LIBRARY_DIR", "", "directory in which the nacre command looks for the libraries"),
        ("NACRE_PRELOAD", "", "path of libnacre.so, for use in LD_PRELOAD; the module files set it"),
        ("NACRE_PYTHON", "", "Python interpreter of the nacre command of a prefix; unset: one on PATH"),
    )
]
# Of Nacre's own tests and benchmarks.
_OTHER_VARIABLES = re.compile("NACRE_(TEST|CI|BENCH|HOSTS)")


def unknown_variables(environ: Mapping[str, str], hints: list[dict]) -> dict[str, str]:
    """The variables that look like Nacre's and are not, each with the likely name, or "". `hints`: library.hints()."""
    known = {one["name"] for one in VARIABLES} | {one["variable"] for one in hints}
    found = {}
    for name in sorted(environ):
        if name.startswith("NACRE_") and name not in known and not _OTHER_VARIABLES.match(name):
            likely = near(name.upper().replace("NACRE_NACRE_", "NACRE_"), sorted(one.lower() for one in known))
            found[name] = likely[0].upper() if likely else ""
    return found


def from_options(
    environ: Mapping[str, str], hints: list[str], report: str | None, disable: list[str]
) -> dict[str, str]:
    """The variables for these options, appended to those in the environment; in the library the last value wins."""
    settings = {}
    if hints:
        there = [environ[HINTS]] if environ.get(HINTS) else []
        settings[HINTS] = ",".join(there + [hint_rule(text) for text in hints])
    if report is not None:
        settings[REPORT] = os.path.abspath(report)
    for path, asked_by in _reports(environ, settings.get(HINTS), report):
        _refuse_unwritable(path, asked_by)
        settings[RUN] = environ.get(RUN) or uuid.uuid4().hex
        _record(environ.get(REPORTS_OF_JOB), path)
    if disable:
        there = [environ[EXCLUDE]] if environ.get(EXCLUDE) else []
        settings[EXCLUDE] = ",".join(there + disable)
    return settings


def _record(reports_of_job: str | None, report: str) -> None:
    """Records a report for a `nacre run --summary` around this command."""
    if reports_of_job and os.path.isfile(reports_of_job):
        with contextlib.suppress(OSError), open(reports_of_job, "a") as file:
            file.write(f"{os.path.abspath(report)}\n")


def _reports(environ: Mapping[str, str], hints: str | None, report: str | None) -> Iterator[tuple[str, str]]:
    """Every report that the library may write, and where its name comes from."""
    if report is not None:
        yield report, f"--report {report}"
    elif environ.get(REPORT):
        yield environ[REPORT], f"{REPORT}={environ[REPORT]}"
    for rule in (hints or environ.get(HINTS) or "").split(","):
        for setting in rule.split(":")[1:]:
            key, _, path = setting.partition("=")
            if key.strip() == REPORT_HINT and path:
                yield path, f"hint {setting}"
    for file in config_files(environ):
        for path in _reports_of_config(file):
            yield path, f"hint {REPORT_HINT}={path} in {file}"


def _reports_of_config(file: Path) -> list[str]:
    """The reports that a configuration file names; the library itself refuses a file that is wrong."""
    try:
        content = tomllib.loads(file.read_text())
        tables = [content.get("hints", {}), *content.get("files", {}).values()]
        return [str(table[REPORT_HINT]) for table in tables if table.get(REPORT_HINT)]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, AttributeError, TypeError):
        return []


def why_unwritable(path: str) -> str:
    """Why the library cannot append to the report `path` names; empty if it can."""
    if not path or os.path.isdir(path):
        return "it is a directory" if path else "the name is empty"
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        return f"{folder} is not a directory" if os.path.exists(folder) else f"directory {folder} does not exist"
    needed, mode = (path, os.W_OK) if os.path.exists(path) else (folder, os.W_OK | os.X_OK)
    if os.access(needed, mode):
        return ""
    is_read_only = os.statvfs(needed).f_flag & os.ST_RDONLY
    return f"{needed} is on a read-only file system" if is_read_only else f"no permission to write {needed}"


def _refuse_unwritable(path: str, asked_by: str) -> None:
    why = why_unwritable(path)
    if why:
        raise UserError(
            f"{asked_by}: cannot write the report: {why}",
            "Name a file in an existing directory that you can write to, on a file system that rank 0 can access.",
        )


def hint_rule(text: str) -> str:
    """[GLOB:]KEY=VALUE in the grammar of the variable; without GLOB the hint is for all files."""
    match = re.fullmatch(r"(?:(?P<glob>[^=]*):)?(?P<key>[^:=]+)=(?P<value>.*)", text)
    if match is None or not match["key"].strip():
        raise UserError(
            f"--hint {text!r} is not of the form KEY=VALUE",
            "Write KEY=VALUE, or GLOB:KEY=VALUE for some files, for example --hint '*.nc:cb_nodes=8'.",
        )
    glob = match["glob"] or "*"
    if any(character in glob + match["value"] for character in ":,"):
        raise UserError(
            f"--hint {text!r} has a colon or a comma in its pattern or value; {HINTS} separates hints by them",
            "Set the hint in a configuration file (`nacre doctor` lists the files) or in the program's MPI_Info.",
        )
    return f"{glob}:{match['key'].strip()}={match['value']}"


def user_folder(environ: Mapping[str, str]) -> Path:
    """The folder of the user's configuration files."""
    return Path(environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME", "/")) / ".config") / "nacre"


def config_files(environ: Mapping[str, str]) -> list[Path]:
    """The configuration files that the library reads, in its order: the system's, then the user's."""
    paths = [
        environ.get(SYSTEM_CONFIG, "/etc/nacre/config.toml"),
        environ.get(CONFIG, str(user_folder(environ) / "config.toml")),
    ]
    return [Path(path) for path in paths if path]  # an empty variable: no file


def config_problem(path: Path, known_hints: set[str]) -> str | None:
    """The first mistake in a configuration file, or None."""
    try:
        content = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return str(error)
    tables = {"hints": content.pop("hints", {})}
    files = content.pop("files", {})
    if content:
        return f'unknown section "{next(iter(content))}"; use [hints] or [files."GLOB"]'
    if not isinstance(files, dict):
        return 'files must be tables of the form [files."*.nc"]'
    tables.update({f'files."{glob}"': table for glob, table in files.items()})
    for name, table in tables.items():
        if not isinstance(table, dict):
            return f"[{name}] must be a table of hints"
        for key, value in table.items():
            if key not in known_hints:
                return f"[{name}]: unknown hint {key!r}"
            if not isinstance(value, (str, int, bool)):
                return f"[{name}] {key}: the value must be a string, a whole number, true or false"
    return None
