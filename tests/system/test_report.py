"""`nacre report` and `nacre explain`, on what real programs over both MPIs had written, and on what is no report."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from figures import kind_of, many, report_of

# Each rank: 4 interleaved collective writes of 128 KiB in pieces of 64 B, one of them nonblocking, a collective read
# of as much, and 100 independent writes of 4 B; one refused.
PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  MPI_File file;
  MPI_Request request;
  MPI_Datatype pieces;
  int rank, size, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* data = calloc(32768, sizeof(int));
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_Type_vector(2048, 16, 16 * size, MPI_INT, &pieces);
  MPI_Type_commit(&pieces);
  MPI_File_set_view(file, 64 * rank, MPI_INT, pieces, "native", MPI_INFO_NULL);
  for (i = 0; i < 3; ++i) MPI_File_write_at_all(file, 0, data, 32768, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_iwrite_at_all(file, 0, data, 32768, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(file, 0, data, 32768, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  for (i = 0; i < 100; ++i) MPI_File_write_at(file, 100 * rank + i, data, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_write_at(file, -1, data, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
"""
RANKS = 3
EACH = 32768 * 4


@pytest.fixture(scope="module", params=["mpich", "openmpi"])
def family(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def served(nacre, family, tmp_path):
    """Runs the program; returns the report's path."""
    (tmp_path / "app.c").write_text(PROGRAM)
    subprocess.run([f"mpicc.{family}", "app.c", "-o", "app"], cwd=tmp_path, check=True, timeout=600)
    launcher = [f"mpiexec.{family}", *(["--oversubscribe"] if family == "openmpi" else []), "-n", str(RANKS)]

    def run(data: str, *options: str, **environment: str):
        result = nacre("run", "--report", "io.jsonl", *options, *launcher, "./app", data, **environment)
        assert result.returncode == 0, result.stdout + result.stderr
        return tmp_path / "io.jsonl"

    return run


def lines(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def check_consistent(kind: dict) -> None:
    """Phases make up the time, and every figure lies where it must."""
    phases = [spread for name, spread in kind["phases"].items() if name != "away"]
    assert sum(spread["sum"] for spread in phases) == pytest.approx(kind["seconds"]["sum"], abs=1e-8)
    spreads = [kind["seconds"], *kind["phases"].values(), kind["bytes"], kind["file_bytes"], kind["messages"]]
    for spread in spreads:
        assert 0 <= spread["min"] <= spread["median"] <= spread["max"] <= spread["sum"]
    assert sum(kind["file_call_sizes"].values()) == kind["file_calls"]["sum"]
    assert sum(share["bytes"] for share in kind["busiest"]) == kind["file_bytes"]["sum"]
    assert sum(share["calls"] for share in kind["busiest"]) == kind["file_calls"]["sum"]


def test_the_figures_match_the_program(served):
    (report,) = lines(served("data", "--hint", "cb_nodes=2"))
    assert (report["schema"], report["ranks"], report["nodes"]) == (2, RANKS, 1)
    assert report["world"] == {"rank": 0, "ranks": RANKS}
    assert report["program"] == ["./app", "data"]
    assert report["version"]
    assert "MPI" in report["mpi"] or "MPICH" in report["mpi"]
    assert report["mode"] == "read-write"
    assert report["file_system"]
    assert len(report["hosts"]) == 1
    assert report["run"]
    assert report["other_calls"]["set_view"]["calls"] == {"min": 2, "median": 2, "max": 2, "sum": 2 * RANKS}
    parts = [report["open_seconds"], report["close_seconds"]]
    parts += [calls["seconds"] for calls in [*report["kinds"].values(), *report["other_calls"].values()]]
    assert sum(part["sum"] for part in parts) == pytest.approx(report["seconds"]["sum"], abs=1e-8)
    assert report["late_opens"]["ranks"] == RANKS - 1
    assert report["hints"]["cb_nodes"] == {"value": "2", "from": "environment"}
    assert report["bytes_written"] == RANKS * (4 * EACH + 400)
    assert report["bytes_read"] == RANKS * EACH
    assert report["calls"] == RANKS * (4 + 1 + 101)
    assert set(report["kinds"]) == {"collective_write", "collective_read", "independent_write"}
    for kind in report["kinds"].values():
        assert kind["ranks"] == RANKS
        check_consistent(kind)
    writes = report["kinds"]["collective_write"]
    assert writes["calls"] == {"min": 4, "median": 4, "max": 4, "sum": 4 * RANKS}
    assert writes["file_bytes"]["sum"] == writes["bytes"]["sum"] == 4 * RANKS * EACH
    assert writes["file_bytes"]["min"] == 0  # one of three ranks is no aggregator
    assert writes["copied_bytes"]["sum"] == writes["bytes"]["sum"]  # inside a node each byte is copied once
    assert 0 < writes["message_bytes"]["sum"] < EACH  # and sent to nobody
    assert writes["rounds"]["max"] > 0
    assert len(writes["busiest"]) == 2
    assert all(writes["phases"][phase]["max"] > 0 for phase in ("plan", "views", "wait", "file", "agreement"))
    alone = report["kinds"]["independent_write"]
    assert alone["file_call_sizes"] == {"4": 100 * RANKS}
    assert alone["errors"]["sum"] == RANKS
    assert alone["unaligned_calls"]["sum"] == 100 * RANKS
    assert alone["backward_calls"]["sum"] == 0
    assert alone["messages"]["sum"] == 0
    assert alone["phases"]["file"]["max"] > 0


def test_the_report_has_the_time_of_file_accesses_in_helper_threads(nacre, served):
    """Every access takes 20 ms, and threads make those of collective calls, as on a file system with servers."""
    path = served("data", "--hint", "cb_nodes=2", NACRE_TEST_FAULTS="latency_us=20000")
    (report,) = lines(path)
    for name in ("collective_write", "collective_read"):
        kind = report["kinds"][name]
        check_consistent(kind)
        assert kind["file_calls"]["sum"] > 0
        assert kind["file_thread_seconds"]["sum"] >= 0.02 * kind["file_calls"]["sum"]
        assert kind["file_thread_seconds"]["sum"] >= kind["file_busy_seconds"]["sum"] >= 0.02
        assert [share["seconds"] >= 0.02 * share["calls"] for share in kind["busiest"]] == [True, True]
    assert report["kinds"]["independent_write"]["file_thread_seconds"]["max"] == 0
    assert "file access, sum of all threads" in nacre("report", path).stdout


def test_what_a_report_adds_up_is_the_time_of_the_calls(nacre, family, tmp_path):
    """Over a slow store, so that the little between the clocks does not matter. On a busy machine a rank may wait for a
    core between two clocks: the best of five runs counts."""
    app = tmp_path / "app"
    source = Path(__file__).with_name("accounting.c")
    subprocess.run([f"mpicc.{family}", source, "-o", app], check=True, timeout=600)
    launcher = [f"mpiexec.{family}", *(["--oversubscribe"] if family == "openmpi" else []), "-n", str(RANKS)]
    slow = {"NACRE_TEST_FAULTS": "latency_us=40000"}
    for _ in range(5):
        result = nacre("run", "--report", "io.jsonl", *launcher, app, tmp_path / "data", **slow)
        assert result.returncode == 0, result.stdout + result.stderr
        outside = [float(line.split()[1]) for line in result.stdout.splitlines()]
        assert len(outside) == RANKS
        report = lines(tmp_path / "io.jsonl")[-1]
        ratio = report["seconds"]["sum"] / sum(outside)
        if ratio == pytest.approx(1, abs=0.02):
            break
    assert ratio == pytest.approx(1, abs=0.02)
    kinds = {"collective_write", "collective_read", "independent_write", "independent_read"}
    assert set(report["kinds"]) == kinds
    # Each rank: write_shared, and 4 writes in atomic mode. Rank 0 moves the pointer of write_ordered.
    assert report["kinds"]["independent_write"]["locks"]["sum"] == 5 * RANKS
    assert report["kinds"]["collective_write"]["locks"]["sum"] == 1


def test_a_file_that_is_open_at_the_end_is_named(nacre, family, tmp_path):
    (tmp_path / "app.c").write_text(PROGRAM.replace("MPI_File_close(&file);", ""))
    subprocess.run([f"mpicc.{family}", "app.c", "-o", "app"], cwd=tmp_path, check=True, timeout=600)
    launcher = [f"mpiexec.{family}", *(["--oversubscribe"] if family == "openmpi" else []), "-n", str(RANKS)]
    result = nacre("run", "--report", "io.jsonl", *launcher, "./app", "data")
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stderr.count("still open at MPI_Finalize") == 1
    assert "data" in result.stderr
    assert not (tmp_path / "io.jsonl").exists()
    assert "MPI_Finalize" not in nacre("run", *launcher, "./app", "data").stderr


def test_the_report_has_the_executed_plans(served):
    (report,) = lines(served("data", "--hint", "cb_nodes=2"))
    writes = [plan for plan in report["plans"] if plan["call"] == "write"]
    assert [(plan["algorithm"], plan["reason"], plan["calls"]) for plan in writes] == [("two_phase", "interleaved", 4)]
    assert writes[0]["bytes"]["sum"] == 4 * RANKS * EACH
    assert writes[0]["aggregator_ranks"] == [0, 1]
    assert writes[0]["first_call"]["pieces"] == RANKS * 2048
    assert writes[0]["first_call"]["bytes"] == RANKS * EACH
    assert report["other_plan_calls"] == 0


def test_the_plans_of_a_job_are_predicted_and_explained(nacre, served):
    path = served("data", "--hint", "nacre_machine=lustre")
    (report,) = lines(path)
    (plan,) = [plan for plan in report["plans"] if plan["call"] == "write"]
    assert plan["predicted"]["algorithm"] == plan["algorithm"]
    assert plan["predicted"]["seconds"] >= max(plan["predicted"]["busy"].values()) > 0
    assert plan["predicted"] in plan["compared"]
    assert "direct" in {one["algorithm"] for one in plan["compared"]}
    text = nacre("explain", path).stdout
    assert re.search(r"predicted: .* \(busy: .*\); a call took ", text)
    assert "instead of " in text


def test_the_report_has_the_shapes_of_calls(served):
    """Which bytes sampled ranks accessed, so that the job can be made again."""
    (report,) = lines(served("data"))
    shapes = report["kinds"]["collective_write"]["shapes"]
    assert [shape["rank"] for shape in shapes] == [0, 1, 2]
    assert [shape["origin"] for shape in shapes] == [0, 64, 128]
    assert all(shape["bytes"] == EACH and len(shape["type"]) < 100 for shape in shapes)
    assert len({shape["type"] for shape in shapes}) == 1
    assert len({shape["step_bytes"] for shape in shapes}) == 1


def test_explain_names_algorithm_aggregators_reason_and_what_would_change_it(nacre, served):
    report = served("data", "--hint", "cb_nodes=2")
    result = nacre("explain", report)
    assert result.returncode == 0, result.stderr
    for words in (
        "4 collective writes", "two_phase, 2 aggregators (ranks 0, 1)", "the ranks' ranges of the file overlap",
        "(interleaved)", "set by cb_nodes (hint)", "6,144 pieces of 64 B", "nacre_algorithm=direct",
        "hint cb_nodes=2",
    ):  # fmt: skip
        assert words in result.stdout


def test_explain_prints_json(nacre, served):
    report = served("data", "--hint", "cb_nodes=2")
    (one,) = json.loads(nacre("explain", "--json", report).stdout)
    assert one["file"].endswith("/data")
    assert one["plans"] == lines(report)[0]["plans"]


def test_a_striped_file_is_divided_by_its_stripes(nacre, served):
    hints = ("--hint", "nacre_algorithm=two_phase", "--hint", "cb_nodes=2")
    report = served("data", *hints, NACRE_TEST_LAYOUT="-c 4 -S 64m")  # played 1024 times smaller
    plans = lines(report)[0]["plans"]
    assert {(plan["pattern"], plan["domain_bytes"]) for plan in plans} == {("osts", 65536)}
    explained = nacre("explain", report).stdout
    assert "each with the stripes on some OSTs (nacre_pattern=osts), contiguous pieces of 64 KiB" in explained


@pytest.mark.parametrize(
    ("locks", "words"),
    [
        ("usual", ""),
        ("narrow", ", written with narrow locks (nacre_write_locks)"),
        ("ahead", ", written with locks that are requested ahead of the writes (nacre_write_locks)"),
        ("group", ", written with a group lock (nacre_write_locks)"),
    ],
)
def test_explain_names_the_locks_of_the_writes(nacre, locks, words):
    shared = {
        "aggregator_ranks": [0, 1], "aggregators": 2, "aggregators_reason": "r", "aggregators_because": "b",
        "pattern": "osts", "saturation_bytes": 1, "domain_bytes": 65536, "cycle_bytes": 1, "cycle_buffers": 1,
        "rounds_max": 1, "write_locks": locks, "osts": {"least": 1, "most": 1, "aggregators_on_one": 2},
    }  # fmt: skip
    (how,) = (line for line in explained(nacre, plan_of(1, 1.0, **shared)).splitlines() if "how:" in line)
    assert f", on 1 OST each, at most 2 aggregators per OST{words}; " in how


GROWING = [
    {"begin": 0, "end": 1 << 20, "stripe_bytes": 1 << 20, "stripes": 1, "osts": [3]},
    {"begin": 1 << 20, "end": 4 << 20, "stripe_bytes": 1 << 16, "stripes": 4, "osts": [0, 1, 2, 3]},
    {"begin": 4 << 20, "end": -1, "stripe_bytes": 1 << 20, "stripes": 8, "osts": [-1] * 8},
]
GROWN = (
    "the layout grew with the file from 1 OST to 4 OSTs, from byte 1048576 on; Nacre set it at the first independent"
    " write"
)
OF_LAST_COMPONENT = {"striping_factor": {"value": "8", "from": "open file"}}


def test_the_layout_of_a_file_that_grows_is_shown_as_a_whole(nacre, tmp_path):
    """The hints of the open file have the values of the last component, which may have no data."""
    asked = {"cb_nodes": {"value": "2", "from": "environment"}}
    report = report_of(
        {"independent_write": kind_of()}, layout=GROWING, layout_origin="nacre", notes=[GROWN],
        hints=OF_LAST_COMPONENT | asked,
    )  # fmt: skip
    (tmp_path / "r").write_text(json.dumps(report))
    line = (
        "  layout (chosen by Nacre; data on 4 OSTs): 1 OST (OST 3), stripes of 1 MiB; from 1 MiB on 4 OSTs (OST 0-3),"
        " stripes of 64 KiB; from 4 MiB on 8 OSTs, stripes of 1 MiB\n"
    )
    for verb in ("report", "explain"):
        text = nacre(verb, "r").stdout
        assert line in text
        assert "striping_factor" not in text
        assert "hint cb_nodes=2 (from the environment)" in text
        assert f"note: {GROWN}" in text
    overstriped = [{"begin": 0, "end": -1, "stripe_bytes": 1 << 20, "stripes": 4, "osts": [0, 1, 0, 1]}]
    for origin, words in (("hints", "set by hints; "), ("default", "the default of the "), ("", "(data on")):
        one = report_of({"collective_write": kind_of()}, layout=overstriped, layout_origin=origin)
        (tmp_path / "r").write_text(json.dumps(one))
        text = nacre("report", "r").stdout
        assert words in text
        assert "data on 2 OSTs): 4 stripes of 1 MiB on 2 OSTs (OST 0-1)" in text


def plan_of(calls: int, seconds: float, **changes: object) -> dict:
    return {
        "call": "write", "algorithm": "direct", "reason": "r", "because": "b", "otherwise": "o", "calls": calls,
        "bytes": many(1000 * calls, 1), "seconds": many(seconds, 1), "predicted": PREDICTED, "compared": [PREDICTED],
        "first_call": dict.fromkeys(("ranks", "first_byte", "end", "bytes", "pieces", "span_bytes"), 0),
    } | changes  # fmt: skip


PREDICTED = {"algorithm": "direct", "aggregators": 0, "seconds": 0.01, "busy": {"ost": 0.01}}


def explained(nacre, *plans: dict, **fields: object) -> str:
    fields = {"machine": "lustre", "file": "/scratch/x"} | fields
    report = report_of({"collective_write": kind_of()}, plans=list(plans), **fields)
    (nacre.directory / "plans").write_text(json.dumps(report))
    return nacre("explain", "plans").stdout


def test_plans_that_differ_only_in_domains_are_explained_once(nacre):
    text = explained(nacre, plan_of(300, 3.0), plan_of(200, 2.0), plan_of(12, 0.1))
    assert "512 collective writes in 3 plans, 500 KiB in total, 5.1 s on the slowest rank" in text
    assert text.count("how:") == 1
    text = explained(nacre, plan_of(300, 3.0), plan_of(200, 2.0, algorithm="two_phase"))
    assert text.count("how:") == 2
    assert " plans" not in text


def test_plans_that_were_compared_are_named_with_their_domains(nacre):
    def compared(seconds: float, **fields: object) -> dict:
        return PREDICTED | {"algorithm": "two_phase", "aggregators": 8, "seconds": seconds} | fields

    used = compared(0.1, pattern="osts")
    others = [compared(0.2, pattern="even"), compared(0.3, pattern="stripes", domain_bytes=1 << 21)]
    text = explained(nacre, plan_of(4, 0.4, predicted=used, compared=[used, *others], decided_by=["osts.bandwidth"]))
    assert "predicted: 100 ms (busy: ost 10 ms); a call took 100 ms." in text
    assert "instead of two_phase with 8 aggregators, each with one range of the file: 200 ms" in text
    assert "instead of two_phase with 8 aggregators, with blocks of 2 MiB in turn: 300 ms" in text
    assert "its own OSTs" not in text
    assert "decided by: osts.bandwidth." in text


def test_predictions_that_are_far_off_ask_for_a_measured_machine_file(nacre):
    assert "nacre tune" not in explained(nacre, plan_of(100, 2.0), plan_of(1, 9.0))
    far = explained(nacre, plan_of(100, 20.0), plan_of(1, 0.01))
    assert "Most collective calls took 20 times the predicted time" in far
    assert re.search(r"nacre tune /scratch -- mpi\S+ -n 4 app$", far, re.MULTILINE)
    assert "1/10 of the predicted time" in explained(nacre, plan_of(100, 0.1))


def test_fast_writes_to_osts_may_be_in_the_caches_of_the_nodes(nacre):
    fast = plan_of(100, 0.1)
    on_osts = {"layout": [{"begin": 0, "end": -1, "stripe_bytes": 65536, "stripes": 4, "osts": [0, 1, 2, 3]}]}
    assert "of the predicted time" not in explained(nacre, fast | {"call": "write"}, **on_osts)
    assert "of the predicted time" not in explained(nacre, fast | {"call": "read"}, bytes_written=1, **on_osts)
    assert "1/10 of the predicted time" in explained(nacre, fast | {"call": "read"}, bytes_written=0, **on_osts)
    assert "20 times the predicted time" in explained(nacre, plan_of(100, 20.0) | {"call": "write"}, **on_osts)


def test_a_report_without_findings_says_that_predictions_do_not_fit(nacre):
    assert "Most collective calls took 20 times" not in summed_up(nacre, plan_of(100, 2.0))
    text = summed_up(nacre, plan_of(100, 20.0))
    assert "No finding" not in text
    assert "Most collective calls took 20 times the predicted time" in text
    (job,) = json.loads(nacre("report", "--summary", "--json", "plans").stdout)
    assert "nacre tune /scratch" in job["misfit"]


def summed_up(nacre, *plans: dict, **fields: object) -> str:
    explained(nacre, *plans, **fields)
    return nacre("report", "--summary", "plans").stdout


def measured_by(nacre, **fields: object) -> list[str]:
    """The words of the command that measures the file system of a job with these facts."""
    (line,) = (one for one in explained(nacre, plan_of(100, 20.0), **fields).splitlines() if "nacre tune" in one)
    return shlex.split(line.partition("-> ")[2])


def test_the_command_that_measures_has_the_launcher_of_the_jobs_mpi(nacre, tmp_path):
    commands = tmp_path / "commands"
    commands.mkdir()
    for name, says in (("mpiexec", "HYDRA build details:"), ("mpirun", "mpirun (Open MPI) 4.1.4")):
        (commands / name).write_text(f"#!/bin/sh\necho '{says}'\n")
        (commands / name).chmod(0o755)
    nacre.environment["PATH"] = f"{commands}:{nacre.environment['PATH']}"
    program = ["/home/me/my app", "input"]
    line = ["nacre", "tune", "/scratch", "--"]
    for mpi, name in (
        ("MPICH Version: 4.3.0", "mpiexec"),
        ("Intel(R) MPI Library 2021.11", "mpiexec"),
        ("Open MPI v5.0.8, package: Open MPI", "mpirun"),
        ("unheard of", "LAUNCHER"),
    ):
        assert measured_by(nacre, mpi=mpi, program=program) == [*line, name, "-n", "4", "/home/me/my app"]
    (commands / "srun").write_text("#!/bin/sh\n")
    (commands / "srun").chmod(0o755)
    assert measured_by(nacre, job="4711", nodes=2, mpi="MPICH") == [*line, "srun", "-N", "2", "-n", "4", "app"]
    assert measured_by(nacre, job="4711.pbs", mpi="MPICH") == [*line, "mpiexec", "-n", "4", "app"]


@pytest.mark.parametrize(
    ("file_system", "words"),
    [
        ("lustre", "more than an exchange. Each access would take the lock of an object from another node. (shared_ob"),
        ("ceph", "more than an exchange. No node may cache such a file, so each access would wait for servers. (share"),
        ("orangefs", "more than an exchange. (shared_objects)"),
    ],
)
def test_explain_names_what_accesses_to_shared_objects_wait_for_on_the_files_own_file_system(nacre, file_system, words):
    """Regression: the reason named the locks of Lustre and the caches of CephFS for files on either."""
    because = {"because": "They cost more than an exchange.", "reason": "shared_objects"}
    assert f"why: They cost {words}" in explained(nacre, plan_of(1, 1.0, **because), file_system=file_system)


THREE_STORMS = {name: {"calls": many(60), "seconds": many(1)} for name in ("sync", "set_view", "get_size")}


def stormy(nacre, report: str = "r", names: str = "abcde", runs: str = "r", **fields: object) -> str:
    """A report of files in groups of their own, each with three findings, of one or more runs."""
    fields = {"other_calls": THREE_STORMS, "seconds": many(3)} | fields
    of_files = [
        report_of({"collective_write": kind_of()}, file=f"/{n}", run=run, **fields) for run in runs for n in names
    ]
    (nacre.directory / report).write_text("".join(json.dumps(one) + "\n" for one in of_files))
    return report


@pytest.mark.parametrize("options", [["--html", "o.html", "--json"], ["--json", "--format", "prometheus"]])
def test_two_outputs_at_once_are_refused(nacre, options):
    result = nacre("report", *options, stormy(nacre))
    assert result.returncode == 2
    assert "only one output is possible" in result.stderr
    assert "only one output" in nacre("simulate", "--html", "o.html", "--json", "seg").stderr


def test_top_limits_jobs_findings_and_files_in_every_format(nacre):
    """Regression: --summary --json --top 1 had all groups of files and all findings."""
    report = stormy(nacre, runs="st")
    jobs = json.loads(nacre("report", "--summary", "--json", report).stdout)
    assert [(len(job["files"]), len(job["findings"])) for job in jobs] == [(5, 15)] * 2
    jobs = json.loads(nacre("report", "--summary", "--json", "--top", 1, report).stdout)
    assert [(len(job["files"]), len(job["findings"])) for job in jobs] == [(1, 1)]
    shown = json.loads(nacre("report", "--json", "--top", 2, report).stdout)
    assert [len({one["file"] for one in shown if one["run"] == run}) for run in "st"] == [2, 2]
    assert len(shown) == 4
    for top, findings in (([], 30), (["--top", 1], 1), (["--top", 2], 4)):
        metrics = nacre("report", "--format", "prometheus", *top, report).stdout
        assert metrics.count("\nnacre_job_finding_seconds{") == findings
    assert len(json.loads(nacre("explain", "--json", report).stdout)) == 10
    assert len(json.loads(nacre("explain", "--json", "--top", 3, report).stdout)) == 3


def test_top_limits_what_is_compared(nacre):
    layout = [{"begin": 0, "end": -1, "stripe_bytes": 65536, "stripes": 1, "osts": [0]}]
    words = ["compare", stormy(nacre, layout=layout), stormy(nacre, "quiet", other_calls={}, layout=layout)]
    storms = ["size-storm", "sync-storm", "view-storm"]
    for top, findings, layouts in (([], 3, 4), (["--top", 2], 2, 2)):
        compared = json.loads(nacre(*words, *top, "--json").stdout)
        assert len(set(compared["findings_only_in"]["a"]) & set(storms)) == findings
        assert [len(compared["layouts"][job]) for job in "ab"] == [layouts, layouts]
        text = nacre(*words, *top).stdout
        assert text.count("only A: ") == findings
        assert text.count("layout of ") == layouts


def test_a_report_of_5000_files_is_a_page(nacre):
    """Regression: the 10 slowest files were shown in full, in 221 lines and more."""
    phases = dict.fromkeys(["plan", "views", "copy", "messages", "wait", "file", "agreement"], many(1))
    phases |= dict.fromkeys(["file_wait", "lock", "away"], many(0))
    figures = {name: many(1000) for name in ("calls", "file_calls", "bytes", "file_bytes", "messages", "message_bytes")}
    kind = kind_of(phases=phases, seconds=many(7), **figures)
    with (nacre.directory / "r").open("w") as report:
        for number in range(5000):
            calls = THREE_STORMS if number % 2 else {}
            one = report_of(
                {"collective_write": kind, "independent_read": kind},
                file=f"/scratch/{'abcdefghijkl'[number % 12]}/out.{number}",
                other_calls=calls, seconds=many(7 + number),
            )  # fmt: skip
            report.write(json.dumps(one) + "\n")
    text = nacre("report", "r").stdout
    assert text.count("4 ranks on one node, closed") == 1
    assert "/scratch/h/out.4999: 4 ranks" in text
    assert len(re.findall(r"/out\.\* \(41[67] files\)", text)) == 10
    assert "2 more groups of files" in text
    assert "4,999 more opens: show all with --top 5000, or one file with --file PATTERN." in text
    assert len(text.splitlines()) < 80
    assert nacre("report", "--top", 3, "r").stdout.count("4 ranks on one node, closed") == 3
    assert "/scratch/a/out.0: 4 ranks" in nacre("report", "--file", "out.0", "r").stdout


def test_a_layout_that_cannot_be_used_is_a_note(served):
    (report,) = lines(served("data", "--hint", "nacre_algorithm=two_phase", NACRE_TEST_LAYOUT="-c many"))
    assert any("-c many" in note and "not striped" in note for note in report["notes"])
    assert {plan["pattern"] for plan in report["plans"]} == {"even"}


def test_a_forced_algorithm_is_explained_by_its_hint(nacre, served):
    result = nacre("explain", served("data", "--hint", "nacre_algorithm=direct"))
    assert "direct, each rank reads or writes its own pieces." in result.stdout
    assert "A hint sets this algorithm. (hint)" in result.stdout
    assert "hint nacre_algorithm=direct (from the environment)" in result.stdout


def test_locked_accesses_are_explained(nacre, served):
    result = nacre("explain", served("data", "--hint", "nacre_coherence=locked"))
    assert "(locked)" in result.stdout
    assert "nacre_coherence=trusted" in result.stdout


def test_the_text_has_all_phases_and_counts(nacre, served):
    result = nacre("report", "--min-share", 100, served("data", "--hint", "cb_nodes=2"))  # findings are not wrapped
    assert result.returncode == 0, result.stderr
    for words in (
        "data: 3 ranks on one node", "collective writes", "collective reads", "independent writes",
        "view and plan", "exchange of views", "gather and copy", "waiting ", "file access",
        "agreement", "bytes of messages", "calls that failed", "file accesses by size, at least: 4 B 300",
    ):  # fmt: skip
        assert words in result.stdout
    assert "\x1b" not in result.stdout
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert [line for line in lines if "ranks with" not in line and len(line) > 120] == []


def test_many_files_and_jobs_are_shown_slowest_first_and_selected_by_name(nacre, served, tmp_path):
    served("first.nc")
    report = served("second.h5")
    other = tmp_path / "other.jsonl"
    slow = lines(report)[0]
    slow["file"], slow["job"], slow["seconds"]["max"] = "/scratch/slow.h5", "17", 1000
    other.write_text(json.dumps(slow) + "\n")
    result = nacre("report", report, other)
    assert result.stdout.startswith("Run 1 of ")
    assert result.stdout.splitlines()[1].startswith("job 17: ./app first.nc, 3 ranks on one node (")
    names = ["/scratch/slow.h5: job 17", "second.h5: 3 ranks", "first.nc: 3 ranks"]
    assert all(name in result.stdout for name in names)
    assert result.stdout.count("MPI-IO took") == 3
    found = json.loads(nacre("report", "--json", "--file", "*.h5", report, other).stdout)
    assert [one["file"].rsplit("/")[-1] for one in found] == ["slow.h5", "second.h5"]
    result = nacre("report", "--top", 1, report, other)
    assert "2 more jobs: show all with --top 3." in result.stdout


def test_without_nacre_report_no_report_is_written(nacre, family, tmp_path):
    (tmp_path / "app.c").write_text(PROGRAM)
    subprocess.run([f"mpicc.{family}", "app.c", "-o", "app"], cwd=tmp_path, check=True, timeout=600)
    assert nacre("run", f"mpiexec.{family}", "-n", 1, "./app", "data").returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"app.c", "app", "data"}


def test_an_unwritable_report_is_one_warning_and_not_a_failure(nacre, family, tmp_path):
    (tmp_path / "app.c").write_text(PROGRAM)
    subprocess.run([f"mpicc.{family}", "app.c", "-o", "app"], cwd=tmp_path, check=True, timeout=60)
    launcher = [f"mpiexec.{family}", *(["--oversubscribe"] if family == "openmpi" else []), "-n", str(RANKS)]
    # Set behind the back of `nacre run`, which checks the path that it is given.
    result = nacre("run", *launcher, "env", f"NACRE_REPORT={tmp_path}", "./app", "data")
    assert result.returncode == 0, result.stderr
    said = [line for line in result.stderr.splitlines() if line.startswith("nacre:")]
    assert len(said) == 1
    for words in (f"the report of {tmp_path / 'data'} was not written", f"open {tmp_path}: is a directory (errno 21)"):
        assert words in said[0]


NOTHING = {"min": 0, "median": 0, "max": 0, "sum": 0}
OLD_LINE = {
    "schema": 1, "file": "/x", "job": "", "closed_at": 0, "ranks": 1, "nodes": 1, "calls": 0,
    "bytes_read": 0, "bytes_written": 0, "hints": {}, "notes": [], "open_seconds": NOTHING,
    "close_seconds": NOTHING, "kinds": {}, "plans": [], "other_plan_calls": 0,
}  # fmt: skip
LINE = OLD_LINE | {
    "schema": 2, "version": "0.1.0", "mpi": "MPICH", "run": "", "program": ["./app"], "hosts": ["n1"],
    "world": {"rank": 0, "ranks": 1}, "file_system": "lustre", "mode": "read", "machine": "", "layout": [],
    "seconds": NOTHING, "late_opens": {"ranks": 0, "seconds": NOTHING}, "other_calls": {},
    "opened_at": 0.5, "open_for_seconds": 0.25,
    "timeline": {"interval_seconds": 0.001048576, "first_ranks": [0], "percent": {}},
}  # fmt: skip


def a_line(**changes: object) -> str:
    return json.dumps(LINE | changes)


def test_a_report_of_an_older_library_is_read(nacre, tmp_path):
    old = json.dumps(OLD_LINE | {"file": "/old", "open_seconds": NOTHING | {"max": 2, "sum": 2}})
    (tmp_path / "r").write_text(old + "\n" + a_line(file="/new") + "\n")
    result = nacre("report", "--json", "r")
    assert result.returncode == 0, result.stderr
    reports = json.loads(result.stdout)
    assert [(one["file"], one["schema"], one["seconds"]["max"]) for one in reports] == [("/old", 1, 2), ("/new", 2, 0)]


def test_a_file_without_accesses_is_shown(nacre, tmp_path):
    (tmp_path / "r").write_text(a_line() + "\n")
    assert "/x: 1 rank, closed" in nacre("report", "r").stdout
    (tmp_path / "several").write_text(a_line(ranks=8, nodes=4) + "\n")
    assert "/x: 8 ranks on 4 nodes, closed" in nacre("report", "several").stdout
    assert "The program made no collective call" in nacre("explain", "r").stdout


@pytest.mark.parametrize("verb", ["report", "explain"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["r is empty", "nacre doctor"]),
        ("file closed\n", ["r, line 1 skipped: invalid JSON at character 1", "no readable report", "nacre run"]),
        (a_line()[:40], ["r, line 1 skipped: invalid JSON at character"]),
        ("[]", ["r, line 1", "not a JSON object"]),
        ('{"file":"x","calls":3}', ["r, line 1", '"schema" is missing']),
        (a_line(schema=3), ["r, line 1", "schema 3", "reads schemas 1 and 2"]),
        (json.dumps(OLD_LINE | {"kinds": [1]}), ["r, line 1", "kinds is [1]"]),
        (a_line(other_calls={"sync": {}}), ["r, line 1", 'sync: "calls" is missing']),
        (a_line(ranks="3"), ["r, line 1", "ranks is '3'"]),
        (a_line(kinds={"writes": {}}), ["r, line 1", "'writes'", "collective_write"]),
        (a_line(kinds={"collective_read": {}}), ["r, line 1", 'collective_read: "ranks" is missing']),
        (a_line(open_seconds={"min": 0}), ["r, line 1", 'open_seconds: "median" is missing']),
        (a_line(open_seconds=1), ["r, line 1", "open_seconds is 1"]),
        (a_line(plans=["write"]), ["r, line 1", "plans is 'write'"]),
        (a_line(plans=[{"call": "write"}]), ["r, line 1", 'plans: "algorithm" is missing']),
    ],
)
def test_errors_of_invalid_input_name_the_line(nacre, tmp_path, verb, content, words):
    (tmp_path / "r").write_text(content)
    result = nacre(verb, "r")
    assert result.returncode == 2
    assert not result.stdout
    for word in words:
        assert word in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("verb", [["report"], ["report", "--json"], ["explain"]])
@pytest.mark.parametrize(
    ("torn", "words"),
    [
        (a_line(file="/torn")[:90] + "\n", "line 2 skipped: invalid JSON at character"),
        (a_line(file="/torn")[:90], "line 2: the first 90 characters skipped"),
        (a_line(schema=9) + "\n", "line 2 skipped: schema 9"),
        (a_line(ranks=None) + "\n", "line 2 skipped: ranks is None"),
        ("\0\xff\n", "line 2 skipped: invalid JSON at character 1"),
    ],
)
def test_an_incomplete_line_is_skipped_with_a_warning_and_all_other_lines_are_read(nacre, tmp_path, verb, torn, words):
    """Regression: half a line of a killed job made the whole file unreadable."""
    (tmp_path / "r").write_text(a_line(file="/first") + "\n" + torn + a_line(file="/last") + "\n")
    result = nacre(*verb, "r")
    assert result.returncode == 0, result.stderr
    assert "/first" in result.stdout
    assert "/last" in result.stdout
    assert "/torn" not in result.stdout
    [warning] = result.stderr.splitlines()
    assert warning.startswith(f"nacre: warning: r, {words}")


def test_a_file_without_a_report_hides_no_other_file(nacre, tmp_path):
    (tmp_path / "good").write_text(a_line(file="/good") + "\n")
    (tmp_path / "torn").write_text(a_line(file="/torn")[:90])
    result = nacre("report", "torn", "good")
    assert result.returncode == 0, result.stderr
    assert "/good" in result.stdout
    assert "nacre: warning: torn has no readable report" in result.stderr
    assert nacre("report", "torn").returncode == 2
    assert nacre("report", "good", "nosuch").returncode == 2


def test_a_report_is_read_whole_from_a_pipe(nacre, tmp_path):
    """Regression: the look for a Darshan log took the first bytes."""
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["sh", "-c", 'cat > "$0"', tmp_path / "pipe"], stdin=subprocess.PIPE) as writer:
        writer.stdin.write(a_line(file="/piped").encode() + b"\n")
        writer.stdin.close()
        result = nacre("report", "pipe")
    assert result.returncode == 0, result.stderr
    assert "/piped" in result.stdout


def test_of_many_invalid_lines_the_first_are_printed_and_the_rest_counted(nacre, tmp_path):
    (tmp_path / "r").write_text("a log\n" * 20 + a_line() + "\n")
    result = nacre("report", "r")
    assert result.returncode == 0
    assert result.stderr.splitlines()[-2].startswith("nacre: warning: r, line 5 skipped: ")
    assert result.stderr.splitlines()[-1] == "nacre: warning: r: 15 more lines skipped"


@pytest.mark.parametrize("verb", ["report", "explain"])
def test_a_missing_report_and_a_pattern_without_a_match_are_errors(nacre, tmp_path, verb):
    result = nacre(verb, "nosuch.jsonl")
    assert result.returncode == 2
    assert f"cannot read nosuch.jsonl: {os.strerror(errno.ENOENT)}" in result.stderr
    assert "nacre run --report" in result.stderr
    (tmp_path / "r").write_text(a_line())
    result = nacre(verb, "r", "--file", "*.nc")
    assert result.returncode == 2
    assert "--file '*.nc': no report of a matching file" in result.stderr
    assert "/x" in result.stderr


def test_a_report_is_read_from_a_pipe(nacre, tmp_path):
    result = subprocess.run(
        [nacre.path, "report", "-"], env=nacre.environment, input=a_line(), capture_output=True, text=True, timeout=600
    )
    assert "/x: 1 rank" in result.stdout
