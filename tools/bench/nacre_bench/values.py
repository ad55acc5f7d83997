"""Parsers of option values. A BadParameter says why a value is wrong; typer adds the name of the option."""

from __future__ import annotations

from collections.abc import Callable

import typer
from nacre.text import parse_bytes


def words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def one_or_more(*choices: str) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        found = words(text)
        wrong = [word for word in found if word not in choices]
        if wrong or not found:
            raise typer.BadParameter(f"{wrong[0] if wrong else 'nothing'} is not one of {', '.join(choices)}")
        return found

    return parse


def numbers(text: str) -> list[int]:
    return [positive(word) for word in words(text)]


def sizes(text: str) -> list[int]:
    return [size_bytes(word) for word in words(text)]


def size_bytes(text: str) -> int:
    try:
        return _at_least(1, parse_bytes(text), text)
    except ValueError as error:
        raise typer.BadParameter(f"{error}; write a size such as 4096, 64k or 1m") from error


def positive(text: str) -> int:
    try:
        return _at_least(1, int(text), text)
    except ValueError as error:
        raise typer.BadParameter(f"{text} is not a whole number") from error


def at_least(least: int) -> Callable[[str], int]:
    return lambda text: _at_least(least, positive(text), text)


def _at_least(least: int, number: int, text: str) -> int:
    if number < least:
        raise typer.BadParameter(f"{text} is less than {least}")
    return number
