"""`nacre simulate`: a workload on a machine in virtual time, with several settings side by side."""

from __future__ import annotations

import json

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
    assert all(one["bytes"] == 16 << 20 for one in (two_phase, direct))


def test_equal_commands_print_equal_tables(nacre):
    first, second = (nacre("simulate", *SMALL, "--read", "tile64").stdout for _ in range(2))
    assert first == second
    assert "read" in first


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
