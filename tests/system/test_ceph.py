"""Layouts of CephFS: hints, the command, the report, and what two clients see of each other's writes.

On the CephFS that NACRE_TEST_DIR names (docs/testing.md); `make test-ceph` starts one. The tests of texts run anywhere.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Command
from nacre import ceph_client, file_system
from nacre.findings import osts
from test_layout_hints import Place, Task, every

MIB = 1 << 20
DEFAULT = {"stripe_unit": 4 * MIB, "stripe_count": 1, "object_size": 4 * MIB}
SECOND_POOL = "nacre_second"  # of scripts/ceph_cluster.py

# Two ranks in turn write pages that the other rank has read before, with a barrier and no MPI_File_sync. The size of
# the file stays the same: the kernel discards the pages of a file if a read makes it ask for the size, and it has
# changed.
TAKE_TURNS = """
import sys
from mpi4py import MPI
comm = MPI.COMM_WORLD
file = MPI.File.Open(comm, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)
size, wrong = 256 << 10, 0
found = bytearray(size)
for turn in range(40):
    if turn % 2 == comm.rank:
        file.Write_at(0, bytes([turn + 1]) * size)
    comm.Barrier()
    file.Read_at(0, found)
    wrong += found != bytes([turn + 1]) * size
    comm.Barrier()
file.Close()
print("stale reads:", wrong, flush=True)
"""


@pytest.fixture
def place(nacre: Command, tmp_path: Path) -> Iterator[Place]:
    named = os.environ.get("NACRE_TEST_DIR")
    if not named:
        pytest.skip("NACRE_TEST_DIR is not set: no CephFS to test on")
    if file_system.store(file_system.of(Path(named)).kind) != "ceph":
        pytest.skip(f"{named} is not on CephFS")
    with tempfile.TemporaryDirectory(prefix="nacre-test-", dir=named) as directory:
        here, second = Path(directory), os.environ.get("NACRE_TEST_SECOND")
        seen = Path(second) / here.name if second else here
        words = os.environ.get("NACRE_TEST_RANK_WORDS", "").split()
        yield Place(nacre, here, seen, 0, ["run"], {}, tmp_path, words)


def layout_of(place: Place, name: str) -> dict:
    (layout,) = json.loads(place.nacre("stripe", "show", "--json", place.seen / name).stdout)
    return {key: value for key, value in layout.items() if key != "path"}


def set_default(place: Place, layout: str) -> None:
    os.setxattr(place.files, ceph_client.DIRECTORY_XATTR, layout.encode())


def test_striping_hints_set_the_layout_of_a_new_file(place: Place) -> None:
    asked = {
        "count": ({"striping_factor": "4", "striping_unit": "1m"}, {"stripe_count": 4, "stripe_unit": MIB}),
        "long": ({"striping_unit": "8m"}, {"stripe_unit": 8 * MIB, "object_size": 8 * MIB}),
        "odd": ({"striping_unit": "1536k"}, {"stripe_unit": 3 * MIB // 2, "object_size": 3 * MIB}),
        "words": ({"nacre_layout": "-c 2 -S 2m"}, {"stripe_count": 2, "stripe_unit": 2 * MIB}),
        "pool": ({"nacre_pool": SECOND_POOL}, {"pool": SECOND_POOL}),
        "none": ({}, {}),
    }
    told = place.run([Task(name, hints, [every(0, 3 * MIB)]) for name, (hints, _) in asked.items()])
    for (name, (hints, expected)), one in zip(asked.items(), told, strict=True):
        found = layout_of(place, name)
        assert {**DEFAULT, "pool": found["pool"], **expected} == found, name
        assert one.info["striping_factor"] == str(found["stripe_count"]), name
        assert one.info["striping_unit"] == str(found["stripe_unit"]), name
        assert one.report["layout_origin"] == ("hints" if hints else "default"), name
        (region,) = one.report["layout"]
        assert region["object_bytes"] == found["object_size"], name
        assert region["osts"] == [], name
        assert not one.report["notes"], name


def test_hints_that_cephfs_cannot_follow_leave_a_note_and_the_default(place: Place) -> None:
    told = place.run([
        Task("components", {"nacre_layout": "-E 1m -c 1 -S 1m -E -1 -c 2"}, [every(0, 100)]),
        Task("all", {"striping_factor": "-1", "start_iodevice": "2"}, [every(0, 100)]),
        Task("no pool", {"nacre_pool": "no-such-pool"}),
    ])  # fmt: skip
    assert any(note.startswith("hint nacre_layout: requested -E 1m") for note in told[0].report["notes"])
    assert layout_of(place, "components")["stripe_count"] == 2
    assert DEFAULT.items() <= layout_of(place, "all").items()
    assert told[2].info["is_of_info_value"], told[2].info
    assert not (place.seen / "no pool").exists()


def test_a_file_with_data_keeps_its_layout(place: Place) -> None:
    (place.seen / "old").write_bytes(b"x")
    (told,) = place.run([Task("old", {"striping_factor": "4", "striping_unit": "1m"}, [every(0, 100)])])
    assert DEFAULT.items() <= layout_of(place, "old").items()
    assert told.info["striping_factor"] == "1"
    assert any(
        note.startswith("hint striping_factor: requested 4, but the file has 1") for note in told.report["notes"]
    )
    assert told.report["layout_origin"] != "hints"


def test_the_layout_of_the_nearest_directory_is_the_default(place: Place) -> None:
    set_default(place, f"stripe_unit={MIB} stripe_count=2 object_size={2 * MIB}")
    (place.files / "below").mkdir()
    (told,) = place.run([Task("below/new", {}, [every(0, MIB)])])
    assert told.report["layout_origin"] == "default"
    assert layout_of(place, "below/new")["object_size"] == 2 * MIB
    shown = place.nacre("stripe", "show", place.files, place.files / "below")
    assert "stripe_count: 2" in shown.stdout
    assert "no layout of its own" in shown.stdout


def test_aggregators_write_whole_objects(place: Place) -> None:
    hints = {"striping_unit": "1m", "striping_factor": "2", "nacre_algorithm": "two_phase", "cb_nodes": "2"}
    (told,) = place.run([Task("f", {**hints, "nacre_saturation_bytes": "1m"}, [every(0, 4 * MIB)])])
    (plan,) = told.report["plans"]
    assert plan["pattern"] == "even"
    assert plan["domain_bytes"] == 8 * MIB  # the two objects of a set
    assert "osts" not in plan


def test_the_command_speaks_of_objects_and_osds(place: Place) -> None:
    report = place.scratch / "report.jsonl"
    place.run([Task("f", {"striping_unit": "1m", "striping_factor": "4"}, [every(0, MIB)])])
    words = "stripes of 1 MiB over 4 objects of 4 MiB in turn, each on an OSD that Ceph chooses"
    assert words in place.nacre("report", report).stdout
    assert words in place.nacre("hints", place.seen / "f").stdout
    assert "OST" not in place.nacre("explain", report).stdout
    about = place.nacre("doctor", place.seen / "f")
    assert about.returncode == 0, about.stderr
    assert words in about.stdout
    directory = place.nacre("doctor", place.seen)
    assert directory.returncode == 0, directory.stderr
    assert "ceph osd stat" in directory.stdout
    assert "OST" not in directory.stdout
    set_default(place, f"stripe_unit={4 * MIB} stripe_count=4 object_size={4 * MIB}")
    assert "changes nothing" in place.nacre("doctor", place.files).stdout
    assert "Keep the default" in place.nacre("stripe", "advise", "20g", place.seen).stdout
    advice = place.nacre("stripe", "advise", "20g", "--ranks", 64, "--osts", 8, place.seen).stdout
    assert "setfattr -n ceph.file.layout -v " in advice


def test_two_clients_read_what_the_other_has_written(place: Place) -> None:
    if not place.rank_words:
        pytest.skip("NACRE_TEST_SECOND is not set: one client")
    done = place.nacre("run", "--", *place.mpiexec(2, TAKE_TURNS, place.files / "turns"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["stale reads: 0"] * 2


@pytest.mark.parametrize(
    ("size", "count", "unit"),
    [
        (4 * MIB, 4, MIB),
        (4 * MIB, 3, MIB),
        (4 * MIB, 128, 64 << 10),
        (3 * MIB, 2, 3 * MIB // 2),
        (5 << 16, 2, 64 << 10),
    ],
)
def test_an_advised_stripe_unit_is_one_that_ceph_takes(size: int, count: int, unit: int) -> None:
    assert ceph_client.smaller_unit(size, count) == unit


def test_layouts_in_words() -> None:
    usual = {"begin": 0, "end": -1, "stripe_bytes": 4 * MIB, "stripes": 1, "object_bytes": 4 * MIB, "osts": []}
    assert osts.in_words([usual]) == "objects of 4 MiB in turn, each on an OSD that Ceph chooses"
    assert osts.stripes({"layout": [{**usual, "stripes": 8}], "file_system": "ceph"}) == 0


def test_a_recommended_layout_has_objects_of_whole_stripes() -> None:
    assert ceph_client.setting(8, MIB) == f"stripe_unit={MIB} stripe_count=8 object_size={4 * MIB}"
    assert ceph_client.setting(8, 16 * MIB) == f"stripe_unit={16 * MIB} stripe_count=8 object_size={16 * MIB}"
