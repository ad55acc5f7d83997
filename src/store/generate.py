#!/usr/bin/env python3
"""Writes file_systems.toml as a C++ table.

usage: generate.py TABLE OUTPUT
"""

import sys
import tomllib
from pathlib import Path

LOCKS = ("local_locks_options", "global_locks_options", "local_locks_settings")
TEXTS = ("machine", "flash_machine", *LOCKS, "locks_advice", "marker_attribute", "marker_setting")
REQUIRED = {"magics", "sharing"}
FLAGS = ("has_layouts", "keeps_written", "serial_writes", "stale_pages", "syncs_each_open", "local_inodes")
KEYS = {*REQUIRED, "mount_types", "by_mount_type", "store", *FLAGS, *TEXTS}
SHARINGS = ("local", "coherent", "cached")


def check(name: str, row: dict) -> None:
    if unknown := row.keys() - KEYS:
        raise ValueError(f"[{name}]: there is no key {', '.join(sorted(unknown))}; keys: {', '.join(sorted(KEYS))}")
    if missing := REQUIRED - row.keys():
        raise ValueError(f"[{name}]: add {', '.join(sorted(missing))}")
    if row["sharing"] not in SHARINGS:
        raise ValueError(f"[{name}]: sharing is {row['sharing']!r}; it takes {', '.join(SHARINGS)}")


def text_of(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "\\n".join(value)


def rows_of(name: str, row: dict) -> list[str]:
    """One row for each magic and, if by_mount_type, for each mount type."""
    check(name, row)
    fields = [f".sharing = Sharing::{row['sharing']}"]
    if "store" in row:
        fields.append(f".store = &only<{row['store'].title()}Store>")
    fields += [f".{flag} = true" for flag in FLAGS if row.get(flag)]
    fields += [f'.{key} = "{text_of(row[key])}"' for key in TEXTS if key in row]
    types = [f'.mount_type = "{kind}", ' for kind in row["mount_types"]] if row.get("by_mount_type") else [""]
    return [
        f'    {{.name = "{name}", .magic = {magic:#010x}, {mount_type}{", ".join(fields)}}},\n'
        for magic in row["magics"]
        for mount_type in types
    ]


def source(table: dict[str, dict]) -> str:
    stores = sorted({row["store"] for row in table.values() if "store" in row})
    includes = "".join(f'#include "store/{store}/{store}_store.h"\n' for store in stores)
    rows = "".join(line for name, row in table.items() for line in rows_of(name, row))
    return f"""// Generated from file_systems.toml by generate.py.
#include "store/file_system.h"
{includes}
namespace nacre::store {{
namespace {{

template <class Kind>
Store* only() {{
  static Kind store;
  return &store;
}}

constexpr FileSystem rows[] = {{
{rows}}};

}}  // namespace

std::span<const FileSystem> known_file_systems() {{ return rows; }}

}}  // namespace nacre::store
"""


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    output = Path(arguments[1])
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        output.write_text(source(tomllib.loads(Path(arguments[0]).read_text())))
    except ValueError as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
