"""Finds the kind and the MPI of a program without running it. For Python programs, imports mpi4py."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path


class Prefix:
    """A command that starts another program: `count` words stand before that program, not counting options and the
    values of options. `valued`: the options whose value is the next word."""

    def __init__(self, count: int, valued: str = ""):
        self.count = count
        self.valued = frozenset(valued.split())

    def program_of(self, words: list[str]) -> list[str]:
        """The words from the program on, of those that follow the command's name."""
        left = self.count
        with_options = True
        while words:
            word, *rest = words
            is_option = with_options and word.startswith("-")
            if is_option and word == "--":
                with_options = False
                words = rest
            elif is_option:
                words = rest[1:] if word in self.valued else rest
            elif "=" in word:
                words = rest
            elif left > 0:
                left -= 1
                words = rest
            else:
                break
        return words


_PREFIXES = {
    "env": Prefix(0, "-u --unset -C --chdir"),
    "nice": Prefix(0, "-n --adjustment"),
    "numactl": Prefix(
        0,
        "-i --interleave -w --weighted-interleave -p --preferred -P --preferred-many -m --membind -N --cpunodebind"
        " -C --physcpubind",
    ),
    "setarch": Prefix(1),
    "stdbuf": Prefix(0, "-i --input -o --output -e --error"),
    "taskset": Prefix(1),
    "time": Prefix(0, "-f --format -o --output"),
    "timeout": Prefix(1, "-k --kill-after -s --signal"),
}
_ABI_BY_SONAME = [
    (re.compile(r"^libmpi_abi\.so"), "mpiabi"),
    (re.compile(r"^libmpich(\w*)?\.so"), "mpich"),
    (re.compile(r"^libmpi\.so\.12\b"), "mpich"),
    (re.compile(r"^libmpi_(gnu|intel|cray|nvidia|amd|aocc)\w*\.so"), "mpich"),
    (re.compile(r"^libmpi\.so\.(1|20|40)\b"), "openmpi"),
    (re.compile(r"^libmpi_ibm\.so"), "openmpi"),
]
_MPI4PY_SCRIPT = """
import json, re
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
paths = {line.split(None, 5)[5].strip() for line in open("/proc/self/maps") if len(line.split(None, 5)) == 6}
libraries = sorted(path for path in paths if re.match(r"libmpi(_abi|ch|_gnu|_cray|_intel)?[._]", path.split("/")[-1]))
print("NACRE" + json.dumps({"mpi4py": mpi4py.__version__, "libraries": libraries}))
"""


@dataclasses.dataclass(frozen=True)
class Program:
    """A program. `abi` is None if it is unknown; `note` then says why."""

    path: Path | None
    kind: str  # "program", "python", "script", "missing"
    abi: str | None = None
    library: str | None = None  # path of the MPI library
    note: str = ""


def inspect(words: list[str]) -> Program:
    """The program that `words` starts."""
    words = without_prefixes(words)
    if not words:
        return Program(None, "missing", note="the command contains no program")
    found = shutil.which(words[0])
    if found is None:
        return Program(None, "missing", note=f"{words[0]} is not on this node; it may exist on the compute nodes")
    path = Path(found)
    if re.fullmatch(r"python[\d.]*", Path(os.path.realpath(path)).name):
        return _inspect_python(found)
    if not _first_bytes(path).startswith(b"\x7fELF"):
        interpreter = _interpreter(path)
        if interpreter and "python" in interpreter[-1]:
            return dataclasses.replace(_inspect_python(interpreter[-1]), path=path)
        return Program(path, "script", note="a script; Nacre finds the MPI of its programs when they run")
    return _inspect_elf(path)


def without_prefixes(words: list[str]) -> list[str]:
    """`words` without `env`, `timeout` and similar prefixes."""
    while words and (prefix := _PREFIXES.get(Path(words[0]).name)):
        words = prefix.program_of(words[1:])
    return words


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.readline(512)
    except OSError:
        return b""


def _interpreter(path: Path) -> list[str]:
    line = _first_bytes(path)
    return line[2:].decode(errors="replace").split() if line.startswith(b"#!") else []


def _inspect_python(python: str) -> Program:
    python = shutil.which(python) or python
    try:
        result = subprocess.run([python, "-c", _MPI4PY_SCRIPT], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Program(Path(python), "python", note=f"cannot run {python} to import mpi4py: {error}")
    match = re.search(r"^NACRE(\{.*\})$", result.stdout, re.MULTILINE)
    if match is None:
        last = (result.stderr.strip().splitlines() or ["no output"])[-1]
        return Program(Path(python), "python", note=f"mpi4py cannot be imported: {last}")
    found = json.loads(match.group(1))
    for library in found["libraries"]:
        abi = abi_of_soname(Path(library).name)
        if abi:
            return Program(Path(python), "python", abi, library, f"mpi4py {found['mpi4py']}")
    return Program(Path(python), "python", note=f"mpi4py {found['mpi4py']} loads no known MPI library")


def _inspect_elf(path: Path) -> Program:
    if shutil.which("ldd") is None:
        return Program(path, "program", note="its libraries are unknown: ldd is not on PATH")
    libraries = _libraries(path)
    if libraries is None:
        return Program(
            path, "program", note="statically linked, so nothing can be preloaded into it; link it dynamically"
        )
    for name, resolved in libraries.items():
        if abi_of_soname(name):
            note = "" if resolved else f"{name} is not found on this node; load its module"
            return Program(path, "program", abi_of_soname(name), resolved, note)
    return Program(
        path,
        "program",
        note="not linked with a known MPI library; Nacre finds the MPI that the program loads when it runs",
    )


def _libraries(path: Path) -> dict[str, str | None] | None:
    """The shared libraries that the dynamic linker loads, by soname; the path is None if one is not found. Returns None
    for a static program."""
    command, environment = ["ldd", str(path)], {**os.environ, "LC_ALL": "C"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    if result.returncode or "statically linked" in result.stdout:
        return None
    pairs = re.findall(r"^\s*(\S+) => (?:(/\S+)|not found)", result.stdout, re.MULTILINE)
    return {name: resolved or None for name, resolved in pairs}


def abi_of_soname(name: str) -> str | None:
    for pattern, abi in _ABI_BY_SONAME:
        if pattern.search(name):
            return abi
    return None


def library_beside(executable: Path) -> tuple[str, str] | None:
    """The ABI and path of the MPI library in the installation prefix of a launcher; None if there is none."""
    prefix = executable.parent.parent
    name = executable.name
    wanted = "openmpi" if name in ("orterun", "prterun", "prte") else "mpich" if "hydra" in name else None
    for folder in (prefix / "lib", prefix / "lib64", prefix / "lib" / f"{platform.machine()}-linux-gnu"):
        for path in sorted(folder.glob("libmpi*.so.*")):
            abi = abi_of_soname(path.name)
            if abi and abi != "mpiabi" and wanted in (None, abi) and path.name.count(".") == 2:
                return abi, str(path)
    return None
