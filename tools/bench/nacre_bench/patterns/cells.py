"""The cells (numbers of OSTs and aggregators), and the tasks that a contender runs in one launch of a cell."""

from __future__ import annotations

import dataclasses

import typer

from ..contenders import OURS, Contender
from ..units import MIB

CONTIGUOUS = "contiguous"
WARM_UP = "warm-up"
IN_PLACE, REDISTRIBUTED = "two-phase", "redistributed"
AUTOMATIC, BY_K = "automatic", "automatic by k"
SEGMENTATIONS = {"dynamic segmentation": "dynamic_segmentation", "static segmentation": "static_segmentation"}
# Rows that are no pattern of OSTs.
CHOSEN = (AUTOMATIC, BY_K, *SEGMENTATIONS)
DEFAULT_STRIPE_BYTES = MIB


@dataclasses.dataclass(frozen=True)
class Aggregators:
    """A number of aggregators, or a multiple of the number of OSTs."""

    text: str
    number: float
    of_osts: bool

    def at(self, osts: int) -> int:
        return max(1, round(self.number * osts)) if self.of_osts else round(self.number)


def aggregators(text: str) -> list[Aggregators]:
    """Parses --aggregators, for example "0.5x,1x,64": multiples of the number of OSTs, and numbers."""
    chosen = []
    for word in filter(None, text.split(",")):
        of_osts = word.endswith("x")
        try:
            number = float(word[:-1]) if of_osts else int(word)
        except ValueError as error:
            raise typer.BadParameter(f"{word} is neither a number nor a multiple of the OSTs such as 2x") from error
        if number <= 0:
            raise typer.BadParameter(f"{word}: at least one aggregator is needed")
        chosen.append(Aggregators(word, number, of_osts))
    return chosen


@dataclasses.dataclass(frozen=True)
class Cell:
    """A file on `osts` OSTs that `ranks` aggregators write and read. Each aggregator is one rank."""

    osts: int
    ranks: int


@dataclasses.dataclass(frozen=True)
class Variant:
    """The machine with the setting `name` (NAME=VALUE) changed; "": the machine without a change."""

    name: str = ""

    @property
    def is_changed(self) -> bool:
        return bool(self.name)


@dataclasses.dataclass(frozen=True)
class Extent:
    """The sizes and patterns that all cells share."""

    stripe_bytes: int
    mib_per_ost: int
    patterns: tuple[int, ...]
    redistributed: tuple[int, ...]
    machine_file: str = ""  # by which Nacre predicts times; "": the class of the file system

    def file_bytes(self, cell: Cell) -> int:
        return cell.osts * self.mib_per_ost * MIB


def cells(osts: list[int], wishes: list[Aggregators]) -> list[Cell]:
    pairs = [Cell(count, wish.at(count)) for count in osts for wish in wishes]
    return list(dict.fromkeys(pairs))


def cells_of_variant(everything: list[Cell], variant: Variant) -> list[Cell]:
    """The cells to measure. With a changed setting, only the cells with as many aggregators as OSTs, if there are
    any."""
    alike = [cell for cell in everything if cell.ranks == cell.osts]
    return (alike or everything) if variant.is_changed else everything


def pattern_label(osts: int) -> str:
    return f"{osts}-OST"


@dataclasses.dataclass(frozen=True)
class Task:
    """One file to write and read, and the worker's command line for it. Sizes in bytes."""

    label: str
    workload: str
    block_bytes: int
    bytes: int
    hints: tuple[tuple[str, str], ...] = ()

    def words(self) -> list[str]:
        words = ["--workload", self.workload, "--label", self.label, "--block", str(self.block_bytes)]
        words += ["--task-bytes", str(self.bytes)]
        return words + [word for name, value in self.hints for word in ("--task-hint", f"{name}={value}")]


def pattern_task(cell: Cell, extent: Extent, osts: int) -> Task:
    """The N-OST pattern, N = `osts`: blocks of N stripes are dealt to the ranks round robin. Each rank accesses its
    blocks directly; no data are exchanged."""
    hints = (("nacre_algorithm", "direct"),)
    block = osts * extent.stripe_bytes
    return Task(pattern_label(osts), "interleaved", block, extent.file_bytes(cell), hints)


def two_phase_task(cell: Cell, extent: Extent, osts: int, moved: bool) -> Task:
    """Nacre's two-phase with the N-OST pattern as its file domains. If `moved`, each rank has a contiguous piece of the
    file, so nearly all data are sent to another rank. Otherwise each rank has the data of its own domain, and no data
    are sent."""
    block = osts * extent.stripe_bytes
    hints = (
        ("nacre_algorithm", "two_phase"),
        ("nacre_pattern", "stripes"),
        ("nacre_osts_per_aggregator", str(osts)),
        ("cb_nodes", str(cell.ranks)),
    )
    label = f"{pattern_label(osts)} {REDISTRIBUTED if moved else IN_PLACE}"
    return Task(label, "pieces" if moved else "interleaved", block, extent.file_bytes(cell), hints)


def chosen_tasks(cell: Cell, extent: Extent) -> list[Task]:
    """What Nacre chooses for contiguous pieces: by predicted times without a hint, the number of aggregators of
    two-phase by k alone (Chaarawi & Gabriel), and the groups of both segmentations."""
    machine = (("nacre_machine", extent.machine_file),) if extent.machine_file else ()
    by_k = (("nacre_machine", "none"), ("nacre_algorithm", "two_phase"))
    hints = {AUTOMATIC: machine, BY_K: by_k}
    hints |= {label: (("nacre_algorithm", algorithm),) for label, algorithm in SEGMENTATIONS.items()}
    block, size = extent.stripe_bytes, extent.file_bytes(cell)
    return [Task(label, "pieces", block, size, words) for label, words in hints.items()]


def warm_up_task(cell: Cell, extent: Extent, hints: tuple[tuple[str, str], ...] = ()) -> Task:
    """A small file in which every rank has a part of every stripe. It keeps the connections and buffers that a first
    exchange creates out of the measured tasks."""
    block = max(1, extent.stripe_bytes // cell.ranks)
    return Task(WARM_UP, "interleaved", block, cell.ranks * cell.ranks * block, hints)


def tasks_of(contender: Contender, cell: Cell, extent: Extent, variant: Variant) -> list[Task]:
    """The tasks of a launch after the warm-up. As in the papers, the collective call of the MPI itself writes one
    contiguous piece per rank."""
    if contender.role != OURS:
        return [Task(CONTIGUOUS, "pieces", extent.stripe_bytes, extent.file_bytes(cell))]
    tasks = [pattern_task(cell, extent, osts) for osts in extent.patterns if osts <= cell.osts]
    if not variant.is_changed:
        for osts in (osts for osts in extent.redistributed if osts <= cell.osts):
            tasks += [two_phase_task(cell, extent, osts, moved) for moved in (False, True)]
        tasks += chosen_tasks(cell, extent)
    return tasks
