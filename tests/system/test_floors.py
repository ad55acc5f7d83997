"""The house rules that a compiler does not hold: which floor may include what (docs/ARCHITECTURE.md)."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

FLOORS = ["base", "machine", "plan", "store", "collective", "file", "testing", "sim", "mpi", "posix"]
# Each floor uses only the floors under it.
MAY_USE = {
    "base": set(),
    "machine": {"base"},
    "plan": {"base", "machine"},
    "store": {"base", "machine", "plan"},
    "collective": {"base", "machine", "plan", "store"},
    "file": {"base", "machine", "plan", "store", "collective"},
    "testing": {"base", "machine", "plan", "store", "collective"},
    "sim": {"base", "machine", "plan", "store", "collective", "file", "testing"},
    "mpi": {"base", "machine", "plan", "store", "collective", "file", "testing"},
    "posix": set(),
}
# System calls have their headers; <sys/types.h> and <unistd.h>'s constants are no exception.
SYSTEM_HEADER = re.compile(
    r"^(sys/\w+|unistd|fcntl|aio|liburing|linux/.*|poll|dirent|signal|sched|mntent|pwd|spawn|semaphore|ftw|glob)\.h$"
)
# base/helper_thread blocks signals and widens the binding of the threads that it starts: no I/O, but a system's.
# The types of stat(2) for what the model of Lustre says of an inode: no calls.
SYSTEM_HEADERS_ALLOWED = {
    "base/helper_thread.cc": {"sched.h", "signal.h"},
    "sim/files/namespace.h": {"sys/stat.h", "sys/types.h"},
}
TEXT_SUFFIXES = (".cc", ".h", ".c", ".py", ".toml", ".md", ".txt", ".cmake")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^">]+)[">]', re.MULTILINE)


def sources(source: Path) -> list[Path]:
    found = sorted(path for path in (source / "src").rglob("*") if path.suffix in (".cc", ".h", ".S"))
    assert len(found) > 20
    return found


def includes(path: Path) -> list[str]:
    return [name for _, name in INCLUDE.findall(path.read_text())]


def floor_of(path: Path, source: Path) -> str:
    return path.relative_to(source / "src").parts[0]


def test_each_floor_includes_only_lower_floors(source):
    wrong = []
    for path in sources(source):
        floor = floor_of(path, source)
        for name in includes(path):
            other = name.split("/")[0]
            if other in FLOORS and "/" in name and other != floor and other not in MAY_USE[floor]:
                wrong.append(f"{path.relative_to(source)} includes {name}")
    assert not wrong


def room_of(name: str) -> str | None:
    """FLOOR/ROOM of FLOOR/ROOM/file; None for a file that lies on its floor, outside the rooms."""
    parts = Path(name).parts
    return "/".join(parts[:2]) if len(parts) > 2 and parts[0] in FLOORS else None


def test_the_rooms_of_a_floor_have_an_order(source):
    """No two rooms include each other, directly or through a third: TopologicalSorter refuses a cycle."""
    uses: dict[str, set[str]] = {}
    for path in sources(source):
        room = room_of(str(path.relative_to(source / "src")))
        if room is None:
            continue
        others = {room_of(name) for name in includes(path)}
        uses.setdefault(room, set()).update(other for other in others if other not in (None, room))
    assert list(TopologicalSorter(uses).static_order())


def test_the_libraries_use_no_test_double_except_the_faults(source):
    """NACRE_TEST_FAULTS fails calls of the library that users run; all else in src/testing stays out of it."""
    wrong = [
        f"{path.relative_to(source)} includes {name}"
        for path in sources(source)
        if floor_of(path, source) not in ("testing", "sim")
        for name in includes(path)
        if name.startswith("testing/") and not name.startswith("testing/faults/")
    ]
    assert not wrong


def test_only_the_mpi_floor_includes_mpi_h(source):
    wrong = [
        str(path.relative_to(source))
        for path in sources(source)
        if floor_of(path, source) != "mpi" and any(Path(name).name in ("mpi.h", "mpi_abi.h") for name in includes(path))
    ]
    assert not wrong


def test_only_the_store_and_posix_floors_make_system_calls(source):
    wrong = []
    for path in sources(source):
        if floor_of(path, source) in ("store", "posix"):
            continue
        allowed = SYSTEM_HEADERS_ALLOWED.get(str(path.relative_to(source / "src")), set())
        wrong += [
            f"{path.relative_to(source)} includes {name}"
            for name in includes(path)
            if SYSTEM_HEADER.match(name) and name not in allowed
        ]
    assert not wrong


def test_the_planner_has_no_clock_no_threads_and_no_environment(source):
    forbidden = {"chrono", "thread", "mutex", "ctime", "time.h", "fstream", "iostream", "filesystem", "random"}
    wrong = []
    for path in sources(source):
        if floor_of(path, source) != "plan":
            continue
        wrong += [f"{path.relative_to(source)} includes {name}" for name in includes(path) if name in forbidden]
        if "getenv" in path.read_text():
            wrong.append(f"{path.relative_to(source)} reads the environment")
    assert not wrong


def test_headers_have_guards_named_by_their_path(source):
    wrong = []
    for path in sources(source):
        if path.suffix != ".h":
            continue
        name = "NACRE_" + re.sub(r"[/.]", "_", str(path.relative_to(source / "src"))).upper() + "_"
        if f"#ifndef {name}\n#define {name}\n" not in path.read_text():
            wrong.append(f"{path.relative_to(source)}: no guard {name}")
    assert not wrong


# Placeholders of a path are written in capitals (src/store/NAME) or in angle brackets.
NAMED_FILE = re.compile(
    r"(?<![\w/.<-])((?:src|tests|tools|testbed|python|docs|cmake|scripts|base|plan|store|collective|file|testing|sim|mpi|posix)"
    r"/[a-z0-9_/-]+\.(?:cc|h|py|toml))\b"
)


def test_files_that_documentation_and_comments_name_exist(source):
    """Regression: files moved to other rooms, and pages and comments went on naming the old place."""
    trees = ["src", "tests", "testbed", "tools", "python", "docs"]
    texts = [source / "README.md", source / "CONTRIBUTING.md"]
    texts += [path for tree in trees for path in (source / tree).rglob("*.*") if path.suffix in TEXT_SUFFIXES]
    wrong = []
    for path in texts:
        places = [source, source / "src", source / "tests", path.parent]
        for name in NAMED_FILE.findall(path.read_text()):
            if not any((place / name).is_file() for place in places):
                wrong.append(f"{path.relative_to(source)} names {name}, which does not exist")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("tree", ["src", "include", "tools", "python", "demo", "cmake", "scripts"])
def test_no_file_names_a_machine_or_a_registry(source, tree):
    """Paths of the machine it was written on, and hosts that packages come from, belong to no source."""
    wrong = []
    for path in (source / tree).rglob("*"):
        hidden = any(part.startswith((".", "__pycache__")) for part in path.relative_to(source).parts)
        if not path.is_file() or hidden:
            continue
        text = path.read_text(errors="replace")
        if re.search(r"(^|[\s\"'=])(/home/\w+/|/work/|/root/|/Users/)|(?<!from )pypi\.org|files\.pythonhosted", text):
            wrong.append(str(path.relative_to(source)))
    assert not wrong


def function_sizes(path: Path) -> list[tuple[str, int]]:
    """Name and lines of the functions that begin and end in the first column, as clang-format leaves them."""
    found = []
    begin, name = 0, ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if re.match(r"^[A-Za-z_].*\)( const| noexcept| override)* \{$", line):
            begin, name = number, line
        elif line == "}" and begin:
            found.append((name, number - begin + 1))
            begin = 0
    return found


def test_no_function_is_longer_than_seventy_lines(source):
    wrong = [
        f"{path.relative_to(source)}: {name}: {size} lines"
        for path in sources(source)
        for name, size in function_sizes(path)
        if size > 70
    ]
    assert not wrong
