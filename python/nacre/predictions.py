"""Whether the times that Nacre predicted for collective calls fit the machine, and the command that measures it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

from nacre import launchers, lustre_client, testbed
from nacre.errors import UserError
from nacre.jobs import Job
from nacre.text import amount, plural

FAR = 8  # times the predicted time, or less than its 8th part: the figures of the machine are wrong
LAUNCHER_UNKNOWN = "LAUNCHER"
# Launchers by the name that the MPI has for itself, in the order in which they are looked for.
LAUNCHERS = {
    "openmpi": ("mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.openmpi"),
    "mpich": ("mpiexec", "mpirun", "mpiexec.mpich", "mpiexec.hydra"),
}

# The file domains of the aggregators in words, by pattern.
DOMAINS = {
    "even": "each with one range of the file",
    "osts": "each with its own OSTs",
    "stripes": "with blocks of {} in turn",
}


def plan_name(predicted: dict) -> str:
    """A plan whose time was predicted, for example: two_phase with 8 aggregators, each with its own OSTs."""
    if not predicted["aggregators"]:
        return predicted["algorithm"]
    name = f"{predicted['algorithm']} with {plural(predicted['aggregators'], 'aggregator')}"
    domains = DOMAINS.get(predicted.get("pattern", ""), "").format(amount(predicted.get("domain_bytes", 0)))
    return f"{name}, {domains}" if domains else name


def misfit_of(job: Job) -> str:
    """misfit() of the slowest file of a job that has one; empty if none has."""
    return next((text for one in job.reports if (text := misfit(one))), "")


def misfit(one: dict) -> str:
    """What to do if the predicted times are far from the observed ones in most calls: a sentence, and on a line of its
    own the command. Empty if they are not, and on a testbed, whose figures are those of its machine."""
    if one["file_system"] == "testbed":
        return ""
    ratios: list[tuple[float, int]] = []
    for plan in one["plans"]:
        if plan.get("predicted", {}).get("seconds", 0) and plan["calls"]:
            ratios.append((_ratio(one, plan), plan["calls"]))
    far = [(ratio, calls) for ratio, calls in ratios if ratio >= FAR or ratio <= 1 / FAR]
    if sum(calls for _, calls in far) <= sum(calls for _, calls in ratios) / 2:
        return ""
    ratio, _ = max(far, key=lambda pair: pair[1])
    much = f"{ratio:.0f} times" if ratio > 1 else f"1/{1 / ratio:.0f} of"
    return (
        f"Most collective calls took {much} the predicted time: the figures of the machine"
        f" ({one['machine'] or 'nacre_machine'}) do not fit this file system, so Nacre may choose slower plans and"
        f" layouts than it could. Measure it in an allocation of its own, which takes minutes. Nacre then uses the"
        f" figures for all files there, until you remove the machine file that the command names:\n{tune_command(one)}"
    )


def _ratio(one: dict, plan: dict) -> float:
    """The time of a plan's calls divided by the predicted time; 1 if it may be as predicted. Ranks that come early wait
    for others: the rank that waits least tells how long the calls took, and no rank takes longer than the slowest."""
    predicted = plan["predicted"]["seconds"] * plan["calls"]
    least, most = plan["seconds"]["min"] / predicted, plan["seconds"]["max"] / predicted
    if least > 1:
        return least
    return most if most < 1 and not _may_be_cached(one, plan) else 1.0


def _may_be_cached(one: dict, plan: dict) -> bool:
    """Whether nodes may have kept the bytes of a plan's calls in their caches, so that fast calls say nothing: the
    prediction is of the time until the OSTs have written bytes, or read what no node has written before."""
    return bool(one["layout"]) and (plan["call"] == "write" or one["bytes_written"] > 0)


def tune_command(one: dict) -> str:
    """The command that measures the file system of a file, with the launcher, the ranks and the MPI of its job.

    A report names the program and its MPI, and not the launcher: this is the one on this machine that belongs to the
    MPI. `nacre tune` finds the MPI by the program, and does not run it."""
    folder = os.path.dirname(lustre_client.as_seen_here(one["file"])) or "."
    folder = str(testbed.around(Path(folder)) or folder)
    program = one["program"][:1]
    return shlex.join(["nacre", "tune", folder, "--", *_launcher_words(one), *program])


def _launcher_words(one: dict) -> list[str]:
    count = ["-n", str(one["ranks"])]
    if one["job"].isdecimal() and shutil.which("srun"):
        return ["srun", "-N", str(one["nodes"]), *count]
    return [_launcher_of(one["mpi"]), *count]


def _launcher_of(mpi: str) -> str:
    """The launcher of an MPI, by the text of MPI_Get_library_version."""
    family = "openmpi" if re.search(r"Open MPI|Spectrum", mpi) else "mpich" if re.search(r"MPICH|Intel", mpi) else ""
    for name in LAUNCHERS.get(family, ()):
        try:
            found = launchers.recognise(name)
        except UserError:
            continue  # not on this machine, or unknown
        if found is not None and found.launcher.abi == family:
            return name
    return LAUNCHERS[family][0] if family else LAUNCHER_UNKNOWN
