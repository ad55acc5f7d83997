"""`nacre doctor`: checks the installation, and tests that Nacre serves a program's MPI-IO."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import typer
from rich.console import Console

from nacre import (
    ceph_client,
    file_system,
    launchers,
    library,
    lustre_client,
    orangefs_client,
    probe,
    program,
    run_options,
    settings,
)
from nacre.errors import EXIT_PROBLEM, UserError
from nacre.text import unwrapped

HELP = unwrapped("""Check the installation, and test that Nacre serves the MPI-IO of a program.

COMMAND is the command that you run without Nacre. Its launcher starts a small program in place of yours, with Nacre
preloaded. The small program uses the MPI library of your program: it writes a file of 64 KiB per rank, reads it back,
and checks that Nacre served the calls. Without COMMAND, nacre tests the mpiexec, mpirun or srun on PATH.

[bold]Examples[/bold]

  nacre doctor

  nacre doctor -- mpiexec -n 4 ./app

  nacre doctor --directory /scratch/me srun -n 2 python train.py

  nacre doctor --repair /scratch/me/out.h5

  nacre doctor /scratch/me

With a directory in place of COMMAND, nacre says what its file system is, and on Lustre how many OSTs there are and how
full, the directory's default layout, and whether locks work. It reports each item that will cause problems. On CephFS
and OrangeFS it shows the items that a client can read.

With FILE on Lustre, CephFS or OrangeFS, nacre says how it is striped, and on the first two whether its layout covers
the whole file. On Lustre a killed job may leave an incomplete layout: writes after its end fail until --repair
completes it.

[bold]Exit codes[/bold]  0: no problem; 1: a problem, marked !!; 2: wrong usage.
""")

PROBE_TIMEOUT_SECONDS = 120
# By store: the modules that know what to say of a directory. Lustre's also knows the testbed.
CLIENTS = {"ceph": ceph_client, "orangefs": orangefs_client}


def register(app: typer.Typer) -> None:
    app.command(
        "doctor",
        help=HELP,
        short_help="Check the installation; test that Nacre serves a program's MPI-IO.",
        context_settings={"allow_interspersed_args": False},
    )(doctor)


@dataclasses.dataclass
class Examination:
    """Prints findings, unless `quiet`, and collects them in order."""

    console: Console
    problems: int = 0
    findings: list[dict] = dataclasses.field(default_factory=list)
    quiet: bool = False

    def good(self, subject: str, text: str) -> None:
        self.say("good", subject, text)

    def note(self, subject: str, text: str, advice: str = "") -> None:
        self.say("note", subject, text, advice)

    def bad(self, subject: str, text: str, advice: str = "") -> None:
        self.say("bad", subject, text, advice)

    def say(self, state: str, subject: str, text: str, advice: str = "") -> None:
        """`state`: good, note, or bad."""
        self.findings.append({"state": state, "subject": subject, "text": text, "advice": advice})
        self.problems += state == "bad"
        if self.quiet:
            return
        mark, style = {"good": ("ok", "green"), "note": ("--", "yellow"), "bad": ("!!", "bold red")}[state]
        self.console.print(f"[{style}]{mark}[/]  {subject:<14}", end="")
        self.console.print(text, markup=False)
        for line in advice.splitlines():
            self.console.print(f"{'':18}{line}", markup=False)


def doctor(
    command: list[str] = typer.Argument(
        None,
        metavar="COMMAND|FILE|DIR",
        help="Command to test, a -- before it is optional; or directories, or files on Lustre, CephFS or OrangeFS.",
    ),
    directory: Path = typer.Option(
        None, "--directory", metavar="DIR", help="Directory of the program's files; default: the current directory."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    repair: bool = typer.Option(False, "--repair", help="Complete the layouts of the files."),
) -> None:
    examination = Examination(Console(emoji=False, highlight=False, soft_wrap=True), quiet=as_json)
    files = [word for word in command or [] if _is_plain_file(word)]
    if files and files == command:
        for path in files:
            _examine_layout(examination, path, repair)
    elif repair:
        others = [word for word in command or [] if not _is_plain_file(word)]
        what = f"--repair: {others[0]} is not a data file" if others else "--repair: no file to repair"
        raise UserError(what, "Name files on Lustre: nacre doctor --repair FILE...")
    elif command and all(os.path.isdir(word) for word in command):
        for word in command:
            _examine_directory(examination, Path(word).absolute())
    else:
        _examine_all(examination, list(command or []), (directory or Path.cwd()).absolute())
    if as_json:
        print(json.dumps(examination.findings, indent=2))
    if examination.problems:
        raise typer.Exit(EXIT_PROBLEM)


def _is_plain_file(word: str) -> bool:
    """Whether `word` names a file that is not a program. The mode does not tell: data files may be executable."""
    if not os.path.isfile(word):
        return False
    if not os.access(word, os.X_OK):
        return True
    with contextlib.suppress(OSError), open(word, "rb") as file:
        begin = file.read(4)
        return not (begin == b"\x7fELF" or begin.startswith(b"#!"))
    return False


def _examine_layout(examination: Examination, path: str, repair: bool) -> None:
    found = file_system.of(Path(path))
    store = file_system.store(found.kind) if found is not None else ""
    if store == "ceph":
        for remark in ceph_client.file_remarks(path):
            examination.say(*remark)
        examination.good("layout", f"{path}: the layout covers the whole file")
        return
    if store == "orangefs":
        try:
            for remark in orangefs_client.file_remarks(path):
                examination.say(*remark)
        except (OSError, ValueError) as error:
            examination.note("layout", f"{path}: the layout is unknown: {error}")
        return
    try:
        rest = library.layout_rest(os.getxattr(path, lustre_client.XATTR))
    except OSError as error:
        examination.note(
            "layout", f"{path} is not on Lustre, CephFS or OrangeFS, or has no layout yet: {error.strerror}"
        )
        return
    except ValueError as error:
        examination.bad("layout", f"{path}: {error}")
        return
    for remark in lustre_client.file_remarks(path):
        examination.say(*remark)
    if not rest:
        examination.good("layout", f"{path}: the layout covers the whole file")
        return
    trouble, advice = "writes after its end fail (ENODATA)", f"Run: nacre doctor --repair {shlex.quote(path)}"
    if repair:
        try:
            os.setxattr(path, f"{lustre_client.XATTR}.add", rest)
        except OSError as error:
            trouble, advice = f"cannot complete it: {error.strerror}", "Ask the owner of the file to repair it."
        else:
            examination.good("layout", f"{path}: completed the layout; it now covers the whole file")
            return
    examination.bad("layout", f"{path}: the layout does not cover the whole file: {trouble}", advice)


def _examine_all(examination: Examination, command: list[str], directory: Path) -> None:
    _examine_installation(examination)
    _examine_directory(examination, directory)
    _examine_environment(examination)
    if command:
        _examine_command(examination, command, directory)
    else:
        _examine_default_launcher(examination, directory)


def _examine_installation(examination: Examination) -> None:
    abis = library.built_abis()
    examination.good("Nacre", f"{library.version()} in {library.directory()}")
    for abi in library.ABIS:
        if abi in abis:
            examination.good("library", f"{library.library_name(abi)}, for {library.ABI_NAMES[abi]} ABI")
        else:
            examination.note("library", f"none for {library.ABI_NAMES[abi]} ABI: the build found no mpi.h of that ABI")
    examination.good(
        "machine",
        f"{platform.node()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    )


def _examine_directory(examination: Examination, directory: Path) -> None:
    if not directory.is_dir():
        examination.bad(
            "directory", f"{directory} does not exist", "Create it, or name another directory with --directory."
        )
        return
    found = file_system.of(directory)
    if not os.access(directory, os.W_OK):
        examination.bad("directory", f"{directory} is not writable", "Name a writable directory with --directory.")
    examination.say(*file_system.judgement(found, directory))
    if found is not None and (found.kind == "lustre" or lustre_client.is_emulated(directory)):
        for remark in lustre_client.remarks(directory, found):
            examination.say(*remark)
    elif found is not None and (client := CLIENTS.get(file_system.store(found.kind))) is not None:
        for remark in client.remarks(directory, found):
            examination.say(*remark)


def _examine_environment(examination: Examination) -> None:
    variables = {name: value for name, value in sorted(os.environ.items()) if name.startswith("NACRE_")}
    variables.pop("NACRE_LIBRARY_DIR", None)
    unknown = settings.unknown_variables(variables, library.hints()) if library.built_abis() else {}
    for name, value in variables.items():
        if name in unknown:
            advice = (
                f"Did you mean {unknown[name]}?"
                if unknown[name]
                else "`nacre hints` lists the hints; NACRE_<NAME> sets one of them."
            )
            examination.note("environment", f"{name}={value}: Nacre has no such variable and ignores it", advice)
            continue
        say = examination.note if name == settings.DISABLE else examination.good
        say("environment", f"{name}={value}")
    report = os.environ.get(settings.REPORT, "")
    why = settings.why_unwritable(report) if report else ""
    if why:
        examination.bad(
            "environment",
            f"{settings.REPORT}={report}: cannot write the report: {why}",
            "Name a file in an existing directory that you can write to.",
        )
    if os.environ.get(launchers.PRELOAD):
        examination.note(
            "environment", f"{launchers.PRELOAD}={os.environ[launchers.PRELOAD]}; nacre appends its library"
        )
    known = {entry["name"] for entry in library.hints()}
    for path in settings.config_files(os.environ):
        if not path.exists():
            examination.good("configuration", f"{path} does not exist")
            continue
        problem = settings.config_problem(path, known)
        if problem is None:
            examination.good("configuration", f"{path}: readable, all hints known")
        else:
            examination.bad("configuration", f"{path}: {problem}", "Correct the file. Until then, MPI_File_open fails.")


def _examine_default_launcher(examination: Examination, directory: Path) -> None:
    found = shutil.which("mpiexec") or shutil.which("mpirun") or shutil.which("srun")
    if found is None:
        examination.note(
            "launcher",
            "mpiexec, mpirun and srun are not on PATH",
            "Load the module of your MPI, or give the command: nacre doctor -- COMMAND",
        )
        return
    started = launchers.recognise(found)
    _say_launcher(examination, started)
    mpi = program.library_beside(Path(os.path.realpath(found)))
    if mpi is None:
        examination.note(
            "proof",
            "skipped: the MPI library of the launcher is unknown",
            "Give a command with a program: nacre doctor -- mpiexec -n 2 ./your-program",
        )
        return
    abi, path = mpi
    target = program.Program(None, "program", abi, path)
    options = started.launcher.doctor_options if started else ()
    _prove(examination, [found, "-n", "2", *options, "PROGRAM"], target, directory)


def _say_launcher(examination: Examination, started: launchers.FoundLauncher | None) -> None:
    if started is None:
        examination.good("launcher", "none: the command is a program without a launcher, or a script")
    else:
        version = f" {started.version}" if started.version else ""
        examination.good("launcher", f"{started.path}: {started.launcher.title}{version}")


def _examine_command(examination: Examination, command: list[str], directory: Path) -> None:
    preload = library.preload_path(None)
    launch = launchers.prepare(command, {}, preload, os.environ)
    _say_launcher(examination, launch.found)
    for words in launch.programs:
        target = program.inspect(words)
        _say_program(examination, words, target)
        _say_mismatch(examination, launch.found, target)
    at, _ = launchers.find_launcher(command)
    examination.good("command", run_options.as_shell(launch, dict(os.environ)))
    _prove(examination, command[at:], program.inspect(launch.programs[0]), directory)


def _say_program(examination: Examination, words: list[str], target: program.Program) -> None:
    name = str(target.path or (words[0] if words else "?"))
    if target.abi is None:
        bad = target.kind == "missing" or "static" in target.note
        say = examination.bad if bad else examination.note
        say("program", f"{name}: {target.note}")
        return
    where = f", {target.library}" if target.library else ""
    note = f" ({target.note})" if target.note else ""
    examination.good("program", f"{name}: {library.ABI_NAMES[target.abi]} ABI{where}{note}")
    if target.abi not in library.built_abis():
        examination.bad(
            "library",
            f"{library.library_name(target.abi)} is not installed, but this program needs it",
            "Build Nacre again with the mpicc of that MPI on PATH.",
        )


def _say_mismatch(examination: Examination, started: launchers.FoundLauncher | None, target: program.Program) -> None:
    if started is None or None in (target.abi, started.launcher.abi):
        return
    if (started.launcher.abi == "openmpi") == (target.abi == "openmpi"):
        return
    examination.bad(
        "launcher",
        f"{started.launcher.title} does not connect the processes of {library.ABI_NAMES[target.abi]} "
        "programs: each process would be rank 0 of 1",
        "Use the mpiexec of the MPI that the program was built with.",
    )


# --- the probe -------------------------------------------------------------------------------------------------


def _prove(examination: Examination, command: list[str], target: program.Program, directory: Path) -> None:
    """Runs the probe in place of the program, and reports the result."""
    if target.abi is None or (target.library is None and target.kind != "python"):
        examination.note(
            "proof",
            "skipped: the MPI library of the program is unknown",
            _command_to_type(target),
        )
        return
    if not directory.is_dir() or not os.access(directory, os.W_OK):
        return
    handle, name = tempfile.mkstemp(prefix=".nacre-doctor-", dir=directory)
    os.close(handle)
    command = _allowing_root(examination, command)
    try:
        launch = _probe_launch(command, target, name)
        outcome, output = _run_probe(launch)
    finally:
        Path(name).unlink(missing_ok=True)
    _judge(examination, launch, outcome, output)


def _allowing_root(examination: Examination, command: list[str]) -> list[str]:
    """`command`; if this is root, with the option without which its launcher refuses root."""
    at, found = launchers.find_launcher(command)
    if found is None or not found.launcher.root_option or os.geteuid() != 0:
        return command
    option = found.launcher.root_option
    is_given = option.lstrip("-") in (word.lstrip("-") for word in command)
    if is_given or any(name in os.environ for name in found.launcher.root_variables):
        return command
    examination.note(
        "launcher",
        f"{found.launcher.title} refuses root without {option}; the proof uses this option",
        f"Run your programs as a user, or add {option} to your command.",
    )
    return [*command[: at + 1], option, *command[at + 1 :]]


def _command_to_type(target: program.Program) -> str:
    """The command inside a script, if it is found there, in place of the script."""
    inside = launchers.command_in_script(target.path) if target.kind == "script" and target.path else []
    if inside:
        return f"Type the command inside the script: nacre doctor -- {shlex.join(inside)}"
    return (
        "Name the launcher and the MPI program itself, not a script around them, for example: "
        "nacre doctor -- mpiexec -n 2 ./app"
    )


def _probe_launch(command: list[str], target: program.Program, name: str) -> launchers.Launch:
    script = str(Path(probe.__file__).resolve())
    if target.kind == "python" and target.path is not None:
        python = sys.executable if target.path.suffix == ".py" else str(target.path)
        words = [python, script, name, "mpi4py"]
    else:
        words = [sys.executable, script, name, str(target.abi), str(target.library)]
    probing = launchers.with_program(command, words)
    return launchers.prepare(probing, {}, library.preload_path(None), os.environ)


def _run_probe(launch: launchers.Launch) -> tuple[dict | None, str]:
    try:
        result = subprocess.run(
            launch.argv,
            env=launch.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    output = (result.stdout + result.stderr).strip()
    return probe.first_outcome(result.stdout), output or f"exit code {result.returncode}, no output"


def _judge(examination: Examination, launch: launchers.Launch, outcome: dict | None, output: str) -> None:
    if outcome is None:
        tail = "\n".join(f"{'':18}{line}" for line in output.splitlines()[-12:])
        examination.bad(
            "proof",
            f"the small program failed: {shlex.join(launch.argv)}\n{tail}",
            "Try `hostname` with the same launcher. If that works, report this problem with the lines above.",
        )
        return
    ranks = f"{outcome['ranks']} rank{'s' if outcome['ranks'] != 1 else ''}"
    if not outcome["right_bytes"]:
        examination.bad(
            "proof",
            f"{ranks} wrote a file, and it contains wrong bytes",
            "Report this problem. Until then, run without Nacre: NACRE_DISABLE=1.",
        )
    elif outcome["calls_served"] > 0:
        served = [Path(path).name for path in outcome["libraries"] if not path.endswith("/libnacre.so")]
        examination.good(
            "proof",
            f"{ranks} wrote a file and read the same bytes back; {', '.join(served)} served "
            f"{outcome['calls_served']} MPI-IO calls of rank 0",
        )
    elif not outcome["libraries"]:
        examination.bad(
            "proof",
            f"the ranks did not load Nacre; LD_PRELOAD on the ranks is {outcome['preload']!r}",
            "Check that the compute nodes can read the directory of the library.",
        )
    elif os.environ.get(settings.DISABLE):
        examination.note("proof", f"the ranks loaded Nacre, which served no call because {settings.DISABLE} is set")
    else:
        examination.bad(
            "proof",
            f"the ranks loaded {', '.join(outcome['libraries'])}, which served no call",
            "Report this problem with the output of `nacre doctor --json`.",
        )
