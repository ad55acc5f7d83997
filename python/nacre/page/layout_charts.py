"""The stripes of files, and which ranks wrote and read them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from nacre.findings import osts
from nacre.jobs import Job, single_rank
from nacre.page import rank_rows
from nacre.page.chart import Chart, category, quantity
from nacre.page.rank_osts_charts import bytes_of, columns_of, kinds_with_ranks
from nacre.reports import METADATA_TARGET
from nacre.text import amount

FILES_SHOWN = 3
STRIPES_SHOWN = 64  # of a file
GROWN = "the layout grew "  # how the note of the library begins
DIRECTIONS = ("write", "read")
# What a report says in place of the OST of an object.
NOT_ON_OSTS = {-1: "not chosen yet", METADATA_TARGET: "the metadata target"}


def charts(job: Job) -> list[Chart]:
    """Of the files with the most time."""
    found = []
    for group in job.groups:
        one = next((one for one in group.reports if _has_osts(one)), None)
        if one and len(found) < FILES_SHOWN:
            found.append(_layout(one, f"layout-{len(found)}", job.ranks))
    return found


def _has_osts(one: dict) -> bool:
    """Whether the layout says on which OST each stripe is."""
    return any(not region.get("object_bytes") for region in one["layout"])


def _layout(one: dict, name: str, job_ranks: int) -> Chart:
    size = max([plan["first_call"]["end"] for plan in one["plans"]] + [one["bytes_written"], one["bytes_read"]])
    data, rows = [], []
    for region in one["layout"]:
        end = size if region["end"] < 0 else min(region["end"], size)
        rows += _layout_rows(one, region)
        stripe = region["stripe_bytes"]
        for index in range(max(0, -(-(end - region["begin"]) // stripe))):
            if len(data) == STRIPES_SHOWN or not region["osts"]:
                break
            ost = region["osts"][index % len(region["osts"])]
            if ost < 0:
                break
            begin = region["begin"] + index * stripe
            data.append({"begin": round(begin / (1 << 20), 4), "end": round(min(begin + stripe, end) / (1 << 20), 4),
                         "OST": ost, "by": _main_user(one, ost)})  # fmt: skip
    shown = f" The first {STRIPES_SHOWN} stripes." if len(data) == STRIPES_SHOWN else ""
    remarks = _layout_remarks(one, job_ranks)
    return Chart(
        name, f"Layout of {Path(one['file']).name}",
        f"Each stripe on its OST; the colour says which ranks accessed most of that OST.{shown}{remarks}",
        ["Range", "Stripes", "Stripe size", "OSTs", "Written by ranks", "Read by ranks"], rows,
        {
            "mark": {"type": "rect", "tooltip": True, "stroke": "currentColor", "strokeOpacity": 0.3},
            "encoding": {
                "x": quantity("begin", "MiB of the file"),
                "x2": {"field": "end"},
                "y": category("OST", "OST", sort="ascending"),
                "color": {**category("by", "rank"), "scale": {"scheme": "tableau20"},
                          "legend": {"orient": "top"}},
            },
        },
        data,
        max(80, 20 * len({stripe["OST"] for stripe in data})),
    )  # fmt: skip


def _layout_rows(one: dict, region: dict) -> list[list[str]]:
    """A row for the OSTs of the region that the same ranks wrote and read."""
    where = "the end of the file" if region["end"] < 0 else amount(region["end"])
    words = [f"{amount(region['begin'])} to {where}", f"{region['stripes']:,}", amount(region["stripe_bytes"])]
    if region["osts"] and region["osts"][0] < 0:
        return [[*words, NOT_ON_OSTS[region["osts"][0]], "", ""]]
    by_users: dict[tuple[str, str], list[int]] = {}
    for ost in region["osts"]:
        users = (_users(one, ost, "write"), _users(one, ost, "read"))
        by_users.setdefault(users, []).append(ost)
    rows = [[*words, ", ".join(map(str, numbers)), *users] for users, numbers in by_users.items()]
    return rows or [[*words, "", "", ""]]


def _layout_remarks(one: dict, job_ranks: int) -> str:
    """On how many OSTs the data are, what the layout comes from, whether it grew, and what the ranks are."""
    used, origin = osts.used(one), osts.origin_in_words(one)
    grown = [note[:1].upper() + note[1:] for note in one["notes"] if note.startswith(GROWN)]
    remarks = [f"Data on {used}" if used else "", f"Layout: {origin}" if origin else "", *grown]
    if rank_rows.divided([one], job_ranks)[1]:
        remarks.append(f"The ranks are those of {rank_rows.communicator_in_words(one)}")
    return "".join(f" {remark}." for remark in remarks if remark)


def _users(one: dict, ost: int, direction: str) -> str:
    """The ranks that moved bytes to or from an OST, or to or from the range of OSTs that it is in, by band."""
    if not _are_users_known(one, ost, direction):
        return "unknown"
    moved = _moved(one, ost, direction)
    runs: list[list[tuple[int, int]]] = []
    for at, band in enumerate(_bands_of(one)):
        if moved[at] and runs and runs[-1][-1][1] == band[0]:
            runs[-1].append(band)
        elif moved[at]:
            runs.append([band])
    return ", ".join(rank_rows.name_of(run[0][0], run[-1][1]) for run in runs) or "nobody"


def _main_user(one: dict, ost: int) -> str:
    """The band of ranks that moved most of the bytes of an OST."""
    if not all(_are_users_known(one, ost, direction) for direction in DIRECTIONS):
        return "unknown"
    moved = _moved(one, ost, "write") + _moved(one, ost, "read")
    return rank_rows.name_of(*_bands_of(one)[max(moved, key=moved.get)]) if moved else "nobody"


def _kinds_of(one: dict, direction: str) -> list[dict]:
    """That moved bytes to or from the file."""
    kinds = [kind for name, kind in one["kinds"].items() if name.endswith(direction)]
    return [kind for kind in kinds if kind["file_bytes"]["sum"] or kind["rank_osts"]["first_osts"]]


def _are_users_known(one: dict, ost: int, direction: str) -> bool:
    """A report lists a limited number of OSTs, and none of a file whose layout is unknown."""
    return all(
        kind["rank_osts"]["first_osts"] and ("other_osts" not in kind or ost in {of["ost"] for of in kind["osts"]})
        for kind in _kinds_of(one, direction)
    )


def _moved(one: dict, ost: int, direction: str) -> Counter:
    """Bytes by band of ranks, of those that moved any."""
    moved: Counter = Counter()
    for kind in _kinds_of(one, direction):
        columns = [column for column, numbers in enumerate(columns_of(one, kind)) if ost in numbers]
        for band, of_band in enumerate(bytes_of(one, kind)):
            moved[band] += sum(of_band[column] for column in columns)
    return +moved


def _bands_of(one: dict) -> list[tuple[int, int]]:
    """The first rank of each band of ranks that accessed OSTs, and the rank after its last."""
    own = single_rank(one)
    if own is not None:
        return [(own, own + 1)]
    firsts = next((kind["rank_osts"]["first_ranks"] for kind in kinds_with_ranks(one)), [])
    return rank_rows.spans(firsts, one["ranks"])
