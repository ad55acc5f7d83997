"""Findings on single accesses: small, unaligned, repeated and needless ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nacre.advice import run_with
from nacre.findings import file_format, osts, posix, repeated, without_nacre
from nacre.findings.finding import INDEPENDENT, METADATA, MUCH, Finding
from nacre.jobs import FileGroup, Job
from nacre.text import amount, plural

# Calls to the file system below this size cost mostly their latency (Darshan and drishti: 1 MB on parallel file
# systems; Nacre's own staging makes larger ones of neighbouring pieces).
SMALL = 256 << 10
METADATA_IN_ALL = 16 << 20
MOSTLY = 10  # times as many bytes: nearly all
BACKWARD = 0.3  # of the calls: in no order about half of them go back
BLOCK = 4 << 10  # bytes of a block of a file system, if nothing is known of it
LARGE = 4 << 20  # bytes of an access that is fast wherever it is
FEW_CALLS = 100  # per rank: fewer cost no time that a user notices
HALF = 0.5
CHUNK_CACHE = "HDF5: a chunk cache for all chunks of a selection (H5Pset_chunk_cache; h5py: rdcc_nbytes=...)"
VIEWS_OF_A_CALL = 2  # that HDF5 sets: one before a collective call, and one after it
FEW_VIEWS = 10


def _seconds(job: Job, kinds: list[dict]) -> float:
    return sum(kind["seconds"]["sum"] for kind in kinds) / job.ranks


def _small(kind: dict) -> bool:
    calls = kind["file_calls"]["sum"]
    return calls >= FEW_CALLS * kind["ranks"] and kind["file_bytes"]["sum"] < SMALL * calls


def are_views_of_library(group: FileGroup) -> bool:
    """Whether HDF5 or netCDF sets the views, one or two for each of its collective calls."""
    views = calls = 0
    for one in group.reports:
        views += one["other_calls"].get("set_view", {"calls": {"max": 0}})["calls"]["max"]
        calls += sum(kind["calls"]["max"] for name, kind in one["kinds"].items() if name.startswith("collective"))
    return file_format.of(group) != file_format.OTHER and views <= VIEWS_OF_A_CALL * calls + FEW_VIEWS


def _collective_call(group: FileGroup, reads: bool) -> list[str]:
    verb = "read" if reads else "write"
    kind = file_format.of(group)
    if kind == file_format.NETCDF:
        return ["netCDF: nc_var_par_access(ncid, varid, NC_COLLECTIVE) for each variable;"
                f" PnetCDF: ncmpi_{'get' if reads else 'put'}_vara_all"]  # fmt: skip
    if kind == file_format.HDF5:
        return ["HDF5: H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE), and pass dxpl to "
                f"H5D{verb}; h5py: with dataset.collective: ..."]  # fmt: skip
    return [f"MPI: set a view for all ranks (MPI_File_set_view) and call MPI_File_{verb}_all"]


def _one_call(group: FileGroup, kinds: list[dict], reads: bool) -> list[str]:
    """For ranks that make a call for each of many small pieces. If it were only made collective, each call would
    synchronize all ranks."""
    verb = "read" if reads else "write"
    lines = [
        f"Make both changes; neither helps alone: {verb} all pieces of a rank with ONE call, and make that call"
        " collective:",
        *(_one_call_of_mpi(verb) if file_format.of(group) == file_format.OTHER else _one_call_of_hdf5(verb)),
        f"Do not make a collective call for each piece: each call synchronizes all ranks, so it is far slower than"
        f" these {verb}s. One call that is not collective is no faster: each piece is still a {verb} of its own",
    ]
    steps = {shape.get("step_bytes", 0) for kind in kinds for shape in kind["shapes"]}
    if len(steps) == 1 and steps != {0}:
        lines[0] = lines[0].replace("ONE call,", f"ONE call (they are {amount(steps.pop())} apart),")
    return lines


def _one_call_of_hdf5(verb: str) -> list[str]:
    access = "get" if verb == "read" else "put"
    return [
        f"HDF5: one buffer and one hyperslab (stride, block) for all pieces of the rank, and one H5D{verb} with a"
        " transfer list of H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE)",
        f"h5py: with dataset.collective: one {verb} of the slice with all pieces of the rank; netCDF: one"
        f" nc_{access}_vara (nc_{access}_vars with gaps) after nc_var_par_access(ncid, varid, NC_COLLECTIVE); PnetCDF:"
        f" one ncmpi_{access}_vara_all (ncmpi_{access}_vars_all)",
    ]


def _one_call_of_mpi(verb: str) -> list[str]:
    return [f"MPI: one view of all pieces (MPI_Type_vector, MPI_File_set_view) and one MPI_File_{verb}_all"]


def _is_piecewise(kind: dict) -> bool:
    """Whether each rank makes many calls, most of them of one piece."""
    calls = kind["calls"]["sum"]
    return calls >= FEW_CALLS * kind["ranks"] and calls >= HALF * kind["file_calls"]["sum"]


def collective_calls_missing(job: Job) -> Iterator[Finding]:
    """Several ranks make many small independent calls to one file."""
    for group in job.groups:
        repeats = [kind for found in repeated.of(group) for kind in found.kinds]
        for name, verb in INDEPENDENT.items():
            reads = verb == "reads"
            kinds = [kind for _, kind in group.kinds(name) if kind["ranks"] > 1 and _small(kind)]
            kinds = [kind for kind in kinds if not _reads_alike(kind, reads) and kind not in repeats]
            if not reads and _writes_metadata(group):
                continue
            calls = sum(kind["file_calls"]["sum"] for kind in kinds)
            if not calls:
                continue
            mean = sum(kind["file_bytes"]["sum"] for kind in kinds) / calls
            ranks = max(kind["ranks"] for kind in kinds)
            yield Finding(
                "collective-missing",
                f"Small independent {verb}: collective calls would combine them",
                str(group),
                f"{plural(ranks, 'rank')} made {calls:,} independent {verb} of {amount(mean)} on average",
                _seconds(job, kinds),
                [*_calls_of_all(group, kinds, reads), *without_nacre.independent_calls(job, group, verb)],
                direction=verb,
            )


def _calls_of_all(group: FileGroup, kinds: list[dict], reads: bool) -> list[str]:
    """How to make the small independent calls of several ranks collective."""
    if not any(_is_piecewise(kind) for kind in kinds):
        return _collective_call(group, reads)
    lines = _one_call(group, kinds, reads)
    if file_format.of(group) == file_format.OTHER:
        return lines
    lines.insert(0 if _do_adjoin(kinds) else -1, _larger_chunks())
    return lines


def _do_adjoin(kinds: list[dict]) -> bool:
    """Whether each call of a rank begins where its last one ended, as with the chunks of one selection."""
    shapes = [shape for kind in kinds for shape in kind["shapes"]]
    return bool(shapes) and all(shape.get("step_bytes") == shape["bytes"] for shape in shapes)


def _larger_chunks() -> str:
    """HDF5 makes an access for each chunk, whatever the size of the selection."""
    return (
        "If the dataset is chunked: chunks of at least 1 MiB (H5Pset_chunk; h5py: chunks=...; netCDF-4:"
        " nc_def_var_chunking), aligned to stripes (H5Pset_alignment); HDF5 makes an independent access for each chunk"
    )


def _reads_alike(kind: dict, reads: bool) -> bool:
    """Whether all ranks read the same small pieces, as HDF5's metadata."""
    sizes = kind["bytes"]
    is_small = kind["file_bytes"]["sum"] <= METADATA * kind["file_calls"]["sum"]
    # Rank 0 may begin with a read of its own, as HDF5 does.
    places = Counter((shape["origin"], shape["first_byte"], shape.get("type", "")) for shape in kind["shapes"])
    count = len(kind["shapes"])
    begin_alike = max(places.values(), default=0) >= min(count, max(2, count - 1))
    return reads and is_small and sizes["min"] > 0.8 * sizes["max"] and begin_alike


def small_serial_accesses(job: Job) -> Iterator[Finding]:
    """One rank makes many small calls."""
    for group in job.groups:
        for name, verb in INDEPENDENT.items():
            kinds = [
                kind
                for one, kind in group.kinds(name)
                if kind["ranks"] == 1 and _small(kind) and not _are_for_all_ranks(group, one, kind)
            ]
            calls = sum(kind["file_calls"]["sum"] for kind in kinds)
            if not calls or (verb == "writes" and (posix.is_by_streams(group) or _writes_metadata(group))):
                continue
            mean = sum(kind["file_bytes"]["sum"] for kind in kinds) / calls
            yield Finding(
                "small-accesses",
                f"Many small {verb} by single ranks",
                str(group),
                f"{calls:,} {verb} of {amount(mean)} on average",
                _seconds(job, kinds),
                [
                    *(posix.buffers(group, verb) if posix.is_posix(group) and not group.is_sum else []),
                    f"Program: gather the data and {verb[:-1]} at least {amount(SMALL)} with one call",
                    *([_larger_chunks(), CHUNK_CACHE] if file_format.of(group) == file_format.HDF5 else []),
                ],
            )


def _are_for_all_ranks(group: FileGroup, one: dict, kind: dict) -> bool:
    """Whether one rank reads the metadata of a file of HDF5 for all, as with H5Pset_all_coll_metadata_ops."""
    size = kind["file_bytes"]["sum"]
    is_small = size <= min(METADATA * kind["file_calls"]["sum"], METADATA_IN_ALL)
    return is_small and one["ranks"] > 1 and file_format.of(group) == file_format.HDF5


def metadata_of_all_ranks(job: Job) -> Iterator[Finding]:
    """Every rank reads the file's own metadata in small pieces."""
    for group in job.groups:
        found = [(one, kind) for one, kind in group.kinds("independent_read") if _small_metadata(one, kind)]
        if not found:
            continue
        kinds = [kind for _, kind in found]
        calls = sum(kind["file_calls"]["sum"] for kind in kinds)
        mean = sum(kind["file_bytes"]["sum"] for kind in kinds) / calls
        by_posix = posix.is_posix(group)
        yield Finding(
            "metadata-by-all-ranks",
            f"Every rank reads {'the same pieces of the file' if by_posix else 'the metadata of the file'} by itself",
            str(group),
            f"{plural(max(kind['ranks'] for kind in kinds), 'rank')} read the same {amount(mean)} pieces,"
            f" {calls:,} reads in all",
            _seconds(job, kinds),
            ["Program: read the file on one rank, and broadcast it"]
            if by_posix
            else [
                "HDF5: H5Pset_all_coll_metadata_ops(fapl, true) and H5Pset_coll_metadata_write(fapl, true)",
                "HDF5 1.10.5 to 1.10.8, 1.12.0 and 1.12.1 ignore H5Pset_all_coll_metadata_ops on a file: set it on"
                " the access lists of links, datasets and attributes too",
                "h5py, netCDF-4: open each file and each dataset once, not in each step; read what is small on one"
                " rank, and broadcast it",
            ],
        )


def _small_metadata(one: dict, kind: dict) -> bool:
    calls = kind["file_calls"]["sum"]
    return (
        one["ranks"] > 1 and kind["ranks"] == one["ranks"] and calls >= 8 * kind["ranks"] and _reads_alike(kind, True)
    )


def metadata_writes(job: Job) -> Iterator[Finding]:
    """Ranks write HDF5's own metadata in small pieces, each by itself, beside collective writes of the data."""
    for group in job.groups:
        if not _writes_metadata(group):
            continue
        kinds = [kind for _, kind in group.kinds("independent_write")]
        calls = sum(kind["file_calls"]["sum"] for kind in kinds)
        if calls < FEW_CALLS:
            continue
        mean = sum(kind["file_bytes"]["sum"] for kind in kinds) / calls
        yield Finding(
            "metadata-writes",
            "HDF5 writes its metadata in small pieces, beside collective writes of the data",
            str(group),
            f"{plural(max(kind['ranks'] for kind in kinds), 'rank')} made {calls:,} writes of {amount(mean)} on"
            " average",
            _seconds(job, kinds),
            [
                "HDF5: H5Pset_coll_metadata_write(fapl, true); netCDF-4 sets it",
                "HDF5: H5Pset_meta_block_size(fapl, 1 << 20) and H5Pset_libver_bounds(fapl, H5F_LIBVER_V110,"
                " H5F_LIBVER_LATEST); h5py: h5py.File(..., libver='latest', meta_block_size=1 << 20)",
                "Program: fewer and larger chunks (H5Pset_chunk: at least 1 MiB; HDF5 writes an index of all chunks),"
                " fewer attributes and datasets; close the file once, not after each step",
            ],
        )


def _writes_metadata(group: FileGroup) -> bool:
    """Whether the small independent writes of a file of HDF5 are of its metadata: collective writes move the data."""
    alone = [kind for _, kind in group.kinds("independent_write")]
    together = sum(kind["bytes"]["sum"] for _, kind in group.kinds("collective_write"))
    size, calls = (sum(kind[name]["sum"] for kind in alone) for name in ("file_bytes", "file_calls"))
    is_small = 0 < size <= METADATA * calls and together >= MOSTLY * size
    return is_small and file_format.of(group) == file_format.HDF5


def accesses_back_and_forth(job: Job) -> Iterator[Finding]:
    """Ranks access the file in no order: file systems read ahead, and gather writes, of accesses that go forward."""
    for group in job.groups:
        for name, verb in INDEPENDENT.items():
            kinds = [
                kind
                for _, kind in group.kinds(name)
                if kind["backward_calls"]["sum"] >= BACKWARD * kind["file_calls"]["sum"]
                and kind["file_calls"]["sum"] >= FEW_CALLS * kind["ranks"]
                and kind["file_bytes"]["sum"] < LARGE * kind["file_calls"]["sum"]
            ]
            if not kinds:
                continue
            calls, back = (sum(kind[field]["sum"] for kind in kinds) for field in ("file_calls", "backward_calls"))
            yield Finding(
                "back-and-forth",
                f"Independent {verb} go back and forth in the file",
                str(group),
                f"{back:,} of {calls:,} {verb} begin before the end of the rank's last one",
                _seconds(job, kinds) * HALF,
                [
                    f"Program: sort the pieces of a rank by their place in the file, and {verb[:-1]} them with one"
                    " call: MPI_Type_create_hindexed and MPI_File_set_view; HDF5: one selection, of hyperslabs"
                    " (H5Sselect_elements is slow)",
                    f"Ranks that hold pieces of one region: the same in a collective call (MPI_File_{verb[:-1]}_all)",
                ],
                direction=verb,
            )


def small_collective_calls(job: Job) -> Iterator[Finding]:
    """Many collective calls that move little: chunks or steps are too small."""
    for group in job.groups:
        for name, verb in (("collective_write", "writes"), ("collective_read", "reads")):
            kinds = [
                kind
                for one, kind in group.kinds(name)
                if kind["calls"]["max"] >= FEW_CALLS and kind["bytes"]["sum"] < SMALL * kind["calls"]["max"]
            ]
            if not kinds:
                continue
            calls = sum(kind["calls"]["max"] for kind in kinds)
            mean = sum(kind["bytes"]["sum"] for kind in kinds) / calls
            yield Finding(
                "small-collective-calls",
                f"Many small collective {verb}: each call synchronizes all ranks",
                str(group),
                f"{calls:,} collective {verb} of {amount(mean)} on average, all ranks together",
                _seconds(job, kinds) + _view_seconds(job, group),
                _larger_calls(group, verb[:-1]),
            )


def _view_seconds(job: Job, group: FileGroup) -> float:
    """The time of views that a library set for its collective calls; fewer calls need fewer views."""
    if not are_views_of_library(group):
        return 0.0
    views = [one["other_calls"]["set_view"] for one in group.reports if "set_view" in one["other_calls"]]
    return sum(view["seconds"]["sum"] for view in views) / job.ranks


def _larger_calls(group: FileGroup, verb: str) -> list[str]:
    if file_format.of(group) == file_format.OTHER:
        return [
            f"Program: move more with each call: one view (MPI_File_set_view) and one MPI_File_{verb}_all for several"
            " steps or variables, or one MPI datatype for all"
        ]
    access = "iget" if verb == "read" else "iput"
    return [
        f"Program: move more with each call: one larger selection and one H5D{verb}, or several steps in one call",
        f"Several variables at once: H5D{verb}_multi; PnetCDF: ncmpi_{access}_vara and ncmpi_wait_all",
        "If the dataset is chunked: chunks of at least 1 MiB (H5Pset_chunk)",
    ]


def unaligned_accesses(job: Job) -> Iterator[Finding]:
    """Large accesses that begin or end inside a block or stripe, which another rank may access too."""
    for group in job.groups:
        for name, verb in INDEPENDENT.items():
            found = [kind for _, kind in group.kinds(name) if kind["ranks"] > 1 and _is_unaligned(kind)]
            if not found:
                continue
            calls = sum(kind["file_calls"]["sum"] for kind in found)
            unaligned = sum(kind["unaligned_calls"]["sum"] for kind in found)
            mean = sum(kind["file_bytes"]["sum"] for kind in found) / calls
            # A write takes the lock of a stripe from other ranks. A read fetches a block or a stripe more.
            share = HALF if verb == "writes" else min(HALF, _block_bytes(group) / mean)
            yield Finding(
                "unaligned",
                f"Independent {verb} begin or end inside stripes{' that other ranks write' * (verb == 'writes')}",
                str(group),
                f"{unaligned:,} of {calls:,} {verb} are not aligned to a block or stripe",
                _seconds(job, found) * share,
                [
                    f"HDF5: H5Pset_alignment(fapl, 65536, {_stripe_bytes(group) or 'STRIPE_BYTES'}); PnetCDF: hint"
                    " nc_var_align_size",
                    f"MPI: use collective {verb}; Nacre divides them at stripes",
                    *without_nacre.independent_calls(job, group, verb),
                ],
                direction=verb,
            )


def _is_unaligned(kind: dict) -> bool:
    """Whether most calls are unaligned, and large."""
    is_mostly = kind["unaligned_calls"]["sum"] > HALF * kind["file_calls"]["sum"]
    return is_mostly and not _small(kind) and kind["file_bytes"]["sum"] > MUCH


def _stripe_bytes(group: FileGroup) -> int | None:
    return next((part["stripe_bytes"] for one in group.reports for part in one["layout"]), None)


def _block_bytes(group: FileGroup) -> int:
    return _stripe_bytes(group) or BLOCK


def repeated_reads(job: Job) -> Iterator[Finding]:
    """The same data are read several times: by all ranks, or again and again."""
    for group in job.groups:
        found = repeated.of(group)
        if not found:
            continue
        worst = max(found, key=lambda reads: reads.total - reads.once)
        yield Finding(
            "redundant-reads",
            "The same bytes of the file are read several times",
            str(group),
            f"{plural(worst.ranks, 'rank')} read {amount(worst.total)} of a file of {amount(worst.once)}"
            if worst.is_once_the_file
            else f"{plural(worst.ranks, 'rank')} read the same {amount(worst.once)}, {amount(worst.total)} in all",
            sum(_seconds(job, reads.kinds) * (1 - reads.once / reads.total) for reads in found),
            [
                "Program: read a part on each rank, and call MPI_Allgather; or read on one rank, and call MPI_Bcast",
                *([] if posix.is_posix(group) else _collective_read(group)),
                *(["Program: keep in memory what a rank reads again"] if worst.is_once_the_file else []),
            ],
        )


def _collective_read(group: FileGroup) -> list[str]:
    if file_format.of(group) != file_format.OTHER:
        return _collective_call(group, reads=True)
    return ["or MPI: MPI_File_read_all, with the hint nacre_algorithm=two_phase: aggregators then read each byte once"]


def repeated_collective_reads(job: Job) -> Iterator[Finding]:
    """Ranks read the same data with collective calls, in which each rank accesses the file by itself."""
    for group in job.groups:
        found = [
            (kind, repeated.bytes_of_a_rank(kind))
            for one, kind in group.kinds("collective_read")
            if one["nodes"] > 1 and repeated.are_alike(kind) and kind["file_bytes"]["sum"] >= MUCH
        ]
        found = [(kind, once) for kind, once in found if kind["file_bytes"]["sum"] >= repeated.OFTEN * once]
        if not found:
            continue
        worst, once = max(found, key=lambda pair: pair[0]["file_bytes"]["sum"])
        fetched = worst["file_bytes"]["sum"]
        yield Finding(
            "redundant-reads",
            "Collective reads fetch the same bytes of the file several times",
            str(group),
            f"{plural(worst['ranks'], 'rank')} read the same {amount(once)}, and fetched {amount(fetched)} in all",
            sum(kind["phases"]["file"]["max"] * (1 - size / kind["file_bytes"]["sum"]) for kind, size in found),
            [
                _with_hint(group, "nacre_algorithm", "two_phase", "aggregators then read each byte once"),
                "Program: read a part on each rank, and call MPI_Allgather; or read on one rank, and call MPI_Bcast",
            ],
        )


def _with_hint(group: FileGroup, name: str, value: str, effect: str) -> str:
    """The line that sets a hint for a group, where it overrides the value that somebody has set."""
    hint = f"{name}={value}"
    by_program = [one for one in group.reports if osts.requester_of(one, name) == "program"]
    if by_program:
        now = by_program[0]["hints"][name]["value"]
        return f"Program: it sets {name}={now} in its MPI_Info, which overrides other hints; set {hint}: {effect}"
    return f"{run_with(hint)}      # {effect}"


def _has_calls(group: FileGroup, name: str) -> bool:
    return next(group.kinds(name), None) is not None


def read_modify_writes(job: Job) -> Iterator[Finding]:
    for group in job.groups:
        found = [
            kind
            for _, kind in group.kinds_of("write")
            if kind["read_modify_writes"]["sum"] > HALF * kind["file_calls"]["sum"]
        ]
        count = sum(kind["read_modify_writes"]["sum"] for kind in found)
        if not count:
            continue
        yield Finding(
            "read-modify-write",
            "Writes read the gaps between their pieces first",
            str(group),
            f"{count:,} writes read, changed and wrote back blocks (data sieving)",
            _seconds(job, found) * HALF,
            [
                *(_collective_call(group, reads=False) if _has_calls(group, "independent_write") else []),
                _with_hint(group, "romio_ds_write", "disable", "writes then do not read the gaps"),
            ],
            direction="writes",
        )


def sieving_of_holes(job: Job) -> Iterator[Finding]:
    """Reads that fetch far more than the program wants."""
    for group in job.groups:
        found = [
            kind
            for _, kind in group.kinds_of("read")
            if kind["file_bytes"]["sum"] > 2 * kind["bytes"]["sum"] > 0 and kind["file_bytes"]["sum"] > 1 << 20
        ]
        if not found:
            continue
        fetched = sum(kind["file_bytes"]["sum"] for kind in found)
        wanted = sum(kind["bytes"]["sum"] for kind in found)
        yield Finding(
            "reads-holes",
            "Reads fetch mostly bytes that the program does not use",
            str(group),
            f"{amount(fetched)} were read for {amount(wanted)}",
            _seconds(job, found) * (1 - wanted / fetched),
            [
                *(_collective_call(group, reads=True) if _has_calls(group, "independent_read") else []),
                _with_hint(group, "romio_ds_read", "disable", "if the pieces are far apart: reads then skip the gaps"),
            ],
            direction="reads",
        )


RULES = [
    collective_calls_missing, small_serial_accesses, metadata_of_all_ranks, metadata_writes, small_collective_calls,
    accesses_back_and_forth, unaligned_accesses, repeated_reads, repeated_collective_reads,
    read_modify_writes, sieving_of_holes,
]  # fmt: skip
