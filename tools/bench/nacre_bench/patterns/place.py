"""Where the files are: in a directory, or on a testbed that runs during the launches."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import pathlib
import struct
import tempfile
from collections.abc import Iterator

from nacre import testbed
from nacre.errors import UserError

from ..config import Config
from ..errors import BenchError

LAYOUT = "lustre.lov"
# struct lov_user_md_v1 of lustre_user.h.
MAGIC_V1, RAID0, ANY_OST = 0x0BD10BD0, 0x1, 0xFFFF
NO_LUSTRE = (errno.EOPNOTSUPP, errno.ENODATA, errno.EPERM, errno.EINVAL)


def default_layout(osts: int, stripe_bytes: int) -> bytes:
    return struct.pack("<IIQQIHH", MAGIC_V1, RAID0, 0, 0, stripe_bytes, osts, ANY_OST)


@dataclasses.dataclass(frozen=True)
class Place:
    """A directory: `here` is its path in this process, `there` its path in the ranks. `rank_words` stand before the
    program of each rank. `counters` is the extended attribute with the counters of the testbed; "" in a directory."""

    here: pathlib.Path
    there: pathlib.Path
    rank_words: tuple[str, ...] = ()
    counters: str = ""
    settings: str = ""  # the machine of the testbed, one NAME = VALUE per line

    def setting(self, name: str) -> str | None:
        for line in self.settings.splitlines():
            key, _, value = line.partition("=")
            if key.strip() == name:
                return value.partition("#")[0].strip().strip('"')
        return None

    def striped(self, osts: int, stripe_bytes: int) -> tuple[pathlib.Path, str]:
        """Creates a directory whose files are striped over `osts` OSTs. Returns its path in the ranks, and why its
        files are not striped ("" if they are)."""
        name = f"{osts}x{stripe_bytes}"
        directory = self.here / name
        directory.mkdir(exist_ok=True)
        try:
            os.setxattr(directory, LAYOUT, default_layout(osts, stripe_bytes))
        except OSError as error:
            if error.errno not in NO_LUSTRE or self.counters:
                raise BenchError(f"cannot set a layout of {osts} OSTs on {directory}: {error.strerror}") from error
            return self.there / name, f"files are not striped: {error.strerror}"
        return self.there / name, ""


@contextlib.contextmanager
def in_directory(directory: str) -> Iterator[Place]:
    if not os.path.isdir(directory):
        raise BenchError(f"--dir: directory {directory} does not exist")
    with tempfile.TemporaryDirectory(prefix="nacre-bench-", dir=directory) as scratch:
        yield Place(pathlib.Path(scratch), pathlib.Path(scratch))


def name_library(config: Config) -> None:
    """Names the build's library to the package nacre, which finds machines and programs beside it."""
    os.environ.setdefault("NACRE_LIBRARY_DIR", os.path.dirname(config.preload))


@contextlib.contextmanager
def on_testbed(config: Config, machine: str, assignments: list[str], nodes: int) -> Iterator[Place]:
    """Starts a testbed with `nodes` nodes, each for one rank."""
    name_library(config)
    try:
        options = ["--machine", testbed.machine_file(machine)]
        options += [word for assignment in assignments for word in ("--set", assignment)]
        with testbed.serving([*options, "--nodes", str(nodes)]) as directory:
            yield Place(
                here=directory / "0",
                there=directory / testbed.RANK_MOUNT,
                counters=testbed.COUNTERS,
                settings=testbed.machine(directory),
            )
    except UserError as error:
        raise BenchError(f"--machine {machine}: {error}") from error


def with_ranks(place: Place, ranks: int) -> Place:
    """`place` with the words that put each of `ranks` ranks on its own node of the testbed."""
    if not place.counters:
        return place
    return dataclasses.replace(place, rank_words=tuple(testbed.rank_words(place.here.parent, ranks)))
