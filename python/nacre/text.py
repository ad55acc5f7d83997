"""Help texts, as written in the sources and as shown."""

from __future__ import annotations

import re


def unwrapped(text: str) -> str:
    """Each paragraph on one line, so that it is wrapped to the terminal's width; indented ones are kept."""
    paragraphs = re.split(r"\n{2,}", text.strip())
    return "\n\n".join(p if p.startswith(" ") else " ".join(p.split("\n")) for p in paragraphs)
