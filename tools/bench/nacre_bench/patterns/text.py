"""The text of a result."""

from __future__ import annotations

from nacre.text import amount

from ..contenders import OURS
from ..report import failed_launches, settings_text
from ..tables import number, table
from .cells import CONTIGUOUS, IN_PLACE, REDISTRIBUTED, Cell
from .checks import alike, checks_of
from .figures import READ, WRITE, Medians, Series

ABOUT = """MiB/s, medians over the rounds: from when all ranks have opened the file to when all have closed it, with
MPI_File_sync before the close of a written one. Each rank is an aggregator.
N-OST: the rank has blocks of N stripes in turn and moves them by itself, in one collective call of Nacre's
(nacre_algorithm=direct); no data are exchanged. own: MPI_File_write_at_all of the MPI itself, of one contiguous piece a
rank, aligned on stripes, with default hints; ROMIO, which ratios are to, writes such pieces where they are, OMPIO sends
them to aggregators of its choice. Beside them Nacre's two-phase in the same pattern: with data already where they are
written (two-phase), and with a contiguous piece in each rank, so that they must go there (redistributed)."""


def name_of(series: Series, several: bool) -> str:
    """`several` libraries or MPIs of ours are told apart."""
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
    """Empty where nothing was counted."""
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
    """Writing with settings of the machine changed."""
    variants = medians.variants()
    header = [f"{cell.osts} OSTs, {cell.ranks} aggregators", "as it is", *variants]
    rows = []
    for series in medians.series(cell.osts):
        if not series.label.endswith((IN_PLACE, REDISTRIBUTED)):
            rates = [medians.rate(cell, series, WRITE, variant) for variant in ["", *variants]]
            rows.append([name_of(series, several_of_ours(medians)), *[number(rate, 1) for rate in rates]])
    return table(header, rows)


def switched_text(medians: Medians) -> list[str]:
    if not medians.variants():
        return []
    parts = ["Writing with a setting of the machine changed, MiB/s: what an order goes away with is what makes it."]
    return parts + [switched_table(medians, cell) for cell in alike(medians) or medians.cells()]


def checks_text(medians: Medians, result: dict) -> list[str]:
    """Nothing where files are not striped: the orders are those of OSTs."""
    if any(entry["unstriped"] for entry in result["launches"]):
        return []
    lines = [check.line() for check in checks_of(medians, result["settings"].get("machine") or "")]
    return ["Which published orders came out:\n" + "\n".join(lines)] if lines else []


def machine_text(result: dict) -> str:
    settings = result["settings"]
    if not settings.get("machine"):
        notes = sorted({entry["unstriped"] for entry in result["launches"] if entry["unstriped"]})
        return f"In {settings['dir']}" + "".join(f"; {note}" for note in notes)
    words = [f"{settings['machine']} on the testbed, a rank a node", *settings["set"]]
    return ", ".join(words)


def patterns_text(result: dict) -> str:
    medians = Medians(result)
    sizes = sorted({entry["stripe_bytes"] for entry in result["launches"]})
    stripes = "/".join(amount(size) for size in sizes)
    about = (
        f"each file written once and read once; {result['settings']['mib_per_ost']} MiB an OST, stripes of {stripes}"
    )
    parts = [settings_text(result, about), machine_text(result), ABOUT]
    for osts in sorted({cell.osts for cell in medians.cells()}):
        parts += [rates_table(medians, osts), traffic_table(medians, osts)]
    parts += switched_text(medians)
    parts += checks_text(medians, result)
    return "\n\n".join([part for part in parts if part] + failed_launches(result))
