#!/usr/bin/env python3
"""The names that Nacre's shared libraries export and need, against every mpi.h.

usage: exports_test.py --libraries DIRECTORY --public-header nacre.h --table table.toml
                       --mpi NAME=mpich|openmpi|mpiabi=COMPILER ...

COMPILER is that MPI's wrapper for C.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

SYSTEM_LIBRARIES = re.compile(r"(libc|libm|libpthread|librt|libdl|ld-linux[\w-]*)\.so\.\d+")
MPI_SYMBOL = re.compile(r"(P?MPIX?_|MPI[RDI]+_|[op]mpi_|ompi_|opal_)")
# All that may go out besides MPI_File_* and nacre_*.
OTHER_NAMES = re.compile(
    r"MPI_(Register_datarep(_c)?|Error_string|Finalize|(Wait|Test)(all|any|some)?|Request_get_status"
    r"|Probe|Mprobe|Iprobe|Improbe|(Recv|Send|Ssend|Rsend|Mrecv|Sendrecv(_replace)?))"
)


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Library:
    """What the linker says of a shared library."""

    def __init__(self, path: Path):
        self.name = path.name
        rows = [line.split() for line in output_of("nm", "-D", "--defined-only", str(path)).splitlines()]
        self.addresses = {name.split("@")[0]: address for address, _, name in rows}
        self.undefined = [
            line.split()[-1] for line in output_of("nm", "-D", "--undefined-only", str(path)).splitlines()
        ]
        dynamic = output_of("readelf", "-dW", str(path))
        self.needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
        self.soname = re.findall(r"\(SONAME\).*\[(.*)\]", dynamic)


def loaded_path(library: Path, needed: str) -> Path:
    """The path from which the loader loads a library that `library` needs."""
    return Path(re.search(rf"{re.escape(needed)} => (\S+)", output_of("ldd", str(library)))[1])


class Checks:
    def __init__(self):
        self.count = 0
        self.failures = 0

    def expect_none(self, what: str, offenders) -> None:
        self.count += 1
        offenders = sorted(offenders)
        if offenders:
            self.failures += 1
            print(f"FAILED: {what}: {', '.join(offenders)}")


def declared_names(compiler: str) -> set[str]:
    """The functions that an mpi.h declares."""
    text = output_of(compiler, "-E", "-P", "-include", "mpi.h", "-x", "c", "/dev/null")
    return set(re.findall(r"\b(P?MPI_\w+)\s*\(", text))


def is_io(name: str) -> bool:
    return re.match(r"P?MPI_(File_|Register_datarep)", name) is not None


def macros_of(compiler: str) -> str:
    return output_of(compiler, "-E", "-dM", "-include", "mpi.h", "-x", "c", "/dev/null")


def public_names(header: Path) -> set[str]:
    return set(re.findall(r"^NACRE_API .*?(nacre_\w+)\(", header.read_text(), re.MULTILINE))


def check_library(checks: Checks, library: Library, public: set[str]) -> None:
    names = set(library.addresses)
    mpi = {name for name in names if name.startswith("MPI_")}
    profiling = {name for name in names if name.startswith("PMPI_")}
    strangers = {
        name
        for name in names - profiling
        if not name.startswith(("MPI_File_", "nacre_")) and not OTHER_NAMES.fullmatch(name)
    }
    checks.expect_none(f"{library.name} exports strangers", strangers)
    checks.expect_none(f"{library.name} has only one of MPI_X and PMPI_X", {f"P{n}" for n in mpi} ^ profiling)
    checks.expect_none(f"{library.name} does not export", public - names)
    checks.expect_none(f"{library.name} needs", {n for n in library.needed if not SYSTEM_LIBRARIES.fullmatch(n)})
    checks.expect_none(f"{library.name} leaves undefined", {n for n in library.undefined if MPI_SYMBOL.match(n)})
    checks.expect_none(f"{library.name} is named", {n for n in library.soname if n != library.name})


def check_posix_library(checks: Checks, library: Library, c_library: Library) -> None:
    """libnacre_posix.so interposes functions of the C library and exports nothing else but its own nacre_posix_*."""
    strangers = {n for n in set(library.addresses) - set(c_library.addresses) if not n.startswith("nacre_posix_")}
    checks.expect_none(f"{library.name} exports strangers", strangers)
    checks.expect_none(f"{library.name} needs", set(library.needed) - {c_library.name})
    checks.expect_none(f"{library.name} leaves undefined", {n for n in library.undefined if MPI_SYMBOL.match(n)})


def check_handles(checks: Checks, compiler: str, table: dict) -> None:
    """Open MPI's predefined handles are found by the names of its data symbols."""
    rows = {}
    for handle_type, handles in table["handles"].items():
        for name, row in handles.items():
            rows[name] = (handle_type, row["openmpi"] if isinstance(row, dict) else row)
    declared = re.findall(r"#define MPI_(\w+) OMPI_PREDEFINED_GLOBAL\( *(MPI_\w+), *(\w+)\)", macros_of(compiler))
    types = {handle_type for handle_type, _ in rows.values()}
    checks.expect_none(
        f"{compiler}: data symbols other than the table's",
        {f"MPI_{n}: {s}" for n, t, s in declared if n in rows and rows[n] != (t, s)},
    )
    checks.expect_none(
        f"{compiler}: datatypes that the table lacks",
        {n for n, t, _ in declared if t == "MPI_Datatype" and t in types and n not in rows} - {"CXX_COMPLEX"},
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--libraries", type=Path, required=True)
    parser.add_argument("--public-header", type=Path, required=True)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--mpi", action="append", default=[])
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    table = tomllib.loads(arguments.table.read_text())
    public = public_names(arguments.public_header)
    libraries = {path.stem: Library(path) for path in arguments.libraries.glob("libnacre*.so")}
    posix = libraries.pop("libnacre_posix")
    checks = Checks()
    check_posix_library(checks, posix, Library(loaded_path(arguments.libraries / posix.name, "libc.so.6")))
    for library in libraries.values():
        check_library(checks, library, public)
    for name, library in libraries.items():
        if name == "libnacre":
            continue
        apart = {
            n for n in library.addresses if n.startswith("MPI_") and library.addresses[n] != library.addresses["P" + n]
        }
        checks.expect_none(f"{library.name}: MPI_X is not PMPI_X", apart)
        hidden = {n for n in library.addresses if n.startswith(("MPI_", "PMPI_"))} | public
        checks.expect_none(f"libnacre.so lacks, of {library.name}", hidden - set(libraries["libnacre"].addresses))
    for entry in arguments.mpi:
        name, abi, compiler = entry.split("=")
        all_declared = declared_names(compiler)
        declared = {n for n in all_declared if is_io(n)}
        print(f"{name}: {len(declared)} names declared")
        checks.expect_none(f"{name} declares too few names to be believed", {name} if len(declared) < 110 else set())
        checks.expect_none(
            f"libnacre_{abi}.so lacks, of {name}'s mpi.h", declared - set(libraries[f"libnacre_{abi}"].addresses)
        )
        # Whoever looks whether the MPI has one would find ours.
        checks.expect_none(
            f"libnacre.so has beside MPI-IO what {name}'s mpi.h has not",
            {n for n in libraries["libnacre"].addresses if "MPI_" in n and not is_io(n)} - all_declared,
        )
        if abi == "openmpi":
            check_handles(checks, compiler, table)
    print(f"{checks.count} checks, {checks.failures} failed")
    return 1 if checks.failures or len(libraries) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
