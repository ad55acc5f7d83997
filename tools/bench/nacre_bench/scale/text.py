"""The page: what the ranks send and hold in the operations of all ranks, and in the write of the sampled nodes."""

from __future__ import annotations

from ..growth.points import OfRanks
from ..growth.text import decision_table, row
from ..units import KIB, MIB
from .samples import Found, Job, Sample

OPERATION_COLUMNS = ("operation", "messages of a rank", "busiest", "bytes of a rank", "busiest", "heap of a rank",
                     "most", "kept by a rank", "most")  # fmt: skip
SAMPLE_COLUMNS = ("algorithm", "ranks", "OSTs", "messages of a rank", "busiest", "control bytes of a rank", "busiest",
                  "all bytes, busiest", "address space of a node", "memory of the simulation, by rank")  # fmt: skip


def page(job: Job, decisions: list[dict], operations: list[dict], found: dict[Sample, Found]) -> str:
    lines = [
        f"# {job.ranks:,} ranks on {job.nodes:,} nodes, {job.osts:,} OSTs",
        "",
        "## Choosing a plan",
        "",
        "The time of rank 0, on this machine, for a call of a new shape.",
        "",
        *decision_table(decisions),
        "",
        "## Operations of all ranks",
        "",
        "Every rank runs the library's own coroutine. Messages and bytes are those that a rank sends and receives;",
        "heap is the most that it has allocated at a time, without messages in flight; kept is what is left of it as",
        "the result.",
        "",
        *_operation_table(operations),
        "",
        "## A collective write of sampled nodes",
        "",
        "`interleaved`, 240 KiB of each rank, in virtual time, from the open to the close.",
        "",
        *_sample_table(found),
    ]
    return "\n".join(lines) + "\n"


def _operation_table(operations: list[dict]) -> list[str]:
    rows = [row(OPERATION_COLUMNS), "|---" * len(OPERATION_COLUMNS) + "|"]
    for one in operations:
        cells = [one["operation"], *_counts(OfRanks.found(one["messages"]))]
        for name in ("bytes", "heap_bytes", "kept_bytes"):
            cells += _sizes(OfRanks.found(one[name]))
        rows.append(row(tuple(cells)))
    return rows


def _sample_table(found: dict[Sample, Found]) -> list[str]:
    rows = [row(SAMPLE_COLUMNS), "|---" * len(SAMPLE_COLUMNS) + "|"]
    for sample, one in found.items():
        cells = [f"{sample.algorithm}, {sample.title}", f"{sample.job.ranks:,}", f"{sample.job.osts:,}"]
        cells += [*_counts(one.messages), *_sizes(one.control_bytes), _sizes(one.all_bytes)[1]]
        cells += [f"{one.node_bytes / MIB:,.0f} MiB", f"{one.process_bytes / KIB:,.0f} KiB"]
        rows.append(row(tuple(cells)))
    return rows


def _counts(one: OfRanks) -> list[str]:
    return [f"{one.mean:.1f}", f"{one.most:,} (rank {one.busiest_rank:,})"]


def _sizes(one: OfRanks) -> list[str]:
    return [f"{one.mean / KIB:,.1f} KiB", f"{one.most / KIB:,.0f} KiB (rank {one.busiest_rank:,})"]
