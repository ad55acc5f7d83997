"""What hints make of the layout of a new file and of accesses to it, and how a layout follows from what is written.

On a testbed, or on the Lustre that NACRE_TEST_DIR names (docs/testing.md).
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Command, brought_up
from nacre import file_system, testbed
from striping import ALL_OSTS, END_OF_FILE, LAYOUT, composite, count_of, delay_create, json_lines, plain

RANKS = 4
WRITE_FILES = """
import json, sys, time
from mpi4py import MPI
comm = MPI.COMM_WORLD

def bytes_at(offset, count):
    first = offset % 251
    return (bytes(range(251)) * (count // 251 + 2))[first : first + count]

def in_two(begin, end):
    def both(file, offset, data):
        begin(file, offset, data)
        end(file, data)
    return both

CALLS = {
    "write_at": MPI.File.Write_at,
    "write_at_all": MPI.File.Write_at_all,
    "write_at_all_begin": in_two(MPI.File.Write_at_all_begin, MPI.File.Write_at_all_end),
    "late_write_at": lambda file, offset, data: (time.sleep(0.3), file.Write_at(offset, data)),
    "iwrite_at": lambda file, offset, data: file.Iwrite_at(offset, data).Wait(),
    "iwrite_at_all": lambda file, offset, data: file.Iwrite_at_all(offset, data).Wait(),
    # Where the shared pointer is at the offset, and all have the same bytes.
    "write_shared": lambda file, offset, data: file.Write_shared(data),
    "iwrite_shared": lambda file, offset, data: file.Iwrite_shared(data).Wait(),
    "write_ordered": lambda file, offset, data: file.Write_ordered(data),
    "write_ordered_begin": in_two(lambda file, _, data: file.Write_ordered_begin(data), MPI.File.Write_ordered_end),
}

# Each of the ranks has COUNT bytes, one's behind the other's, from OFFSET on.
def take(file, call, ranks, offset, count):
    if comm.rank in ranks:
        place = offset + ranks.index(comm.rank) * count
        CALLS[call](file, place, bytes_at(place, count))

def run(path, hints, steps):
    info = MPI.Info.Create()
    for name, value in hints.items():
        info.Set(name, value)
    try:
        file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR, info)
    except MPI.Exception as error:
        return {"error": str(error), "is_of_info_value": error.Get_error_class() == MPI.ERR_INFO_VALUE}
    for what, *rest in steps:
        if what == "size":
            file.Set_size(*rest)
        elif what == "preallocate":
            file.Preallocate(*rest)
        elif what == "atomicity":
            file.Set_atomicity(*rest)
        else:
            take(file, what, *rest)
        if what != "late_write_at":  # others go on to the close
            comm.Barrier()
    told = dict(file.Get_info().items())
    file.Close()
    return told

for path, hints, steps in json.load(open(sys.argv[1])):
    told = run(path, hints, steps)
    if comm.rank == 0:
        print(json.dumps(told), flush=True)
"""


def every(offset: int, count: int, call: str = "write_at_all") -> list:
    return [call, list(range(RANKS)), offset, count]


def one(rank: int, offset: int, count: int, call: str = "write_at") -> list:
    return [call, [rank], offset, count]


@dataclasses.dataclass
class Task:
    """A file that an MPI program opens, with such hints, and does these steps to."""

    name: str
    hints: dict[str, str]
    steps: list[list] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Told:
    """What the open file's info said before it was closed, and what the report says of it."""

    info: dict[str, str]
    report: dict

    @property
    def hints(self) -> dict[str, str]:
        return {name: hint["value"] for name, hint in self.report["hints"].items()}


@dataclasses.dataclass
class Place:
    """Where files are striped."""

    nacre: Command
    files: Path  # as ranks call it
    seen: Path  # the same as it is seen here: from another node, where there are several
    osts: int
    launch: list[object]  # of the command: what starts ranks there
    environment: dict[str, str]
    scratch: Path  # not striped
    rank_words: list[str] = dataclasses.field(default_factory=list)  # before each rank's command

    def mpiexec(self, ranks: int, program: str, *arguments: object) -> list[object]:
        launcher = ["mpiexec.openmpi", "--oversubscribe", "-n", ranks, *self.rank_words]
        return [*launcher, "/usr/bin/python3", "-c", program, *arguments]

    def run(self, tasks: list[Task], ranks: int = RANKS) -> list[Told]:
        """In one program; the bytes that were written are looked at."""
        asked, report = self.scratch / "tasks.json", self.scratch / "report.jsonl"
        asked.write_text(json.dumps([[str(self.files / task.name), task.hints, task.steps] for task in tasks]))
        report.unlink(missing_ok=True)
        mpiexec = self.mpiexec(ranks, WRITE_FILES, asked)
        done = self.nacre(*self.launch, "--report", report, "--", *mpiexec, **self.environment)
        assert done.returncode == 0, done.stderr
        infos = [json.loads(line) for line in json_lines(done.stdout)]
        assert len(infos) == len(tasks), done.stderr
        lines = iter([json.loads(line) for line in report.read_text().splitlines()])
        told = [Told(info, {} if "error" in info else next(lines)) for info in infos]
        assert [one.report["file"] for one in told if one.report] == [
            str(self.files / task.name) for task, one in zip(tasks, told, strict=True) if one.report
        ]
        for task in tasks:
            check_bytes(self.seen / task.name, task.steps)
        return told

    def layouts(self, names: list[str]) -> dict[str, str]:
        """As `nacre stripe show` prints them; those of files that have one."""
        shown = self.nacre("stripe", "show", *(self.seen / name for name in names)).stdout
        if len(names) == 1:
            return {names[0]: shown}
        texts: dict[str, str] = {}
        for line in shown.splitlines():
            if line.startswith(f"{self.seen}/"):
                name = line.removeprefix(f"{self.seen}/").removesuffix(":")
                texts[name] = ""
            else:
                texts[name] += line + "\n"
        return texts

    def counts(self, names: list[str]) -> dict[str, list[int]]:
        """Stripes, component by component."""
        return {
            name: [int(line.split()[-1]) for line in text.splitlines() if "lmm_stripe_count" in line]
            for name, text in self.layouts(names).items()
        }

    def usual_count(self) -> int:
        """Stripes of a file that nobody asks anything of; of its last component, if it has several."""
        path = self.seen / "probe"
        path.touch()
        *_, count = self.counts([path.name])[path.name]
        path.unlink()
        return count

    def require_osts(self, count: int) -> None:
        if self.osts < count:
            pytest.skip(f"{count} OSTs are needed, {self.seen} has {self.osts}")

    def require_choice(self) -> None:
        """That what is written is what a layout follows from."""
        directory = self.seen
        while not has_layout(directory) and not os.path.ismount(directory):
            directory = directory.parent
        if has_layout(directory):
            pytest.skip(f"{directory} has a default layout, which is obeyed")


def has_layout(directory: Path) -> bool:
    try:
        return len(os.getxattr(directory, LAYOUT)) > 0
    except OSError:
        return False


def check_bytes(path: Path, steps: list[list]) -> None:
    for _, ranks, offset, count in (step for step in steps if len(step) == 4):
        size, first = count * len(ranks), offset % 251
        with path.open("rb") as file:
            file.seek(offset)
            found = file.read(size)
        assert found == (bytes(range(251)) * (size // 251 + 2))[first : first + size], (path, offset)


def is_testbed(directory: Path) -> bool:
    try:
        return bool(os.getxattr(directory, "testbed.node"))
    except OSError:
        return False


def is_striped(directory: Path) -> bool:
    """Whether it is on a Lustre, or on a testbed that is to count as one."""
    counts_as_one = "NACRE_TESTBED" in os.environ and is_testbed(directory)
    return counts_as_one or file_system.of(directory).kind == "lustre"


def count_osts(directory: Path) -> int:
    path = directory / "probe"
    file = delay_create(path)
    os.setxattr(file, LAYOUT, plain(count=ALL_OSTS))
    count = count_of(os.getxattr(file, LAYOUT))
    os.close(file)
    path.unlink()
    return count


@pytest.fixture
def place(request: pytest.FixtureRequest, nacre: Command, tmp_path: Path) -> Iterator[Place]:
    """In the directory that is named, if it is on a Lustre, else on a testbed, with what the test asks of it."""
    named = os.environ.get("NACRE_TEST_DIR")
    if named and is_striped(Path(named)):
        counts = {"NACRE_TESTBED": "1"} if "NACRE_TESTBED" in os.environ else {}
        counts["NACRE_MACHINE"] = "lustre"  # whatever its OSTs and nodes can do
        with tempfile.TemporaryDirectory(prefix="nacre-test-", dir=named) as directory:
            here, second = Path(directory), os.environ.get("NACRE_TEST_SECOND")
            seen = Path(second) / here.name if second else here
            words = os.environ.get("NACRE_TEST_RANK_WORDS", "").split()
            yield Place(nacre, here, seen, count_osts(here), ["run"], counts, tmp_path, words)
        return
    request.getfixturevalue("node_namespaces")
    request.getfixturevalue("nodes")  # whether it can be mounted
    with brought_up(nacre, tmp_path / "played", *getattr(request, "param", [])) as played:
        launch = ["testbed", "run", "--at", played]
        yield Place(nacre, played / testbed.RANK_MOUNT, played / "1", 4, launch, {}, tmp_path)


# Hints, and what the info and the report of an open file say of them.
OTHER_HINTS = [
    (hints, hints)
    for hints in (
        {"nacre_pattern": "stripes", "nacre_osts_per_aggregator": "2", "nacre_ost_sharing": "ranges"},
        {"nacre_pattern": "even", "nacre_ost_sharing": "turns", "nacre_choose_layout": "enable"},
        {"nacre_choose_layout": "disable", "nacre_write_locks": "narrow", "direct_read": "true"},
        {"cray_cb_write_lock_mode": "1", "direct_write": "true"},
    )
] + [
    (
        {"nacre_choose_layout": "Replace", "nacre_choose_layout_from": "2m", "direct_write": "disable"},
        {"nacre_choose_layout": "replace", "nacre_choose_layout_from": "2097152", "direct_write": "false"},
    )
]

LAYOUT_HINTS = {"striping_factor", "striping_unit", "start_iodevice", "nacre_layout", "nacre_pool"}


def test_each_striping_hint_is_in_the_layout_of_a_new_file(place: Place) -> None:
    place.require_osts(4)
    usual, osts = str(place.usual_count()), str(place.osts)
    ratio, words = {"striping_factor": osts, "overstriping_ratio": "2"}, "-E 1m -c 1 -E -1 -c 4"
    crays_ratio = {"striping_factor": osts, "overstriping_factor": "2"}
    later = "-E 1m -c 1 -E -1 -c -1"
    # Hints, a line of the layout, and what the info and the report of the open file say.
    asked = {
        "count": ({"striping_factor": "3"}, "lmm_stripe_count:  3", {"striping_factor": "3"}),
        "all": ({"striping_factor": "-1"}, f"lmm_stripe_count:  {osts}", {"striping_factor": osts}),
        "size": ({"striping_unit": "2097152"}, "lmm_stripe_size:   2097152", {"striping_unit": "2097152"}),
        "rounded": ({"striping_unit": "100000"}, "lmm_stripe_size:   131072", {"striping_unit": "131072"}),
        "first": ({"start_iodevice": "2"}, "lmm_stripe_offset: 2", {"start_iodevice": "2"}),
        "ratio": (ratio, "lmm_pattern:       raid0,overstriped", ratio),
        "Cray's ratio": (crays_ratio, "lmm_pattern:       raid0,overstriped", ratio),
        "words": ({"nacre_layout": words}, "lcm_entry_count:   2", {"nacre_layout": words, "striping_factor": "4"}),
        "listed": ({"nacre_layout": "-o 3,1"}, "lmm_stripe_offset: 3", {"striping_factor": "2", "start_iodevice": "3"}),
        "all later": ({"nacre_layout": later}, "lmm_stripe_count:  -1", {"striping_factor": str(place.osts)}),
        "none": ({}, f"lmm_stripe_count:  {usual}", {"striping_factor": usual}),
    }
    # Of those that say how it is accessed, or when its layout is chosen, the layout tells nothing.
    for number, (hints, expected) in enumerate(OTHER_HINTS):
        asked[f"other {number}"] = (hints, "", expected)
    if pool := "flash" if is_testbed(place.seen) else os.environ.get("NACRE_TEST_POOL"):
        # On a testbed, any name is that of a pool of all OSTs.
        asked["pool"] = ({"nacre_pool": pool}, f"lmm_pool:          {pool}", {"nacre_pool": pool})
    absent = Task("absent", {"start_iodevice": "60000"})
    *told, refused = place.run([*(Task(name, hints) for name, (hints, _, _) in asked.items()), absent], ranks=1)
    assert refused.info["is_of_info_value"], refused.info
    assert not (place.seen / "absent").exists()
    layouts = place.layouts(list(asked))
    for (name, (_, line, expected)), one_told in zip(asked.items(), told, strict=True):
        assert line in layouts[name], name
        assert expected.items() <= one_told.info.items(), name
        assert expected.items() <= one_told.hints.items(), name
        is_by_hints = not LAYOUT_HINTS.isdisjoint(asked[name][0])
        assert (one_told.report["layout_origin"] == "hints") == is_by_hints, name


def test_a_testbed_counts_as_lustre_only_with_nacre_testbed_set(
    nacre: Command, nodes: list[Path], tmp_path: Path
) -> None:
    hints, found = {"striping_factor": "3", "nacre_algorithm": "two_phase"}, {}
    for environment in ({}, {"NACRE_TESTBED": "1"}):
        place = Place(nacre, nodes[0], nodes[1], 4, ["run"], environment, tmp_path)
        name = f"f{len(environment)}"
        (told,) = place.run([Task(name, hints, [every(0, 1 << 20)])])
        (plan,) = told.report["plans"]
        found[name] = (place.counts([name])[name], told.report["hints"]["striping_factor"]["from"], plan["pattern"])
    assert found == {"f0": ([1], "program", "even"), "f1": ([3], "open file", "osts")}


def test_hints_that_a_file_does_not_follow_show_the_real_value_and_a_note(place: Place) -> None:
    place.require_osts(3)
    osts, many = str(place.osts), str(place.osts + 96)
    there = {"striping_factor": "2", "striping_unit": "65536"}
    # Hints, what the info says, and the beginning of a note.
    asked = [
        (
            Task("more than there are", {"striping_factor": many}),
            {"striping_factor": osts},
            f"hint striping_factor: requested {many}, but the file has {osts}",
        ),
        (
            Task("no multiple", {"striping_unit": "100000"}),
            {"striping_unit": "131072"},
            "hint striping_unit: 100000 is not a multiple of 64k; Nacre uses 131072",
        ),
        (
            Task("no number", {"striping_factor": "many"}),
            {"striping_factor": str(place.usual_count())},
            'hint striping_factor has the value "many"',
        ),
        (
            Task("there", {"striping_factor": "3", "striping_unit": "65536"}),
            there,
            "hint striping_factor: requested 3, but the file has 2",
        ),
        (
            Task("there", {"striping_unit": "131072"}),
            there,
            "hint striping_unit: requested 131072, but the file has 65536",
        ),
    ]
    made, *told = place.run([Task("there", there), *(task for task, _, _ in asked)], ranks=1)
    assert made.report["notes"] == []
    for (task, expected, note), one_told in zip(asked, told, strict=True):
        assert expected.items() <= one_told.info.items(), task
        assert expected.items() <= one_told.hints.items(), task
        assert any(line.startswith(note) for line in one_told.report["notes"]), task
    assert place.counts(["more than there are", "there"]) == {"more than there are": [place.osts], "there": [2]}


@pytest.mark.parametrize("place", [["--set", "striping.count=3"]], indirect=True)
def test_a_striping_hint_without_a_count_does_not_change_the_stripe_count(place: Place) -> None:
    place.require_choice()  # a default layout says nothing of files with a layout of their own
    usual = place.usual_count()
    asked = {"size": {"striping_unit": "2097152"}, "first": {"start_iodevice": "1"}}
    told = place.run([Task(name, hints) for name, hints in asked.items()], ranks=1)
    assert place.counts(list(asked)) == {name: [usual] for name in asked}
    for hints, one_told in zip(asked.values(), told, strict=True):
        assert {**hints, "striping_factor": str(usual)}.items() <= one_told.info.items()


def test_hints_for_aggregators_are_in_the_plan(place: Place) -> None:
    place.require_osts(4)
    common = {"nacre_layout": "-c 4 -S 64k", "nacre_algorithm": "two_phase", "cb_nodes": "4"}
    # Hints, and of the plan: pattern, bytes of a block, most OSTs of an aggregator, most aggregators of an OST.
    asked = {
        "one": ({"nacre_osts_per_aggregator": "1"}, ("osts", 65536, 1, 1)),
        "two": ({"nacre_osts_per_aggregator": "2"}, ("osts", 65536, 2, 2)),
        "all": ({"nacre_osts_per_aggregator": "4"}, ("osts", 65536, 4, 4)),
        "two by ranges": (
            {"nacre_osts_per_aggregator": "2", "nacre_ost_sharing": "ranges"},
            ("osts", 65536, 2, 2),
        ),
        "fewer aggregators": ({"nacre_osts_per_aggregator": "1", "cb_nodes": "2"}, ("osts", 65536, 2, 1)),
        "two of fewer": ({"nacre_osts_per_aggregator": "2", "cb_nodes": "2"}, ("osts", 65536, 2, 1)),
        "stripes": ({"nacre_pattern": "stripes", "nacre_osts_per_aggregator": "2"}, ("stripes", 131072, 2, 2)),
        "even": ({"nacre_pattern": "even", "nacre_osts_per_aggregator": "2"}, ("even", 1 << 20, 4, 4)),
    }
    told = place.run([Task(name, {**common, **hints}, [every(0, 1 << 20)]) for name, (hints, _) in asked.items()])
    for (name, (hints, expected)), one_told in zip(asked.items(), told, strict=True):
        (plan,) = one_told.report["plans"]
        osts = plan["osts"]
        assert (plan["pattern"], plan["domain_bytes"], osts["most"], osts["aggregators_on_one"]) == expected, name
        assert hints.items() <= one_told.hints.items(), name


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
        ("nacre_write_locks=wide", "usual|narrow|ahead|group"),
        ("cray_cb_write_lock_mode=3", "0|1|2"),
        ("direct_read=maybe", "true or false"),
        ("direct_write=maybe", "true or false"),
        ("striping_factor=-2", "a whole number of at least -1"),
        ("striping_unit=-1", "a whole number of at least 0"),
        ("nacre_choose_layout_from=1q", "a whole number of at least 0"),
        ("nacre_saturation_bytes=0", "a whole number of at least 1"),
        ("nacre_algorithm=fast", "automatic|direct|two_phase"),
        ("cb_nodes=0", "a whole number of at least 1"),
        ("cb_buffer_size=0", "a whole number of at least 1"),
    ],
)
def test_errors_of_striping_hints_list_the_valid_values(nacre, hint: str, right: str) -> None:
    name, _, value = hint.partition("=")
    refused = nacre("hints", "/scratch/file", NACRE_HINTS=f"*:{hint}")
    assert refused.returncode == 2
    assert name in refused.stderr
    assert value in refused.stderr
    assert right in " ".join(refused.stderr.split())


def test_the_layout_of_a_new_file_follows_from_what_is_written(place: Place) -> None:
    """Whatever rank comes first with whatever call finds a layout, and no file is left half striped."""
    place.require_osts(4)
    place.require_choice()
    usual = place.usual_count()
    small, large, worth = 1000, 2 << 20, {"nacre_saturation_bytes": "1m"}
    replaced = {**worth, "nacre_choose_layout": "replace"}
    # Hints, what is done, the stripes of each component then (0: chosen, 4), and how many OSTs the open file told.
    asked = {
        "large": (worth, [every(0, large)], [0], 4),
        "direct": ({**worth, "direct_write": "true"}, [every(0, large)], [0], 4),
        "after others closed": (worth, [one(3, 0, small, "late_write_at")], [1, 4], None),
        "small": (worth, [every(0, small)], [1, usual], None),
        "head, then large": (worth, [one(0, 0, small), every(small, large)], [1, 4], 4),
        "another rank's head": (worth, [one(3, 5, small), every(small + 5, large)], [1, 4], 4),
        "two small, then large": (
            worth,
            [every(0, small), every(4 * small, small), every(9000, large)],
            [1, 0],
            4,
        ),
        "far out": (worth, [one(2, 8 << 20, small), every(0, large)], [1, 4], 4),
        "behind its head": (worth, [one(1, 0, small), one(2, 3 << 20, small)], [1, 4], None),
        "across its end": (worth, [one(1, 0, small), one(2, (1 << 20) - 10, small)], [1, 4], None),
        "size": (worth, [["size", 64 << 20], every(0, small)], [0], 4),
        "preallocated": (worth, [["preallocate", 16 << 20], every(0, small)], [0], 4),
        "little preallocated": (worth, [["preallocate", small], every(0, large)], [1, 0], 4),
        "head, then preallocated": (worth, [one(3, 0, small), ["preallocate", 16 << 20]], [1, 4], 4),
        "nothing": (worth, [], [], None),
        "disabled": ({**worth, "nacre_choose_layout": "disable"}, [every(0, large)], [usual], usual),
        "below": ({**worth, "nacre_choose_layout_from": "1g"}, [every(0, large)], [usual], usual),
        "default/f": (worth, [every(0, large)], [3], 3),
        "left": (worth, [every(0, large)], [0], 4),
        "left with hints": ({**worth, "striping_factor": "3"}, [every(0, large)], [3], 3),
        "grows/kept": (worth, [one(0, 0, small), every(small, large)], [1, 2, 1], 1),
        "grows/replaced": (replaced, [one(0, 0, small), every(small, large)], [1, 0], 4),
        "grows/written": (replaced, [one(1, 3 << 20, small), every(0, large)], [1, 2, 0], 4),
        "grows/small": (replaced, [every(0, small)], [1, 2, 1], 1),
    }
    # Where the report says that the layout comes from, if not from Nacre; and the byte from which a file grew whose
    # layout an independent write set.
    origins = {"nothing": "", "left with hints": "hints", "default/f": "default"}
    origins |= {"below": "default", "grows/kept": "default", "grows/small": "default"}
    behind_head = ("head, then large", "another rank's head", "behind its head", "across its end")
    grown_from = {**dict.fromkeys(behind_head, 1 << 20), "far out": 64 << 10}
    (place.seen / "default").mkdir()
    os.setxattr(place.seen / "default", LAYOUT, plain(count=3, size=1 << 16))
    for left in ("left", "left with hints"):  # by a job that was killed between open and write
        os.close(delay_create(place.seen / left))
    (place.seen / "grows").mkdir()
    parts = ((0, 1 << 20, plain(count=1)), (1 << 20, 4 << 20, plain(count=2)), (4 << 20, END_OF_FILE, plain(count=1)))
    os.setxattr(place.seen / "grows", LAYOUT, composite(*parts))
    told = place.run([Task(name, hints, steps) for name, (hints, steps, _, _) in asked.items()])
    found = place.counts(list(asked))
    for (name, (_, _, counts, factor)), one_told in zip(asked.items(), told, strict=True):
        assert found.get(name, []) == [count or 4 for count in counts], name
        assert one_told.info.get("striping_factor") == (None if factor is None else str(factor)), name
        reasons = [note for note in one_told.report["notes"] if note.startswith("layout of the file: ")]
        assert bool(reasons) == (0 in counts), name
        origin = one_told.report["layout_origin"]
        if name == "disabled":  # whether Nacre knows the default of the file system
            assert origin in ("default", "file")
        else:
            assert origin == origins.get(name, "nacre"), name
        grown = [note for note in one_told.report["notes"] if note.startswith("the layout grew ")]
        assert bool(grown) == (name in grown_from), name
        for note in grown:
            assert f"from 1 OST to 4 OSTs, from byte {grown_from[name]} on; Nacre set it at the first indep" in note
    layout = next(line for line in shown_of(place, "behind its head").splitlines() if line.startswith("layout"))
    assert re.fullmatch(
        r"layout of the file: 1 OST \(OST [0-3]\), stripes of \d+ [KM]iB; from 1 MiB on 4 OSTs \(OST 0-3\), stripes of"
        r" \d+ [KM]iB\. Striping hints apply to new files only\.",
        layout,
    )


def shown_of(place: Place, name: str) -> str:
    return place.nacre("hints", place.seen / name).stdout


@pytest.mark.parametrize("place", [["--set", "striping.count=3"]], indirect=True)
def test_a_file_that_may_grow_has_the_width_of_the_default_and_widens(place: Place) -> None:
    """Whatever call comes first. The default is 3 stripes of 4 OSTs, and each OST is to have 5 MiB. 4 stripes are not
    much wider than 3, so no component has 3 once the file is known to grow."""
    place.require_osts(4)
    place.require_choice()
    if place.usual_count() != 3:
        pytest.skip(f"the default of {place.seen} is not 3 stripes")
    large, growing = 2 << 20, [1, 4]
    steps = [every(step * RANKS * large, large) for step in range(6)]
    asked = {
        "steps": (steps, growing),
        "header, then steps": (
            [one(0, 0, 1000), *(every(1000 + offset, count) for _, _, offset, count in steps)],
            growing,
        ),
        "collective header": ([every(0, 100), *(every(400 + offset, count) for _, _, offset, count in steps)], growing),
        "size": ([["size", 8 << 20], *steps], growing),
        "preallocated": ([["preallocate", 40 << 20], *steps], [4]),
        "far out": ([one(2, 8 << 20, 1000), *steps[2:]], [1, 3, 4]),  # one rank: a component has the default
        "small": ([every(0, 100)], [1, 3]),
    }
    place.run([Task(name, {"nacre_saturation_bytes": str(5 << 20)}, steps) for name, (steps, _) in asked.items()])
    found = place.counts(list(asked))
    for name, (_, counts) in asked.items():
        assert found[name] == counts, name


def test_a_chosen_layout_leaves_out_an_ost_that_creates_no_objects(place: Place) -> None:
    """As one that is full, or that the administrators have emptied."""
    place.require_choice()
    command, *rest = place.launch
    if command != "testbed":
        pytest.skip("needs a testbed, which can take an OST away")
    assert place.nacre("testbed", "fault", *rest[1:], *"ost 1 no_objects".split()).returncode == 0
    place.run([Task("f", {"nacre_saturation_bytes": "1m"}, [every(0, 2 << 20)])])
    shown = place.layouts(["f"])["f"]
    assert sorted(int(ost) for ost in re.findall(r"l_ost_idx: (\d+)", shown)) == [0, 2, 3], shown


# Each rank writes a 64th part of what its view has. With a second argument the ranks have no view.
WRITE_A_PART = """
import sys
from mpi4py import MPI
comm, block = MPI.COMM_WORLD, 1 << 16
info = MPI.Info.Create()
info.Set("nacre_saturation_bytes", "1m")
file = MPI.File.Open(comm, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_WRONLY, info)
if len(sys.argv) == 2:
    file.Set_view(comm.rank * block, MPI.BYTE, MPI.BYTE.Create_vector(64, block, comm.size * block).Commit())
    file.Write_all(bytes(block))
else:
    file.Write_at_all(comm.rank * block, bytes(block))
file.Close()
"""


def test_a_view_tells_how_long_the_file_becomes(place: Place) -> None:
    place.require_osts(4)
    place.require_choice()
    for name, *no_view in (("viewed",), ("unviewed", "without")):
        mpiexec = place.mpiexec(RANKS, WRITE_A_PART, place.files / name, *no_view)
        done = place.nacre(*place.launch, "--", *mpiexec, **place.environment)
        assert done.returncode == 0, done.stderr
    found = place.counts(["viewed", "unviewed"])
    assert max(found["viewed"]) == 4
    assert max(found["unviewed"]) == max(1, place.usual_count())


KILLED = """
import os, sys
from mpi4py import MPI
file = MPI.File.Open(MPI.COMM_WORLD, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at_all(MPI.COMM_WORLD.rank * int(sys.argv[2]), bytes(int(sys.argv[2])))
file.Sync()
MPI.COMM_WORLD.Barrier()
os._exit(3)
"""


@pytest.mark.parametrize("count", [100, 2 << 20])
def test_a_job_that_is_killed_leaves_a_file_that_any_program_can_write(place: Place, count: int) -> None:
    place.require_choice()
    mpiexec = place.mpiexec(RANKS, KILLED, place.files / "f", count)
    done = place.nacre(*place.launch, "--", *mpiexec, **place.environment)
    assert done.returncode != 0
    path, far = place.seen / "f", 300 << 20
    assert path.stat().st_size == RANKS * count, done.stderr
    with path.open("r+b") as file:
        file.seek(far)
        file.write(b"more")
    with path.open("rb") as file:
        file.seek(far)
        assert file.read() == b"more"


# Prints what is in the file after each step.
KILLED_AT_A_STEP = """
import sys
from mpi4py import MPI
comm = MPI.COMM_WORLD
path, large, header = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "header"
info = MPI.Info.Create()
info.Set("nacre_saturation_bytes", "1m")
file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR, info)

def kept(extent):
    file.Sync()
    comm.Barrier()
    if comm.rank == 0:
        print(f"kept {extent}", flush=True)

if header:
    if comm.rank == 3:
        file.Write_at(0, bytes([7]) * 1000)
    kept("0 1000 7")
for call in range(2):
    file.Write_at_all(1000 + (comm.rank + call * comm.size) * large, bytes([8 + call]) * large)
    kept(f"{1000 + call * comm.size * large} {comm.size * large} {8 + call}")
file.Close()
"""


def check_killed(place: Place, path: Path, output: str) -> None:
    """`nacre doctor --repair` keeps what was written, and any program can then write to the whole file."""
    before = path.read_bytes()
    for line in output.splitlines():
        if line.startswith("kept "):
            offset, count, value = map(int, line.split()[1:])
            assert before[offset : offset + count] == bytes([value]) * count, line
    repaired = place.nacre("doctor", "--repair", path, **place.environment)
    assert repaired.returncode == 0, repaired.stdout + repaired.stderr
    assert path.read_bytes() == before
    far = 300 << 20
    with path.open("r+b") as file:
        os.pwrite(file.fileno(), b"more", far)
        assert os.pread(file.fileno(), 4, far) == b"more"
        assert os.pread(file.fileno(), len(before), 0) == before


@pytest.mark.parametrize(
    ("rank", "call", "first"),
    [
        (0, "layout", "collective"),
        (3, "layout", "header"),
        (0, "open", "header"),
        (0, "write", "collective"),
        (3, "write", "header"),
        (0, "close", "header"),
    ],
)
def test_a_rank_that_is_killed_at_any_call_leaves_a_file_that_doctor_repairs(
    place: Place, rank: int, call: str, first: str
) -> None:
    place.require_osts(4)
    place.require_choice()
    ends = []
    for number in range(1, 100):
        path = place.seen / f"f{number}"
        faults = {**place.environment, "NACRE_TEST_FAULTS": f"rank={rank},{call}={number},kill=1"}
        mpiexec = place.mpiexec(RANKS, KILLED_AT_A_STEP, place.files / path.name, 1 << 20, first)
        done = place.nacre(*place.launch, "--", *mpiexec, **faults)
        ends.append(done.returncode == 0)
        if path.exists():
            check_killed(place, path, done.stdout)
        if ends[-1]:
            break
    assert ends == [False] * (len(ends) - 1) + [True]
    assert len(ends) > 1, "no call was killed"


@pytest.fixture
def default_of_root(place: Place) -> Iterator[None]:
    """Two stripes, by default."""
    root = place.seen
    if not os.path.ismount(root) and "NACRE_TEST_ROOT_DEFAULT" not in os.environ:
        pytest.skip(f"the root is above {root}, and not to be changed")
    while not os.path.ismount(root):
        root = root.parent
    os.setxattr(root, LAYOUT, plain(count=2))
    yield
    os.setxattr(root, LAYOUT, plain())


@pytest.mark.usefixtures("default_of_root")
def test_a_default_layout_of_the_root_is_replaced_above_a_size(place: Place) -> None:
    large, worth = 2 << 20, {"nacre_saturation_bytes": "1m"}
    asked = {
        "automatic": (worth, 2),
        "asked for": ({**worth, "nacre_choose_layout": "enable"}, 4),
        "above": ({**worth, "nacre_choose_layout_from": "4m"}, 4),
        "below": ({**worth, "nacre_choose_layout_from": "1g"}, 2),
    }
    (place.seen / "d").mkdir()
    place.run([Task(f"d/{name}", hints, [every(0, large)]) for name, (hints, _) in asked.items()])
    assert place.counts([f"d/{name}" for name in asked]) == {f"d/{name}": [count] for name, (_, count) in asked.items()}


def test_any_call_may_be_the_first_to_write(place: Place) -> None:
    """To a file that has no layout, or one that ends before what is written; it gets one of all its bytes."""
    place.require_osts(4)
    place.require_choice()
    small, large = 251, 251 << 13  # whole patterns, so that the order of ranks does not matter
    last = RANKS - 1
    collective = ("write_at_all", "write_at_all_begin", "iwrite_at_all", "write_ordered", "write_ordered_begin")
    asked = {}
    for what, count in (("small", small), ("large", large)):
        for call in collective:
            asked[f"{call}, {what}"] = [every(0, count, call)]
        for call in ("write_at", "iwrite_at", "write_shared", "iwrite_shared"):
            asked[f"{call}, {what}, all"] = [every(0, count, call)]
            asked[f"{call}, {what}, last"] = [one(last, 0, count, call)]
        atomic = ["atomicity", True]
        asked[f"atomic, {what}, all"] = [atomic, every(0, count, "write_at")]
        asked[f"atomic, {what}, last"] = [atomic, one(last, 5, count)]
        asked[f"write_at_all, {what}, atomic"] = [atomic, every(0, count)]
    worth = {"nacre_saturation_bytes": "1m"}
    place.run([Task(name, worth, steps) for name, steps in asked.items()])
    usual, found = place.usual_count(), place.counts(list(asked))
    for name in asked:
        by_all = name.split(",")[0] in collective
        counts = [1, 4] if not by_all else [4] if "large" in name else [1, usual]
        assert found[name] == counts, name


# What rank 0 sees of a file before it is closed, after accesses of whole pages through it: one rank's, or all ranks'.
PAST_THE_CACHE = """
import fcntl, json, mmap, os, sys
from mpi4py import MPI
comm = MPI.COMM_WORLD
path, call, *hints = sys.argv[1:]
info = MPI.Info.Create()
for hint in hints:
    info.Set(*hint.split("="))

def opened_directly(number):
    try:
        is_file = os.readlink(f"/proc/self/fd/{number}") == os.path.realpath(path)
    except FileNotFoundError:  # that of the list itself
        return False
    return is_file and fcntl.fcntl(int(number), fcntl.F_GETFL) & os.O_DIRECT != 0

file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR, info)
data = mmap.mmap(-1, 1 << 16)
if call.endswith("_all") or comm.rank == 0:
    getattr(MPI.File, call)(file, comm.rank << 16, data)
comm.Barrier()
if comm.rank == 0:
    seen = {"direct": any(map(opened_directly, os.listdir("/proc/self/fd")))}
    try:
        counters = os.getxattr(os.path.dirname(path), "testbed.counters")
        seen["arrived"] = sum(json.loads(counters)["osts"]["bytes_written"])
    except OSError:
        seen["cached"] = int(os.popen(f"fincore --bytes --noheadings --output RES {path}").read())
    print(json.dumps(seen), flush=True)
comm.Barrier()
file.Close()
"""


def seen_by(nacre: Command, launch: list[object], ranks: int, *arguments: object) -> dict:
    mpiexec = ["mpiexec.openmpi", "--oversubscribe", "-n", ranks, "/usr/bin/python3", "-c", PAST_THE_CACHE]
    done = nacre(*launch, "--", *mpiexec, *arguments)
    assert done.returncode == 0, done.stderr
    (line,) = json_lines(done.stdout)
    return json.loads(line)


@pytest.mark.usefixtures("node_namespaces")
@pytest.mark.parametrize(("call", "written"), [("Write_at", 1 << 16), ("Write_at_all", RANKS << 16)])
def test_direct_writes_have_reached_the_osts_when_they_return(
    nacre: Command, played: Path, call: str, written: int
) -> None:
    """And others in their node's cache: they are less than a request, and nobody has asked for them."""
    launch, algorithm = ["testbed", "run", "--at", played], "nacre_algorithm=two_phase"
    for value, expected in (("false", 0), ("true", written)):
        testbed.reset(played)
        found = seen_by(nacre, launch, RANKS, f"{{}}/{value}", call, algorithm, f"direct_write={value}")
        assert found == {"direct": value == "true", "arrived": expected}


def test_direct_reads_leave_nothing_in_the_page_cache(nacre: Command, tmp_path: Path) -> None:
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.write(bytes(RANKS << 16))
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    fincore = ["fincore", "--bytes", "--noheadings", "--output", "RES", str(path)]
    if int(subprocess.run(fincore, capture_output=True, check=True).stdout) > 0:
        pytest.skip(f"all that {tmp_path} has is in memory")
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except OSError as error:
        pytest.skip(f"{tmp_path} refuses O_DIRECT: {error}")
    for value in ("true", "false"):
        found = seen_by(nacre, ["run"], RANKS, path, "Read_at_all", f"direct_read={value}")
        assert found["direct"] == (value == "true")
        assert (found["cached"] > 0) == (value == "false")


def test_a_file_system_that_refuses_o_direct_is_noted(nacre: Command, tmp_path: Path) -> None:
    refusing, report = tmp_path / "refusing", tmp_path / "report"
    refusing.mkdir()
    if subprocess.run(["mount", "-t", "ramfs", "none", str(refusing)], check=False).returncode:
        pytest.skip("no ramfs can be mounted here")
    try:
        found = seen_by(nacre, ["run", "--report", report], 1, refusing / "f", "Write_at", "direct_write=true")
        assert not found["direct"]
        assert (refusing / "f").stat().st_size == 1 << 16
    finally:
        subprocess.run(["umount", str(refusing)], check=True)
    (written,) = (json.loads(line) for line in report.read_text().splitlines())
    assert "hints direct_read, direct_write: the file system refuses O_DIRECT" in written["notes"]
