"""What hints make of the layout of a new file and of accesses to it, and how a layout follows from what is written."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from striping import END_OF_FILE, LAYOUT, composite, delay_create, json_lines, plain

MAKE_FILES = """
import json, sys
from mpi4py import MPI
for path, hints in json.loads(sys.argv[1]).items():
    info = MPI.Info.Create()
    for name, value in hints.items():
        info.Set(name, value)
    try:
        file = MPI.File.Open(MPI.COMM_WORLD, path, MPI.MODE_CREATE | MPI.MODE_RDWR, info)
        print(json.dumps({"file": path, "info": dict(file.Get_info().items())}))
        file.Close()
    except MPI.Exception as error:
        print(path, error)
"""


def test_each_striping_hint_is_in_the_layout_of_a_new_file(
    clean_environment: dict[str, str], nacre, nodes: list[Path], tmp_path: Path
) -> None:
    report = tmp_path / "report"
    ratio, words = {"striping_factor": "4", "overstriping_ratio": "2"}, "-E 1m -c 1 -E -1 -c 4"
    # Hints, a line of the layout, and what the info and the report of the open file say.
    asked = {
        "count": ({"striping_factor": "3"}, "lmm_stripe_count:  3", {"striping_factor": "3"}),
        "all": ({"striping_factor": "-1"}, "lmm_stripe_count:  4", {"striping_factor": "4"}),
        "size": ({"striping_unit": "2097152"}, "lmm_stripe_size:   2097152", {"striping_unit": "2097152"}),
        "rounded": ({"striping_unit": "100000"}, "lmm_stripe_size:   131072", {"striping_unit": "131072"}),
        "first": ({"start_iodevice": "2"}, "lmm_stripe_offset: 2", {"start_iodevice": "2"}),
        "ratio": (ratio, "lmm_pattern:       raid0,overstriped", ratio),
        "cray's ratio": (
            {"striping_factor": "4", "overstriping_factor": "2"},
            "lmm_pattern:       raid0,overstriped",
            ratio,
        ),
        "pool": ({"nacre_pool": "flash"}, "lmm_pool:          flash", {"nacre_pool": "flash"}),
        "words": ({"nacre_layout": words}, "lcm_entry_count:   2", {"nacre_layout": words, "striping_factor": "4"}),
        "none": ({}, "lmm_stripe_count:  1", {"striping_factor": "1"}),
    }
    files = {str(nodes[0] / name): hints for name, (hints, _, _) in asked.items()}
    absent = str(nodes[0] / "absent")
    files[absent] = {"start_iodevice": "4"}
    preload = {"LD_PRELOAD": str(nacre.library), "NACRE_TESTBED": "1", "NACRE_REPORT": str(report)}
    made = subprocess.run(
        ["/usr/bin/python3", "-c", MAKE_FILES, json.dumps(files)],
        env={**clean_environment, **preload},
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    assert f"{absent} " in made.stdout
    assert not os.path.exists(absent)
    infos = {line["file"]: line["info"] for line in map(json.loads, json_lines(made.stdout))}
    reported = {line["file"]: line["hints"] for line in map(json.loads, json_lines(report.read_text()))}
    for name, (_, line, told) in asked.items():
        assert line in nacre("stripe", "show", nodes[1] / name).stdout
        path = str(nodes[0] / name)
        assert told.items() <= infos[path].items(), name
        assert told.items() <= {key: hint["value"] for key, hint in reported[path].items()}.items(), name


@pytest.mark.parametrize(
    ("hint", "right"),
    [
        ("striping_factor=many", "a whole number of at least -1"),
        ("striping_unit=1q", "a whole number of at least 0"),
        ("start_iodevice=-2", "a whole number of at least -1"),
        ("overstriping_ratio=0", "a whole number of at least 1"),
        ("overstriping_factor=x", "a whole number of at least 1"),
        ("nacre_layout=-c x", "-c"),
        ("nacre_pattern=diagonal", "automatic|even|stripes|osts"),
        ("nacre_osts_per_aggregator=0", "a whole number of at least 1"),
        ("nacre_ost_sharing=both", "turns|ranges"),
        ("nacre_choose_layout=maybe", "automatic|enable|disable|replace"),
        ("nacre_choose_layout_from=-1", "a whole number of at least 0"),
        ("nacre_write_locks=wide", "usual|narrow|group"),
        ("cray_cb_write_lock_mode=3", "0|1|2"),
        ("direct_write=maybe", "true or false"),
    ],
)
def test_wrong_values_of_striping_hints_are_errors_that_say_what_is_right(nacre, hint: str, right: str) -> None:
    name, _, value = hint.partition("=")
    refused = nacre("hints", "/scratch/file", NACRE_HINTS=f"*:{hint}")
    assert refused.returncode == 2
    assert name in refused.stderr
    assert value in refused.stderr
    assert right in " ".join(refused.stderr.split())


GROW_FILES = """
import json, sys
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, mebibyte = comm.rank, 1 << 20

def bytes_at(offset, count):
    return bytes((offset + i) % 251 for i in range(count))

def run(path, hints, steps):
    info = MPI.Info.Create()
    for name, value in hints.items():
        info.Set(name, value)
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR, info)
    written = []
    for what, *rest in steps:
        if what == "all":  # COUNT bytes a rank, one after the other, from OFFSET on
            offset, count = rest
            file.Write_at_all(offset + rank * count, bytes_at(offset + rank * count, count))
            written.append((offset, comm.size * count))
        elif what == "one":
            writer, offset, count = rest
            if rank == writer:
                file.Write_at(offset, bytes_at(offset, count))
            written.append((offset, count))
        elif what == "size":
            file.Set_size(rest[0])
        comm.Barrier()
    factor = file.Get_info().Get("striping_factor")
    file.Close()
    file = MPI.File.Open(comm, path, MPI.MODE_RDONLY)
    for offset, count in written:
        found = bytearray(count)
        file.Read_at_all(offset, found)
        assert bytes(found) == bytes_at(offset, count), (path, offset, count)
    file.Close()
    if rank == 0:
        print(path, factor, flush=True)

for path, (hints, steps) in json.loads(sys.argv[1]).items():
    run(path, hints, steps)
"""


def components(text: str) -> list[int]:
    """Stripe counts of a layout as `nacre stripe show` prints it, component by component."""
    return [int(line.split()[-1]) for line in text.splitlines() if "lmm_stripe_count" in line]


@pytest.mark.usefixtures("node_namespaces")
def test_the_layout_of_a_new_file_follows_from_what_is_written(
    clean_environment: dict[str, str], nacre, played: Path, tmp_path: Path
) -> None:
    """Whatever rank comes first with whatever call finds a layout, and no file is left half striped."""
    small, large, worth = 1000, 2 << 20, {"nacre_saturation_bytes": "1m"}
    replaced = {**worth, "nacre_choose_layout": "replace"}
    asked = {
        "large": (worth, [["all", 0, large]], [4], "4"),
        "small": (worth, [["all", 0, small]], [1, 1], None),
        "head, then large": (worth, [["one", 0, 0, small], ["all", small, large]], [1, 4], "4"),
        "another rank's head": (worth, [["one", 3, 5, small], ["all", small + 5, large]], [1, 4], "4"),
        "two small, then large": (
            worth,
            [["all", 0, small], ["all", 4 * small, small], ["all", 9000, large]],
            [1, 4],
            "4",
        ),
        "far out": (worth, [["one", 2, 8 << 20, small], ["all", 0, large]], [1], "1"),
        "behind its head": (worth, [["one", 1, 0, small], ["one", 2, 3 << 20, small]], [1, 1], None),
        "across its end": (worth, [["one", 1, 0, small], ["one", 2, (1 << 20) - 10, small]], [1, 1], None),
        "size": (worth, [["size", 64 << 20], ["all", 0, small]], [4], "4"),
        "nothing": (worth, [], [], None),
        "disabled": ({**worth, "nacre_choose_layout": "disable"}, [["all", 0, large]], [1], "1"),
        "below": ({**worth, "nacre_choose_layout_from": "1g"}, [["all", 0, large]], [1], "1"),
        "default/f": (worth, [["all", 0, large]], [3], "3"),
        "left": (worth, [["all", 0, large]], [4], "4"),
        "left with hints": ({**worth, "striping_factor": "3"}, [["all", 0, large]], [3], "3"),
        "grows/kept": (worth, [["one", 0, 0, small], ["all", small, large]], [1, 2, 1], "1"),
        "grows/replaced": (replaced, [["one", 0, 0, small], ["all", small, large]], [1, 4], "4"),
        "grows/written": (replaced, [["one", 1, 3 << 20, small], ["all", 0, large]], [1, 2, 4], "4"),
        "grows/small": (replaced, [["all", 0, small]], [1, 2, 1], "1"),
    }
    (played / "0" / "default").mkdir()
    os.setxattr(played / "0" / "default", LAYOUT, plain(count=3, size=1 << 16))
    for left in ("left", "left with hints"):  # by a job that was killed between open and write
        os.close(delay_create(played / "0" / left))
    (played / "0" / "grows").mkdir()
    parts = ((0, 1 << 20, plain(count=1)), (1 << 20, 4 << 20, plain(count=2)), (4 << 20, END_OF_FILE, plain(count=1)))
    os.setxattr(played / "0" / "grows", LAYOUT, composite(*parts))
    files = {str(played / "node" / name): [hints, steps] for name, (hints, steps, _, _) in asked.items()}
    launch = ["mpiexec.openmpi", "--oversubscribe", "-n", "4", "/usr/bin/python3", "-c", GROW_FILES, json.dumps(files)]
    done = nacre("testbed", "run", "--at", played, "--report", tmp_path / "report", "--", *launch)
    assert done.returncode == 0, done.stderr
    told = dict(line.removeprefix(f"{played}/node/").rsplit(" ", 1) for line in done.stdout.splitlines())
    for name, (_, _, counts, factor) in asked.items():
        assert told[name] == str(factor), name
        assert components(nacre("stripe", "show", played / "1" / name).stdout) == counts, name
    report = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    notes = next(line["notes"] for line in report if line["file"].endswith("/large") and line["bytes_written"])
    assert any(note.startswith("layout of the file: ") for note in notes)


@pytest.mark.usefixtures("node_namespaces")
def test_a_default_of_the_root_gives_way_above_a_size(clean_environment: dict[str, str], nacre, played: Path) -> None:
    os.setxattr(played / "0", LAYOUT, plain(count=2))
    large, worth = 2 << 20, {"nacre_saturation_bytes": "1m"}
    asked = {
        "automatic": (worth, 2),
        "asked for": ({**worth, "nacre_choose_layout": "enable"}, 4),
        "above": ({**worth, "nacre_choose_layout_from": "4m"}, 4),
        "below": ({**worth, "nacre_choose_layout_from": "1g"}, 2),
    }
    (played / "0" / "d").mkdir()
    files = {str(played / "node" / "d" / name): [hints, [["all", 0, large]]] for name, (hints, _) in asked.items()}
    launch = ["mpiexec.openmpi", "--oversubscribe", "-n", "4", "/usr/bin/python3", "-c", GROW_FILES, json.dumps(files)]
    done = nacre("testbed", "run", "--at", played, "--", *launch)
    assert done.returncode == 0, done.stderr
    for name, (_, count) in asked.items():
        assert components(nacre("stripe", "show", played / "0" / "d" / name).stdout) == [count], name
