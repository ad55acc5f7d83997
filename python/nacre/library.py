"""Finds Nacre's shared libraries, and calls the functions of nacre.h."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nacre.errors import UserError

ABIS = ("mpich", "openmpi", "mpiabi")
ABI_NAMES = {
    "mpich": "MPICH's (MPICH, Intel MPI, MVAPICH, Cray MPICH)",
    "openmpi": "Open MPI's",
    "mpiabi": "MPI-5's standard",
}
DISPATCHER = "libnacre.so"
POSIX = "libnacre_posix.so"
TESTBED_XATTR = "testbed.node"  # of files on a mount of nacre-testbed


def library_name(abi: str) -> str:
    return f"libnacre_{abi}.so"


@functools.cache
def directory() -> Path:
    """The directory of the libraries: NACRE_LIBRARY_DIR, or lib/ in the package (pip), or the directory that CMake
    recorded."""
    package = Path(__file__).resolve().parent
    candidates = [package / "lib"]
    recorded = package / "library_dir"
    if recorded.is_file():
        candidates.append((package / recorded.read_text().strip()).resolve())
    given = os.environ.get("NACRE_LIBRARY_DIR")
    if given:
        candidates = [Path(given).absolute()]
    for candidate in candidates:
        if (candidate / DISPATCHER).exists():
            return candidate
    looked = ", ".join(str(candidate) for candidate in candidates)
    raise UserError(
        f"{DISPATCHER} not found in {looked}",
        "Build it with `make` or `pip install .`, or set NACRE_LIBRARY_DIR to its directory.",
    )


def built_abis() -> list[str]:
    return [abi for abi in ABIS if (directory() / library_name(abi)).exists()]


def preload_path(abi: str | None, with_posix: bool = False) -> str:
    """The value for LD_PRELOAD: libnacre.so, which works with every MPI, or the library for `abi`; before it, if asked,
    the library that counts and buffers calls of POSIX."""
    names = [*([POSIX] if with_posix else []), library_name(abi) if abi else DISPATCHER]
    return ":".join(_preloaded(name) for name in names)


def posix_path() -> str:
    """The library that counts and buffers calls of POSIX alone, as a value for LD_PRELOAD."""
    return _preloaded(POSIX)


def _preloaded(name: str) -> str:
    path = directory() / name
    if not path.exists():
        raise UserError(
            f"{path} does not exist",
            f"This installation has libraries for: {', '.join(built_abis()) or 'no ABI'}. "
            "CMake builds the library for an ABI if it finds an mpi.h of that ABI.",
        )
    text = str(path)
    if any(character in text for character in ": ,"):
        raise UserError(
            f"cannot preload {text}: its path contains a space, a colon or a comma",
            "Install Nacre in another directory, or link to it from there and set NACRE_LIBRARY_DIR.",
        )
    return text


def _any_library() -> ctypes.CDLL:
    abis = built_abis()
    if not abis:
        raise UserError(
            f"{directory()} has no library for any ABI",
            "Install the headers of an MPI (libmpich-dev or libopenmpi-dev on Debian) and build again.",
        )
    return ctypes.CDLL(str(directory() / library_name(abis[0])))


def version() -> str:
    return _constant_text("nacre_version")


def commit() -> str:
    """The commit of the sources that the libraries are built from; "unknown" without git."""
    return _constant_text("nacre_commit")


def _constant_text(name: str) -> str:
    """What a function without parameters returns. libnacre.so has these functions itself, without a library of an
    ABI."""
    function = getattr(ctypes.CDLL(str(directory() / DISPATCHER)), name)
    function.restype = ctypes.c_char_p
    return function().decode()


def hints() -> list[dict]:
    """Every hint and variable, as the library describes them."""
    function = _any_library().nacre_hints_json
    function.restype = ctypes.c_char_p
    return json.loads(function().decode())


def hints_for(path: str) -> dict:
    """The hints for a file of this name with their sources, and notes; ValueError says which setting is wrong. Files on
    a testbed are seen as `nacre testbed run` makes the ranks see them."""
    if _is_on_testbed(path):
        os.environ.setdefault("NACRE_TESTBED", "1")
    return json.loads(_text(_any_library().nacre_hints_for, ctypes.c_char_p(os.fsencode(os.path.abspath(path)))))


def _is_on_testbed(path: str) -> bool:
    """Whether the file, or the directory of a new one, is on a mount of nacre-testbed."""
    for place in (path, os.path.dirname(os.path.abspath(path))):
        try:
            os.getxattr(place, TESTBED_XATTR)
        except OSError:
            continue
        return True
    return False


def check_buffering(rules: str) -> None:
    """ValueError says what is wrong with a value of NACRE_IOBUF."""
    function = ctypes.CDLL(str(directory() / POSIX)).nacre_posix_check_rules
    function.restype = ctypes.c_size_t
    text = ctypes.create_string_buffer(1 << 10)
    if function(ctypes.c_char_p(os.fsencode(rules)), text, ctypes.c_size_t(len(text) - 1)):
        raise ValueError(text.value.decode(errors="replace"))


def check_settings(environ: Mapping[str, str]) -> None:
    """ValueError says which hint, variable or configuration file of these variables the library refuses."""
    with _environment({name: value for name, value in environ.items() if name.isupper()}):
        hints_for("file")


@contextlib.contextmanager
def _environment(more: Mapping[str, str]) -> Iterator[None]:
    """The library reads these variables meanwhile."""
    before = dict(os.environ)
    os.environ.update(more)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def layout_yaml(lov: bytes) -> str:
    """The xattr lustre.lov as `lfs getstripe -y` prints it; ValueError says why the bytes are not a layout."""
    return _text(_any_library().nacre_layout_yaml, ctypes.c_char_p(lov), ctypes.c_size_t(len(lov)))


def layout_lov(options: str, osts: int) -> bytes:
    """The value of lustre.lov that requests a layout, from options of `lfs setstripe`, on a file system with so many
    OSTs; ValueError names the invalid option, its value and the valid ones."""
    arguments = ctypes.c_char_p(os.fsencode(options)), ctypes.c_int(osts)
    return bytes.fromhex(_text(_any_library().nacre_layout_lov, *arguments))


def layout_rest(lov: bytes) -> bytes:
    """The value of lustre.lov.add that extends a layout to the end of the file; empty if the layout covers it."""
    return bytes.fromhex(_text(_any_library().nacre_layout_rest, ctypes.c_char_p(lov), ctypes.c_size_t(len(lov))))


@dataclass(frozen=True)
class ExpectedFile:
    """A file of so many bytes, which so many ranks on so many nodes access, and which may lie on so many OSTs."""

    byte_count: int
    nodes: int
    ranks: int
    osts: int


def layout_advice(directory: str, file: ExpectedFile, machine: str = "") -> tuple[str, list[str]]:
    """Options of `lfs setstripe` for a file in `directory`, with reasons. `machine`: a machine file, or the name of
    one; empty: that of the directory. ValueError if an argument is invalid."""
    counts = (
        ctypes.c_longlong(file.byte_count),
        ctypes.c_int(file.nodes),
        ctypes.c_int(file.ranks),
        ctypes.c_int(file.osts),
    )
    with _environment({"NACRE_HINTS": f"*:nacre_machine={machine}"} if machine else {}):
        text = _text(_any_library().nacre_layout_advice, ctypes.c_char_p(os.fsencode(directory)), *counts)
    options, *reasons = text.splitlines()
    return options, reasons


def _text(function: Callable[..., int], *arguments: object) -> str:
    """The text that a function of nacre.h writes into a buffer; ValueError has the reason if it returns 0."""
    function.restype = ctypes.c_size_t
    room = 1 << 16
    while True:
        text = ctypes.create_string_buffer(room)
        size = function(*arguments, text, ctypes.c_size_t(room))
        if not size:
            raise ValueError(text.value.decode())
        if size <= room:
            return text.value.decode()
        room = size
