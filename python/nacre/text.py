"""Formats and parses help texts, sizes and times."""

from __future__ import annotations

import difflib
import re
from fractions import Fraction


def unwrapped(text: str) -> str:
    """Joins the lines of each paragraph, so that typer wraps it to the width of the terminal. Keeps indented
    paragraphs."""
    paragraphs = re.split(r"\n{2,}", text.strip())
    return "\n\n".join(p if p.startswith(" ") else " ".join(p.split("\n")) for p in paragraphs)


def parse_bytes(text: str) -> int:
    """Parses a number of bytes, with an optional suffix k, m, g or t (powers of 1024), as in 1.5g. ValueError if it is
    invalid or no whole number of bytes."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?", text.lower())
    count = Fraction(found[1]) * (1 << 10 * " kmgt".index(found[2] or " ")) if found else None
    byte_count = int(count) if count is not None and count.denominator == 1 else None
    if byte_count is None or byte_count >= 1 << 63:
        raise ValueError(f'"{text}" is not a number of bytes')
    return byte_count


def amount(byte_count: float) -> str:
    """`byte_count` with a suitable unit, for example "1.5 MiB"."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(byte_count) < 1024 or unit == "TiB":
            break
        byte_count /= 1024
    return f"{byte_count:.0f} {unit}" if byte_count == int(byte_count) else f"{byte_count:.1f} {unit}"


def duration(seconds: float) -> str:
    """`seconds` with a suitable unit, for example "12 ms"."""
    if seconds == 0:
        return "0"
    seconds = float(f"{seconds:.3g}") if seconds < 1000 else seconds  # so that 0.9999 s are 1 s
    for unit, length in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}" if seconds < 999.5 else f"{seconds:.0f} s"
    return f"{seconds / 1e-9:.0f} ns"


def shortened(text: str, length: int) -> str:
    """`text`, or its beginning with an ellipsis if it is longer."""
    return text if len(text) <= length else f"{text[: length - 3]}..."


def near(word: str, names: list[str]) -> list[str]:
    """At most two names of which `word` may be a misspelling, the nearest first."""
    return difflib.get_close_matches(word.lower(), names, n=2, cutoff=0.8)


def plural(count: int, one: str) -> str:
    return f"{count:,} {one}" if count == 1 else f"{count:,} {one}s"
