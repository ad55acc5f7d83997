#!/usr/bin/env python3
"""Generates C++ and assembly from table.toml.

usage: generate.py TABLE OUTPUT_DIR mpich|openmpi|mpiabi     files of the library for one ABI
       generate.py TABLE OUTPUT_DIR dispatcher               files of the dispatcher
"""

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ABIS = ("mpich", "openmpi", "mpiabi")
BANNER = "// Generated from table.toml by generate.py.\n// NOLINTBEGIN: names and parameters are MPI's\n"
BANNER_END = "// NOLINTEND\n"
PUBLIC = '[[gnu::visibility("default")]]'


@dataclass(frozen=True)
class Parameter:
    declaration: str
    name: str


@dataclass(frozen=True)
class Prototype:
    """A C function, named without "MPI_"."""

    returns: str
    name: str
    parameters: tuple[Parameter, ...]

    @property
    def declarations(self) -> str:
        return ", ".join(p.declaration for p in self.parameters)

    @property
    def arguments(self) -> str:
        return ", ".join(p.name for p in self.parameters)

    @property
    def mpi_name(self) -> str:
        return self.name if self.name.startswith(("MPIX_", "opal_")) else f"MPI_{self.name}"

    def declare(self, name: str) -> str:
        return f"{self.returns} {name}({self.declarations})"

    @property
    def large(self) -> bool:
        return self.name.endswith("_c")

    @property
    def ours(self) -> str:
        """Its counterpart in namespace nacre::mpi."""
        return self.name.lower()

    def pointer(self) -> str:
        return f"{self.returns} (*{self.name})({self.declarations})"


@dataclass(frozen=True)
class Access:
    """One data-access routine, in one direction and one width of count."""

    prototype: Prototype
    direction: str
    position: str
    collective: bool
    timing: str


def split_parameters(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def parse_parameter(text: str) -> Parameter:
    match = re.search(r"\(\*(\w+)\)", text) or re.search(r"(\w+)(\[\d*\])*$", text)
    if match is None:
        raise ValueError(f"no name in parameter {text!r}")
    return Parameter(text, match.group(1))


def parse(text: str) -> Prototype:
    match = re.fullmatch(r"(\w+(?: \*)?) ?(\w+)\((.*)\)", text)
    if match is None:
        raise ValueError(f"not a prototype: {text!r}")
    parameters = tuple(parse_parameter(p) for p in split_parameters(match.group(3)))
    return Prototype(match.group(1), match.group(2), parameters)


def parse_all(texts: list[str]) -> list[Prototype]:
    return [parse(text) for text in texts]


def access_parameters(direction: str, row: dict, count_type: str) -> list[str]:
    buffer = "const void *buf" if direction == "write" else "void *buf"
    timing = row.get("timing", "blocking")
    if timing == "split_end":
        return ["MPI_File fh", buffer, "MPI_Status *status"]
    parameters = ["MPI_File fh"]
    if row["position"] == "explicit_offset":
        parameters.append("MPI_Offset offset")
    parameters += [buffer, f"{count_type} count", "MPI_Datatype datatype"]
    if timing == "blocking":
        parameters.append("MPI_Status *status")
    elif timing == "nonblocking":
        parameters.append("MPI_Request *request")
    return parameters


def expand_access(rows: dict) -> list[Access]:
    accesses = []
    for read_name, row in rows.items():
        timing = row.get("timing", "blocking")
        for direction in ("read", "write"):
            name = "File_" + read_name.replace("read", direction, 1)
            widths = [("", "int")]
            if timing != "split_end":
                widths.append(("_c", "MPI_Count"))
            for suffix, count_type in widths:
                parameters = access_parameters(direction, row, count_type)
                prototype = Prototype("int", name + suffix, tuple(parse_parameter(p) for p in parameters))
                collective = row.get("collective", False)
                accesses.append(Access(prototype, direction, row["position"], collective, timing))
    return accesses


def both_names(prototypes: list[Prototype]) -> list[str]:
    return [prefix + p.mpi_name for p in prototypes for prefix in ("", "P")]


@dataclass(frozen=True)
class Handle:
    """A predefined handle; `mpich` is its value if older mpi.h of MPICH lack it."""

    type: str
    name: str
    openmpi: str
    mpich: int | None

    @property
    def member(self) -> str:
        return self.name.replace("2", "TWO", 1) if self.name[0] == "2" else self.name

    @property
    def null(self) -> str:
        return self.type.removeprefix("MPI_").upper() + "_NULL"


def expand_handles(tables: dict) -> list[Handle]:
    handles = []
    for handle_type, rows in tables.items():
        for name, row in rows.items():
            row = row if isinstance(row, dict) else {"openmpi": row}
            handles.append(Handle(handle_type, name, row["openmpi"], row.get("mpich")))
    return handles


class Table:
    """table.toml, expanded for one ABI."""

    def __init__(self, path: Path, abi: str):
        data = tomllib.loads(path.read_text())
        blocking = data["blocking"]
        self.abi = abi
        self.accesses = expand_access(data["access"])
        self.file = parse_all(data["file"]["prototypes"])
        self.file_optional = parse_all(data["file"]["optional"])
        self.served = parse_all(data["served"]["prototypes"])
        self.served_optional = parse_all(data["served"]["optional"])
        # MPI_Fint is not part of the standard ABI.
        if abi != "mpiabi":
            self.served_optional += parse_all(data["served"]["fortran"])
        self.completion = parse_all(data["completion"]["prototypes"])
        self.simple_blocking = parse_all(blocking["prototypes"])
        self.exchanges = parse_all(blocking["exchanges"])
        self.twins = {parse(text): twin for twin, text in blocking["twins"].items()}
        self.public = data["public"]["names"]
        self.native = parse_all(data["native"]["prototypes"])
        self.native_optional = parse_all(data["native"]["optional"])
        self.extensions = parse_all(data["native"]["extensions"])
        self.handles = expand_handles(data["handles"])

    @property
    def blocking(self) -> list[Prototype]:
        return self.simple_blocking + self.exchanges + list(self.twins)

    @property
    def entry_points(self) -> list[Prototype]:
        files = [a.prototype for a in self.accesses] + self.file + self.file_optional
        return files + self.served + self.served_optional + self.completion + self.blocking

    @property
    def required(self) -> list[Prototype]:
        """The functions that an MPI must have."""
        classic = [a.prototype for a in self.accesses if not a.prototype.large]
        return self.native + classic + self.file + self.served + self.completion + self.blocking

    @property
    def optional(self) -> list[Prototype]:
        large = [a.prototype for a in self.accesses if a.prototype.large]
        return self.native_optional + large + self.file_optional + self.served_optional

    def exported_names(self) -> list[str]:
        return both_names(self.entry_points)


def native_header(table: Table) -> str:
    lines = ["  // Functions that every MPI has."]
    lines += [f"  {p.pointer()};" for p in table.required]
    lines.append("  // Functions that are null where the MPI has none.")
    lines += [f"  {p.pointer()};" for p in table.optional + table.extensions]
    lines.append("  // Predefined handles.")
    lines += [f"  {h.type} {h.member};" for h in table.handles]
    body = "\n".join(lines)
    return (
        f"{BANNER}#ifndef NACRE_MPI_ABI_NATIVE_GEN_H_\n#define NACRE_MPI_ABI_NATIVE_GEN_H_\n\n"
        f"namespace nacre::mpi {{\n\nstruct Native {{\n{body}\n}};\n\n}}  // namespace nacre::mpi\n\n"
        "#endif\n"
    )


def stand_in(prototype: Prototype) -> str:
    value = "MPI_ERR_INTERN" if prototype.returns == "int" else f"{prototype.returns}{{}}"
    types = ", ".join(re.sub(rf"\b{p.name}\b(?=$|\[|\))", "", p.declaration) for p in prototype.parameters)
    return f"  table.{prototype.name} = []({types}) -> {prototype.returns} {{ return {value}; }};"


def handle_value(handle: Handle, abi: str) -> list[str]:
    target = f"  table.{handle.member} = "
    null = f"table.{handle.null}"
    if abi == "openmpi":
        if handle.name.endswith("_NULL"):
            null = "{}"
        found = f'find(context, "{handle.openmpi}")'
        return [f"{target}handle_at<{handle.type}>({found}, {null});"]
    macro = f"MPI_{handle.name}"
    if abi == "mpich" and handle.mpich is not None:
        value = f"static_cast<{handle.type}>({handle.mpich:#x})"
        return [
            f"#ifdef {macro}",
            f"  static_assert({macro} == MPI_DATATYPE_NULL || {macro} == {value});",
            "#endif",
            f"{target}has_mpi_5 ? {value} : {null};",
        ]
    if handle.name.endswith("_NULL"):
        return [f"{target}{macro};"]
    return [f"#ifdef {macro}", f"{target}{macro};", "#else", f"{target}{null};", "#endif"]


def native_fill(table: Table) -> str:
    declared = table.required + table.optional
    lookups = [f'  require(table.{p.name}, "P{p.mpi_name}");' for p in table.required]
    lookups += [f'  assign(table.{p.name}, find(context, "P{p.mpi_name}"));' for p in table.optional]
    # Not every extension has a profiling name.
    for p in table.extensions:
        for symbol in (p.name, f"P{p.name}"):
            lookups.append(f'  assign(table.{p.name}, find(context, "{symbol}"));')
    handles = [line for h in table.handles for line in handle_value(h, table.abi)]
    parts = {
        "checks": "\n".join(f"{p.declare('P' + p.mpi_name)};" for p in declared),
        "stand_ins": "\n".join(stand_in(p) for p in table.required),
        "lookups": "\n".join(lookups),
        "handles": "\n".join(handles),
        "banner": BANNER,
    }
    return NATIVE_FILL.format(**parts)


NATIVE_FILL = """{banner}#ifndef NACRE_MPI_ABI_NATIVE_FILL_GEN_H_
#define NACRE_MPI_ABI_NATIVE_FILL_GEN_H_

#include "mpi/abi/native.h"

// Declared again as the table has them: a prototype that differs from mpi.h's does not compile.
extern "C" {{
{checks}
}}

namespace nacre::mpi {{

/// The address of `symbol` in what `context` stands for, or null.
using FindSymbol = void* (*)(const void* context, const char* symbol);

template <class Function>
bool assign(Function*& member, void* address) {{
  if (address != nullptr) member = reinterpret_cast<Function*>(address);
  return address != nullptr;
}}

template <class Handle>
[[maybe_unused]] Handle handle_at(void* address, Handle otherwise) {{
  return address == nullptr ? otherwise : static_cast<Handle>(address);
}}

/// Sets every required function to one that returns MPI_ERR_INTERN.
inline void fill_missing_functions(Native& table) {{
{stand_ins}
}}

/// Members whose symbol is not found keep their value. Returns the first symbol of a required function
/// that is not found, or null.
inline const char* fill_functions(Native& table, FindSymbol find, const void* context) {{
  const char* missing = nullptr;
  const auto require = [&](auto& member, const char* symbol) {{
    if (!assign(member, find(context, symbol)) && missing == nullptr) missing = symbol;
  }};
{lookups}
  return missing;
}}

/// `has_mpi_5`: the MPI implements MPI-5.0, and so the datatypes that came with it.
inline void fill_handles(Native& table, [[maybe_unused]] FindSymbol find,
                         [[maybe_unused]] const void* context, [[maybe_unused]] bool has_mpi_5) {{
{handles}
}}

}}  // namespace nacre::mpi

#endif
"""


def entry_point(prototype: Prototype, body: list[str]) -> str:
    name = prototype.mpi_name
    lines = "\n".join(f"  {line}" for line in body)
    return (
        f"{PUBLIC} {prototype.declare(name)} {{\n{lines}\n}}\n"
        f'[[gnu::visibility("default"), gnu::alias("{name}")]] {prototype.declare("P" + name)};\n'
    )


def call(callee: str, *arguments: str) -> str:
    return f"{callee}({', '.join(a for a in arguments if a)})"


def ours_first(handle: str, ours: str) -> list[str]:
    """Passes the call to Nacre, or refuses it, if the handle is Nacre's."""
    return [
        f"if (File* file = find_file({handle})) {{",
        "  count_served_call();",
        f"  return {ours};",
        "}",
        f"if (is_closed({handle})) return refuse_closed();",
    ]


def access_body(access: Access) -> list[str]:
    prototype = access.prototype
    names = [p.name for p in prototype.parameters]
    values = [name if name in names else "{}" for name in ("offset", "buf", "count", "datatype")]
    values += [name if name in names else "nullptr" for name in ("status", "request")]
    if access.direction == "write":
        values[1] = "const_cast<void*>(buf)"
    collective = "true" if access.collective else "false"
    which = (
        f"{{plan::Direction::{access.direction}, file::Position::{access.position}, "
        f"{collective}, Timing::{access.timing}}}"
    )
    native = call(f"native().{prototype.name}", prototype.arguments)
    body = ours_first("fh", f"access(*file, {which}, {{{', '.join(values)}}})")
    if not prototype.large:
        return body + [f"return {native};"]
    classic = [{"count": "n", "datatype": "type"}.get(name, name) for name in names]
    classic_call = call(f"native().{prototype.name.removesuffix('_c')}", *classic)
    return body + [
        f"if (native().{prototype.name} != nullptr) return {native};",
        "return forward_large(count, datatype,",
        f"    [&](int n, MPI_Datatype type) {{ return {classic_call}; }});",
    ]


def file_body(prototype: Prototype, optional: bool) -> list[str]:
    arguments = [p.name for p in prototype.parameters[1:]]
    # More than five parameters go as one struct.
    rest = f"{{{', '.join(arguments)}}}" if len(arguments) > 4 else ", ".join(arguments)
    ours = call(prototype.ours, "*file", rest)
    native = call(f"native().{prototype.name}", prototype.arguments)
    body = ours_first(prototype.parameters[0].name, ours)
    if optional:
        body.append(f"if (native().{prototype.name} != nullptr) return {native};")
        return body + [f"return {call('forward_' + prototype.ours, prototype.arguments)};"]
    return body + [f"return {native};"]


# Others pass through while no access is pending.
ALWAYS_INTERPOSED = {"Finalize"}


def interposed_body(prototype: Prototype, instead: str) -> list[str]:
    if prototype.name in ALWAYS_INTERPOSED:
        return [f"return {instead};"]
    native = call(f"native().{prototype.name}", prototype.arguments)
    return [f"if (!progress_needed()) [[likely]] return {native};", f"return {instead};"]


def twin_body(prototype: Prototype, twin: str) -> list[str]:
    names = [p.name for p in prototype.parameters]
    status = "status" if "status" in names else "MPI_STATUS_IGNORE"
    arguments = [name for name in names if name != "status"]
    native = call(f"native().{prototype.name}", prototype.arguments)
    return [
        f"if (!progress_needed()) [[likely]] return {native};",
        "MPI_Request request = native().REQUEST_NULL;",
        f"const int started = {call(f'native().{twin}', *arguments, '&request')};",
        f"return started == MPI_SUCCESS ? progress_finish(&request, {status}) : started;",
    ]


def exchange_body(prototype: Prototype) -> list[str]:
    names = [p.name for p in prototype.parameters]
    ours = "progress_" + prototype.ours
    if names[0] == "buf":
        send, receive = names[:5], names[:3] + names[5:7]
    else:
        send, receive = [f"const_cast<void*>({names[0]})"] + names[1:5], names[5:10]
    messages = [f"Message{{{', '.join(m)}}}" for m in (send, receive)]
    return interposed_body(prototype, call(ours, *messages, *names[-2:]))


def entry_points_source(table: Table) -> str:
    points = [entry_point(a.prototype, access_body(a)) for a in table.accesses]
    points += [entry_point(p, file_body(p, False)) for p in table.file]
    points += [entry_point(p, file_body(p, True)) for p in table.file_optional]
    for p in table.served + table.served_optional:
        points.append(entry_point(p, [f"return nacre::mpi::{call(p.ours, p.arguments)};"]))
    for p in table.completion + table.simple_blocking:
        instead = call(f"progress_{p.ours}", p.arguments)
        points.append(entry_point(p, interposed_body(p, instead)))
    points += [entry_point(p, exchange_body(p)) for p in table.exchanges]
    points += [entry_point(p, twin_body(p, twin)) for p, twin in table.twins.items()]
    body = "\n".join(points)
    headers = ("abi/native", "calls/calls", "calls/forward", "calls/progress_calls", "calls/served_calls")
    includes = "\n".join(f'#include "mpi/{header}.h"' for header in headers)
    return f'{BANNER}{includes}\n\nusing namespace nacre;\nusing namespace nacre::mpi;\n\nextern "C" {{\n\n{body}\n}}\n'


def version_script(names: list[str]) -> str:
    lines = "".join(f"    {name};\n" for name in sorted(names) + ["nacre_*"])
    return f"{{\n  global:\n{lines}  local:\n    *;\n}};\n"


def dispatched_names(path: Path) -> dict[str, str]:
    """Every name of every library with its kind, in the order of the slots."""
    kinds = {}
    for table in (Table(path, abi) for abi in ABIS):
        kinds |= dict.fromkeys(both_names(table.entry_points), "served")
        kinds |= dict.fromkeys(table.public, "own")
    return kinds


def dispatcher_names(kinds: dict[str, str]) -> str:
    rows = "".join(f'    {{"{name}", Kind::{kind}}},\n' for name, kind in kinds.items())
    return (
        f'{BANNER}#include "mpi/abi/dispatcher.h"\n\nnamespace nacre::mpi {{\n\n'
        f"extern const Dispatched dispatched_names[] = {{\n{rows}}};\n\n}}  // namespace nacre::mpi\n"
    )


def dispatcher_entries(kinds: dict[str, str]) -> str:
    entries = "".join(f"ENTRY {name}, {index}\n" for index, name in enumerate(kinds))
    slots = "".join(f"  .quad .Lresolve_{index}\n" for index in range(len(kinds)))
    return f"/* Generated from table.toml by generate.py. */\n{entries}\nSLOTS\n{slots}"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + BANNER_END if text.startswith(BANNER) else text)


def main(arguments: list[str]) -> int:
    if len(arguments) != 3 or arguments[2] not in (*ABIS, "dispatcher"):
        print(__doc__, file=sys.stderr)
        return 2
    path, share = Path(arguments[0]), arguments[2]
    output = Path(arguments[1]) / "mpi" / "abi"
    if share == "dispatcher":
        kinds = dispatched_names(path)
        write(output / "dispatcher_names.gen.cc", dispatcher_names(kinds))
        write(output / "dispatcher_entries.gen.inc", dispatcher_entries(kinds))
        write(output / "exports.map", version_script(list(kinds)))
        return 0
    table = Table(path, share)
    write(output / "native.gen.h", native_header(table))
    write(output / "native_fill.gen.h", native_fill(table))
    write(output / "entry_points.gen.cc", entry_points_source(table))
    write(output / "exports.map", version_script(table.exported_names()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
