"""Texts as they are shown: help, amounts, times."""

from __future__ import annotations

import re


def unwrapped(text: str) -> str:
    """Each paragraph on one line, so that it is wrapped to the terminal's width; indented ones are kept."""
    paragraphs = re.split(r"\n{2,}", text.strip())
    return "\n\n".join(p if p.startswith(" ") else " ".join(p.split("\n")) for p in paragraphs)


def amount(byte_count: float) -> str:
    """`byte_count` in the unit that suits it."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(byte_count) < 1024 or unit == "TiB":
            break
        byte_count /= 1024
    return f"{byte_count:.0f} {unit}" if byte_count == int(byte_count) else f"{byte_count:.1f} {unit}"


def duration(seconds: float) -> str:
    """`seconds` in the unit that suits them."""
    if seconds == 0:
        return "0"
    for unit, length in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}" if seconds < 1000 else f"{seconds:.0f} s"
    return f"{seconds / 1e-9:.0f} ns"


def plural(count: int, one: str) -> str:
    return f"{count:,} {one}" if count == 1 else f"{count:,} {one}s"
