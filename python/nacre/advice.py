"""Parts of command lines that nacre prints for users to paste."""

from __future__ import annotations

import shlex
import shutil


def run_with(*hints: str, testbed: str = "") -> str:
    """The command that runs a job with hints, on the testbed in a directory."""
    words = " ".join(f"--hint {shlex.quote(hint)}" for hint in hints)
    command = f"nacre testbed run --at {shlex.quote(testbed)}" if testbed else "nacre run"
    return f"{command} {words} -- ..."


def has_lfs() -> bool:
    return shutil.which("lfs") is not None


def layout_command(options: str, directory: str) -> str:
    """The command that sets the layout of new files in a directory on Lustre, with what this machine has."""
    command = "lfs setstripe" if has_lfs() else "nacre stripe set"
    return f"{command} {options} {shlex.quote(directory)}"


def ranges(numbers: list[int]) -> str:
    """Sorted numbers as `lfs setstripe -o` takes them, for example 0-1,3-7."""
    text, begin = [], 0
    for at, number in enumerate(numbers, 1):
        if at == len(numbers) or numbers[at] != number + 1:
            first = numbers[begin]
            text.append(str(first) if first == number else f"{first}-{number}")
            begin = at
    return ",".join(text)
