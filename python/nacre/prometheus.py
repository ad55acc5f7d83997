"""Figures of jobs as Prometheus's text exposition, for the text-file collector of a site's node exporter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nacre.findings import find
from nacre.jobs import Job

# Name, meaning, and type of each metric. Times are sums over the ranks.
METRICS = {
    "nacre_job_io_seconds": "Time of all ranks in MPI-IO",
    "nacre_job_io_slowest_rank_seconds": "Time of the slowest rank in MPI-IO, at most",
    "nacre_job_ranks": "Ranks of the job",
    "nacre_job_files": "Files that the job closed",
    "nacre_job_opens": "Opens of the job",
    "nacre_job_bytes_total": "Bytes that the program moved",
    "nacre_job_calls_total": "Data accesses of the program",
    "nacre_job_file_accesses_total": "Calls to the file system",
    "nacre_job_seconds": "Time of all ranks by kind of call and phase",
    "nacre_job_ost_bytes_total": "Bytes moved to and from each OST",
    "nacre_job_finding_seconds": "Time of a rank that the remedy of a finding can save at most",
}


def exposition(jobs: list[Job], share_min: float, top: int | None = None) -> str:
    """All jobs, with at most `top` findings each that may save this share of the I/O time; metrics in the order of
    METRICS, samples of one metric together, as the format asks."""
    samples: dict[str, list[str]] = {name: [] for name in METRICS}
    for job in jobs:
        base = {"job": job.first["job"], "run": job.first["run"], "program": (job.first["program"] or [""])[0]}
        for name, labels, value in _samples(job, share_min, top):
            samples[name].append(f"{name}{{{_labels(base | labels)}}} {value}")
    lines = []
    for name, found in samples.items():
        kind = "counter" if name.endswith("_total") else "gauge"
        if found:
            lines += [f"# HELP {name} {METRICS[name]}", f"# TYPE {name} {kind}", *found]
    return "\n".join(lines) + "\n"


def _samples(job: Job, share_min: float, top: int | None) -> Iterator[tuple[str, dict[str, str], float]]:
    yield "nacre_job_io_seconds", {}, job.rank_seconds
    yield "nacre_job_io_slowest_rank_seconds", {}, job.slowest_seconds
    yield "nacre_job_ranks", {}, job.ranks
    yield "nacre_job_files", {}, job.file_count
    yield "nacre_job_opens", {}, job.opens
    kinds = sorted({name for one in job.reports for name in one["kinds"]})
    by_ost: dict[int, int] = {}
    for name in kinds:
        found = [one["kinds"][name] for one in job.reports if name in one["kinds"]]
        labels = {"kind": name}
        yield "nacre_job_bytes_total", labels, sum(kind["bytes"]["sum"] for kind in found)
        yield "nacre_job_calls_total", labels, sum(kind["calls"]["sum"] for kind in found)
        yield "nacre_job_file_accesses_total", labels, sum(kind["file_calls"]["sum"] for kind in found)
        for phase in found[0]["phases"]:
            if phase == "away":
                continue  # the program's own time
            seconds = sum(kind["phases"][phase]["sum"] for kind in found)
            yield "nacre_job_seconds", {**labels, "phase": phase}, seconds
        for kind in found:
            for ost in kind["osts"]:
                by_ost[ost["ost"]] = by_ost.get(ost["ost"], 0) + ost["bytes"]
    for ost, count in sorted(by_ost.items()):
        yield "nacre_job_ost_bytes_total", {"ost": str(ost)}, count
    at_stake: Counter = Counter()  # a rule may find reads and writes of a file
    for finding in find(job, share_min)[:top]:
        at_stake[finding.rule, finding.where] += finding.at_stake
    for (rule, where), seconds in at_stake.items():
        yield "nacre_job_finding_seconds", {"rule": rule, "where": where}, seconds


def _labels(labels: dict[str, str]) -> str:
    def escaped(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return ",".join(f'{name}="{escaped(value)}"' for name, value in labels.items())
