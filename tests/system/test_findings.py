"""The findings of `nacre report`: each has a program that must raise it, and one like it that must not."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import findings_cases
import pytest
from conftest import brought_up
from figures import NOTHING, PHASES, SPREAD, kind_of, many, report_of
from nacre import prometheus
from nacre.findings import causes, osts
from nacre.reports import METADATA_TARGET

HERE = Path(__file__).parent
# The programs of findings, with the package whose flags they need.
PROGRAMS = {findings_cases.MPI: "", findings_cases.HDF5: "hdf5-mpich"}
LAUNCHER = ["mpiexec.mpich"]
SET_LAYOUT = ("nacre stripe set", "lfs setstripe")  # without and with lfs
RANKS = {"small-accesses": 1, "back-and-forth": 1, "file-per-rank": 16}
# Findings on layouts: the simulated layout of the bad program and of the good one (sizes are 1,024 times smaller), on
# two simulated nodes.
LAYOUTS = {
    "few-stripes": ("-c 1 -S 64m", "-c 4 -S 64m"),
    "many-stripes": ("-c 8 -S 64m", "-c 1 -S 64m"),
    "moving-locks": ("-c 4 -S 64m", "-c 4 -S 64m"),
}
# Findings on nodes: the ranks of each simulated node, of the bad program and of the good one.
NODES = dict.fromkeys(("one-node", "redundant-collective-reads", *LAYOUTS), ([2, 2], [2, 2]))
NODES["few-aggregators"] = ([2, 2], [2, 2])
NODES["uneven-nodes"] = ([5, 1, 1], [2, 2, 2])
NODES["slow-node"] = ([2, 2, 2], [2, 2, 2])
# Delays of file accesses (NACRE_TEST_FAULTS), of the bad program and of the good one.
DELAYS = {
    "slow-rank": ("rank=1,latency_us=50000", "latency_us=50000"),
    "slow-node": ("rank=0,latency_us=50000;rank=1,latency_us=50000", "latency_us=50000"),
    "few-aggregators": ("latency_us=500000", "latency_us=500000"),
}
# Where a prediction decides, a test with a constructed report has it.
MACHINES = {"few-aggregators": ("none", "none")}
# What a remedy names.
REMEDIES = dict.fromkeys(("small-chunks", "index-of-small-chunks"), "H5Pset_chunk")


def compiled(directory: Path, name: str) -> Path:
    words = ["pkg-config", "--cflags", "--libs", PROGRAMS[name]] if PROGRAMS[name] else ["true"]
    flags = subprocess.run(words, check=True, capture_output=True, text=True, timeout=600).stdout.split()
    path = directory / Path(name).stem
    # -rdynamic: Nacre calls the program's fsync.
    subprocess.run(["mpicc.mpich", "-rdynamic", HERE / name, "-o", path, *flags], check=True, timeout=600)
    return path


@pytest.fixture(scope="module")
def program_of(tmp_path_factory):
    """Compiles a program when it is first needed."""
    directory = tmp_path_factory.mktemp("findings")
    return functools.cache(lambda name: compiled(directory, name))


@pytest.fixture(scope="module")
def program(program_of) -> Path:
    return program_of(findings_cases.MPI)


def ranks_on_nodes(name: str, good: bool, words: list[object]) -> list[object]:
    """The ranks of a launch: on one node, or for findings on nodes and layouts on simulated ones."""
    if name not in NODES:
        return ["-n", RANKS.get(name, 4), *words]
    counts = NODES[name][good]
    parts = [["-n", ranks, "env", f"NACRE_NODE_ID={node}", *words] for node, ranks in enumerate(counts)]
    return parts[0] + [word for part in parts[1:] for word in (":", *part)]


def findings_in(nacre, *options: object) -> dict[str, dict]:
    """The findings of the one job in io.jsonl, by rule."""
    result = nacre("report", "--summary", "--json", *options, "io.jsonl")
    assert result.returncode == 0, result.stderr
    (job,) = json.loads(result.stdout)
    return {finding["rule"]: finding for finding in job["findings"]}


@pytest.mark.parametrize(
    ("name", "case"),
    [pytest.param(name, case, id=f"{name}-{case.name}") for name in PROGRAMS for case in findings_cases.cases_of(name)],
)
@pytest.mark.parametrize("good", [False, True], ids=["bad", "good"])
def test_a_finding_is_raised_by_the_program_that_has_it_alone(nacre, program_of, tmp_path, name, case, good):
    file = tmp_path / ("data.h5" if name == findings_cases.HDF5 else "data")
    words = [program_of(name), file, case.name, *(["good"] if good else [])]
    settings = {
        variable: values[case.name][good]
        for variable, values in (
            ("NACRE_TEST_LAYOUT", LAYOUTS),
            ("NACRE_TEST_FAULTS", DELAYS),
            ("NACRE_MACHINE", MACHINES),
        )
        if case.name in values
    }
    run = nacre("run", "--report", "io.jsonl", *LAUNCHER, *ranks_on_nodes(case.name, good, words), **settings)
    assert run.returncode == 0, run.stdout + run.stderr
    by_default = findings_in(nacre)
    if good:
        assert case.rule not in by_default, (tmp_path / "io.jsonl").read_text()
        assert not findings_cases.false_findings(case.name, by_default)
        return
    assert not findings_cases.false_findings_beside(case.name, case.rule, by_default)
    least = ["--min-share", 0]  # on a busy machine other times grow; metadata are fast here
    found = findings_in(nacre, *least)
    assert case.rule in found, (tmp_path / "io.jsonl").read_text()
    finding = found[case.rule]
    assert finding["title"]
    assert finding["evidence"]
    assert any(REMEDIES.get(case.name, "") in line for line in finding["remedy"])
    text = nacre("report", "--summary", *least, "io.jsonl").stdout
    assert finding["title"] in text
    assert f"-> {finding['remedy'][0]}"[:60] in text


def test_every_finding_is_in_the_tables_of_the_documentation_with_its_programs(source):
    code = "".join(path.read_text() for path in (source / "python/nacre/findings").glob("*.py"))
    rules = set(re.findall(r'\bFinding\(\s*"([a-z-]+)"', code))
    assert {case.rule for case in findings_cases.CASES} == rules
    made = {case.rule for case in findings_cases.CASES if case.test in findings_cases.WITH_MADE_FIGURES}
    only_made = made - {case.rule for case in findings_cases.CASES if case.test not in findings_cases.WITH_MADE_FIGURES}
    assert only_made == {"uneven-osts", "sieving-of-the-mpi"}, "docs/testing.md names them"
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    for case in findings_cases.CASES:
        assert case.test.endswith(".c") or f"def {case.test}(" in tests, case
    tested = (source / "docs" / "testing.md").read_text()
    assert findings_cases.table() in tested, "put what tests/system/findings_cases.py prints into docs/testing.md"
    described = (source / "docs" / "report.md").read_text().partition("| rule | found if |\n")[2].partition("\n\n")[0]
    cells = [line.split("|")[1] for line in described.splitlines()]
    assert {rule for cell in cells for rule in re.findall(r"`([a-z-]+)`", cell)} == rules


def test_run_prints_a_summary_when_the_job_ends(nacre, program, tmp_path):
    words = [*LAUNCHER, "-n", 16, program, tmp_path / "data", "file-per-rank"]  # found whatever its time
    result = nacre("run", "--summary", *words)
    assert result.returncode == 0, result.stderr
    assert "16 ranks on one node" in result.stderr
    assert "Each rank has files of its own" in result.stderr
    assert not list(tmp_path.glob("nacre-summary-*"))
    assert not result.stdout
    again = nacre("run", "--report", "io.jsonl", *words, NACRE_SUMMARY="1")
    assert "Each rank has files of its own" in again.stderr
    assert len((tmp_path / "io.jsonl").read_text().splitlines()) == 17


def test_a_report_that_a_script_in_the_job_names_is_summed_up(nacre, program, tmp_path):
    inner = shlex.join([str(nacre.path), "run", "--report", "inner.jsonl", *LAUNCHER, "-n", "4", str(program), "data"])
    (tmp_path / "job.sh").write_text(f"{inner} collective-missing\n")
    result = nacre("run", "--summary", "--report", "outer.jsonl", "sh", "job.sh")
    assert result.returncode == 0, result.stderr
    assert f"wrote its report to {tmp_path}/inner.jsonl" in result.stderr
    assert "4 ranks on one node" in result.stderr
    assert "no summary" not in result.stderr
    assert not (tmp_path / "outer.jsonl").exists()


def test_the_exit_code_of_a_job_with_a_summary_is_that_of_the_command(nacre):
    result = nacre("run", "--summary", "sh", "-c", "exit 7")
    assert result.returncode == 7
    assert "closed no file that Nacre serves" in result.stderr
    assert "the job itself sets NACRE_REPORT" in result.stderr
    assert "the job ended with exit code 7: files that were open then are not in the report" in result.stderr
    killed = nacre("run", "--summary", "sh", "-c", "kill -TERM $$")
    assert killed.returncode == 128 + 15
    assert "signal 15 (Terminated) ended the job: files that were open then" in killed.stderr
    assert "ended" not in nacre("run", "--summary", "true").stderr
    missing = nacre("run", "--summary", "no-such-program")
    assert missing.returncode == 127
    assert "program not found" in missing.stderr
    assert "closed no file" not in missing.stderr


def test_a_job_is_summed_up(nacre, program, tmp_path):
    result = nacre("run", "--report", "io.jsonl", *LAUNCHER, "-n", 16, program, tmp_path / "data", "file-per-rank")
    assert result.returncode == 0, result.stderr
    text = nacre("report", "--top", 2, "io.jsonl").stdout
    assert len(json.loads(nacre("report", "--top", 2, "--json", "io.jsonl").stdout)) == 2
    assert "16 ranks on one node" in text
    assert "17 files, 17 opens" in text
    assert "data.* (16 files)" in text.replace("\n", "")
    assert "15 more opens: show all with --top 17, or one file with --file PATTERN." in text
    (job,) = json.loads(nacre("report", "--summary", "--json", "io.jsonl").stdout)
    assert sorted((group["files"], group["opens"]) for group in job["files"]) == [(1, 1), (16, 16)]


def test_a_file_that_was_opened_again_and_again_is_shown_once(nacre, tmp_path):
    opens = [report_of({}, file="/again", seconds=many(number + 1)) for number in range(300)]
    (tmp_path / "r").write_text("".join(json.dumps(one) + "\n" for one in [*opens, report_of({}, file="/once")]))
    text = nacre("report", "r").stdout
    assert "2 files, 301 opens" in text
    assert text.count("/again: 4 ranks") == 1
    assert "300 more opens: show all with --top 301, or one file with --file PATTERN." in text
    assert "299 more opens: show all with --top 301, " in nacre("report", "--top", 2, "r").stdout
    assert nacre("report", "--top", 301, "r").stdout.count("/again: 4 ranks") == 300
    explained = nacre("explain", "r").stdout
    assert explained.count("/again: 4 ranks") == explained.count("/once: 4 ranks") == 1
    assert "299 more opens: show all with --top 301, " in explained
    assert nacre("explain", "--top", 301, "r").stdout.count("/again: 4 ranks") == 300
    assert "more open" not in nacre("explain", "--file", "/once", "r").stdout


def test_jobs_of_one_report_are_numbered_and_findings_are_limited(nacre, tmp_path):
    calls = {name: {"calls": many(60), "seconds": many(1)} for name in ("sync", "set_view", "get_size")}
    jobs = [report_of({}, run=run, other_calls=calls, seconds=many(3)) for run in ("first", "second")]
    (tmp_path / "r").write_text("".join(json.dumps(one) + "\n" for one in jobs))
    text = nacre("report", "--top", 2, "r").stdout
    assert "Run 1 of 2, the slowest first; ended " in text
    assert "Run 2 of 2" in text
    assert text.count("1 more finding: show all with --top 3.") == 2
    assert "more finding" not in nacre("report", "r").stdout


def test_one_of_several_jobs_is_shown_alone(nacre, tmp_path):
    jobs = [report_of({}, run=run, program=[run], seconds=many(took)) for run, took in (("fast", 1), ("slow", 3))]
    (tmp_path / "r").write_text("".join(json.dumps(one) + "\n" for one in jobs))
    text = nacre("report", "--run", 2, "r").stdout
    assert "fast, 4 ranks" in text
    assert "slow, 4 ranks" not in text
    (one,) = json.loads(nacre("report", "--run", 1, "--json", "r").stdout)
    assert one["run"] == "slow"
    refused = nacre("report", "--run", 3, "r")
    assert refused.returncode == 2
    assert "--run 3: there are reports of 2 jobs" in refused.stderr


def findings_of(nacre, *reports: dict) -> dict[str, dict]:
    """What `nacre report` finds in these reports, by rule."""
    (nacre.directory / "io.jsonl").write_text("".join(json.dumps(one) + "\n" for one in reports))
    return findings_in(nacre)


def figures_by_ost(mebibytes: list[int], seconds: list[float]) -> list[dict]:
    return [
        {"ost": ost, "bytes": size << 20, "calls": 64, "alone_bytes": size << 20, "alone_seconds": took}
        for ost, (size, took) in enumerate(zip(mebibytes, seconds, strict=True))
    ]


def test_an_ost_that_is_slow_or_has_most_of_the_data_is_named(nacre):
    """From figures by OST, which the unit tests hold against an oracle."""

    def found(mebibytes: list[int], seconds: list[float]) -> dict[str, dict]:
        return findings_of(nacre, report_of({"collective_write": kind_of(osts=figures_by_ost(mebibytes, seconds))}))

    both = found([64, 1024, 64, 64], [0.2, 3.2, 2.0, 0.2])
    assert set(both) == {"slow-ost", "uneven-osts"}
    assert "OST 2" in both["slow-ost"]["title"]
    assert re.search("(lfs setstripe|nacre stripe set) -o 0-1,3 /      #", both["slow-ost"]["remedy"][1])
    assert "OST 1" in both["uneven-osts"]["title"]
    assert "nacre run --hint striping_factor=4 -- ..." in both["uneven-osts"]["remedy"][0]
    assert not found([64] * 4, [0.2] * 4)


def test_an_ost_on_which_calls_queue_is_not_slow(nacre):
    """Calls to the OST with most of the bytes take longer because they wait for each other."""
    layout_begins_on_one = kind_of(osts=figures_by_ost([512, 64, 64, 64], [20, 0.3, 0.3, 0.3]))
    found = findings_of(nacre, report_of({"collective_write": layout_begins_on_one}))
    assert set(found) == {"uneven-osts"}
    # The first 16 MiB of the file are on three OSTs, where calls queue; seen on a testbed whose OSTs are all alike.
    layout = [
        {"begin": 0, "end": 16 << 20, "stripe_bytes": 1 << 20, "stripes": 3, "osts": [7, 0, 1]},
        {"begin": 16 << 20, "end": -1, "stripe_bytes": 1 << 20, "stripes": 8, "osts": [2, 3, 4, 5, 6, 7, 0, 1]},
    ]
    queued = kind_of(
        osts=figures_by_ost([15, 15, 10, 10, 10, 10, 10, 16], [1.23, 1.22, 0.29, 0.5, 0.31, 0.32, 0.43, 2.64])
    )
    grown = report_of({"collective_write": queued}, layout=layout, bytes_written=96 << 20)
    assert "slow-ost" not in findings_of(nacre, grown)
    # An OST that is slower than those with more load is slow.
    queued["osts"][6]["alone_seconds"] = 10.0
    assert findings_of(nacre, grown)["slow-ost"]["title"].startswith("OST 6")
    # Threads that wait for a slow OST are late at others too.
    behind = kind_of(osts=figures_by_ost([64] * 5, [1, 1, 1, 24, 4]))
    assert "OST 3" in findings_of(nacre, report_of({"collective_write": behind}))["slow-ost"]["title"]
    # Where many OSTs of a file are slow, it is not they that are slow.
    many_slow = kind_of(osts=figures_by_ost([64] * 8, [1, 1, 1, 1, 1, 9, 9, 9]))
    assert "slow-ost" not in findings_of(nacre, report_of({"collective_write": many_slow}))
    # All threads access the one OST of the first file; the second file has four.
    one = kind_of(osts=figures_by_ost([64], [4]))
    four = kind_of(osts=figures_by_ost([64] * 4, [0.3] * 4))
    found = findings_of(nacre, *(report_of({"collective_write": kind}) for kind in (one, four)))
    assert "slow-ost" not in found


def test_many_calls_of_one_piece_are_to_be_one_call_first(nacre):
    """A collective call for each row of a table made a program seven times slower."""
    shapes = [
        {"rank": rank, "origin": 0, "first_byte": 512 * rank, "bytes": 512, "step_bytes": 2048} for rank in (0, 1)
    ]
    rows = kind_of(calls=many(500), file_calls=many(500), file_bytes=many(250 << 10), shapes=shapes)
    for name, call in (("/t.h5", "one H5Dwrite"), ("/t.dat", "one MPI_File_write_all")):
        remedy = findings_of(nacre, report_of({"independent_write": rows}, file=name))["collective-missing"]["remedy"]
        assert "with ONE call (they are 2 KiB apart)" in remedy[0]
        assert call in remedy[1]
        assert "slower" in remedy[-1]
    # Few calls of many pieces each need only be made collective.
    views = rows | {"calls": many(1)}
    remedy = findings_of(nacre, report_of({"independent_write": views}))["collective-missing"]["remedy"]
    assert "ONE" not in remedy[0]
    assert "MPI_File_write_all" in remedy[0]


def test_views_that_hdf5_sets_for_its_calls_are_no_finding(nacre):
    calls = kind_of(calls=many(512), bytes=many(64 << 10))
    views = {"set_view": {"calls": many(1024), "seconds": many(2)}}
    found = findings_of(nacre, report_of({"collective_write": calls}, file="/t.h5", other_calls=views))
    assert "view-storm" not in found
    small = found["small-collective-calls"]
    assert "one larger selection and one H5Dwrite" in small["remedy"][0]
    assert small["remedy"][-1].startswith("If the dataset is chunked")
    assert "view-storm" in findings_of(nacre, report_of({"collective_write": calls}, other_calls=views))


@pytest.mark.parametrize(
    ("begin", "words"),
    [
        (b"\x89HDF\r\n\x1a\n", "H5Pset_dxpl_mpio"),
        (b"CDF\x01", "nc_var_par_access"),
        (b"CDF\x05", "nc_var_par_access"),
        (b"CDF\x03", "MPI_File_write_all"),
        (b"\x89HDF", "MPI_File_write_all"),
        (None, "MPI_File_write_all"),
    ],
)
def test_a_file_of_any_name_is_recognised_by_its_first_bytes(nacre, tmp_path, begin, words):
    """A remedy names the calls of the library that writes the file."""
    path = tmp_path / "restart.0001"
    if begin is not None:
        path.write_bytes(begin + bytes(8))
    rows = kind_of(file_calls=many(500), file_bytes=many(250 << 10))
    report = report_of({"independent_write": rows}, file=str(path))
    assert words in findings_of(nacre, report)["collective-missing"]["remedy"][0]
    # The report has them too, for a file that is no longer there.
    gone = report | {"file": str(tmp_path / "gone"), "signature": (begin or b"").hex()}
    assert words in findings_of(nacre, gone)["collective-missing"]["remedy"][0]
    # Of files whose names differ in numbers, one is enough.
    others = (report | {"file": str(tmp_path / f"restart.{number:04}")} for number in (2, 3))
    assert words in findings_of(nacre, report, *others)["collective-missing"]["remedy"][0]


def test_what_is_no_file_is_not_read_for_its_format(nacre, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    rows = kind_of(file_calls=many(500), file_bytes=many(250 << 10))
    for path in ("pipe", "."):
        report = report_of({"independent_write": rows}, file=str(tmp_path / path))
        assert "MPI_File_write_all" in findings_of(nacre, report)["collective-missing"]["remedy"][0]


def plan_of(**fields: object) -> dict:
    return {
        "call": "write", "algorithm": "direct", "reason": "large_pieces", "because": "The pieces are long.",
        "otherwise": "With nacre_algorithm=two_phase ranks exchange.", "calls": 3, "bytes": many(1 << 20),
        "seconds": many(1),
        "first_call": dict.fromkeys(("ranks", "first_byte", "end", "bytes", "pieces", "span_bytes"), 0),
    } | fields  # fmt: skip


AGGREGATOR = {
    "algorithm": "two_phase", "aggregators": 1, "aggregator_ranks": [0], "aggregators_reason": "hint",
    "aggregators_because": "b", "pattern": "osts", "saturation_bytes": 1, "domain_bytes": 1, "cycle_bytes": 1,
    "cycle_buffers": 1, "rounds_max": 1,
}  # fmt: skip


def test_a_hint_that_sets_too_few_aggregators_is_named(nacre):
    def found(reason: str, best_seconds: float) -> dict[str, dict]:
        used, best = (
            {"algorithm": "two_phase", "aggregators": count, "seconds": seconds, "busy": {}}
            for count, seconds in ((1, 1.0), (8, best_seconds))
        )
        plan = plan_of(**(AGGREGATOR | {"aggregators_reason": reason, "predicted": used, "compared": [best, used]}))
        return findings_of(nacre, report_of({"collective_write": kind_of()}, plans=[plan]))

    finding = found("hint", 0.1)["few-aggregators"]
    assert "cb_nodes sets 1 aggregator for 1 node; 8 are predicted to take 100 ms instead of 1 s" in finding["evidence"]
    assert finding["at_stake_seconds"] == pytest.approx(0.9)
    assert "few-aggregators" not in found("saturation", 0.1)
    assert "few-aggregators" not in found("hint", 0.7)


def test_a_striping_hint_for_a_file_that_existed_is_told_to_need_a_new_one(nacre):
    def remedies(note: str, origin: str) -> list[str]:
        report = report_of({}, notes=[note], layout_origin=origin)
        return findings_of(nacre, report)["hint-without-effect"]["remedy"]

    note = "hint striping_factor: requested 8, but the file has 1"
    assert remedies(note, "file")[0].startswith("An existing file keeps its layout")
    assert len(remedies(note, "nacre")) == 1
    assert len(remedies('hint cb_buffer_size: "x" is not a size', "file")) == 1


def on_osts(count: int, seconds: float, mebibytes: int, **fields: object) -> dict:
    """A file of two nodes on `count` OSTs, whose accesses took `seconds` of a second on the slowest rank."""
    phases = dict.fromkeys(PHASES, NOTHING) | {"file_wait": {"min": 0, "median": 0, "max": seconds, "sum": seconds}}
    size = {"min": 0, "median": 0, "max": mebibytes << 20, "sum": mebibytes << 20}
    kind = kind_of(phases=phases, file_bytes=size, file_calls={"min": 0, "median": 0, "max": 16, "sum": 16})
    layout = [{"begin": 0, "end": -1, "stripe_bytes": 1 << 20, "stripes": count, "osts": list(range(count))}]
    return report_of(
        {"collective_write": kind}, bytes_written=mebibytes << 20, **({"layout": layout, "nodes": 2} | fields)
    )


def test_a_small_file_has_too_few_stripes_if_the_file_system_takes_the_time(nacre):
    slow = findings_of(nacre, on_osts(1, 0.9, 32))["few-stripes"]
    assert "32 MiB of 2 nodes on 1 OST" in slow["evidence"]
    assert slow["evidence"].endswith("the file system may have more")
    assert slow["at_stake_seconds"] == pytest.approx(0.75)
    assert "nacre run --hint striping_factor=4 -- ..." in slow["remedy"][0]
    assert "nacre stripe set -c 4 /" in slow["remedy"][1]
    short = [{"begin": 0, "end": -1, "stripe_bytes": 64 << 10, "stripes": 1, "osts": [3]}]
    longer = findings_of(nacre, on_osts(1, 0.9, 32, layout=short))["few-stripes"]["remedy"]
    assert "--hint striping_factor=4 --hint striping_unit=" in longer[0]
    assert "nacre stripe set -c 4 -S " in longer[1]
    assert "nacre stripe set -d /" in longer[2]
    assert "few-stripes" not in findings_of(nacre, on_osts(4, 0.9, 32))
    assert "few-stripes" not in findings_of(nacre, on_osts(1, 0.1, 32))  # the ranks wait for something else
    # Two OSTs, but most of the file is before the second.
    growing = [
        {"begin": 0, "end": 28 << 20, "stripe_bytes": 1 << 20, "stripes": 1, "osts": [3]},
        {"begin": 28 << 20, "end": -1, "stripe_bytes": 1 << 20, "stripes": 2, "osts": [4, 5]},
    ]
    mostly = findings_of(nacre, on_osts(1, 0.9, 32, layout=growing))["few-stripes"]
    assert "mostly OST 3 (88% of it)" in mostly["evidence"]
    own = {"striping_factor": {"value": "1", "from": "program"}}
    assert "MPI_Info" in findings_of(nacre, on_osts(1, 0.9, 32, hints=own))["few-stripes"]["remedy"][0]


@pytest.mark.parametrize(
    ("fields", "because", "remedy"),
    [
        ({"layout_origin": "default"}, "the default layout of the directory sets this", "or let Nacre choose"),
        ({"layout_origin": "file"}, "the file had this layout when it was opened", "If the file existed before"),
        ({"layout_origin": "nacre"}, "", SET_LAYOUT),
        (
            {"layout_origin": "hints", "hints": {"nacre_layout": {"value": "-c 1", "from": "environment"}}},
            "the hint nacre_layout (environment) sets this",
            "nacre run --hint 'nacre_layout=-c 4",
        ),
        (
            {
                "layout_origin": "hints",
                "hints": {"striping_factor": {"value": "1", "from": "open file", "requested_by": "program"}},
            },
            "the hint striping_factor (program) sets this",
            "Program: set striping_factor=4",
        ),
    ],
)
def test_too_few_stripes_are_blamed_on_what_set_them(nacre, fields, because, remedy):
    finding = findings_of(nacre, on_osts(1, 0.9, 32, **fields))["few-stripes"]
    assert because in finding["evidence"]
    assert ("sets this" in finding["evidence"]) == ("sets this" in because)
    assert finding["remedy"][-1].startswith(remedy)


def test_a_file_that_is_only_read_needs_its_stripes_before_the_job(nacre):
    reads = on_osts(1, 0.9, 32, mode="read", bytes_read=32 << 20)
    remedy = findings_of(nacre, reads | {"bytes_written": 0})["few-stripes"]["remedy"]
    assert remedy[0].startswith("New stripes, as the job only reads it: lfs migrate -c 4")
    assert not any("--hint" in line for line in remedy)


def test_small_reads_of_different_places_are_not_metadata(nacre):
    def found(*firsts: int) -> set[str]:
        shapes = [{"rank": rank, "origin": 0, "first_byte": first, "bytes": 512} for rank, first in enumerate(firsts)]
        pieces = {
            "calls": many(2000),
            "file_calls": many(2000),
            "bytes": many(2000 << 9),
            "file_bytes": many(2000 << 9),
        }
        return set(findings_of(nacre, report_of({"independent_read": kind_of(shapes=shapes, **pieces)})))

    assert "metadata-by-all-ranks" in found(0, 0, 0)
    assert "collective-missing" in found(0, 512, 1024)


def test_ranks_that_only_begin_alike_do_not_read_the_same(nacre):
    """Ranks of HDF5 read the header first, and then each a part of the data."""

    def found(*shapes: dict) -> set[str]:
        common = {"origin": 0, "first_byte": 0, "bytes": 1 << 20, "type": "00", "step_bytes": 1 << 20}
        each = [{"rank": rank, **common, **shape} for rank, shape in enumerate(shapes)]
        reads = kind_of(
            calls=many(8), file_calls=many(8), bytes=many(8 << 20), file_bytes=many(8 << 20),
            shapes=[{name: value for name, value in shape.items() if value is not None} for shape in each],
        )  # fmt: skip
        return set(findings_of(nacre, report_of({"independent_read": reads}, bytes_read=32 << 20)))

    assert found({}, {}, {}) == {"redundant-reads"}
    assert not found({}, {"step_bytes": 2 << 20}, {"step_bytes": 3 << 20})
    assert not found({}, {}, {"first_byte": 8 << 20})
    assert not found({}, {}, {"type": "01"})
    assert not found({"type": None}, {"type": None})  # too long for the report: the views may differ
    assert not found({"step_bytes": None}, {"step_bytes": None})  # distances differ, and perhaps those of ranks
    whole = {"step_bytes": None, "bytes": 8 << 20}
    assert found(whole, whole) == {"redundant-reads"}  # one call


def test_collective_reads_of_the_same_bytes_are_named_if_nodes_fetch_them_again(nacre):
    shapes = [{"rank": rank, "origin": 0, "first_byte": 0, "bytes": 32 << 20, "type": "00"} for rank in (0, 1, 2, 3)]
    phases = dict.fromkeys(PHASES, NOTHING) | {"file": many(1)}

    def found(fetched: int, **fields: object) -> dict[str, dict]:
        reads = kind_of(
            shapes=shapes, bytes=many(32 << 20), file_bytes=many(fetched), file_calls=many(1), phases=phases
        )
        return findings_of(
            nacre, report_of({"collective_read": reads}, **{"nodes": 2, "bytes_read": 128 << 20, **fields})
        )

    finding = found(32 << 20)["redundant-reads"]
    assert finding["at_stake_seconds"] == pytest.approx(0.75)
    assert finding["remedy"][0].startswith("nacre run --hint nacre_algorithm=two_phase -- ...")
    own = {"nacre_algorithm": {"value": "direct", "from": "program"}}
    assert "MPI_Info" in found(32 << 20, hints=own)["redundant-reads"]["remedy"][0]
    assert not found(8 << 20)
    assert not found(32 << 20, nodes=1)  # from the cache of the node


def test_a_file_that_was_read_twice_as_a_whole_has_redundant_reads(nacre, tmp_path):
    path = tmp_path / "input"
    path.write_bytes(bytes(8 << 20))
    reads = kind_of(calls=many(8), file_calls=many(8), bytes=many(4 << 20), file_bytes=many(4 << 20))

    def found(**fields: object) -> dict[str, dict]:
        later = {"opened_at": path.stat().st_mtime + 1, "file": str(path), "bytes_read": 16 << 20}
        return findings_of(nacre, report_of({"independent_read": reads}, **{**later, **fields}))

    finding = found()["redundant-reads"]
    assert "4 ranks read 16 MiB of a file of 8 MiB" in finding["evidence"]
    assert finding["at_stake_seconds"] == pytest.approx(0.5)
    assert not found(opened_at=path.stat().st_mtime - 1)  # it was written later: its size is unknown
    path.write_bytes(bytes(12 << 20))
    assert not found()


def slow_rank(nacre, slowest: float, **figures: object) -> set[str]:
    """What is found if three ranks take 0.1 s for their writes, and one takes `slowest`."""
    seconds = {"min": 0.1, "median": 0.1, "max": slowest, "sum": 0.3 + slowest}
    writes = kind_of(
        seconds=seconds, bytes=many(8 << 20), calls=many(8), file_calls=many(8), file_bytes=many(8 << 20),
    ) | {name: value for name, value in figures.items() if name != "late_opens"}  # fmt: skip
    late = {"late_opens": figures["late_opens"]} if "late_opens" in figures else {}
    return set(findings_of(nacre, report_of({"independent_write": writes}, seconds=seconds, **late)))


def test_a_rank_is_slow_if_nothing_else_explains_its_time(nacre):
    assert slow_rank(nacre, 1.0) == {"slow-rank"}
    assert not slow_rank(nacre, 0.29)  # as on a busy machine
    late = {"min": 0, "median": 0, "max": 0.8, "sum": 0.8}
    assert not slow_rank(nacre, 1.0, late_opens={"ranks": 1, "seconds": late})
    assert not slow_rank(nacre, 1.0, phases=dict.fromkeys(PHASES, NOTHING) | {"lock": late})
    more = {"min": 1 << 20, "median": 1 << 20, "max": 8 << 20, "sum": 11 << 20}
    assert "slow-rank" not in slow_rank(nacre, 1.0, bytes=more)
    assert slow_rank(nacre, 1.0, osts=figures_by_ost([64] * 4, [0.2, 0.2, 2.0, 0.2])) == {"slow-ost"}


def test_a_node_is_slow_if_several_of_its_ranks_are(nacre):
    def found(slowest: float, median: float, *by_node: float) -> set[str]:
        seconds = {"min": 0.1, "median": median, "max": slowest, "sum": sum(by_node)}
        busiest = [
            {"host": f"n{node}", "first_rank": 4 * node, "bytes": 32 << 20, "calls": 32, "seconds": took}
            for node, took in enumerate(by_node)
        ]
        ranks = 4 * len(by_node)
        spread = many(8 << 20, ranks)
        nodes = {"bytes": many(32 << 20, len(by_node)), "file_bytes": many(32 << 20, len(by_node)),
                 "with_file_bytes": len(by_node), "busiest": busiest}  # fmt: skip
        writes = kind_of(ranks=ranks, seconds=seconds, bytes=spread, file_bytes=spread, calls=many(8, ranks),
                         file_calls=many(8, ranks), nodes=nodes)  # fmt: skip
        world = {"rank": 0, "ranks": ranks}
        one = report_of({"independent_write": writes}, ranks=ranks, nodes=len(by_node), world=world, seconds=seconds)
        return set(findings_of(nacre, one))

    assert found(1.0, 0.1, 0.4, 4.0, 0.4) == {"slow-node"}
    assert found(1.0, 0.1, 0.4, 1.3, 0.4) == {"slow-rank"}  # one rank of the node
    assert not found(0.25, 0.1, 0.4, 1.0, 0.4)


def test_a_file_that_each_rank_opens_for_itself_is_one_file(nacre):
    alone = [report_of({}, ranks=1, world={"rank": rank, "ranks": 64}) for rank in range(64)]
    assert not set(findings_of(nacre, *alone)) & {"reopened", "file-per-rank"}


def test_calls_that_are_collective_already_need_not_become_collective(nacre):
    holes = kind_of(bytes=many(1 << 20), file_bytes=many(4 << 20), file_calls=many(4))
    for kind, is_advised in (("collective_read", False), ("independent_read", True)):
        remedy = findings_of(nacre, report_of({kind: holes}))["reads-holes"]["remedy"]
        assert any("MPI_File_read_all" in line for line in remedy) == is_advised
        assert "--hint romio_ds_read=disable -- ..." in remedy[-1]


def test_a_file_that_kept_its_stripes_against_a_hint_is_to_be_removed(nacre):
    note = "hint striping_factor: requested 8, but the file has 1; striping hints set the layout of new files"
    hints = {"striping_factor": {"value": "1", "from": "open file", "requested_by": "environment"}}
    fields = {"layout_origin": "default", "hints": hints, "notes": [note]}
    finding = findings_of(nacre, on_osts(1, 0.9, 32, **fields))["few-stripes"]
    assert "a hint asks for another layout than the file has" in finding["evidence"]
    (remedy,) = finding["remedy"]
    assert remedy.endswith("if the job writes all of it anew, remove /x first")
    read = findings_of(nacre, on_osts(1, 0.9, 32, **fields, mode="read"))["few-stripes"]
    assert not any("remove" in line for line in read["remedy"])


def test_remedies_on_orangefs_are_those_of_its_directories(nacre):
    few = findings_of(nacre, on_osts(1, 0.9, 32, file_system="orangefs", file="/ofs/run1/x"))["few-stripes"]
    (line,) = few["remedy"]
    assert line.startswith("setfattr -n user.pvfs2.num_dfiles")
    assert "/ofs/run1 " in line
    small = on_osts(8, 0.0, 1, file_system="orangefs") | {"bytes_written": 2 << 10, "open_seconds": SPREAD}
    many_stripes = findings_of(nacre, small)["many-stripes"]
    assert """num_dfiles -v '"1\\000"'""" in many_stripes["remedy"][0]
    pieces = kind_of(file_calls=many(500), file_bytes=many(500 << 10), calls=many(500))
    layout = [{"begin": 0, "end": -1, "stripe_bytes": 64 << 10, "stripes": 4, "osts": [0, 1, 2, 3]}]
    for system, takes_locks in (("lustre", True), ("orangefs", False)):
        one = report_of({"independent_write": pieces}, nodes=2, layout=layout, file_system=system)
        assert ("moving-locks" in findings_of(nacre, one)) == takes_locks


def test_calls_to_many_files_are_no_storm(nacre):
    """One call to each of many files; and many calls to one."""
    calls = {name: {"calls": many(1), "seconds": many(1)} for name in ("sync", "set_view", "get_size")}
    steps = [report_of({}, file=f"/out.{step}", other_calls=calls) for step in range(80)]
    assert not set(findings_of(nacre, *steps)) & {"sync-storm", "view-storm", "size-storm"}
    storm = report_of({}, file="/out.80", other_calls={"sync": {"calls": many(60), "seconds": many(60)}})
    assert "60 MPI_File_sync of a rank" in findings_of(nacre, *steps, storm)["sync-storm"]["evidence"]


def test_many_files_of_one_rank_are_not_files_of_each_rank(nacre):
    def files_of(ranks: list[int]) -> list[dict]:
        return [
            report_of({}, file=f"/out.{number}", ranks=1, world={"rank": rank, "ranks": 16})
            for number, rank in enumerate(ranks)
        ]

    assert "file-per-rank" in findings_of(nacre, *files_of(list(range(16))))
    assert "file-per-rank" not in findings_of(nacre, *files_of([0] * 40))


def test_many_files_that_ranks_open_alone_are_named(nacre):
    def found(ranks: int, owners: int, files: int, **fields: object) -> dict[str, dict]:
        """Each of `owners` ranks has `files` of its own, and spends 2 ms in each: 1.8 ms in opens and closes."""
        opens, whole = ({"min": took, "median": took, "max": took, "sum": took} for took in (0.0018, 0.002))
        reports = [
            report_of({}, file=f"/out.{rank}.{number}", ranks=1, world={"rank": rank, "ranks": ranks},
                      **{"open_seconds": opens, "seconds": whole, **fields})
            for rank in range(owners)
            for number in range(files)
        ]  # fmt: skip
        return findings_of(nacre, *reports)

    finding = found(8, 8, 100)["many-files"]
    took = "took 180 ms of its 200 ms in these files"
    assert finding["evidence"] == f"opens and closes of 100 files by rank 0 alone {took}"
    assert finding["at_stake_seconds"] == pytest.approx(0.18)
    assert found(64, 1, 1000)["many-files"]["at_stake_seconds"] == pytest.approx(1.8)
    assert set(found(16, 16, 100)) == {"file-per-rank"}
    assert not found(8, 8, 15)
    short = {"min": 0.0009, "median": 0.0009, "max": 0.0009, "sum": 0.0009}
    assert not found(8, 8, 100, open_seconds=short)


@pytest.mark.parametrize(
    ("first", "ranks", "of", "words"),
    [
        (1, 4, 8, "rank 3 of the 4 that opened the file"),  # the odd ranks: rank 3 is rank 7 of the program
        (0, 4, 8, "rank 3 of the 4 that opened the file"),  # the even ones
        (0, 4, 4, "rank 3 of 4"),
        (3, 4, 4, "rank 3 of the 4 that opened the file"),  # in another order
    ],
)
def test_ranks_of_a_split_communicator_are_not_those_of_the_program(nacre, first, ranks, of, words):
    world = {"rank": first, "ranks": of}
    seconds = {"min": 0.1, "median": 0.1, "max": 1.0, "sum": 1.3}
    busiest = [{"rank": 3, "bytes": 8 << 20, "calls": 8, "seconds": 1.0}]
    size = many(8 << 20)
    slow = kind_of(seconds=seconds, bytes=size, calls=many(8), file_calls=many(8), file_bytes=size, busiest=busiest)
    one = report_of({"independent_write": slow}, ranks=ranks, world=world, seconds=seconds)
    assert f"took 1 s on {words}, and" in findings_of(nacre, one)["slow-rank"]["evidence"]
    alone = kind_of(ranks=1, bytes=many(64 << 20, 1), calls=many(8, 1), file_calls=many(8, 1), busiest=busiest)
    one = report_of({"independent_write": alone}, ranks=ranks, world=world)
    assert findings_of(nacre, one)["one-rank"]["evidence"].startswith(f"{words} moved")


def test_sieving_that_the_program_asks_for_is_to_be_changed_there(nacre):
    """Hints of the program override those of nacre run."""
    gaps = kind_of(bytes=many(1 << 20), file_bytes=many(4 << 20), file_calls=many(4), read_modify_writes=many(4))
    for rule, kind, hint in (
        ("reads-holes", "independent_read", "romio_ds_read"),
        ("read-modify-write", "independent_write", "romio_ds_write"),
    ):
        for who, begin in (
            ("program", f"Program: it sets {hint}=enable in its MPI_Info, which overrides other hints; set {hint}="),
            ("environment", f"nacre run --hint {hint}=disable -- ..."),
        ):
            hints = {hint: {"value": "enable", "from": who}}
            assert findings_of(nacre, report_of({kind: gaps}, hints=hints))[rule]["remedy"][-1].startswith(begin)


def test_closes_on_nfs_that_take_most_of_the_time_are_named(nacre):
    def found(shortest: float, file_system: str = "nfs") -> dict[str, dict]:
        closes = {"min": shortest, "median": 2, "max": 2, "sum": 6 + shortest}
        return findings_of(nacre, report_of({}, file_system=file_system, close_seconds=closes, seconds=many(3)))

    finding = found(1.8)["slow-sync"]
    assert finding["evidence"] == "1 close took 1.8 s of the 3 s per rank in this file"
    assert not found(0.1)  # one rank comes late, the others wait for it
    assert not found(1.8, "lustre")


def test_syncs_are_slow_or_a_storm(nacre):
    def found(calls: int, shortest: float, whole: float = 3) -> set[str]:
        syncs = {"calls": many(calls), "seconds": {"min": shortest, "median": 2, "max": 2, "sum": 6 + shortest}}
        return set(findings_of(nacre, report_of({}, other_calls={"sync": syncs}, seconds=many(whole))))

    assert found(3, 2) == {"slow-sync"}
    assert found(60, 2) == {"sync-storm"}
    assert not found(3, 0.1)  # the ranks wait for a late one
    assert not found(3, 2, whole=5)


def test_a_consequence_names_its_cause_and_follows_it(nacre):
    def piecewise(file: str, seconds: float) -> dict:
        size = many(500 << 10)
        pieces = kind_of(seconds=many(seconds), calls=many(500), bytes=size, file_calls=many(500), file_bytes=size)
        layout = [{"begin": 0, "end": -1, "stripe_bytes": 1 << 20, "stripes": 4, "osts": [0, 1, 2, 3]}]
        fields = {"file": file, "nodes": 2, "layout": layout, "bytes_written": 2 << 20, "seconds": many(seconds)}
        return report_of({"independent_write": pieces}, **fields)

    def ordered(*reports: dict) -> list[tuple[str, str, list[str]]]:
        (nacre.directory / "io.jsonl").write_text("".join(json.dumps(one) + "\n" for one in reports))
        (job,) = json.loads(nacre("report", "--summary", "--json", "io.jsonl").stdout)
        return [(one["rule"], one["where"], one["follows_from"]) for one in job["findings"]]

    storm = report_of({}, file="/z", other_calls={"get_size": {"calls": many(60), "seconds": many(3)}}, seconds=many(3))
    found = ordered(piecewise("/x", 4), storm, piecewise("/y", 2))
    assert found == [
        ("collective-missing", "/x", []), ("moving-locks", "/x", ["collective-missing"]),
        ("size-storm", "/z", []),
        ("collective-missing", "/y", []), ("moving-locks", "/y", ["collective-missing"]),
    ]  # fmt: skip
    text = nacre("report", "--summary", "io.jsonl").stdout
    cause = "Small independent writes: collective calls would combine them"
    for number in (1, 4):
        assert f'     The remedy of finding {number} ("{cause}") probably fixes this too\n' in text
    # A cause with too little time at stake to be shown by itself comes before its consequence.
    calls = {"set_view": {"calls": many(60), "seconds": many(2)}}
    opens = [report_of({}, open_seconds=many(0.02), other_calls=calls, seconds=many(2.1)) for _ in range(20)]
    assert ordered(*opens, piecewise("/y", 9)) == [
        ("reopened", "/x", []), ("view-storm", "/x", ["reopened"]),
        ("collective-missing", "/y", []), ("moving-locks", "/y", ["collective-missing"]),
    ]  # fmt: skip
    # Reads do not cause what writes show.
    reads = piecewise("/x", 4)
    reads["kinds"]["independent_read"] = reads["kinds"].pop("independent_write")
    pieces = kind_of(calls=many(40), bytes=many(20 << 20), file_calls=many(40), file_bytes=many(20 << 20))
    reads["kinds"]["independent_write"] = pieces
    assert ("moving-locks", "/x", []) in ordered(reads)


def test_causes_are_rules_and_have_an_end():
    rules = {case.rule for case in findings_cases.CASES}
    assert set(causes.CAUSES) <= rules
    assert {rule for found in causes.CAUSES.values() for rule in found} <= rules

    def depth(rule: str) -> int:
        return 1 + max(map(depth, causes.CAUSES.get(rule, ())), default=0)

    assert max(map(depth, causes.CAUSES)) < 5


def test_hints_on_aggregators_of_calls_without_aggregators_are_named(nacre):
    def found(*plans: dict, who: str = "program", **fields: object) -> dict[str, dict]:
        hints = {"cb_nodes": {"value": "4", "from": who}}
        return findings_of(nacre, report_of({"collective_write": kind_of()}, plans=list(plans), hints=hints, **fields))

    finding = found(plan_of())["hint-without-effect"]
    assert finding["evidence"] == "cb_nodes (program): no collective call has an aggregator. The pieces are long."
    assert finding["remedy"][0] == "With nacre_algorithm=two_phase ranks exchange."
    assert not found()
    assert not found(plan_of(), plan_of(**AGGREGATOR))
    assert not found(plan_of(), other_plan_calls=3)
    assert not found(plan_of(), who="site's file")
    assert not found(plan_of(bytes=NOTHING))


def test_nodes_without_an_aggregator_are_counted(nacre):
    def found(on: int, seconds: float, reason: str = "hint") -> dict[str, dict]:
        nodes = {"bytes": many(4 << 20, 8), "file_bytes": many(4 << 20, 8), "with_file_bytes": on, "busiest": []}
        phases = dict.fromkeys(PHASES, NOTHING) | {"file": {"min": 0, "median": 0, "max": seconds, "sum": seconds}}
        kind = kind_of(nodes=nodes, phases=phases)
        plan = plan_of(**(AGGREGATOR | {"aggregators": 2, "aggregators_reason": reason, "bytes": many(4 << 20)}))
        return findings_of(nacre, report_of({"collective_write": kind}, nodes=8, plans=[plan]))

    finding = found(2, 0.8)["few-aggregators"]
    assert finding["evidence"] == (
        "cb_nodes sets 2 aggregators for 8 nodes, on 2 of them; the file system took 800 ms of 1 s"
    )
    assert finding["at_stake_seconds"] == pytest.approx(0.6)
    assert not found(5, 0.8)
    assert not found(2, 0.4)
    assert not found(2, 0.8, "saturation")


def test_nodes_take_locks_only_of_osts_that_several_ranks_write(nacre):
    """The last component has eight OSTs, of which the ranks wrote four; two of these have one writer each."""
    layout = [
        {"begin": 0, "end": 4 << 20, "stripe_bytes": 1 << 20, "stripes": 4, "osts": [0, 1, 2, 3]},
        {"begin": 4 << 20, "end": -1, "stripe_bytes": 1 << 20, "stripes": 8, "osts": [-1] * 8},
    ]

    def found(moved: list[list[int]]) -> dict[str, dict]:
        """`moved`: bytes by rank and OST."""
        kind = kind_of(
            calls=many(500), file_calls=many(500), file_bytes=many(500 << 10), bytes=many(500 << 10),
            osts=[{"ost": ost, "bytes": 1 << 20, "calls": 500, "alone_bytes": 0, "alone_seconds": 0}
                  for ost in range(4)],
            rank_osts={"first_ranks": [0, 1, 2, 3], "first_osts": [0, 1, 2, 3], "bytes": moved},
        )  # fmt: skip
        return findings_of(nacre, report_of({"independent_write": kind}, nodes=2, layout=layout))

    mixed = found([[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
    assert mixed["moving-locks"]["evidence"].endswith("from several nodes to the same 2 OSTs (OST 0-1)")
    assert "moving-locks" not in found([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def test_two_jobs_are_compared(nacre, program, tmp_path):
    for report, *good in (["a.jsonl"], ["b.jsonl", "good"]):
        words = [*LAUNCHER, "-n", 4, program, tmp_path / "data", "collective-missing", *good]
        assert nacre("run", "--report", report, *words).returncode == 0
    text = nacre("compare", "a.jsonl", "b.jsonl").stdout
    assert "A: " in text
    assert "only A: Small independent writes" in text
    (line,) = (line for line in text.splitlines() if line.startswith("bytes written"))
    assert line.split()[2:] == ["3.9", "MiB", "3.9", "MiB", "1.00"]
    compared = json.loads(nacre("compare", "--json", "a.jsonl", "b.jsonl").stdout)
    figures = {(one["of"], one["figure"]): (one["a"], one["b"]) for one in compared["figures"]}
    assert figures["independent writes", "calls"] == (8000, 0)
    assert figures["collective writes", "calls"] == (0, 4)
    assert "collective-missing" in compared["findings_only_in"]["a"]
    refused = nacre("compare", "a.jsonl", "none.jsonl")
    assert refused.returncode == 2
    assert "cannot read none.jsonl" in refused.stderr


def test_the_time_of_ranks_that_wait_outside_mpi_io_is_compared(nacre, tmp_path):
    for name, seconds in (("a", 3.5), ("b", 0.5)):
        one = on_osts(8, 0.1, 32, opened_at=100.25, open_for_seconds=seconds)
        (tmp_path / name).write_text(json.dumps(one))
    figures = json.loads(nacre("compare", "--json", "a", "b").stdout)["figures"]
    assert figures[0] == {"of": "job", "figure": "first open to last close", "a": 3.5, "b": 0.5}


def test_a_file_of_one_node_may_have_too_few_stripes(nacre):
    alone = findings_of(nacre, on_osts(1, 0.9, 256, nodes=1))["few-stripes"]
    assert "striping_factor=4" in alone["remedy"][0]
    assert "few-stripes" not in findings_of(nacre, on_osts(1, 0.02, 256, nodes=1))
    assert "few-stripes" not in findings_of(nacre, on_osts(3, 0.9, 256, nodes=1))


def test_layouts_and_plans_of_two_jobs_are_compared(nacre, tmp_path):
    plan = {
        "call": "write", "algorithm": "direct", "reason": "r", "because": "b", "otherwise": "o", "calls": 3,
        "bytes": NOTHING, "seconds": NOTHING,
        "first_call": dict.fromkeys(("ranks", "first_byte", "end", "bytes", "pieces", "span_bytes"), 0),
    }  # fmt: skip
    for name, count in (("a", 1), ("b", 8)):
        one = on_osts(count, 0.9 / count, 32, plans=[plan] if count == 1 else [plan | {"algorithm": "two_phase"}])
        (tmp_path / name).write_text(json.dumps(one))
    text = nacre("compare", "a", "b").stdout
    assert "layout of x:\n  A: 1 OST (OST 0), stripes of 1 MiB\n  B: 8 OSTs (OST 0-7), stripes of 1 MiB\n" in text
    assert "plans of collective writes:\n  A: direct: 3 calls\n  B: two_phase: 3 calls\n" in text
    assert "only A: The file has too few stripes (few-stripes, may save up to" in text
    assert "A, B: direct" in nacre("compare", "a", "a").stdout
    assert "both: The file has too few stripes" in nacre("compare", "a", "a").stdout
    assert json.loads(nacre("compare", "--json", "a", "b").stdout)["layouts"]["b"] == {
        "x": "8 OSTs (OST 0-7), stripes of 1 MiB"
    }


def test_the_figures_of_a_job_are_printed_for_prometheus(nacre, program, source, tmp_path):
    words = [*LAUNCHER, "-n", 4, program, tmp_path / "data", "collective-missing"]
    assert nacre("run", "--report", "io.jsonl", *words).returncode == 0
    lines = nacre("report", "--format", "prometheus", "--min-share", 0, "io.jsonl").stdout.splitlines()
    samples = {}
    for line in lines:
        if not line.startswith("#"):
            found = re.fullmatch(r'(nacre_[a-z_]+)\{(([a-z]+="[^"]*",?)+)\} ([0-9.e+-]+)', line)
            assert found, line
            samples.setdefault(found[1], []).append((found[2], float(found[4])))
    assert samples["nacre_job_ranks"][0][1] == 4
    assert [value for labels, value in samples["nacre_job_calls_total"] if "independent_write" in labels] == [8000]
    assert any('rule="collective-missing"' in labels for labels, _ in samples["nacre_job_finding_seconds"])
    assert len([line for line in lines if line.startswith("# TYPE")]) == len(samples)
    assert len({line.rpartition(" ")[0] for line in lines}) == len(lines)  # no sample twice
    refused = nacre("report", "--format", "xml", "io.jsonl")
    assert refused.returncode == 2
    assert "--format xml" in refused.stderr
    documented = documented_metrics(source / "docs" / "report.md")
    assert set(documented) == set(prometheus.METRICS)
    for name, found in samples.items():
        labels = {label for sample, _ in found for label in re.findall(r'(?:^|,)([a-z]+)="', sample)}
        assert labels == {"job", "run", "program"} | documented[name], name


def documented_metrics(page: Path) -> dict[str, set[str]]:
    """The metrics in the table of docs/report.md, each with its labels beside those of all metrics."""
    rows = re.findall(r"^\| `(nacre_[a-z_]+)` \| ([^|]*)\|", page.read_text(), re.MULTILINE)
    return {name: set(re.findall(r"`([a-z]+)`", labels)) for name, labels in rows}


# Each rank writes 12 MiB of its own in calls of 1 MiB.
LARGE_PIECES = """
#include <mpi.h>
#include <stdlib.h>
enum { piece = 1 << 20, pieces = 12 };
int main(int argc, char** argv) {
  int rank, i;
  char* data = calloc(piece, 1);
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file)) return 1;
  for (i = 0; i < pieces; ++i) {
    MPI_File_write_at_all(file, (MPI_Offset)piece * (pieces * rank + i), data, piece, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.parametrize("slow", [True, False], ids=["slow", "healthy"])
def test_a_slow_ost_of_the_testbed_is_named(nacre, nodes, node_namespaces, tmp_path, slow):
    source = tmp_path / "large.c"
    source.write_text(LARGE_PIECES)
    subprocess.run(["mpicc.mpich", source, "-o", tmp_path / "large"], check=True, timeout=600)
    costs = ["--set", "osts.bandwidth=15m", "--set", "nodes.dirty_bytes=64k", "--set", "striping.count=4"]
    with brought_up(nacre, tmp_path / "played", *costs) as directory:
        if slow:
            assert nacre("testbed", "fault", "--at", directory, "ost", 2, "slow", 6).returncode == 0
        words = ["mpiexec.mpich", "-n", 2, tmp_path / "large", "{}/data"]
        run = nacre("testbed", "run", "--at", directory, "--report", "io.jsonl", "--", *words)
        assert run.returncode == 0, run.stdout + run.stderr
    (job,) = json.loads(nacre("report", "--summary", "--json", "io.jsonl").stdout)
    found = [finding["title"] for finding in job["findings"] if finding["rule"] == "slow-ost"]
    assert found == (["OST 2 is far slower than the others"] if slow else []), (tmp_path / "io.jsonl").read_text()


def test_striping_hints_on_a_file_system_without_layouts_are_named(nacre, played, node_namespaces, program, tmp_path):
    job = ["--hint", "striping_factor=4", "--", *LAUNCHER, "-n", 2, program]
    case = ["hint-without-effect", "good"]
    found = {}
    for place, words in (
        ("local", ["run", "--report", "io.jsonl", *job, tmp_path / "data", *case]),
        ("testbed", ["testbed", "run", "--at", played, "--report", "io.jsonl", *job, "{}/data", *case]),
    ):
        (tmp_path / "io.jsonl").unlink(missing_ok=True)
        run = nacre(*words)
        assert run.returncode == 0, run.stdout + run.stderr
        (summed,) = json.loads(nacre("report", "--summary", "--json", "io.jsonl").stdout)
        found[place] = [one for one in summed["findings"] if one["rule"] == "hint-without-effect"]
    (local,) = found["local"]
    assert local["evidence"].startswith("striping_factor: files on this file system (")
    assert found["testbed"] == []


def test_hints_that_are_not_meant_for_the_job_are_not_named(nacre):
    def found(origin: str, **fields: object) -> dict[str, dict]:
        hints = {"striping_factor": {"value": "8", "from": origin}, "cb_nodes": {"value": "1", "from": "program"}}
        return findings_of(nacre, report_of({}, **{"file_system": "ext4", "hints": hints, **fields}))

    (remedy,) = found("program")["hint-without-effect"]["remedy"]
    assert "nacre doctor DIR names the file system of DIR" in remedy
    assert "hint-without-effect" not in found("site's file")  # which may be for other file systems
    assert "hint-without-effect" not in found("program", file_system="lustre")
    assert "hint-without-effect" not in found("program", mode="read")


# Each rank writes pieces of 1 MiB by itself: the report has no layout.
ALONE = LARGE_PIECES.replace("_at_all", "_at")


@pytest.mark.parametrize("stripes", [1, 4])
def test_too_few_stripes_of_a_file_on_the_testbed_are_seen_in_the_file(
    nacre, nodes, node_namespaces, tmp_path, stripes
):
    source = tmp_path / "alone.c"
    source.write_text(ALONE)
    subprocess.run(["mpicc.mpich", source, "-o", tmp_path / "alone"], check=True, timeout=600)
    costs = ["--set", "osts.bandwidth=15m", "--set", "nodes.dirty_bytes=64k", "--set", f"striping.count={stripes}"]
    with brought_up(nacre, tmp_path / "played", *costs) as directory:
        words = ["mpiexec.mpich", "-n", 2, tmp_path / "alone", "{}/data"]
        options = ("--summary", "--report", "io.jsonl")
        by_default = {"NACRE_HINTS": "*:nacre_choose_layout=disable"}
        run = nacre("testbed", "run", "--at", directory, *options, "--", *words, **by_default)
        assert run.returncode == 0, run.stdout + run.stderr
        assert ("The file has too few stripes" in run.stderr) == (stripes == 1)
        assert "2 ranks on 2 nodes" in run.stderr
        (job,) = json.loads(nacre("report", "--summary", "--json", "io.jsonl").stdout)
    found = [finding for finding in job["findings"] if finding["rule"] == "few-stripes"]
    assert len(found) == (stripes == 1), job["findings"]
    for finding in found:
        assert finding["evidence"].endswith("the file system has 4 OSTs")
        assert f"nacre testbed run --at {directory} --hint striping_factor=4 " in finding["remedy"][0]
        assert f"nacre stripe set -c 4 {directory}/0 " in finding["remedy"][1]


def test_a_component_on_the_metadata_target_is_no_ost():
    first = {"begin": 0, "end": 1 << 20, "stripe_bytes": 1 << 20, "stripes": 1, "osts": [METADATA_TARGET]}
    rest = {"begin": 1 << 20, "end": -1, "stripe_bytes": 1 << 20, "stripes": 1, "osts": [3]}
    assert osts.in_words([first, rest]) == "the metadata target; from 1 MiB on 1 OST (OST 3), stripes of 1 MiB"
