"""Values on the command line."""

from __future__ import annotations

import argparse

from nacre.text import parse_bytes


def words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def numbers(text: str) -> list[int]:
    return [positive(word) for word in words(text)]


def sizes(text: str) -> list[int]:
    return [size_bytes(word) for word in words(text)]


def size_bytes(text: str) -> int:
    if parse_bytes(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return parse_bytes(text)


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number
