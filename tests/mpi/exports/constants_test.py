#!/usr/bin/env python3
"""A library built with one version's mpi.h runs over another version of the same ABI: the numbers that are
compiled in must be the same in both, and statuses laid out alike.

usage: constants_test.py FIRST_COMPILER SECOND_COMPILER
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

# What the library compiles in. MPI_INTEGER16 and the like are looked up at run time.
FAMILIES = re.compile(
    r"MPI_(MODE|ERR|COMBINER|SEEK|ORDER|DISTRIBUTE|THREAD|MAX|COMM_TYPE|TYPECLASS)_\w+"
    r"|MPI_(SUCCESS|UNDEFINED|ANY_SOURCE|ANY_TAG|PROC_NULL|KEYVAL_INVALID|IDENT|CONGRUENT|SIMILAR|UNEQUAL"
    r"|DISPLACEMENT_CURRENT|TAG_UB|IO|HOST|ROOT|CART|GRAPH|DIST_GRAPH|BOTTOM|IN_PLACE|STATUS_IGNORE"
    r"|STATUSES_IGNORE|CONVERSION_FN_NULL)"
)
STATUS = """printf("sizeof MPI_Status %zu\\n", sizeof(MPI_Status));
printf("offset MPI_SOURCE %zu\\n", offsetof(MPI_Status, MPI_SOURCE));
printf("offset MPI_TAG %zu\\n", offsetof(MPI_Status, MPI_TAG));
printf("offset MPI_ERROR %zu\\n", offsetof(MPI_Status, MPI_ERROR));
"""
# Upper limits may grow: buffers are sized by the larger.
MAY_DIFFER = {"MPI_MAX_LIBRARY_VERSION_STRING", "MPI_ERR_LASTCODE"}


def preprocess(compiler: str, *options: str) -> str:
    command = [compiler, "-E", *options, "-include", "mpi.h", "-x", "c", "/dev/null"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def constants(compiler: str) -> set[str]:
    names = set(re.findall(r"^#define (MPI_[A-Z0-9_]+) ", preprocess(compiler, "-dM"), re.MULTILINE))
    for body in re.findall(r"enum[^{;]*\{([^}]*)\}", preprocess(compiler, "-P")):
        names |= set(re.findall(r"\bMPI_[A-Z0-9_]+", body))
    return {name for name in names if FAMILIES.fullmatch(name)}


def values(compiler: str, names: list[str], directory: Path) -> dict[str, str]:
    lines = "".join(f'printf("{name} %lld\\n", (long long)({name}));\n' for name in names)
    source = directory / "values.c"
    source.write_text(
        f"#include <mpi.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {{\n{lines}{STATUS}return 0;\n}}\n"
    )
    program = directory / "values"
    subprocess.run([compiler, "-w", "-o", str(program), str(source)], check=True)
    text = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    return dict(line.rsplit(" ", 1) for line in text.splitlines())


def main() -> int:
    first, second = sys.argv[1:]
    names = sorted(constants(first) & constants(second))
    with tempfile.TemporaryDirectory() as directory:
        found = [values(compiler, names, Path(directory)) for compiler in (first, second)]
    differing = [n for n in found[0] if found[0][n] != found[1][n] and n not in MAY_DIFFER]
    for name in differing:
        print(f"FAILED: {name} is {found[0][name]} in {first} and {found[1][name]} in {second}")
    print(f"{len(found[0])} constants compared, {len(differing)} differ")
    return 1 if differing or len(names) < 80 else 0


if __name__ == "__main__":
    sys.exit(main())
