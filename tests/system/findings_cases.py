"""Every finding with the programs that must raise it, and those like them that must not: the table in docs/testing.md.

`python tests/system/findings_cases.py` prints the table."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection


@dataclasses.dataclass(frozen=True)
class Case:
    """`raises`, `similar`: what the two programs do. `test`: a program in C, or the test function with a program or
    figures of its own. `case`: its name in the program in C; empty: that of the rule."""

    rule: str
    raises: str
    similar: str
    test: str
    case: str = ""

    @property
    def name(self) -> str:
        return self.case or self.rule


MPI, HDF5, POSIX = "findings.c", "findings_hdf5.c", "posix_findings.c"
LOGS = "test_a_log_has_the_findings_that_it_is_known_for"
SIEVING = "test_gaps_that_independent_writes_read_are_named"
CLOSES = "test_closes_on_nfs_that_take_most_of_the_time_are_named"
SLOW_OST = "test_a_slow_ost_of_the_testbed_is_named"
OSTS = "test_an_ost_that_is_slow_or_has_most_of_the_data_is_named"
NO_LAYOUTS = "test_striping_hints_on_a_file_system_without_layouts_are_named"
AGGREGATORS = "test_a_hint_that_sets_too_few_aggregators_is_named"
# Tests that make up the figures of a report: no program is known to lead to them.
WITH_MADE_FIGURES = {AGGREGATORS, OSTS, SIEVING, CLOSES}

CASES = [
    Case(
        "collective-missing",
        "each rank makes 2,000 interleaved writes of 512 B",
        "one collective write of the same pieces",
        MPI,
    ),
    Case(
        "collective-missing",
        "each rank makes 2,000 independent `H5Dwrite` of 512 B",
        "one collective `H5Dwrite` of the same pieces",
        HDF5,
    ),
    Case(
        "collective-missing",
        "one independent `H5Dwrite` of 4 MiB a rank, in chunks of 1 KiB",
        "in chunks of 1 MiB",
        HDF5,
        "small-chunks",
    ),
    Case("small-accesses", "one rank makes 4,000 writes of 512 B", "the same bytes in writes of 1 MiB", MPI),
    Case("small-accesses", "each rank makes 4,000 `write` of 512 B", "2 `write` of 1 MiB", POSIX),
    Case("metadata-by-all-ranks", "all ranks make the same 2,000 reads of 512 B", "rank 0 reads and broadcasts", MPI),
    Case(
        "metadata-by-all-ranks",
        "all ranks read the attributes of 300 groups of HDF5",
        "the same with `H5Pset_all_coll_metadata_ops` for file, links and attributes",
        HDF5,
    ),
    Case(
        "metadata-writes",
        "300 groups of HDF5, 32 MiB of collective writes",
        "the same with `H5Pset_coll_metadata_write`",
        HDF5,
    ),
    Case(
        "metadata-writes",
        "one collective `H5Dwrite` of 4 MiB a rank, in chunks of 1 KiB",
        "in chunks of 1 MiB",
        HDF5,
        "index-of-small-chunks",
    ),
    Case("small-collective-calls", "400 collective writes of 1 KiB a rank", "one of 400 KiB a rank", MPI),
    Case(
        "small-collective-calls",
        "400 collective `H5Dwrite` of 1 KiB a rank",
        "one of 400 KiB a rank",
        HDF5,
    ),
    Case("back-and-forth", "256 reads of 512 KiB in no order", "the same reads in order", MPI),
    Case("unaligned", "writes of 1 MiB and 100 B", "writes of 1 MiB", MPI),
    Case("unaligned", "reads of 1 MiB and 100 B", "reads of 1 MiB", MPI, "unaligned-reads"),
    Case("redundant-reads", "each rank reads the same 32 MiB", "each rank reads 8 MiB, and `MPI_Allgather`", MPI),
    Case(
        "redundant-reads",
        "ranks on two nodes read the same 32 MiB with direct collective calls",
        "with two-phase ones",
        MPI,
        "redundant-collective-reads",
    ),
    Case(
        "redundant-reads",
        "each rank reads a file of 32 MiB in an order of its own",
        "each rank reads a part of it",
        MPI,
        "redundant-reads-of-the-file",
    ),
    Case("redundant-reads", "all ranks read all of a dataset of 8 MiB by themselves", "each rank reads a part", HDF5),
    Case(
        "read-modify-write",
        "independent writes through a view with gaps of other ranks' pieces, `nacre_sole_writer=true`",
        "the same with `nacre_sole_writer=false`",
        MPI,
    ),
    Case("reads-holes", "reads of 64 B in each KiB", "reads of the same bytes without gaps", MPI),
    Case("one-rank", "rank 0 writes 32 MiB, four ranks have the file open", "the ranks write 8 MiB each", MPI),
    Case("one-rank", "rank 0 of two makes 32 `write` of 1 MiB", "both ranks make 8", POSIX),
    Case("one-node", "the ranks of one node of two write 16 MiB each", "all ranks write 8 MiB", MPI),
    Case(
        "uneven-nodes",
        "5 ranks of one node, and one of each of two others, write 4 MiB each",
        "2 ranks of each of three nodes",
        MPI,
    ),
    Case(
        "uneven-ranks",
        "one rank of four writes 4 MiB in each collective call, the others nothing",
        "all write 4 MiB",
        MPI,
    ),
    Case("slow-rank", "each of 16 writes of one rank takes 50 ms more", "of all ranks", MPI),
    Case("slow-node", "each write of the ranks of one node takes 50 ms more", "of all ranks", MPI),
    Case("late-ranks", "one rank comes 200 ms late to each collective call", "all come at once", MPI),
    Case(
        "few-aggregators",
        "`cb_nodes=1`; 8 aggregators are predicted to take a tenth of the time",
        "the same count, not set by a hint; or 8 are predicted to take 0.7 of the time",
        AGGREGATORS,
    ),
    Case(
        "few-aggregators",
        "`cb_nodes=1` for two nodes, without a machine file, and slow file accesses",
        "`cb_nodes=2`",
        MPI,
    ),
    Case("slow-ost", "a testbed on which one OST of 4 takes 6 times as long", "all OSTs alike", SLOW_OST),
    Case("uneven-osts", "1 GiB on one OST, 64 MiB on each of three", "64 MiB on each of four", OSTS),
    Case("reopened", "40 opens of one file", "2 opens", MPI),
    Case("reopened", "150 opens of one file", "one open", POSIX),
    Case("size-storm", "20,000 `MPI_File_get_size`", "10", MPI),
    Case("sync-storm", "`MPI_File_sync` after each of 60 writes", "after the first", MPI),
    Case("sync-storm", "200 `fsync`", "one", POSIX),
    Case("slow-sync", "3 writes, each with an `MPI_File_sync` of 200 ms", "3 writes, and no sync", MPI),
    Case("slow-sync", "closes of a file on NFS of 2 s", "as long, on Lustre; or because one rank comes late", CLOSES),
    Case("view-storm", "400 `MPI_File_set_view`", "2", MPI),
    Case("file-per-rank", "16 ranks, a file each", "one file", MPI),
    Case("many-files", "40 files, 1 KiB of each rank in each", "one file with the same bytes", MPI),
    Case(
        "many-files",
        "each rank has 40 files of its own with 1 KiB each",
        "each rank has one file with the same bytes",
        MPI,
        "many-own-files",
    ),
    Case("hint-without-effect", "`cb_buffer_size=none`, `cb_node=4`", "`cb_buffer_size=4194304`, `cb_nodes=4`", MPI),
    Case("hint-without-effect", "`striping_factor=4` on a local file system", "the same on a testbed", NO_LAYOUTS),
    Case(
        "hint-without-effect",
        "`cb_nodes=2`, and direct collective calls",
        "`cb_nodes=2`, and two-phase ones",
        MPI,
        "hint-without-aggregators",
    ),
    Case("few-stripes", "80 MiB from two nodes on one OST", "on 4 OSTs", MPI),
    Case("many-stripes", "2 KiB on 8 OSTs", "on one OST", MPI),
    Case(
        "moving-locks",
        "ranks on two nodes make 500 interleaved writes of 1 KiB each",
        "one collective write of the same pieces",
        MPI,
    ),
    Case(
        "collective-calls-of-the-mpi",
        "Darshan's log `example`: 16,401 of 16,402 collective writes unaligned",
        "Darshan's log `ior_hdf5_example`",
        LOGS,
    ),
    Case(
        "sieving-of-the-mpi",
        "records of Darshan: 64 independent writes, and 192 reads of a program that reads nothing",
        "the program reads too, or nothing was read",
        SIEVING,
    ),
    Case(
        "small-stream-writes",
        "200,000 `fprintf` to a stream with the usual buffer",
        "with a buffer of 1 MiB (`setvbuf`)",
        POSIX,
    ),
    Case("stat-storm", "2,000 `stat` of one name", "2", POSIX),
    Case("open-storm", "400 `open`, half of them of no file", "2", POSIX),
]  # fmt: skip


# What the program that must not raise a rule raises rightly: its accesses are small, or its one fsync takes long.
RAISED_BY_SIMILAR = {
    "read-modify-write": {"collective-missing"},
    "metadata-by-all-ranks": {"small-accesses"},
    "sync-storm": {"slow-sync"},
}
# What the program that must raise a rule raises rightly beside it, by the name of the case, and why.
RAISED_BESIDE: dict[str, dict[str, str]] = {
    "moving-locks": {"collective-missing": "a collective call is the remedy for both"},
    "read-modify-write": {"unaligned": "the ranges that are read, changed and written overlap those of other ranks"},
}
# On a busy machine ranks come late to any collective call.
BY_BUSY_MACHINES = {"late-ranks"}


def false_findings(name: str, found: Collection[str]) -> set[str]:
    """Those of the program that must not raise a rule, and is to raise none."""
    return set(found) - RAISED_BY_SIMILAR.get(name, set()) - BY_BUSY_MACHINES


def false_findings_beside(name: str, rule: str, found: Collection[str]) -> set[str]:
    """Those of the program that must raise `rule`."""
    return set(found) - {rule} - set(RAISED_BESIDE.get(name, {})) - BY_BUSY_MACHINES


def cases_of(program: str) -> list[Case]:
    return [case for case in CASES if case.test == program]


def rules_of(program: str) -> list[str]:
    """The rules of which a program has a case."""
    return [case.rule for case in cases_of(program)]


def table() -> str:
    """As in docs/testing.md."""
    lines = ["| rule | raised by | not raised by | test |", "|---|---|---|---|"]
    for case in CASES:
        test = case.test if case.test.endswith(".c") else f"`{case.test}`"
        test += " (constructed report)" if case.test in WITH_MADE_FIGURES else ""
        lines.append(f"| `{case.rule}` | {case.raises} | {case.similar} | {test} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
