"""Launchers: which one a command line starts, and how it is made to set variables on the ranks.

Variables are set on the ranks alone, by the launcher's own options, so that the launcher itself runs as ever.
Where a launcher has no such option (or is none that we know: a script, a program by itself), they go into the
environment: libnacre.so leaves every process alone that makes no MPI call.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from nacre import program
from nacre.errors import EXIT_CANNOT_RUN, EXIT_NOT_FOUND, UserError

PRELOAD = "LD_PRELOAD"
VERSION_TIMEOUT_SECONDS = 20

# Options that take a value, by launcher: what tells their values from the program. An option that is not listed
# takes none, unless what follows is no program (see _is_value_of_unknown_option).
_HYDRA_VALUED = """
    n np env envlist genv genvlist f hostfile machinefile machine host hosts wdir path hostlist ppn perhost grr
    bootstrap bootstrap-exec launcher launcher-exec rmk bind-to map-by membind topolib iface prepend-pattern
    outfile-pattern errfile-pattern nameserver configfile demux usize localhost gpus-per-proc hosts-group s tmpdir
""".split()
_HYDRA_TWO_VALUED = ["genv", "env"]  # -genv NAME VALUE, unless it is NAME=VALUE
_OPENMPI_VALUED = """
    n np c N x host H hostfile machinefile default-hostfile app wd wdir path prefix rf rankfile npernode npersocket
    map-by rank-by bind-to output-filename stdin report-pid report-uri timeout cpu-set cpu-list slot-list tune am
    display output personality preload-files dvm dvm-uri runtime-options launch-agent pset max-restarts ompi-server
    xterm cpus-per-proc cpus-per-rank
""".split()
_OPENMPI_TWO_VALUED = ["mca", "gmca", "pmca", "prtemca", "pmixmca"]
_SRUN_VALUED = """
    A account b begin c cpus-per-task C constraint d dependency D chdir e error export G gpus gres gpus-per-node
    gpus-per-task gpu-bind i input J job-name jobid m distribution mem mem-per-cpu mem-bind cpu-bind mpi n ntasks N
    nodes ntasks-per-node o output p partition q qos r relative R reservation t time T threads w nodelist x exclude
    K kill-on-bad-exit l O overcommit S core-spec W wait M clusters L licenses hint het-group pack-group tasks-per-node
    ntasks-per-core ntasks-per-socket ntasks-per-gpu network nice open-mode prolog epilog propagate slurmd-debug
    switches task-epilog task-prolog wckey comment acctg-freq bcast cluster-constraint cpu-freq delay-boot
    deadline extra-node-info B signal tmp uid gid thread-spec threads-per-core profile mail-type mail-user
""".split()
_SRUN_FLAGS = ["l", "O", "K", "v", "Q", "u", "X", "s", "h", "H", "E", "k", "Z"]
_JSRUN_VALUED = """
    n nrs a tasks_per_rs c cpu_per_rs g gpu_per_rs r rs_per_host b bind d launch_distribution l latency_priority E env
    F env_eval D env_no_propagate m memory_per_rs p np h chdir M smpiargs e stdio_mode o stdio_stdout k stdio_stderr
    t stdio_stdin U rs_file f erf_input J appfile L use_reservation Q timelimit
""".split()
_FLUX_VALUED = """
    n ntasks N nodes c cores-per-task g gpus-per-task tasks-per-node cores gpus-per-node t time-limit o setopt
    setattr env env-remove env-file queue q bank B job-name requires urgency cwd input output error label begin-time
    dependency flags
""".split()
_APRUN_VALUED = """
    n N d S j m L cc cp sn sl e p a b D q r B R F C pa
""".split()
_PALS_VALUED = """
    n np ppn N e env d depth cpu-bind mem-bind gpu-bind hosts host hostfile wdir path umask transfer rlimits
    timeout pmi
""".split()


@dataclasses.dataclass(frozen=True)
class Grammar:
    """What of a launcher's command line must be understood."""

    valued: frozenset[str] = frozenset()
    two_valued: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    separator: str | None = ":"  # between the programs of one launch


@dataclasses.dataclass(frozen=True)
class Launcher:
    """A launcher that was recognised. `kind` is one of KINDS."""

    kind: str
    path: str
    version: str


@dataclasses.dataclass(frozen=True)
class Launch:
    """A command line and environment, ready to execute."""

    argv: list[str]
    environ: dict[str, str]
    launcher: Launcher | None
    programs: list[list[str]]  # each with its arguments; without a launcher the whole command

    def changed(self, before: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in self.environ.items() if before.get(name) != value}


def _grammar(valued: list[str], two: list[str] = (), flags: list[str] = (), separator: str | None = ":") -> Grammar:
    return Grammar(frozenset(valued), frozenset(two), frozenset(flags), separator)


GRAMMARS = {
    "hydra": _grammar(_HYDRA_VALUED, _HYDRA_TWO_VALUED),
    "openmpi": _grammar(_OPENMPI_VALUED, _OPENMPI_TWO_VALUED),
    "slurm": _grammar(_SRUN_VALUED, flags=_SRUN_FLAGS),
    "jsrun": _grammar(_JSRUN_VALUED, separator=None),
    "flux": _grammar(_FLUX_VALUED, separator=None),
    "aprun": _grammar(_APRUN_VALUED),
    "pals": _grammar(_PALS_VALUED),
    "ibrun": _grammar(["n", "np", "o"], separator=None),
}

KINDS = {
    "hydra": "MPICH's or Intel's Hydra",
    "openmpi": "Open MPI's mpirun",
    "slurm": "Slurm's srun",
    "jsrun": "IBM's jsrun",
    "flux": "Flux",
    "aprun": "Cray's aprun",
    "pals": "HPE's PALS mpiexec",
    "ibrun": "TACC's ibrun",
}

_BY_NAME = {
    "srun": "slurm",
    "jsrun": "jsrun",
    "flux": "flux",
    "aprun": "aprun",
    "ibrun": "ibrun",
    "prun": "openmpi",
    "prterun": "openmpi",
    "orterun": "openmpi",
    "mpiexec.hydra": "hydra",
    "mpiexec.gforker": "hydra",
}
_BY_VERSION = [
    (re.compile(r"HYDRA build details|Intel\(R\) MPI Library"), "hydra"),
    (re.compile(r"Open MPI|OpenRTE|PRRTE|PRTE|IBM Spectrum MPI|OpenMPI"), "openmpi"),
    (re.compile(r"PALS|mpiexec version \d"), "pals"),
    (re.compile(r"^slurm\b", re.IGNORECASE | re.MULTILINE), "slurm"),
]
# Names that launchers are installed under: anything else that begins so ("mpirun_case1.sh") may be a script that
# runs a whole job, whatever option it gets.
_ASK_VERSION = re.compile(
    r"^(mpiexec|mpirun|orterun|prterun|prun|srun)"
    r"([.\-_](mpich|openmpi|ompi|hydra|gforker|intel|impi|mvapich|pals|slurm|real|bin|\d)[\w.\-]*)?$"
)
_SCRIPT_NAME = re.compile(r"\.(sh|bash|csh|ksh|zsh|py|pl|rb)$")


def recognise(word: str) -> Launcher | None:
    """The launcher that `word` starts, or None: a program by itself, or a script."""
    found = shutil.which(word)
    if found is None and os.path.exists(word) and "/" in word:
        raise UserError(f"{word} is not executable", f"Try: chmod +x {word}", EXIT_CANNOT_RUN)
    if found is None:
        raise UserError(
            f"no such program: {word}",
            "Load the module that has it, or give its path.",
            EXIT_NOT_FOUND,
        )
    name = Path(word).name
    if name == "mpirun_rsh":
        raise UserError(
            "mpirun_rsh takes variables only as words before the program",
            f"Use MVAPICH's mpiexec, or write {PRELOAD}=LIBRARY before the program; `nacre doctor` shows the library.",
        )
    kind = _BY_NAME.get(name) or _BY_NAME.get(Path(os.path.realpath(found)).name)
    if kind in ("jsrun", "flux", "aprun", "ibrun"):
        return Launcher(kind, found, "")
    if kind is None and (not _ASK_VERSION.match(name) or _SCRIPT_NAME.search(name)):
        return None
    text = _version_text(found)
    for pattern, by_version in _BY_VERSION:
        if pattern.search(text):
            kind = by_version
            break
    if kind is None:
        raise UserError(
            f"{found} is no launcher that nacre knows: `{word} --version` says {text.strip()[:80]!r}",
            f"Set the variables by its own options: `nacre run --dry-run true` shows which; {PRELOAD} is enough.",
        )
    return Launcher(kind, found, _first_version(text))


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


def _first_version(text: str) -> str:
    match = re.search(r"\d+\.\d+(?:\.\d+)*\S*", text)
    return match.group(0) if match else ""


# --- reading a command line ------------------------------------------------------------------------------------


@dataclasses.dataclass
class Context:
    """One program of a launch: the launcher's options before it, and the program with its arguments."""

    options: list[str]
    program: list[str]


def split_contexts(launcher: Launcher, arguments: list[str]) -> list[Context]:
    """Cuts what follows the launcher's own name into programs."""
    grammar = GRAMMARS[launcher.kind]
    parts: list[list[str]] = [[]]
    for argument in arguments:
        if grammar.separator is not None and argument == grammar.separator:
            parts.append([])
        else:
            parts[-1].append(argument)
    contexts = []
    for part in parts:
        end = _end_of_options(grammar, part)
        contexts.append(Context(part[:end], part[end:]))
    return contexts


def _end_of_options(grammar: Grammar, words: list[str]) -> int:
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return at + 1
        if not word.startswith("-") or word == "-":
            return at
        at += 1 + _values_after(grammar, words, at)
    return len(words)


def _values_after(grammar: Grammar, words: list[str], at: int) -> int:
    """How many words after the option at `at` are its values."""
    name = words[at].lstrip("-")
    following = words[at + 1 :]
    if not following:
        return 0
    if name in grammar.two_valued:
        return 1 if "=" in following[0] and name in ("genv", "env") else 2
    if name in grammar.flags or "=" in name:
        return 0
    if name in grammar.valued:
        return 1
    return 1 if len(name) > 1 and _is_value_of_unknown_option(following) else 0


def _is_value_of_unknown_option(following: list[str]) -> bool:
    """Whether a word after an option that we do not know is its value: it is no program, and one comes later."""
    if following[0].startswith("-") or len(following) < 2:
        return False
    return shutil.which(following[0]) is None


# --- setting variables on the ranks ----------------------------------------------------------------------------


def prepare(command: list[str], settings: Mapping[str, str], preload: str, environ: Mapping[str, str]) -> Launch:
    """`command` with `settings` and the preload on its ranks. A preload that is there already is kept, first."""
    if not command:
        raise UserError("there is nothing to run", "Try: nacre run -- mpiexec -n 4 ./program")
    at, launcher = find_launcher(command)
    environment = dict(environ)
    environment.update(settings)
    if launcher is None:
        environment[PRELOAD] = _joined(environ.get(PRELOAD, ""), preload)
        return Launch(list(command), environment, None, [list(command)])
    contexts = split_contexts(launcher, command[at + 1 :])
    variables = {name: value for name, value in environment.items() if name.startswith("NACRE_")}
    variables.pop("NACRE_LIBRARY_DIR", None)
    writer = Writer(environ, preload, variables)
    argv = [*command[: at + 1], *_WRITERS[launcher.kind](writer, contexts, environment)]
    return Launch(argv, environment, launcher, [context.program for context in contexts])


def started_through(command: list[str], wrapper: list[str]) -> list[str]:
    """`command` with the words of `wrapper` before each of its programs."""
    at, launcher = find_launcher(command)
    if launcher is None:
        return [*wrapper, *command]
    contexts = split_contexts(launcher, command[at + 1 :])
    return [
        *command[: at + 1],
        *_joined_contexts([[*context.options, *wrapper, *context.program] for context in contexts]),
    ]


def find_launcher(command: list[str]) -> tuple[int, Launcher | None]:
    """Its index in the command and what it is: the first word, or behind `timeout 1h` and the like."""
    rest = program.without_prefixes(command)
    at = len(command) - len(rest)
    if rest and at > 0 and shutil.which(rest[0]) is not None:
        launcher = recognise(rest[0])
        if launcher is not None:
            return at, launcher
    return 0, recognise(command[0])


def _joined(there: str, preload: str) -> str:
    """The library goes after what is preloaded already: tools that look on (Darshan) and sanitizers come first."""
    words = [word for word in re.split(r"[: ]+", there) if word]
    if preload not in words:
        words.append(preload)
    return ":".join(words)


@dataclasses.dataclass(frozen=True)
class Writer:
    """What is to be set on the ranks."""

    environ: Mapping[str, str]
    preload: str
    variables: Mapping[str, str]

    def value_of(self, name: str, given: str | None) -> str | None:
        """What an assignment on the command line is to say: the program's own, with our library added."""
        if name != PRELOAD:
            return given
        return _joined(self.environ.get(PRELOAD, "") if given is None else given, self.preload)

    def missing(self, present: set[str]) -> dict[str, str]:
        """The variables that no assignment on the command line has set."""
        wanted = {PRELOAD: _joined(self.environ.get(PRELOAD, ""), self.preload), **self.variables}
        return {name: value for name, value in wanted.items() if name not in present}


def _joined_contexts(contexts: list[list[str]]) -> list[str]:
    words: list[str] = []
    for index, context in enumerate(contexts):
        if index:
            words.append(":")
        words.extend(context)
    return words


def _write_hydra(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
    """-genv is for all programs wherever it stands; a program's -env overrides it."""
    present: set[str] = set()
    rewritten = [
        _rewrite_pairs(writer, context.options, GRAMMARS["hydra"], present) + context.program for context in contexts
    ]
    new = [word for name, value in writer.missing(present).items() for word in ("-genv", name, value)]
    return new + _joined_contexts(rewritten)


def _rewrite_pairs(writer: Writer, options: list[str], grammar: Grammar, present: set[str]) -> list[str]:
    """Hydra's -genv and -env, which take NAME VALUE or NAME=VALUE."""
    words: list[str] = []
    at = 0
    while at < len(options):
        count = _values_after(grammar, options, at)
        option, values = options[at], options[at + 1 : at + 1 + count]
        name = option.lstrip("-")
        if name in ("genv", "env") and values:
            variable, _, value = values[0].partition("=") if count == 1 else (values[0], "=", values[1])
            value = writer.value_of(variable, value)
            if name == "genv":
                present.add(variable)
            values = [f"{variable}={value}"] if count == 1 else [variable, value]
        words += [option, *values]
        at += 1 + count
    return words


# Open MPI's parameter with variables for all ranks, NAME=VALUE or NAME, separated by semicolons.
_OPENMPI_LIST = "mca_base_env_list"


def _write_openmpi(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
    """-x is for one program only in Open MPI 4, and the first of two counts in 5: one in each program."""
    words = [word for context in contexts for word in context.options]
    in_file = any(word.lstrip("-") == "app" for word in words)
    if in_file or _OPENMPI_LIST in words or f"OMPI_MCA_{_OPENMPI_LIST}" in environment:
        return _write_openmpi_list(writer, contexts, environment)
    rewritten = []
    for context in contexts:
        present: set[str] = set()
        options = _rewrite_assignments(writer, context.options, ("x",), present)
        new = [word for name, value in writer.missing(present).items() for word in ("-x", f"{name}={value}")]
        rewritten.append(new + options + context.program)
    return _joined_contexts(rewritten)


def _write_openmpi_list(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
    """By the list: Open MPI 4 takes no -x beside it, and gives none to the programs of an --app file."""
    rewritten = []
    in_options = False
    for context in contexts:
        options = list(context.options)
        for at, word in enumerate(options[:-1]):
            if word == _OPENMPI_LIST and options[at - 1].lstrip("-") in _OPENMPI_TWO_VALUED:
                options[at + 1] = _extended_list(writer, options[at + 1])
                in_options = True
        rewritten.append(options + context.program)
    if not in_options:
        variable = f"OMPI_MCA_{_OPENMPI_LIST}"
        environment[variable] = _extended_list(writer, environment.get(variable, ""))
    return _joined_contexts(rewritten)


def _extended_list(writer: Writer, there: str) -> str:
    present: set[str] = set()
    items = [_rewritten_assignment(writer, item, present) for item in there.split(";") if item]
    items += [f"{name}={value}" for name, value in writer.missing(present).items()]
    return ";".join(items)


def _rewrite_assignments(writer: Writer, options: list[str], names: tuple[str, ...], present: set[str]) -> list[str]:
    """Options that take NAME=VALUE, or NAME alone for what the environment has."""
    words: list[str] = []
    follows = False
    for word in options:
        option, equals, assignment = word.partition("=")
        if follows:
            words.append(_rewritten_assignment(writer, word, present))
            follows = False
        elif equals and option.startswith("--") and option.lstrip("-") in names:
            words.append(f"{option}={_rewritten_assignment(writer, assignment, present)}")
        else:
            words.append(word)
            follows = word.startswith("-") and word.lstrip("-") in names
    return words


def _rewritten_assignment(writer: Writer, assignment: str, present: set[str]) -> str:
    name, equals, value = assignment.partition("=")
    present.add(name)
    new = writer.value_of(name, value if equals else None)
    return name if new is None else f"{name}={new}"


def _assigning(option: str, joined: bool) -> Callable[[Writer, list[Context], dict[str, str]], list[str]]:
    """A writer for launchers whose `option` NAME=VALUE (as one word if `joined`) goes before each program."""

    def write(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
        names = {"--env": ("env", "e", "E"), "-E": ("E", "env"), "-e": ("e",)}[option]
        rewritten = []
        for context in contexts:
            present: set[str] = set()
            options = _rewrite_assignments(writer, context.options, names, present)
            new: list[str] = []
            for name, value in writer.missing(present).items():
                new += [f"{option}={name}={value}"] if joined else [option, f"{name}={value}"]
            at = _after_removals(options)
            rewritten.append(options[:at] + new + options[at:] + context.program)
        return _joined_contexts(rewritten)

    return write


def _after_removals(options: list[str]) -> int:
    """Where variables can be set so that no option after it takes them away again (Flux has such options)."""
    removals = [i for i, word in enumerate(options) if word.startswith(("--env=-", "--env-remove="))]
    return removals[-1] + 1 if removals else 0


def _write_flux(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
    """`flux run` and `flux submit` (older: `flux mini run`) take --env after their verb."""
    words = contexts[0].options + contexts[0].program
    verb = next((index for index, word in enumerate(words) if word in ("run", "submit", "bulksubmit")), None)
    if verb is None:
        environment.update(writer.missing(set()))
        return words
    inner = Launcher("flux", "", "")
    after = split_contexts(inner, words[verb + 1 :])
    contexts[0].program = after[0].program
    return words[: verb + 1] + _assigning("--env", joined=True)(writer, after, environment)


def _write_slurm(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
    """--export of each component. Its values cannot have commas, so all but the preload go through srun's own
    environment and are exported by name."""
    rewritten = []
    for context in contexts:
        options, exported = _without_export(context.options)
        if exported is None:
            exported = environment.get("SLURM_EXPORT_ENV", "ALL")
        export = _slurm_export(writer, exported)
        if PRELOAD in environment:
            # With ALL, srun lets what its environment has win over what the option says (seen: 22.05).
            environment[PRELOAD] = export.rpartition(f"{PRELOAD}=")[2]
        rewritten.append([f"--export={export}", *options, *context.program])
    return _joined_contexts(rewritten)


def _without_export(options: list[str]) -> tuple[list[str], str | None]:
    """The options without --export, and what it said."""
    words: list[str] = []
    exported = None
    follows = False
    for word in options:
        if follows:
            exported, follows = word, False
        elif word == "--export":
            follows = True
        elif word.startswith("--export="):
            exported = word.partition("=")[2]
        else:
            words.append(word)
    return words, exported


def _slurm_export(writer: Writer, exported: str) -> str:
    items = [item for item in exported.split(",") if item and item not in ("NONE", "NIL")]
    given: str | None = None
    kept = []
    for item in items:
        name, equals, value = item.partition("=")
        if name == PRELOAD:
            given = value if equals else None
        else:
            kept.append(item)
    names = {item.partition("=")[0] for item in kept}
    if "ALL" not in names:
        kept += [name for name in writer.variables if name not in names]
    kept.append(f"{PRELOAD}={writer.value_of(PRELOAD, given)}")
    return ",".join(kept)


def _write_environment(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
    environment.update(writer.missing(set()))
    return _joined_contexts([context.options + context.program for context in contexts])


_WRITERS: dict[str, Callable[[Writer, list[Context], dict[str, str]], list[str]]] = {
    "hydra": _write_hydra,
    "openmpi": _write_openmpi,
    "slurm": _write_slurm,
    "jsrun": _assigning("-E", joined=False),
    "flux": _write_flux,
    "aprun": _assigning("-e", joined=False),
    "pals": _assigning("--env", joined=False),
    "ibrun": _write_environment,
}
