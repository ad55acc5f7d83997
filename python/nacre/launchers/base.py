"""Types of all launchers, and functions that parse and rewrite the command line of a launcher."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Callable, Collection, Mapping

PRELOAD = "LD_PRELOAD"


@dataclasses.dataclass(frozen=True)
class Grammar:
    """The options of a launcher that take values, without dashes. For an option that is not listed, see
    _is_value_of_unknown_option."""

    valued: Collection[str] = ()
    two_valued: Collection[str] = ()
    assigning: Collection[str] = ()  # options that take NAME VALUE or NAME=VALUE
    flags: Collection[str] = ()
    separator: str | None = ":"  # between the programs of one launch


@dataclasses.dataclass
class Context:
    """One program of a launch: the launcher's options before it, and the program with its arguments."""

    options: list[str]
    program: list[str]


@dataclasses.dataclass(frozen=True)
class Writer:
    """The variables to set on the ranks."""

    environ: Mapping[str, str]
    preload: str
    variables: Mapping[str, str]

    def value_of(self, name: str, given: str | None) -> str | None:
        """The value for an assignment on the command line: `given`; for LD_PRELOAD, with Nacre's library appended."""
        if name != PRELOAD:
            return given
        return joined_preload(self.environ.get(PRELOAD, "") if given is None else given, self.preload)

    def missing(self, present: Collection[str] = ()) -> dict[str, str]:
        """The variables that no assignment on the command line sets."""
        wanted = {PRELOAD: joined_preload(self.environ.get(PRELOAD, ""), self.preload), **self.variables}
        return {name: value for name, value in wanted.items() if name not in present}


# Returns the words after the name of the launcher. May change the environment, its last argument.
Write = Callable[[Writer, list[Context], dict[str, str]], list[str]]
Split = Callable[[Grammar, list[str]], list[Context]]


def split_contexts(grammar: Grammar, arguments: list[str]) -> list[Context]:
    """Splits the words after the name of the launcher into one context per program."""
    parts: list[list[str]] = [[]]
    for argument in arguments:
        if grammar.separator is not None and argument == grammar.separator:
            parts.append([])
        else:
            parts[-1].append(argument)
    ends = [_end_of_options(grammar, part) for part in parts]
    return [Context(part[:end], part[end:]) for part, end in zip(parts, ends)]


@dataclasses.dataclass(frozen=True)
class Launcher:
    """A launcher that nacre knows: one row of the table."""

    name: str
    title: str
    # Its row in docs/run.md: the launchers, how nacre recognises them, how nacre sets variables on the ranks.
    documented: tuple[str, str, str]
    write: Write
    grammar: Grammar = Grammar()
    split: Split = split_contexts
    executables: tuple[str, ...] = ()  # names that identify this launcher
    version: str = ""  # a pattern in the output of --version; "": nacre does not run --version
    suffixes: tuple[str, ...] = ()  # of mpiexec and mpirun, as in mpiexec.hydra
    abi: str | None = None  # the only ABI of its programs; None: any
    doctor_options: tuple[str, ...] = ()  # options of `nacre doctor`, to start two ranks on any machine
    root_option: str = ""  # the launcher refuses root without it, or without one of `root_variables`
    root_variables: tuple[str, ...] = ()

    def contexts(self, arguments: list[str]) -> list[Context]:
        return self.split(self.grammar, arguments)


@dataclasses.dataclass(frozen=True)
class FoundLauncher:
    """A launcher on this machine."""

    launcher: Launcher
    path: str
    version: str = ""


def _end_of_options(grammar: Grammar, words: list[str]) -> int:
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return at + 1
        if not word.startswith("-") or word == "-":
            return at
        at += 1 + values_after(grammar, words, at)
    return len(words)


def values_after(grammar: Grammar, words: list[str], at: int) -> int:
    """The number of words after the option at `at` that are its values."""
    name = words[at].lstrip("-")
    following = words[at + 1 :]
    if not following:
        return 0
    if name in grammar.assigning:
        return 1 if "=" in following[0] else 2
    if name in grammar.two_valued:
        return 2
    if name in grammar.flags or "=" in name:
        return 0
    if name in grammar.valued:
        return 1
    return 1 if len(name) > 1 and _is_value_of_unknown_option(following) else 0


def _is_value_of_unknown_option(following: list[str]) -> bool:
    """Whether the word after an unknown option is its value: it is not a program, and another word follows it."""
    if following[0].startswith("-") or len(following) < 2:
        return False
    return shutil.which(following[0]) is None


def joined_preload(there: str, preload: str) -> str:
    """Appends Nacre's libraries to a value of LD_PRELOAD. Tools such as Darshan and sanitizers must stay first."""
    words = [word for word in re.split(r"[: ]+", there) if word]
    return ":".join(words + [word for word in preload.split(":") if word not in words])


def joined_contexts(contexts: list[list[str]]) -> list[str]:
    words: list[str] = []
    for index, context in enumerate(contexts):
        words += [":", *context] if index else context
    return words


def rewrite_assignments(writer: Writer, options: list[str], names: Collection[str], present: set[str]) -> list[str]:
    """Rewrites the options that take NAME=VALUE, or NAME for the value in the environment. Adds each name to
    `present`."""
    words: list[str] = []
    follows = False
    for word in options:
        option, equals, assignment = word.partition("=")
        if follows:
            words.append(rewritten_assignment(writer, word, present))
            follows = False
        elif equals and option.startswith("--") and option.lstrip("-") in names:
            words.append(f"{option}={rewritten_assignment(writer, assignment, present)}")
        else:
            words.append(word)
            follows = word.startswith("-") and word.lstrip("-") in names
    return words


def rewritten_assignment(writer: Writer, assignment: str, present: set[str]) -> str:
    name, equals, value = assignment.partition("=")
    present.add(name)
    new = writer.value_of(name, value if equals else None)
    return name if new is None else f"{name}={new}"


def assigning(option: str, names: Collection[str], joined: bool = False) -> Write:
    """A writer for launchers that take `option` NAME=VALUE (as one word if `joined`) before each program. `names` are
    all spellings of the option, without dashes."""

    def write(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
        rewritten = []
        for context in contexts:
            present: set[str] = set()
            options = rewrite_assignments(writer, context.options, names, present)
            new: list[str] = []
            for name, value in writer.missing(present).items():
                new += [f"{option}={name}={value}"] if joined else [option, f"{name}={value}"]
            at = _after_removals(options)
            rewritten.append(options[:at] + new + options[at:] + context.program)
        return joined_contexts(rewritten)

    return write


def _after_removals(options: list[str]) -> int:
    """The index after the last option that removes variables (in Flux), which would remove Nacre's variables too."""
    removals = [index for index, word in enumerate(options) if word.startswith(("--env=-", "--env-remove="))]
    return removals[-1] + 1 if removals else 0


def write_environment(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
    """A writer for launchers that pass their environment to the ranks."""
    environment.update(writer.missing())
    return joined_contexts([context.options + context.program for context in contexts])
