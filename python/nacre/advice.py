"""Parts of command lines that nacre prints for users to paste."""

from __future__ import annotations

import shlex


def run_with(*hints: str) -> str:
    """The command that runs a job with hints."""
    return f"nacre run {' '.join(f'--hint {shlex.quote(hint)}' for hint in hints)} -- ..."


def ranges(numbers: list[int]) -> str:
    """Sorted numbers as `lfs setstripe -o` takes them, for example 0-1,3-7."""
    text, begin = [], 0
    for at, number in enumerate(numbers, 1):
        if at == len(numbers) or numbers[at] != number + 1:
            first = numbers[begin]
            text.append(str(first) if first == number else f"{first}-{number}")
            begin = at
    return ",".join(text)
