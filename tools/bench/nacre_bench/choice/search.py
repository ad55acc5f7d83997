"""The settings that a case is searched over, and which of them go on to the next stage."""

from __future__ import annotations

import dataclasses
import pathlib
import statistics

from nacre import testbed
from nacre.newer_python import tomllib
from nacre.text import amount

from .cases import BY_FILE_SYSTEM, LOCAL, Case

AUTOMATIC = "automatic"
# What the automatic choice is compared with: hints of Nacre, or the MPI itself.
HINTS, MPI = "hints", "mpi"
STRIPES = "striping_factor"
ROUND_BYTES = (256 << 10, 1 << 20, 4 << 20)
SEGMENTATIONS = ("dynamic_segmentation", "static_segmentation")
# Settings beside the automatic one that are measured in the last stage, and of the peer.
FINALISTS, PEER_FINALISTS = 3, 1
# Rounds of the stages before the last. Each stage has half the settings of the stage before it.
EARLY_ROUNDS = (1, 1, 1)


@dataclasses.dataclass(frozen=True)
class Setting:
    label: str
    hints: tuple[tuple[str, str], ...] = ()
    is_peer: bool = False  # the MPI itself serves the file


def aggregator_counts(case: Case) -> list[int]:
    """One aggregator, as many as nodes, half, all and twice the OSTs, a quarter, half and all of the ranks: those that
    do not exceed the number of ranks."""
    wishes = {1, case.nodes, case.ranks // 2, case.ranks}
    wishes |= {case.osts // 2, case.osts, 2 * case.osts} if case.osts else {case.ranks // 4}
    return sorted(count for count in wishes if 1 <= count <= case.ranks)


def rounds_for(case: Case, aggregators: int) -> list[int]:
    """The round sizes that differ: the largest is the first that holds the share of an aggregator."""
    share = case.bytes // aggregators
    return [size for i, size in enumerate(ROUND_BYTES) if i == 0 or ROUND_BYTES[i - 1] < share]


def patterns_for(case: Case, aggregators: int) -> list[tuple[str, int]]:
    """The file domains that differ, as nacre_pattern and nacre_osts_per_aggregator. A multiple of as many aggregators
    as OSTs makes stripes dealt in turn the same as one OST each; few aggregators have several OSTs anyway."""
    if not case.osts or aggregators == 1:
        return [("even", 0)]
    patterns = [("even", 0), ("osts", 1)]
    if aggregators % case.osts:
        patterns.append(("stripes", 1))
    if 2 * aggregators > case.osts > 1:
        patterns.append(("osts", 2))
    return patterns


def two_phase(aggregators: int, pattern: str, osts_each: int, round_bytes: int) -> Setting:
    hints = [("nacre_algorithm", "two_phase"), ("cb_nodes", str(aggregators)), ("nacre_pattern", pattern)]
    if osts_each:
        hints.append(("nacre_osts_per_aggregator", str(osts_each)))
    hints.append(("cb_buffer_size", str(round_bytes)))
    domains = f"{pattern}/{osts_each}" if osts_each else pattern
    return Setting(f"two_phase A={aggregators} {domains} {amount(round_bytes)}", tuple(hints))


def searched_settings(case: Case) -> list[Setting]:
    """Nacre's hints, but those for the layout."""
    settings = [Setting("direct", (("nacre_algorithm", "direct"),))]
    for count in aggregator_counts(case):
        for pattern, osts_each in patterns_for(case, count):
            settings += [two_phase(count, pattern, osts_each, size) for size in rounds_for(case, count)]
        for algorithm in SEGMENTATIONS:
            hints = (("nacre_algorithm", algorithm), ("cb_nodes", str(count)))
            settings.append(Setting(f"{algorithm} A={count}", hints))
    return settings


def ost_count(case: Case) -> int:
    """Of the case's emulated machine; 0 of a local file system."""
    if case.file_system == LOCAL:
        return 0
    machine = tomllib.loads(pathlib.Path(testbed.machine_file(case.file_system)).read_text())
    return machine["osts"]["count"]


def stripe_settings(case: Case, osts: int) -> list[Setting]:
    """Other layouts than that which Nacre gives a file of its own accord, on a file system with so many OSTs."""
    if case.layout_kind != BY_FILE_SYSTEM:
        return []
    counts = sorted({min(2**power, osts) for power in range(osts.bit_length() + 1)})
    return [Setting(f"{count} stripes", ((STRIPES, str(count)),)) for count in counts]


def peer_settings(case: Case) -> list[Setting]:
    """ROMIO without a hint, without collective buffering, and with it on several numbers of aggregators."""

    def peer(label: str, buffering: str = "", **hints: int) -> Setting:
        pairs = [("nacre_enable", "false"), *((name, str(value)) for name, value in hints.items())]
        if buffering:
            pairs += [(f"romio_cb_{direction}", buffering) for direction in ("read", "write")]
        return Setting(label, tuple(pairs), is_peer=True)

    settings = [peer("MPI alone"), peer("MPI alone, independent", "disable")]
    for count in aggregator_counts(case):
        settings.append(peer(f"MPI alone A={count}", "enable", cb_nodes=count))
    return settings


def competitors(case: Case, osts: int, against: list[str]) -> list[Setting]:
    """The automatic choice first, then what it is compared with. `osts`: of the file system; 0: no other stripe counts
    are searched."""
    settings = [Setting(AUTOMATIC)]
    if HINTS in against:
        settings += searched_settings(case) + (stripe_settings(case, osts) if osts else [])
    return settings + (peer_settings(case) if MPI in against else [])


# The seconds of each setting by round.
Times = dict[str, dict[int, float]]


def ranked(settings: list[Setting], times: Times, peers: bool = False) -> list[str]:
    """The labels of the searched settings, or of those of the peer, the fastest median first."""
    labels = [one.label for one in settings if one.is_peer == peers and one.label != AUTOMATIC]
    return sorted((one for one in labels if times.get(one)), key=lambda one: statistics.median(times[one].values()))


def survivors(settings: list[Setting], times: Times, stage: int) -> list[Setting]:
    """The settings of the stage after `stage`: the automatic one, and of the others and of the peer's the better half
    or the finalists."""
    last = stage + 1 >= len(EARLY_ROUNDS)
    kept = {AUTOMATIC}
    for peers, finalists in ((False, FINALISTS), (True, PEER_FINALISTS)):
        order = ranked(settings, times, peers)
        kept.update(order[: finalists if last else max(finalists, (len(order) + 1) // 2)])
    return [setting for setting in settings if setting.label in kept]


def best_of(settings: list[Setting], times: Times, peers: bool = False) -> str | None:
    """The fastest searched setting, or the fastest of the peer, among those measured in the last stage."""
    last = max((number for series in times.values() for number in series), default=None)
    order = [label for label in ranked(settings, times, peers) if last in times[label]]
    return order[0] if order else None
