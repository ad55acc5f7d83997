"""`nacre doctor`: what Nacre finds here, and a proof that a program's I/O would go through it."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import typer
from rich.console import Console

from nacre import file_system, launchers, library, program, settings
from nacre.errors import EXIT_PROBLEM, UserError
from nacre.text import unwrapped
from nacre.verbs.run import as_shell
from nacre.verbs.stripe import XATTR

HELP = unwrapped("""Say what Nacre finds here, and prove that a program's I/O would go through it.

Give the command that you would run; its launcher then starts a small program in place of yours, which writes a
file of 64 KiB a rank through your program's MPI with Nacre preloaded, reads it back, and asks Nacre whether it
did it. Without a command, the mpiexec on PATH is tried.

[bold]Examples[/bold]

  nacre doctor

  nacre doctor -- mpiexec -n 4 ./app

  nacre doctor --directory /scratch/me srun -n 2 python train.py

  nacre doctor --repair /scratch/me/out.h5

Of a file on Lustre in place of a command it says whether its layout is whole. One that a killed job left may end
before the file does: nobody can then write behind it, until --repair completes it.

[bold]Exit codes[/bold]  0 all is well, 1 something is wrong (it says what), 2 wrong usage.
""")

PROBE_TIMEOUT_SECONDS = 120


def register(app: typer.Typer) -> None:
    app.command(
        "doctor",
        help=HELP,
        short_help="Say what Nacre finds here; prove that a program's I/O would go through it.",
        context_settings={"allow_interspersed_args": False},
    )(doctor)


@dataclasses.dataclass
class Examination:
    """Findings, in the order in which they are printed."""

    console: Console
    problems: int = 0
    findings: list[dict] = dataclasses.field(default_factory=list)
    quiet: bool = False

    def say(self, state: str, subject: str, text: str, advice: str = "") -> None:
        """`state`: good, note, or bad."""
        self.findings.append({"state": state, "subject": subject, "text": text, "advice": advice})
        self.problems += state == "bad"
        if self.quiet:
            return
        mark, style = {"good": ("ok", "green"), "note": ("--", "yellow"), "bad": ("!!", "bold red")}[state]
        self.console.print(f"[{style}]{mark}[/]  {subject:<14}", end="")
        self.console.print(text, markup=False)
        if advice:
            self.console.print(f"{'':18}{advice}", markup=False)


def doctor(
    command: list[str] = typer.Argument(
        None, metavar="[COMMAND...]", help="What you would run; a -- before it is optional."
    ),
    directory: Path = typer.Option(
        None, "--directory", metavar="DIR", help="Where the program's files are to be; default: here."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    repair: bool = typer.Option(False, "--repair", help="Complete the layout of a file."),
) -> None:
    examination = Examination(Console(highlight=False, soft_wrap=True), quiet=as_json)
    files = [word for word in command or [] if _is_plain_file(word)]
    if files and files == command:
        for path in files:
            _examine_layout(examination, path, repair)
    elif repair:
        others = [word for word in command or [] if not _is_plain_file(word)]
        what = f"{others[0]} is no file that can be repaired" if others else "there is nothing to repair"
        raise UserError(what, "Name files: nacre doctor --repair FILE...")
    else:
        _examine_all(examination, list(command or []), (directory or Path.cwd()).absolute())
    if as_json:
        print(json.dumps(examination.findings, indent=2))
    if examination.problems:
        raise typer.Exit(EXIT_PROBLEM)


def _is_plain_file(word: str) -> bool:
    """Rather than a program."""
    return os.path.isfile(word) and not os.access(word, os.X_OK)


def _examine_layout(examination: Examination, path: str, repair: bool) -> None:
    try:
        rest = library.layout_rest(os.getxattr(path, XATTR))
    except OSError as error:
        examination.say("note", "layout", f"{path}: {error.strerror}: not on Lustre, or without a layout yet")
        return
    except ValueError as error:
        examination.say("bad", "layout", f"{path}: {error}")
        return
    if not rest:
        examination.say("good", "layout", f"{path}: reaches to the end of the file")
        return
    trouble, advice = "writes behind it fail (ENODATA)", f"nacre doctor --repair {shlex.quote(path)}"
    if repair:
        try:
            os.setxattr(path, f"{XATTR}.add", rest)
        except OSError as error:
            trouble, advice = f"it cannot be completed: {error.strerror}", "Have the file's owner repair it."
        else:
            examination.say("good", "layout", f"{path}: was not whole, and is now")
            return
    examination.say("bad", "layout", f"{path}: ends before the file may: {trouble}", advice)


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
    examination.say("good", "Nacre", f"{library.version()} in {library.directory()}")
    for abi in library.ABIS:
        if abi in abis:
            examination.say("good", "library", f"{library.library_name(abi)}, for {library.ABI_NAMES[abi]} ABI")
        else:
            examination.say(
                "note", "library", f"none for {library.ABI_NAMES[abi]} ABI: no mpi.h of it was there to build with"
            )
    examination.say(
        "good",
        "machine",
        f"{platform.node()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    )


def _examine_directory(examination: Examination, directory: Path) -> None:
    if not directory.is_dir():
        examination.say("bad", "directory", f"{directory} does not exist", "Make it, or give another with --directory.")
        return
    found = file_system.of(directory)
    if not os.access(directory, os.W_OK):
        examination.say("bad", "directory", f"{directory} is not writable", "Give one with --directory that is.")
    examination.say(*file_system.judgement(found, directory))


def _examine_environment(examination: Examination) -> None:
    variables = {name: value for name, value in sorted(os.environ.items()) if name.startswith("NACRE_")}
    variables.pop("NACRE_LIBRARY_DIR", None)
    for name, value in variables.items():
        examination.say("note" if name == settings.DISABLE else "good", "environment", f"{name}={value}")
    report = os.environ.get(settings.REPORT, "")
    why = settings.why_unwritable(report) if report else ""
    if why:
        examination.say(
            "bad", "environment", f"{settings.REPORT}={report}: the report cannot be written: {why}",
            "Name a file in a directory that exists and that you may write.",
        )  # fmt: skip
    if os.environ.get(launchers.PRELOAD):
        examination.say(
            "note", "environment", f"{launchers.PRELOAD}={os.environ[launchers.PRELOAD]}: kept, before Nacre"
        )
    known = {entry["name"] for entry in library.hints()}
    for path in settings.config_files(os.environ):
        if not path.exists():
            examination.say("good", "configuration", f"{path}: none")
            continue
        problem = settings.config_problem(path, known)
        if problem is None:
            examination.say("good", "configuration", f"{path}: readable, its hints exist")
        else:
            examination.say(
                "bad", "configuration", f"{path}: {problem}", "Correct it: opening a file fails until then."
            )


def _examine_default_launcher(examination: Examination, directory: Path) -> None:
    found = shutil.which("mpiexec") or shutil.which("mpirun") or shutil.which("srun")
    if found is None:
        examination.say(
            "note",
            "launcher",
            "no mpiexec, mpirun or srun on PATH",
            "Load your MPI's module, or give the command: nacre doctor -- COMMAND",
        )
        return
    started = launchers.recognise(found)
    _say_launcher(examination, started)
    mpi = _library_beside(Path(os.path.realpath(found)))
    if mpi is None:
        examination.say(
            "note",
            "proof",
            "which MPI library belongs to that launcher is not known",
            "Give a command: nacre doctor -- mpiexec -n 2 ./your-program",
        )
        return
    abi, path = mpi
    target = program.Program(None, "program", abi, path)
    options = started.launcher.doctor_options if started else ()
    _prove(examination, [found, "-n", "2", *options, "PROGRAM"], target, directory)


def _library_beside(executable: Path) -> tuple[str, str] | None:
    """The MPI library of the prefix that a launcher is in."""
    prefix = executable.parent.parent
    name = executable.name
    wanted = "openmpi" if name in ("orterun", "prterun", "prte") else "mpich" if "hydra" in name else None
    for folder in (prefix / "lib", prefix / "lib64", prefix / "lib" / f"{platform.machine()}-linux-gnu"):
        for path in sorted(folder.glob("libmpi*.so.*")):
            abi = program.abi_of_soname(path.name)
            if abi and abi != "mpiabi" and wanted in (None, abi) and path.name.count(".") == 2:
                return abi, str(path)
    return None


def _say_launcher(examination: Examination, started: launchers.FoundLauncher | None) -> None:
    if started is None:
        examination.say("good", "launcher", "none: the program runs by itself, or is a script that starts others")
    else:
        version = f" {started.version}" if started.version else ""
        examination.say("good", "launcher", f"{started.path}: {started.launcher.title}{version}")


def _examine_command(examination: Examination, command: list[str], directory: Path) -> None:
    preload = library.preload_path(None)
    launch = launchers.prepare(command, {}, preload, os.environ)
    _say_launcher(examination, launch.found)
    for words in launch.programs:
        target = program.inspect(words)
        _say_program(examination, words, target)
        _say_mismatch(examination, launch.found, target)
    at, _ = launchers.find_launcher(command)
    examination.say("good", "command", as_shell(launch, dict(os.environ)))
    _prove(examination, command[at:], program.inspect(launch.programs[0]), directory)


def _say_program(examination: Examination, words: list[str], target: program.Program) -> None:
    name = str(target.path or (words[0] if words else "?"))
    if target.abi is None:
        bad = target.kind == "missing" or "static" in target.note
        examination.say("bad" if bad else "note", "program", f"{name}: {target.note}")
        return
    where = f", {target.library}" if target.library else ""
    note = f" ({target.note})" if target.note else ""
    examination.say("good", "program", f"{name}: {library.ABI_NAMES[target.abi]} ABI{where}{note}")
    if target.abi not in library.built_abis():
        examination.say(
            "bad",
            "library",
            f"Nacre was built without {library.library_name(target.abi)}, which this program needs",
            "Build it again with that MPI's mpicc on PATH.",
        )


def _say_mismatch(examination: Examination, started: launchers.FoundLauncher | None, target: program.Program) -> None:
    if started is None or None in (target.abi, started.launcher.abi):
        return
    if (started.launcher.abi == "openmpi") == (target.abi == "openmpi"):
        return
    examination.say(
        "bad",
        "launcher",
        f"{started.launcher.title} cannot start {library.ABI_NAMES[target.abi]} programs together: "
        "each process would be rank 0 of 1",
        "Use the mpiexec of the MPI that the program was built with.",
    )


# --- the proof -------------------------------------------------------------------------------------------------


def _prove(examination: Examination, command: list[str], target: program.Program, directory: Path) -> None:
    """Runs the probe where the program would run, and says what came of it."""
    if target.abi is None or (target.library is None and target.kind != "python"):
        examination.say(
            "note",
            "proof",
            "not possible: which MPI library the program uses is not known",
            "Give the command with the MPI program itself in it.",
        )
        return
    if not directory.is_dir() or not os.access(directory, os.W_OK):
        return
    handle, name = tempfile.mkstemp(prefix=".nacre-doctor-", dir=directory)
    os.close(handle)
    try:
        launch = _probe_launch(command, target, name)
        outcome, output = _run_probe(launch)
    finally:
        Path(name).unlink(missing_ok=True)
    _judge(examination, launch, outcome, output)


def _probe_launch(command: list[str], target: program.Program, name: str) -> launchers.Launch:
    probe = str(Path(__file__).resolve().parent.parent / "probe.py")
    if target.kind == "python" and target.path is not None:
        python = sys.executable if target.path.suffix == ".py" else str(target.path)
        words = [python, probe, name, "mpi4py"]
    else:
        words = [sys.executable, probe, name, str(target.abi), str(target.library)]
    probing = launchers.with_program(command, words)
    return launchers.prepare(probing, {}, library.preload_path(None), os.environ)


def _run_probe(launch: launchers.Launch) -> tuple[dict | None, str]:
    environment = dict(launch.environ)
    environment.pop("NACRE_LIBRARY_DIR", None)
    try:
        result = subprocess.run(
            launch.argv,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    match = re.search(r"NACRE-PROBE (\{.*\})", result.stdout)
    output = (result.stdout + result.stderr).strip()
    return (json.loads(match.group(1)) if match else None), output or f"exit code {result.returncode}, no output"


def _judge(examination: Examination, launch: launchers.Launch, outcome: dict | None, output: str) -> None:
    if outcome is None:
        tail = "\n".join(f"{'':18}{line}" for line in output.splitlines()[-12:])
        examination.say(
            "bad",
            "proof",
            f"the small program failed: {shlex.join(launch.argv)}\n{tail}",
            "Does the same launcher run `hostname`? Then report this with the lines above.",
        )
        return
    ranks = f"{outcome['ranks']} rank{'s' if outcome['ranks'] != 1 else ''}"
    if not outcome["right_bytes"]:
        examination.say(
            "bad",
            "proof",
            f"a file written by {ranks} was not what was written",
            "Report this; `NACRE_DISABLE=1` runs without Nacre.",
        )
    elif outcome["calls_served"] > 0:
        served = [Path(path).name for path in outcome["libraries"] if not path.endswith("/libnacre.so")]
        examination.say(
            "good",
            "proof",
            f"{ranks} wrote a file with the right bytes; {', '.join(served)} served "
            f"{outcome['calls_served']} MPI-IO calls of rank 0",
        )
    elif not outcome["libraries"]:
        examination.say(
            "bad",
            "proof",
            f"the preload did not reach the ranks: they saw LD_PRELOAD={outcome['preload']!r}",
            "Is the library's folder on a file system that the compute nodes have?",
        )
    elif os.environ.get(settings.DISABLE):
        examination.say("note", "proof", f"Nacre is there but served nothing: {settings.DISABLE} is set")
    else:
        examination.say(
            "bad",
            "proof",
            f"Nacre is loaded but served nothing. Loaded: {', '.join(outcome['libraries'])}",
            "Report this with the output of `nacre doctor --json`.",
        )
