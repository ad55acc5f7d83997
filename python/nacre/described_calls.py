"""The calls of a program that a TOML file describes (docs/simulate.md), in the form in which `nacre-simulate --calls`
makes them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nacre.errors import UserError
from nacre.newer_python import tomllib
from nacre.text import near, parse_bytes

KINDS = {
    "collective write": "write collective",
    "collective read": "read collective",
    "independent write": "write independent",
    "independent read": "read independent",
}
DIMENSIONS_MAX = 4  # of the arrangement of ranks, as in src/sim/program/rank_placement.h
KEYS = ("kind", "calls", "piece", "pieces", "strides", "ranks", "offsets", "begin", "step")


@dataclass
class _Calls:
    """Calls of one kind: in each, rank r accesses `pieces` pieces (by dimension, the innermost first), `strides` bytes
    apart, from `begin` and the offsets of its place among the ranks on."""

    kind: str
    count: int
    piece: int
    pieces: list[int]
    strides: list[int]
    ranks: list[int]
    offsets: list[int]
    begin: int
    step: int | None

    @property
    def bytes(self) -> int:
        return self.piece * math.prod(self.pieces)

    def begin_of(self, rank: int) -> int:
        begin = self.begin
        for length, offset in zip(self.ranks, self.offsets):
            rank, place = divmod(rank, length)
            begin += place * offset
        return begin

    def end(self) -> int:
        """Of the first call of all ranks."""
        last_rank = self.begin_of(math.prod(self.ranks) - 1)
        return last_rank + sum((n - 1) * stride for n, stride in zip(self.pieces, self.strides)) + self.piece

    def lines(self) -> Iterator[str]:
        ranks = math.prod(self.ranks)
        step = self.end() - self.begin if self.step is None else self.step
        shape = f"={self.piece}" + "".join(f"*{count}/{stride}" for count, stride in zip(self.pieces, self.strides))
        yield f"kind {KINDS[self.kind]} {ranks} {ranks * self.count} {ranks * self.count * self.bytes}"
        for rank in _sampled(ranks):
            yield f"shape {rank} {self.begin_of(rank)} 0 {self.bytes} {step} {shape}"


def _sampled(ranks: int) -> list[int]:
    """Ranks that show any arrangement."""
    powers = itertools.takewhile(lambda rank: rank < ranks, (1 << log2 for log2 in itertools.count()))
    return sorted({0, *powers, ranks - 1})


def rank_count(path: str) -> int | None:
    """That of the arrangements of ranks in the file; None if it has none."""
    return next((math.prod(_numbers(one, "ranks", where)) for where, one in _tables(path) if "ranks" in one), None)


def calls_text(path: str, ranks: int) -> str:
    """What RecordedJob::parse reads (src/sim/program/recorded_job.h), for a job with `ranks` ranks. UserError names the
    table and the key that is wrong."""
    lines = [f"ranks {ranks}"]
    for where, table in _tables(path):
        lines += _calls(table, where, ranks).lines()
    return "\n".join(lines) + "\n"


def _tables(path: str) -> list[tuple[str, dict]]:
    try:
        content = tomllib.loads(Path(path).read_text())
    except OSError as error:
        raise UserError(
            f"cannot read {path}: {error.strerror}", "Name a TOML file that describes the calls."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {error}", "See docs/simulate.md for an example.") from error
    tables = content.get("calls")
    are_tables = isinstance(tables, list) and all(isinstance(one, dict) for one in tables)
    if set(content) != {"calls"} or not are_tables or not tables:
        raise UserError(f"{path}: expected one or more tables [[calls]], and nothing else", "See docs/simulate.md.")
    return [(f"{path}: [[calls]] {number}", one) for number, one in enumerate(tables, 1)]


def _calls(table: dict, where: str, ranks: int) -> _Calls:
    for key in table:
        if key not in KEYS:
            likely = near(key, list(KEYS))
            advice = f"Did you mean {likely[0]}?" if likely else f"Keys: {', '.join(KEYS)}."
            raise UserError(f"{where}: unknown key {key}", advice)
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise UserError(f"{where}: kind = {kind!r}", f"Expected one of: {', '.join(KINDS)}.")
    if "piece" not in table:
        raise UserError(f"{where}: piece is missing", 'The bytes of a contiguous piece, such as piece = "64k".')
    pieces = _numbers(table, "pieces", where)
    strides = _sizes(table, "strides", where)
    pieces = pieces or [1] * len(strides)
    arrangement = _numbers(table, "ranks", where) or [ranks]
    offsets = _sizes(table, "offsets", where)
    counts = _numbers(table, "calls", where) or [1]
    if len(counts) != 1:
        raise UserError(f"{where}: calls = {counts}", "Expected one number: the calls of a rank.")
    calls = _Calls(
        kind, counts[0], _size(table["piece"], where, "piece"), pieces, strides, arrangement, offsets,
        _size(table.get("begin", 0), where, "begin"),
        _size(table["step"], where, "step") if "step" in table else None,
    )  # fmt: skip
    _check(calls, where, ranks)
    return calls


def _check(calls: _Calls, where: str, ranks: int) -> None:
    if calls.piece == 0:
        raise UserError(f"{where}: piece = 0", "A piece has at least one byte.")
    for what, counts, distances in (("pieces", calls.pieces, "strides"), ("ranks", calls.ranks, "offsets")):
        found = getattr(calls, distances)
        if not found and math.prod(counts) > 1:
            raise UserError(
                f"{where}: {distances} is missing",
                f"{distances}: the bytes from one of the {what} to the next, for each dimension.",
            )
        if found and len(counts) != len(found):
            raise UserError(
                f"{where}: {what} has {len(counts)} dimensions, and {distances} {len(found)}",
                f"{distances}: the bytes from one of the {what} to the next, for each dimension.",
            )
    if len(calls.ranks) > DIMENSIONS_MAX:
        raise UserError(f"{where}: ranks has {len(calls.ranks)} dimensions", f"At most {DIMENSIONS_MAX}.")
    if math.prod(calls.ranks) != ranks:
        raise UserError(
            f"{where}: ranks = {calls.ranks} are {math.prod(calls.ranks)} ranks, and the job has {ranks}",
            "The job has --nodes times --ranks-per-node ranks.",
        )
    inside = calls.piece
    for number, (count, stride) in enumerate(zip(calls.pieces, calls.strides), 1):
        if stride < inside:
            raise UserError(
                f"{where}: strides: number {number} is {stride} bytes, less than the {inside} bytes that it steps over",
                "Pieces of a rank must not overlap, and the innermost dimension comes first.",
            )
        inside += (count - 1) * stride


def _numbers(table: dict, key: str, where: str) -> list[int]:
    """Positive whole numbers, or one; empty if the key is missing."""
    value = table.get(key, [])
    values = value if isinstance(value, list) else [value]
    if not all(type(one) is int and one > 0 for one in values):
        raise UserError(f"{where}: {key} = {value!r}", "Expected positive whole numbers.")
    return values


def _sizes(table: dict, key: str, where: str) -> list[int]:
    value = table.get(key, [])
    return [_size(one, where, key) for one in (value if isinstance(value, list) else [value])]


def _size(value: object, where: str, key: str) -> int:
    """A number of bytes, as a whole number or as text such as "4k"."""
    try:
        if isinstance(value, str):
            return parse_bytes(value)
        if type(value) is int and value >= 0:
            return value
    except ValueError:
        pass
    raise UserError(f"{where}: {key} = {value!r}", 'Expected a number of bytes, such as 4096 or "4k".')
