"""The table of launchers. Finds the launcher in a command line, and sets variables on the ranks.

nacre uses options of the launcher that set variables on the ranks only, so that the launcher itself runs without
Nacre. If the launcher has no such option, or the command has no known launcher (a script, or a program alone), nacre
sets the variables in the environment. libnacre.so does nothing in a process that makes no MPI call.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from nacre import program
from nacre.errors import EXIT_CANNOT_RUN, EXIT_NOT_FOUND, UserError
from nacre.launchers import aprun, flux, hydra, ibrun, jsrun, openmpi, pals, slurm
from nacre.launchers.base import PRELOAD, FoundLauncher, Launcher, Writer, joined_contexts, joined_preload

# The `version` patterns are tried in this order.
TABLE: tuple[Launcher, ...] = (
    hydra.LAUNCHER,
    openmpi.LAUNCHER,
    pals.LAUNCHER,
    slurm.LAUNCHER,
    flux.LAUNCHER,
    jsrun.LAUNCHER,
    aprun.LAUNCHER,
    ibrun.LAUNCHER,
)
VERSION_TIMEOUT_SECONDS = 20

_BY_NAME = {name: launcher for launcher in TABLE for name in launcher.executables}
# Names of launchers that nacre may run with --version. Any other name that starts like a launcher, such as
# "mpirun_case1.sh", may be a script that ignores its options and runs a whole job.
_LAUNCHER_NAME = re.compile(
    r"^(mpiexec|mpirun|{names})([.\-_]({suffixes}|real|bin|\d)[\w.\-]*)?$".format(
        names="|".join(name for name, launcher in _BY_NAME.items() if launcher.version and name.isalnum()),
        suffixes="|".join(suffix for launcher in TABLE for suffix in launcher.suffixes),
    )
)
_SCRIPT_NAME = re.compile(r"\.(sh|bash|csh|ksh|zsh|py|pl|rb)$")


@dataclasses.dataclass(frozen=True)
class Launch:
    """A command line and environment, ready to execute."""

    argv: list[str]
    environ: dict[str, str]
    found: FoundLauncher | None
    programs: list[list[str]]  # each with its arguments; without a launcher, the whole command

    def changed(self, before: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in self.environ.items() if before.get(name) != value}


def recognise(word: str) -> FoundLauncher | None:
    """The launcher that `word` starts, or None for a script or a program without a launcher."""
    path = shutil.which(word)
    if path is None and word.startswith("-"):
        raise UserError(
            f"{word} stands where the command begins, so nacre does not read it as an option",
            "Give the options of nacre before the command and its arguments.",
        )
    if path is None and os.path.isdir(word):
        raise UserError(f"{word} is a directory, not a program", "Start the command with a launcher.", EXIT_CANNOT_RUN)
    if path is None and os.path.exists(word) and "/" in word:
        raise UserError(f"{word} is not executable", f"Try: chmod +x {word}", EXIT_CANNOT_RUN)
    if path is None:
        raise UserError(
            f"program not found: {word}", "Load the module that provides it, or give its path.", EXIT_NOT_FOUND
        )
    name = Path(word).name
    if name == "mpirun_rsh":
        raise UserError(
            "mpirun_rsh is not supported, because it has no option that sets variables on the ranks",
            f"Use MVAPICH's mpiexec, or write {PRELOAD}=LIBRARY before the program; `nacre doctor` shows the library.",
        )
    launcher = _BY_NAME.get(name) or _BY_NAME.get(Path(os.path.realpath(path)).name)
    if launcher is not None and not launcher.version:
        return FoundLauncher(launcher, path)
    if launcher is None and (not _LAUNCHER_NAME.match(name) or _SCRIPT_NAME.search(name)):
        return None
    text = _version_text(path)
    launcher = next((one for one in TABLE if one.version and re.search(one.version, text)), launcher)
    if launcher is None:
        raise UserError(
            f"{path} is an unknown launcher: `{word} --version` prints {text.strip()[:80]!r}",
            f"Set {PRELOAD} on the ranks with the launcher's own option; `nacre run --dry-run true` shows its value.",
        )
    version = re.search(r"\d+\.\d+(?:\.\d+)*\S*", text)
    return FoundLauncher(launcher, path, version.group(0) if version else "")


@functools.cache
def _version_text(path: str) -> str:
    try:
        result = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return result.stdout + result.stderr


def prepare(command: list[str], settings: Mapping[str, str], preload: str, environ: Mapping[str, str]) -> Launch:
    """`command` with `settings` and the preload on its ranks. An existing LD_PRELOAD stays, before `preload`."""
    if not command:
        raise UserError("no command to run", "Try: nacre run -- mpiexec -n 4 ./program")
    at, found = find_launcher(command)
    environment = {**environ, **settings}
    environment.pop("NACRE_LIBRARY_DIR", None)  # of this command, not of those that the ranks may start
    if found is None:
        environment[PRELOAD] = joined_preload(environ.get(PRELOAD, ""), preload)
        return Launch(list(command), environment, None, [list(command)])
    contexts = found.launcher.contexts(command[at + 1 :])
    variables = {name: value for name, value in environment.items() if name.startswith("NACRE_")}
    writer = Writer(environ, preload, variables)
    argv = [*command[: at + 1], *found.launcher.write(writer, contexts, environment)]
    return Launch(argv, environment, found, [context.program for context in contexts])


def with_program(command: list[str], words: list[str]) -> list[str]:
    """`command` with `words` in place of its programs: the launcher keeps its options for the first program."""
    at, found = find_launcher(command)
    if found is None:
        return words
    first = found.launcher.contexts(command[at + 1 :])[0]
    return [*command[: at + 1], *first.options, *words]


def started_through(command: list[str], wrapper: list[str]) -> list[str]:
    """`command` with the words of `wrapper` before each of its programs."""
    at, found = find_launcher(command)
    if found is None:
        return [*wrapper, *command]
    contexts = found.launcher.contexts(command[at + 1 :])
    wrapped = [[*context.options, *wrapper, *context.program] for context in contexts]
    return [*command[: at + 1], *joined_contexts(wrapped)]


def command_in_script(script: Path) -> list[str]:
    """The first command of a launcher in a script of a shell, from the launcher's name on; empty if there is none."""
    try:
        lines = script.read_text(errors="replace").replace("\\\n", " ").splitlines()
    except OSError:
        return []
    for line in lines:
        try:
            words = [] if line.lstrip().startswith("#") else shlex.split(line)
        except ValueError:
            continue
        for at, word in enumerate(words):
            name = Path(word).name
            if name in _BY_NAME or (_LAUNCHER_NAME.match(name) and not _SCRIPT_NAME.search(name)):
                rest = itertools.takewhile(lambda word: not re.match(r"\d*[<>|&;]", word), words[at:])
                return list(rest)
    return []


def find_launcher(command: list[str]) -> tuple[int, FoundLauncher | None]:
    """The launcher and its index in the command: the first word, or after a prefix such as `timeout 1h`."""
    rest = program.without_prefixes(command)
    at = len(command) - len(rest)
    if rest and at > 0 and shutil.which(rest[0]) is not None:
        found = recognise(rest[0])
        if found is not None:
            return at, found
    return 0, recognise(command[0])
