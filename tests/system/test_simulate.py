"""`nacre simulate`: a workload on a machine in virtual time, with several settings side by side."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

SMALL = ("--machine", "ranger", "--nodes", 2, "--ranks-per-node", 2, "--bytes", "16m")


def test_the_table_has_a_column_for_each_setting(nacre):
    shown = nacre("simulate", *SMALL, "interleaved", "--setting", "cb_nodes=2,striping_factor=4")
    assert shown.returncode == 0, shown.stderr
    heading, columns = shown.stdout.splitlines()[:2]
    assert heading == "interleaved: 16 MiB by 4 ranks on 2 nodes, simulated"
    assert columns.split() == ["as", "is", "cb_nodes=2,striping_factor=4"]
    for words in ("write and sync", "aggregators", "OSTs written", "busy: OSTs", "bottleneck"):
        assert words in shown.stdout


def test_hints_have_the_effect_that_they_have_in_the_library(nacre):
    settings = ["nacre_algorithm=two_phase,cb_nodes=2,striping_factor=4", "nacre_algorithm=direct"]
    words = [word for setting in settings for word in ("--setting", setting)]
    _, two_phase, direct = json.loads(nacre("simulate", *SMALL, "interleaved", "--json", *words).stdout)
    plan = two_phase["report"]["plans"][0]
    assert (plan["algorithm"], plan["aggregators"]) == ("two_phase", 2)
    assert sum(1 for count in two_phase["traffic"]["osts"]["bytes_written"] if count) == 4
    assert direct["report"]["plans"][0]["algorithm"] == "direct"
    assert direct["messages"]["far_bytes"] < two_phase["messages"]["far_bytes"]
    assert all(one["bytes_written"] == 16 << 20 for one in (two_phase, direct))


def test_a_column_may_have_another_machine(nacre):
    fast = ("--set", "osts.bandwidth=1g")
    words = ("--osts", 4, "--setting", "osts.bandwidth=4m", "--setting", "osts.bandwidth=4m,striping_factor=1")
    as_is, slow, narrow = json.loads(nacre("simulate", *SMALL, *fast, "interleaved", "--json", *words).stdout)
    times = [one["stages_ns"]["write"] + one["stages_ns"]["sync"] for one in (as_is, slow, narrow)]
    assert 1.5 * times[0] < times[1] < times[2]
    wrong = nacre("simulate", *SMALL, "--set", "cb_nodes=2", "interleaved")
    assert wrong.returncode == 2
    assert "expected SECTION.KEY=VALUE" in wrong.stderr
    unknown = nacre("simulate", *SMALL, "--set", "osts.speed=2", "interleaved")
    assert unknown.returncode == 2
    assert "osts.speed" in unknown.stderr


def test_calls_that_take_far_longer_than_predicted_change_the_plan(nacre, tmp_path):
    """The file that the ranks know says that copies are five times as fast as they are. All ranks change together."""
    osts = '[osts]\ncount = 4\nbandwidth = "400m"\nclient_cost = 1.5\n[striping]\ncount = 4\nsize = "64k"\n'
    messages = '[messages]\nfar_ns = 10000\nbandwidth = "400m"\n'
    for name, copies in (("believed", "100m"), ("played", "20m")):
        nodes = f'[nodes]\ncount = 4\ncores = 2\nbandwidth = "400m"\ncopy_bandwidth = "{copies}"\n'
        (tmp_path / f"{name}.toml").write_text(osts + messages + nodes)
    job = ("--machine", tmp_path / "played.toml", "--nodes", 4, "--ranks-per-node", 2, "--bytes", "128m", "--check")
    believed = f"nacre_machine={tmp_path / 'believed.toml'},striping_factor=4"
    settings = ("--setting", believed, "--setting", f"{believed},nacre_learn=disable")
    _, *columns = json.loads(nacre("simulate", *job, "seg", "--json", *settings).stdout)
    learnt, kept = ([(one["algorithm"], one["reason"]) for one in column["report"]["plans"]] for column in columns)
    assert learnt == [("two_phase", "cost"), ("two_phase", "cost"), ("direct", "observed")]
    assert kept == [("two_phase", "cost"), ("two_phase", "cost")]
    assert columns[0]["stages_ns"]["write"] < columns[1]["stages_ns"]["write"]


def test_writes_and_reads_have_saturations_of_their_own(nacre):
    """k of Chaarawi & Gabriel, from the machine file."""
    k = ("--set", "clients.write_saturation=4m", "--set", "clients.read_saturation=16m")
    words = ("--read", "interleaved", "--setting", "nacre_algorithm=two_phase", "--json")
    _, column = json.loads(nacre("simulate", *SMALL, *k, *words).stdout)
    saturation = {plan["call"]: plan["saturation_bytes"] for plan in column["report"]["plans"]}
    assert saturation == {"write": 4 << 20, "read": 16 << 20}


def test_messages_may_share_the_links_of_nodes_with_requests(nacre):
    links = [word for name in ("nodes", "messages") for word in ("--set", f"{name}.bandwidth=16m")]
    settings = [f"nacre_algorithm=two_phase,messages.share_link={share}" for share in (0, 1)]
    words = [word for setting in settings for word in ("--setting", setting)]
    outcome = nacre("simulate", *SMALL, "--set", "osts.bandwidth=1g", *links, "interleaved", "--json", *words)
    _, apart, together = json.loads(outcome.stdout)
    busy = [{one["name"]: one["busy_ns_max"] for one in column["resources"]} for column in (apart, together)]
    assert busy[0]["shared links"] == 0
    assert busy[1]["shared links"] > max(busy[1]["node links"], busy[1]["messages"]) > 0
    assert sum(together["stages_ns"].values()) > sum(apart["stages_ns"].values())


def test_the_page_draws_when_nodes_and_osts_were_busy(nacre, tmp_path):
    page = tmp_path / "job.html"
    words = ("--setting", "striping_factor=2", "--html", page)
    shown = nacre("simulate", *SMALL, "interleaved", *words)
    assert (shown.returncode, shown.stdout) == (0, ""), shown.stderr
    text = page.read_text()
    assert "interleaved: 16 MiB by 4 ranks on 2 nodes, simulated" in text
    specs = json.loads(re.search(r'id="charts">(.*?)</script>', text)[1])
    for column in (0, 1):
        for chart in ("nodes", "osts-over-time", "ranks"):
            assert specs[f"{column}-{chart}"]["data"]["values"], chart
    osts = {row["unit"] for row in specs["1-osts-over-time"]["data"]["values"]}
    assert len(osts) == 2


def test_a_page_of_many_nodes_is_written(nacre, tmp_path):
    """nacre-simulate then prints more than a pipe holds."""
    page = tmp_path / "job.html"
    words = ("--machine", "ranger", "--nodes", "400", "--bytes", "4m", "--html", page, "interleaved")
    shown = nacre("simulate", *words)
    assert shown.returncode == 0, shown.stderr
    assert "by 400 ranks on 400 nodes" in page.read_text()


@pytest.mark.parametrize("workload", ["seg", "interleaved", "tile64", "flash", "header"])
def test_every_byte_is_checked_if_asked_and_takes_as_long_as_a_phantom(nacre, workload):
    words = ("simulate", *SMALL, workload, "--read", "--setting", "nacre_algorithm=two_phase", "--json")
    checked = nacre(*words, "--check")
    assert checked.returncode == 0, checked.stderr
    for real, phantom in zip(json.loads(checked.stdout), json.loads(nacre(*words).stdout), strict=True):
        assert real["bytes_checked"] == real["bytes_written"] > 0 or workload == "header"
        assert real["stages_ns"] == phantom["stages_ns"]
    table = nacre("simulate", *SMALL, workload, "--check").stdout
    assert "Every byte was checked" in table
    assert "messages of a rank" in table


def test_equal_commands_print_the_same(nacre):
    words = ("simulate", *SMALL, "--read", "tile64")
    changed = ("--set", "osts.bandwidth=1g", "--osts", 64, "--setting", "cb_nodes=2,osts.count=4")
    for more in ([], ["--json"], ["--json", *changed]):
        first = nacre(*words, *more).stdout
        assert first == nacre(*words, *more, SLURM_JOB_ID="7").stdout
        assert "read" in first
    of_changed = json.loads(first)[1]["report"]
    assert of_changed["machine"] == "ranger, osts.count=64, osts.bandwidth=1g, osts.count=4"
    assert of_changed["hints"]["nacre_machine"]["value"] == of_changed["machine"]


def test_equal_simulations_write_equal_reports(build, tmp_path):
    report = tmp_path / "report.jsonl"

    def run():
        report.unlink(missing_ok=True)
        words = ["--nodes", "2", "--ranks-per-node", "2", "--bytes", "1000000", "--hint", f"nacre_report={report}"]
        subprocess.run([build / "bin/nacre-simulate", *words, "tile64"], check=True, stdout=subprocess.DEVNULL)
        return report.read_text()

    first = run()
    assert first == run()
    assert "two_phase" in first


def test_twice_the_bytes_take_about_twice_the_time_on_busy_osts(nacre):
    def write_ns(size: str) -> int:
        words = ("--machine", "ranger", "--nodes", 2, "--ranks-per-node", 2, "--bytes", size, "--json")
        stages = json.loads(nacre("simulate", *words, "pieces").stdout)[0]["stages_ns"]
        return stages["write"] + stages["sync"]

    assert 1.7 < write_ns("128m") / write_ns("64m") < 2.3


def test_wrong_arguments_are_named(nacre):
    unknown = nacre("simulate", *SMALL, "interleave")
    assert unknown.returncode == 2
    assert "unknown workload interleave" in unknown.stderr
    assert "interleaved" in unknown.stderr
    wrong = nacre("simulate", *SMALL, "interleaved", "--setting", "cb_nodes")
    assert wrong.returncode == 2
    assert "--hint cb_nodes: expected NAME=VALUE" in wrong.stderr
    machine = nacre("simulate", "--machine", "nothing", "interleaved")
    assert machine.returncode == 2
    assert "no machine and no file of this name" in machine.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"osts = 8", "osts is not in a section"),
        (b"\xff", "can't decode byte 0xff"),
        (b"[osts", "--machine"),
        (b"[machine]\nmeasured = 2026-11-29", "machine.measured is neither text nor a number"),
    ],
)
def test_a_machine_file_that_is_no_machine_is_refused(nacre, tmp_path, text, message):
    file = tmp_path / "machine.toml"
    file.write_bytes(text)
    refused = nacre("simulate", "--machine", file, "--set", "osts.count=4", "interleaved")
    assert refused.returncode == 2
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr


def test_numbers_of_a_machine_file_may_be_text(nacre, tmp_path):
    file = tmp_path / "machine.toml"
    file.write_text('[machine]\nversion = 1\n[osts]\ncount = "4"\nbandwidth = "100m"\n')
    words = ("--nodes", 2, "--bytes", "16m", "--json", "interleaved")
    for osts, written in ((4, 4), (8, 8)):
        (column,) = json.loads(nacre("simulate", "--machine", file, "--osts", osts, *words).stdout)
        assert sum(1 for count in column["traffic"]["osts"]["bytes_written"] if count) == written


def record(nacre, folder, workload, *words) -> tuple[dict, str]:
    """Simulates a workload. Returns what it did, and the path of the report that it left."""
    (column,) = json.loads(nacre("simulate", *SMALL, workload, "--json", *words).stdout)
    path = folder / "io.jsonl"
    path.write_text(json.dumps(column["report"]) + "\n")
    return column, str(path)


@pytest.mark.parametrize("workload", ["interleaved", "tile64", "seg"])
def test_a_job_that_left_a_report_is_simulated_again(nacre, tmp_path, workload):
    before, report = record(nacre, tmp_path, workload, "--read")
    (again,) = json.loads(nacre("simulate", "--machine", "ranger", "--report", report, "--json").stdout)
    assert (again["ranks"], again["nodes"]) == (4, 2)
    assert again["guesses"] == []
    for name in ("bytes_written", "bytes_read"):
        assert again[name] == before[name]
    for stage in ("write", "sync", "read"):
        assert abs(again["stages_ns"][stage] - before["stages_ns"][stage]) <= 0.02 * before["stages_ns"][stage] + 1e6


def test_a_job_that_writes_a_file_and_opens_it_again_to_read_it_does_both(nacre, tmp_path):
    before, report = record(nacre, tmp_path, "interleaved", "--read")
    line = before["report"]
    opens = [
        line | {"kinds": {name: kind for name, kind in line["kinds"].items() if name.endswith(direction)}}
        for direction in ("read", "write", "write")
    ]
    Path(report).write_text("".join(json.dumps(one) + "\n" for one in opens))
    words = ("simulate", "--machine", "ranger", "--report", report)
    (again,) = json.loads(nacre(*words, "--json").stdout)
    for name in ("bytes_written", "bytes_read"):
        assert again[name] == before[name]
    assert again["notes"] == ["left out: 1 more open of the file"]
    assert "note: left out: 1 more open of the file" in nacre(*words).stdout.splitlines()


def replayed(nacre, folder, lines: list[dict]) -> dict:
    """What a job does in the simulation that left these reports."""
    (folder / "opens.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    result = nacre("simulate", "--machine", "ranger", "--report", folder / "opens.jsonl", "--json")
    assert result.returncode == 0, result.stderr
    (column,) = json.loads(result.stdout)
    return column


def only(line: dict, *directions: str, seconds: float = 1.0, **fields: object) -> dict:
    """An open that made the calls of `line` in these directions, and whose slowest rank took `seconds`."""
    kinds = {name: kind for name, kind in line["kinds"].items() if name.rpartition("_")[2] in directions}
    return line | {"kinds": kinds, "seconds": dict.fromkeys(line["seconds"], seconds)} | fields


def test_an_open_that_moves_no_data_takes_no_part(nacre, tmp_path):
    before, _ = record(nacre, tmp_path, "interleaved", "--read")
    line = before["report"]
    both, empty = only(line, "write", "read", seconds=2), only(line)
    again = replayed(nacre, tmp_path, [both, empty])
    assert (again["bytes_written"], again["bytes_read"]) == (before["bytes_written"], before["bytes_read"])
    assert again["notes"] == ["left out: 1 more open of the file"]
    # The slowest open has no data, in a report with more ranks too.
    slow = only(line, seconds=9, ranks=8)
    again = replayed(nacre, tmp_path, [only(line, "write", seconds=2), slow, only(line, "read")])
    assert (again["bytes_written"], again["bytes_read"]) == (before["bytes_written"], before["bytes_read"])
    assert again["notes"] == ["left out: 1 more open of the file"]


def test_other_files_of_the_job_are_left_out(nacre, tmp_path):
    before, _ = record(nacre, tmp_path, "interleaved")
    line = only(before["report"], "write", seconds=2)
    again = replayed(nacre, tmp_path, [line, only(before["report"], "write", file="/other"), line | {"run": "later"}])
    assert again["bytes_written"] == before["bytes_written"]
    assert again["notes"] == ["left out: 1 more file of the job (--file)"]


def test_an_open_that_writes_and_reads_is_simulated_alone(nacre, tmp_path):
    before, _ = record(nacre, tmp_path, "interleaved", "--read")
    line = before["report"]
    again = replayed(nacre, tmp_path, [only(line, "write", seconds=2), only(line, "write", "read")])
    assert (again["bytes_written"], again["bytes_read"]) == (before["bytes_written"], 0)
    assert again["notes"] == ["left out: 1 more open of the file"]


def test_opens_of_single_ranks_are_joined_if_the_rank_is_the_same(nacre, tmp_path):
    before, _ = record(nacre, tmp_path, "interleaved", "--read", "--nodes", 1, "--ranks-per-node", 1)
    line = before["report"]
    assert line["ranks"] == 1
    writer = only(line, "write", seconds=2, world={"rank": 0, "ranks": 4})
    for rank, read in ((0, before["bytes_read"]), (1, 0)):
        again = replayed(nacre, tmp_path, [writer, only(line, "read", world={"rank": rank, "ranks": 4})])
        assert (again["bytes_written"], again["bytes_read"]) == (before["bytes_written"], read)
        assert again["notes"] == ([] if read else ["left out: 1 more open of the file"])


@pytest.mark.parametrize("seconds", [0.5, 5.0])
def test_posix_calls_on_the_file_are_left_out(nacre, tmp_path, seconds):
    before, _ = record(nacre, tmp_path, "interleaved")
    line = only(before["report"], "write")
    access = {"calls": 4, "bytes": 4096, "file_calls": 4, "file_bytes": 4096, "seconds": seconds,
              "file_call_sizes": {"1024": 4}}  # fmt: skip
    file = {"file": line["file"], "files": 1, "calls": {}, "accesses": {"read": access}}
    nothing = {"calls": 0, "seconds": 0.0}
    process = {
        "schema": 2, "interface": "posix", "run": line["run"], "job": line["job"], "version": "0",
        "rank": 0, "ranks": 4, "process": 1, "started_at": 0, "ended_at": 9, "program": ["app"], "files": [file],
        "elsewhere": dict.fromkeys(("failed_opens", "failed_stats", "stats"), nothing),
    }  # fmt: skip
    ranks = [process | {"rank": rank, "process": rank + 1, "host": f"node{rank // 2}"} for rank in range(4)]
    again = replayed(nacre, tmp_path, [line, *ranks])
    assert (again["bytes_written"], again["bytes_read"]) == (before["bytes_written"], 0)
    assert again["notes"] == ["left out: the POSIX calls on the file"]


def test_a_recorded_job_on_nodes_with_unequal_numbers_of_ranks_is_no_larger(nacre, tmp_path):
    before, _ = record(nacre, tmp_path, "interleaved")
    (tmp_path / "uneven").write_text(json.dumps(before["report"] | {"nodes": 3}) + "\n")
    (uneven,) = json.loads(nacre("simulate", "--machine", "ranger", "--report", "uneven", "--json").stdout)
    assert (uneven["ranks"], uneven["nodes"]) == (4, 3)
    assert uneven["bytes_written"] == before["bytes_written"]


def test_a_recorded_job_on_more_nodes_and_osts_writes_more_bytes_to_more_osts(nacre, tmp_path):
    _, report = record(nacre, tmp_path, "interleaved")
    words = ("--machine", "ranger", "--report", report, "--nodes", 4, "--osts", 64)
    settings = ("--setting", "striping_unit=65536", "--setting", "striping_factor=3")
    columns = json.loads(nacre("simulate", *words, "--json", *settings).stdout)
    assert [one["ranks"] for one in columns] == [8] * 3
    assert [one["bytes_written"] for one in columns] == [32 << 20] * 3
    assert [sum(1 for count in one["traffic"]["osts"]["bytes_written"] if count) for one in columns][1:] == [64, 3]
    shown = nacre("simulate", *words[:4])
    assert "file of a job with 4 ranks on 2 nodes: 16 MiB by 4 ranks on 2 nodes, simulated" in shown.stdout
    assert "Measured, slowest rank: " in shown.stdout


def test_a_number_of_stripes_replaces_the_layout_hint_of_a_recorded_job(nacre, tmp_path):
    """The library would follow the hint that the job had."""
    _, report = record(nacre, tmp_path, "interleaved")
    recorded = json.loads(Path(report).read_text())
    recorded["hints"]["nacre_layout"] = {"value": "-c 2 -S 1m", "from": "program"}
    Path(report).write_text(json.dumps(recorded))
    words = ("--machine", "ranger", "--report", report)
    settings = ("--setting", "striping_factor=4", "--setting", "nacre_layout=-c 3")
    columns = json.loads(nacre("simulate", *words, "--json", *settings).stdout)
    used = [sum(1 for count in one["traffic"]["osts"]["bytes_written"] if count) for one in columns]
    assert used == [2, 4, 3]
    (fastest,) = re.findall("Fastest: .*", nacre("simulate", *words, "--best").stdout)
    assert "nacre_layout=-c " in fastest


def test_a_job_keeps_a_default_layout_of_several_components(nacre, tmp_path):
    """The stripes of the last component alone would be those of longer files."""
    _, report = record(nacre, tmp_path, "interleaved")
    recorded = json.loads(Path(report).read_text())
    first = {"begin": 0, "end": 1 << 30, "stripe_bytes": 1 << 20, "stripes": 2, "osts": [0, 1]}
    rest = {"begin": 1 << 30, "end": -1, "stripe_bytes": 1 << 20, "stripes": 32, "osts": []}
    recorded |= {"layout": [first, rest], "layout_origin": "default"}
    Path(report).write_text(json.dumps(recorded))
    (column,) = json.loads(nacre("simulate", "--machine", "ranger", "--report", report, "--json").stdout)
    assert sum(1 for count in column["traffic"]["osts"]["bytes_written"] if count) == 2


INTERLEAVED = """
[[calls]]
kind = "collective write"
piece = "64k"
pieces = 64
strides = "256k"
offsets = "64k"
"""


def test_calls_that_a_file_describes_are_those_of_a_workload(nacre, tmp_path):
    (tmp_path / "calls.toml").write_text(INTERLEAVED)
    (workload,) = json.loads(nacre("simulate", *SMALL, "interleaved", "--json").stdout)
    result = nacre("simulate", *SMALL[:-2], "--calls", "calls.toml", "--json")
    assert result.returncode == 0, result.stderr
    (described,) = json.loads(result.stdout)
    assert described["bytes_written"] == workload["bytes_written"] == 16 << 20
    assert described["stages_ns"]["write"] == pytest.approx(workload["stages_ns"]["write"], rel=0.02)


def test_described_ranks_lie_in_a_grid_and_calls_follow_each_other(nacre, tmp_path):
    text = INTERLEAVED + "calls = 3\nranks = [2, 3]\n"
    text = text.replace("pieces = 64", "pieces = [2, 4]").replace('strides = "256k"', 'strides = ["128k", "1m"]')
    text = text.replace('offsets = "64k"', 'offsets = ["64k", "256k"]')
    (tmp_path / "calls.toml").write_text(text)
    words = ("simulate", "--machine", "ranger", "--nodes", 2, "--calls", "calls.toml", "--json")
    result = nacre(*words)
    assert result.returncode == 0, result.stderr
    (one,) = json.loads(result.stdout)
    assert one["ranks"] == 6  # of the arrangement
    assert one["guesses"] == []
    assert one["bytes_written"] == 6 * 3 * 8 * (64 << 10)
    assert one["report"]["kinds"]["collective_write"]["calls"]["max"] == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[calls]]", "[calls]", "expected one or more tables [[calls]]"),
        ("collective write", "write", "kind = 'write'"),
        ("strides", "stride", "unknown key stride"),
        ('"64k"', '"64x"', "piece = '64x'"),
        ("pieces = 64", "pieces = 0", "pieces = 0"),
        ("pieces = 64", "pieces = [64, 2]", "pieces has 2 dimensions, and strides 1"),
        ('"256k"', '"4k"', "strides: number 1 is 4096 bytes"),
        ("piece =", "ranks = 5\npiece =", "are 5 ranks, and the job has 4"),
        ('piece = "64k"', "", "piece is missing"),
        ("=", "", "calls.toml: "),
    ],
)
def test_a_wrong_description_is_named(nacre, tmp_path, old, new, message):
    (tmp_path / "calls.toml").write_text(INTERLEAVED.replace(old, new, 1))
    result = nacre("simulate", *SMALL[:-2], "--calls", "calls.toml")
    assert result.returncode == 2
    assert message in result.stderr
    assert nacre("simulate", *SMALL, "interleaved", "--calls", "calls.toml").returncode == 2


def test_a_report_that_lacks_what_the_simulation_needs_is_refused(nacre, tmp_path):
    column, path = record(nacre, tmp_path, "interleaved")
    report = tmp_path / "io.jsonl"
    words = ("simulate", "--machine", "ranger", "--report", path)

    def refusal(change) -> str:
        changed = json.loads(json.dumps(column["report"]))
        change(changed["kinds"]["collective_write"])
        report.write_text(json.dumps(changed) + "\n")
        result = nacre(*words)
        assert result.returncode == 2
        return result.stderr

    assert "has no shapes of its collective writes" in refusal(lambda kind: kind.update(shapes=[]))
    assert "lacks the view of rank 0" in refusal(lambda kind: kind["shapes"][0].pop("type"))
    assert "has no call that moved data" in refusal(lambda kind: kind["bytes"].update(sum=0))
    report.write_text(json.dumps(column["report"] | {"machine": "lustre"}) + "\n")
    unnamed = nacre("simulate", "--report", path)
    assert unnamed.returncode == 2
    assert "--machine is missing" in unnamed.stderr
    both = nacre(*words, "interleaved")
    assert both.returncode == 2
    assert "expected one of WORKLOAD, --report FILE and --calls FILE" in both.stderr


def test_calls_of_ranks_that_the_report_lacks_are_left_out(nacre, tmp_path):
    column, _ = record(nacre, tmp_path, "interleaved")
    kinds = column["report"]["kinds"]
    kinds["independent_write"] = kinds["collective_write"] | {"shapes": [], "ranks": 1}
    report = tmp_path / "io.jsonl"
    report.write_text(json.dumps(column["report"]) + "\n")
    shown = nacre("simulate", "--machine", "ranger", "--report", report)
    assert "left out: the independent writes, by ranks whose calls the report lacks" in shown.stdout


def test_a_recorded_job_on_fewer_nodes_keeps_its_ranks(nacre, tmp_path):
    column, path = record(nacre, tmp_path, "interleaved")
    ranks = column["report"]["ranks"]
    words = ("simulate", "--machine", "ranger", "--report", path, "--json")
    (fewer,) = json.loads(nacre(*words, "--nodes", 1).stdout)
    assert (fewer["ranks"], fewer["nodes"], fewer["notes"]) == (ranks, 1, [])
    assert fewer["bytes_written"] == column["bytes_written"]
    (part,) = json.loads(nacre(*words, "--nodes", 1, "--ranks-per-node", 1).stdout)
    assert part["notes"] == [f"left out: all but the first 1 of the {ranks} ranks of the job"]
    (more,) = json.loads(nacre(*words, "--nodes", 1, "--ranks-per-node", ranks + 1).stdout)
    assert more["notes"] == [f"the last copy of the job has only 1 of its {ranks} ranks"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--calls", "calls.toml", "--bytes", "2g"), "--bytes is for a WORKLOAD"),
        (("--calls", "calls.toml", "--read"), "--read is for a WORKLOAD"),
        (("interleaved", "--file", "*"), "--file is for --report"),
        (("interleaved", "--html", "absent/page.html"), "cannot write absent/page.html"),
    ],
)
def test_options_without_effect_are_refused(nacre, words, message):
    result = nacre("simulate", "--machine", "ranger", *words)
    assert result.returncode == 2
    assert message in result.stderr


@pytest.mark.parametrize("workload", ["bt", "flash8", "climate", "block4d", "steps", "header", "latency", "ind64k"])
def test_the_workloads_of_the_benchmark_are_known(nacre, workload):
    (one,) = json.loads(nacre("simulate", *SMALL, "--read", workload, "--json").stdout)
    assert one["bytes_written"] == one["bytes_read"] > 0
    assert one["stages_ns"]["write"] > 0


def test_a_workload_that_needs_another_number_of_ranks_says_so(nacre):
    result = nacre("simulate", "--machine", "ranger", "--nodes", 3, "bt")
    assert result.returncode == 2
    assert "bt needs a square number of ranks, not 3" in result.stderr


def test_the_best_settings_are_searched_and_simulated(nacre):
    words = ("simulate", *SMALL, "interleaved", "--best")
    as_is, *best = json.loads(nacre(*words, "--json").stdout)
    assert [one["setting"] for one in best] == ["best 1", "best 2", "best 3", "best 4"]
    chosen = [dict(hint.split("=") for hint in one["hints"]) for one in best]
    assert len({(hints["striping_factor"], hints["nacre_algorithm"]) for hints in chosen}) == 4
    assert all(one["bytes_written"] == as_is["bytes_written"] for one in best)

    def write_ns(one: dict) -> int:
        return one["stages_ns"]["write"] + one["stages_ns"]["sync"]

    assert min(map(write_ns, best)) <= write_ns(as_is)
    shown = nacre(*words, "--osts", 4).stdout
    assert "striping_factor" in shown
    assert "Fastest: best" in shown or "No setting is faster" in shown
