"""Tables of text, and the format of figures in them."""

from __future__ import annotations

from nacre.text import amount

from .units import MIB


def table(header: list[str], rows: list[list[str]]) -> str:
    """Aligns the first column to the left and all other columns to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = []
    for row in [header, *rows]:
        cells = [text.rjust(width) for text, width in zip(row, widths, strict=True)]
        cells[0] = row[0].ljust(widths[0])
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def mib(value: float | None) -> str:
    return "-" if value is None else f"{value / MIB:.1f}"


def size(value: float | None) -> str:
    return "-" if value is None else amount(value)


def microseconds(value: float | None) -> str:
    return "-" if value is None else f"{value * 1e6:.1f}"
