#!/usr/bin/env python3
"""Programs that were built with the nacre.h of the last release run with this version: libabigail compares the types of
the functions of nacre.h with those in the baseline.

usage: public_abi_test.py --compiler CC --libraries DIRECTORY --header nacre.h --baseline nacre.abi [--write]

--write: writes the baseline, for a release (docs/releasing.md).
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FUNCTION = re.compile(r"^NACRE_API .*?(nacre_\w+)\(", re.MULTILINE)


def pointers_of(header: Path) -> str:
    """A C source with a variable of the type of each function, which refers to the function in the library."""
    names = FUNCTION.findall(header.read_text())
    assert len(names) > 5, f"{header}: only {names} found"
    return '#include "nacre.h"\n' + "".join(f"__typeof__(&{name}) pointer_to_{name} = {name};\n" for name in names)


def write_abi(arguments: argparse.Namespace, out: Path) -> None:
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "pointers.c").write_text(pointers_of(arguments.header))
        libraries = arguments.libraries.resolve()
        options = ["-g", "-shared", "-fPIC", "-I", str(arguments.header.resolve().parent)]
        links = ["-L", str(libraries), "-lnacre", "-Wl,-z,defs"]
        for command in (
            [arguments.compiler, *options, "pointers.c", *links, "-o", "pointers.so"],
            ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "pointers.so"],
        ):
            result = subprocess.run(command, cwd=directory, stdout=subprocess.PIPE, text=True, check=True)
    out.write_text(result.stdout)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="cc")
    for option in ("--libraries", "--header", "--baseline"):
        parser.add_argument(option, type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.write:
        write_abi(arguments, arguments.baseline)
        return 0
    with tempfile.TemporaryDirectory() as directory:
        now = Path(directory) / "now.abi"
        write_abi(arguments, now)
        status = subprocess.run(
            ["abidiff", "--no-added-syms", str(arguments.baseline), str(now)], check=False
        ).returncode
    if status:
        print(f"FAILED: functions of nacre.h differ from those in {arguments.baseline} (status {status} of abidiff)")
        return 1
    print("the functions of the baseline are unchanged")
    return 0


if __name__ == "__main__":
    sys.exit(main())
