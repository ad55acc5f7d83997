#!/usr/bin/env python3
"""Writes machine files as a C++ table of their texts.

usage: generate.py OUTPUT FILE...
"""

import sys
from pathlib import Path


def row(path: Path) -> str:
    return f'    {{"{path.stem}", R"toml({path.read_text()})toml"}},\n'


def source(paths: list[Path]) -> str:
    rows = "".join(row(path) for path in paths)
    return f"""// Generated from machine files by generate.py.
#include "machine/machine_file.h"

namespace nacre::machine {{
namespace {{

constexpr ShippedMachine shipped[] = {{
{rows}}};

}}  // namespace

std::span<const ShippedMachine> shipped_machines() {{ return shipped; }}

}}  // namespace nacre::machine
"""


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    output = Path(arguments[0])
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(source([Path(argument) for argument in arguments[1:]]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
