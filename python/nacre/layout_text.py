"""The text of a layout (as of `lfs getstripe -y`) as objects: the part of YAML that the library writes."""

from __future__ import annotations

import re


def parse(text: str) -> dict:
    """For example {"components": [{"lcme_id": 1, ..., "sub_layout": {...}}]}. Numbers become int, all else text."""
    lines = [(len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines() if line.strip()]
    found, _ = _mapping(lines, 0)
    return found


def _value(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?\d+", text) else text.strip("'")


def _mapping(lines: list[tuple[int, str]], at: int) -> tuple[dict, int]:
    """The members that begin at line `at` and have its indentation, and the line after them."""
    found: dict = {}
    if at == len(lines):
        return found, at
    indent = lines[at][0]
    while at < len(lines) and lines[at][0] == indent and not lines[at][1].startswith("- "):
        name, _, value = lines[at][1].partition(":")
        at += 1
        if value.strip():
            found[name] = _value(value.strip())
        elif at < len(lines) and lines[at][1].startswith("- "):
            found[name], at = _list(lines, at)
        elif at < len(lines) and lines[at][0] > indent:
            found[name], at = _mapping(lines, at)
    return found, at


def _list(lines: list[tuple[int, str]], at: int) -> tuple[list[dict], int]:
    found = []
    indent = lines[at][0]
    while at < len(lines) and lines[at][0] == indent and lines[at][1].startswith("- "):
        lines[at] = (indent + 2, lines[at][1][2:])
        item, at = _mapping(lines, at)
        found.append(item)
    return found, at
