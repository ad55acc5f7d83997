"""The text of a result of `nacre-bench patterns`."""

from __future__ import annotations

from nacre.text import amount

from ..contenders import OURS
from ..report import failed_launches, settings_text
from ..tables import number, table
from .cells import CHOSEN, CONTIGUOUS, IN_PLACE, REDISTRIBUTED, Cell
from .checks import alike, checks_of
from .figures import READ, WRITE, Medians, Series

ABOUT = """MiB/s, medians over the rounds, from when all ranks have opened the file to when all have closed it. Writes
include MPI_File_sync. Each rank is an aggregator.
N-OST: blocks of N stripes are dealt to the ranks round robin. Each rank accesses its blocks directly, in one collective
call of Nacre (nacre_algorithm=direct). No data are exchanged.
own: MPI_File_write_at_all of the MPI itself with default hints. Each rank has one contiguous piece, aligned to stripes.
ROMIO writes these pieces from the ranks that have them; OMPIO sends them to aggregators that it chooses. The ratios
refer to ROMIO if it was measured.
N-OST two-phase: Nacre's two-phase with these blocks as file domains. Each rank has the data of its own domain.
N-OST redistributed: the same two-phase, but each rank has a contiguous piece, so nearly all data are exchanged.
automatic: Nacre without a hint, by the machine's file. automatic by k: two-phase with as many aggregators as the bytes
saturate (Chaarawi & Gabriel), without predicted times. dynamic, static segmentation: with the groups that Nacre forms.
In these rows, too, each rank has a contiguous piece; Nacre chooses how many of the ranks are aggregators."""


def name_of(series: Series, several: bool) -> str:
    """The name of a row. `several`: there is more than one Nacre contender, so the name includes the contender."""
    if series.label == CONTIGUOUS:
        return f"{series.contender}, own"
    return f"{series.label} {series.contender}" if several else series.label


def several_of_ours(medians: Medians) -> bool:
    return sum(role == OURS for role in medians.roles.values()) > 1


def cells_on(medians: Medians, osts: int) -> list[Cell]:
    return [cell for cell in medians.cells() if cell.osts == osts]


def ratio(value: float | None, to: float | None) -> str:
    return number(value / to) if value and to else "-"


def rates_table(medians: Medians, osts: int) -> str:
    cells = cells_on(medians, osts)
    header = [f"{osts} OSTs; aggregators:"]
    for cell in cells:
        header += [f"{cell.ranks} write", "read", "write/own", "read/own"]
    rows = []
    for series in medians.series(osts):
        row = [name_of(series, several_of_ours(medians))]
        for cell in cells:
            rates = [medians.rate(cell, series, direction) for direction in (WRITE, READ)]
            owns = [medians.own(cell, direction) for direction in (WRITE, READ)]
            row += [number(rate, 1) for rate in rates]
            row += [ratio(rate, own) for rate, own in zip(rates, owns, strict=True)]
        rows.append(row)
    return table(header, rows)


def traffic_table(medians: Medians, osts: int) -> str:
    """The table of the testbed's counters; empty if there are none."""
    cells = cells_on(medians, osts)
    header = [f"{osts} OSTs, writes; aggregators:"]
    for cell in cells:
        header += [f"{cell.ranks} nodes/OST", "callbacks/GiB"]
    rows = []
    for series in medians.series(osts):
        row = [name_of(series, several_of_ours(medians))]
        for cell in cells:
            seen = medians.traffic.get((cell, series, WRITE), [])
            row += (
                [str(max(one.nodes_an_ost for one in seen)), f"{seen[-1].callbacks_a_gib:.0f}"] if seen else ["-"] * 2
            )
        rows.append(row)
    return table(header, rows) if any(cell in {key[0] for key in medians.traffic} for cell in cells) else ""


def switched_table(medians: Medians, cell: Cell) -> str:
    """The write rates with each changed setting of the machine."""
    variants = medians.variants()
    header = [f"{cell.osts} OSTs, {cell.ranks} aggregators", "unchanged", *variants]
    rows = []
    for series in medians.series(cell.osts):
        if not series.label.endswith((IN_PLACE, REDISTRIBUTED)) and series.label not in CHOSEN:
            rates = [medians.rate(cell, series, WRITE, variant) for variant in ["", *variants]]
            rows.append([name_of(series, several_of_ours(medians)), *[number(rate, 1) for rate in rates]])
    return table(header, rows)


def switched_text(medians: Medians) -> list[str]:
    if not medians.variants():
        return []
    parts = ["Writes with one setting of the machine changed, MiB/s. If an order vanishes, that setting causes it."]
    return parts + [switched_table(medians, cell) for cell in alike(medians) or medians.cells()]


def checks_text(medians: Medians, result: dict) -> list[str]:
    """Empty if files are not striped: the published orders are about OSTs."""
    if any(entry["unstriped"] for entry in result["launches"]):
        return []
    lines = [check.line() for check in checks_of(medians, result["settings"].get("machine") or "")]
    return ["Published orders, and whether this run reproduces them:\n" + "\n".join(lines)] if lines else []


def machine_text(result: dict) -> str:
    settings = result["settings"]
    if not settings.get("machine"):
        notes = sorted({entry["unstriped"] for entry in result["launches"] if entry["unstriped"]})
        return f"In {settings['dir']}" + "".join(f"; {note}" for note in notes)
    words = [f"{settings['machine']} on the testbed, one rank per node", *settings["set"]]
    return ", ".join(words)


def patterns_text(result: dict) -> str:
    medians = Medians(result)
    sizes = sorted({entry["stripe_bytes"] for entry in result["launches"]})
    stripes = "/".join(amount(size) for size in sizes)
    mib_per_ost = result["settings"]["mib_per_ost"]
    about = f"each file is written once and read once; {mib_per_ost} MiB per OST, stripes of {stripes}"
    parts = [settings_text(result, about), machine_text(result), ABOUT]
    for osts in sorted({cell.osts for cell in medians.cells()}):
        parts += [rates_table(medians, osts), traffic_table(medians, osts)]
    parts += switched_text(medians)
    parts += checks_text(medians, result)
    return "\n\n".join([part for part in parts if part] + failed_launches(result))
