"""Writes docs/hints.md: `build/bin/nacre hints --json | python3 scripts/hints_page.py > docs/hints.md`."""

from __future__ import annotations

import json
import sys
import textwrap

HEAD = """\
# Hints

After reading this page you know every hint that Nacre follows, what it does without the hint, and
how to set it. Most programs need none: set one if a report or `nacre explain` says so.

On a terminal, `nacre hints` prints the same list, `nacre hints striping` the hints with `striping`
in their names, and `nacre hints FILE` the hints that apply to a file.

<!-- scripts/hints_page.py writes this page from the table of the library, src/file/hints. -->

## How to set a hint

| in | for `cb_nodes` |
|---|---|
| the program | call `MPI_Info_set(info, "cb_nodes", "8")`, and pass `info` to `MPI_File_open` or `MPI_File_set_view` |
| the command | `nacre run --hint cb_nodes=8 ...`, or `--hint '*.nc:cb_nodes=8'` for some files |
| the environment | `NACRE_CB_NODES=8`, or `NACRE_HINTS='*.nc:cb_nodes=8'` for some files |
| a configuration file of the user or of the site | `cb_nodes = 8` below `[hints]`, or below `[files."*.nc"]` |

The environment variable of a hint is `NACRE_` and the name of the hint in capitals, without a
leading `nacre_`: `NACRE_ALGORITHM=direct` sets `nacre_algorithm`. `nacre doctor` and `nacre run`
name `NACRE_` variables that Nacre does not have.

HDF5, PnetCDF and netCDF pass on the `MPI_Info` that the program gives them. The program's
`MPI_Info` overrides the other places ([run.md](run.md#settings) has the whole order). Rank 0's
hints apply to all ranks. `MPI_File_get_info` returns the hints that apply, and the actual layout of
an open file on Lustre or CephFS. The report of a job says which hints had no effect.

The column *takes* names the values:

| takes | values |
|---|---|
| boolean | `true`, `enable`, `1` or `yes`; `false`, `disable`, `0` or `no` |
| bytes | a number of bytes, also with `k`, `m`, `g` or `t` (powers of 1024): `4m`, `1.5g` |
| count | a whole number |
| layout | options of `lfs setstripe` |
| groups | `automatic`, `each`, a grid such as `4x4`, or lists of ranks such as `0-3/4-7+9` |
| permissions | an octal number |
| text | any text |

The column *when* says whether `MPI_File_set_view` and `MPI_File_set_info` may change the hint of an
open file (*any time*), or `MPI_File_open` alone sets it (*open*).

[Words](algorithms/README.md#words) defines aggregator, round, file domain and plan;
[machine.md](machine.md) defines machine file and class.
"""

SECTIONS = {
    "Choice of the plan": [
        "nacre_algorithm", "nacre_machine", "nacre_learn", "nacre_groups", "nacre_saturation_bytes",
        "collective_buffering", "romio_cb_read", "romio_cb_write",
    ],
    "Aggregators and rounds": [
        "cb_nodes", "cb_buffer_size", "nacre_cycle_buffers", "nacre_io_threads", "nacre_pattern",
        "nacre_osts_per_aggregator", "nacre_ost_sharing",
    ],
    "Layout of new files": [
        "striping_factor", "striping_unit", "start_iodevice", "overstriping_ratio", "overstriping_factor",
        "nacre_pool", "nacre_layout", "nacre_choose_layout", "nacre_choose_layout_from", "file_perm",
    ],
    "Independent accesses": [
        "romio_ds_read", "romio_ds_write", "nacre_sole_writer", "ind_rd_buffer_size", "ind_wr_buffer_size",
        "direct_read", "direct_write",
    ],
    "Locks and coherence": ["nacre_write_locks", "cray_cb_write_lock_mode", "nacre_coherence"],
    "Nacre itself": ["nacre_enable", "nacre_report", "filename"],
}  # fmt: skip


def main() -> None:
    entries = json.load(sys.stdin)
    hints = {entry["name"]: entry for entry in entries if "kind" in entry}
    used = {name for name, hint in hints.items() if hint["used"]}
    listed = {name for names in SECTIONS.values() for name in names}
    if used != listed:
        sys.exit(f"put these hints into SECTIONS of {__file__}, or remove them: {', '.join(sorted(used ^ listed))}")
    print(HEAD)
    for title, names in SECTIONS.items():
        print(f"## {title}\n")
        print("| hint | takes | default | when | meaning |\n|---|---|---|---|---|")
        for name in names:
            print(row(hints[name]))
        print()
    ignored = [f"`{name}`" for name in hints if name not in used]
    print("## Hints without effect\n")
    text = "Nacre accepts these hints of other MPI-IO libraries, and `MPI_File_get_info` returns them"
    print(wrapped(f"{text}: {', '.join(ignored)}."))
    print("\n## Variables that set no single hint\n")
    print("| variable | default | meaning |\n|---|---|---|")
    for entry in entries:
        if "kind" not in entry:
            print(f"| `{entry['name']}` | {code(entry['default'])} | {cell(entry['meaning'])} |")


def row(hint: dict) -> str:
    takes = ", ".join(f"`{word}`" for word in hint["choices"].split("|")) if hint["choices"] else hint["kind"]
    when = "open" if hint["time"] == "open" else "any time"
    default = code(hint["default"])
    if hint["kind"] == "output":
        takes, default = "nothing", ""
    return f"| `{hint['name']}` | {takes} | {default} | {when} | {cell(hint['meaning'])} |"


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def wrapped(text: str) -> str:
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    main()
