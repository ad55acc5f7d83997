"""`nacre tune`: the search for the best pattern, the comparison, the drawings and the page, and full OSTs."""

from __future__ import annotations

import os
import re
import resource
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from nacre import file_system
from nacre.tune import comparison, drawing, figures, machine_file, patterns, plan, report_page, result, summary
from nacre.tune.comparison import Comparison
from nacre.tune.patterns import Search, Setting
from nacre.tune.result import Result
from nacre.tune.samples import Samples

MIB = 1 << 20
PLACE = plan.Place(ranks=16, nodes=8, ranks_per_node=2, osts=48, volume=32 * MIB, stripe_size=64 << 10)
ONE_OST = Setting("osts", 1, 8)


def add(samples: Samples, word: str, seconds: float, error: int = 0) -> None:
    samples.add_line(
        f'NACRE-TUNE {{"word": "{word}", "seconds": {seconds}, "bytes": {32 * MIB}, "count": 1, "error": {error}}}'
    )


def seconds_of(word: str) -> float:
    """A machine on which each OST of an aggregator costs, more aggregators than OSTs cost, and long rounds cost."""
    values = dict(re.findall(r"(?:hint\.)?(\w+)=(\w+)", word))
    if values.get("nacre_algorithm") == "direct" or values.get("nacre_pattern") == "even":
        return 2.0
    seconds = 1.0 + 0.1 * int(values["nacre_osts_per_aggregator"]) + 0.05 * abs(int(values["cb_nodes"]) - 8)
    return seconds + int(values.get("cb_buffer_size", MIB)) / (64 * MIB)


class Machine:
    """Measures words, and counts them."""

    def __init__(self, samples: Samples):
        self.samples = samples
        self.counts: dict[str, int] = {}
        self.stages: list[list[str]] = []

    def __call__(self, words: list[str]) -> bool:
        self.stages.append(words)
        for word in words:
            self.counts[word] = self.counts.get(word, 0) + 1
            add(self.samples, word, seconds_of(word))
        return True


def searched(samples: Samples) -> tuple[Search, Machine]:
    machine = Machine(samples)
    return patterns.search(samples, PLACE, machine), machine


def test_the_search_covers_every_pattern_once():
    settings = patterns.pattern_settings(PLACE)
    assert [one.pattern for one in settings] == [
        "1-OST",
        "2-OST",
        "4-OST",
        "8-OST",
        "2-OST, stripes in turn",
        "4-OST, stripes in turn",
        "8-OST, stripes in turn",
        "contiguous domains",
        "each rank its own part",
    ]
    assert patterns.pattern_settings(plan.Place(2, 1, 2, 0, MIB)) == []
    assert patterns.pattern_settings(plan.Place(1, 1, 1, 8, MIB)) == []


def test_the_best_pattern_aggregators_and_rounds_are_found_by_halving():
    samples = Samples()
    search, machine = searched(samples)
    for write in (True, False):
        best = search.best(samples, PLACE, write)[0]
        assert best == Setting("osts", 1, 8, 256 << 10)
        assert machine.counts[patterns.setting_word(PLACE, best, write)] == patterns.FINAL_REPETITIONS
    worst = patterns.setting_word(PLACE, Setting(patterns.DIRECT), True)
    assert machine.counts[worst] == 1
    assert len(machine.stages[1]) < len(machine.stages[0])


def test_each_write_is_followed_by_the_read_of_its_file():
    _, machine = searched(Samples())
    for words in machine.stages:
        for written, read in zip(words[::2], words[1::2], strict=True):
            assert read == written.replace("write=1", "write=0")


def test_a_search_that_ended_early_measures_only_what_it_lacks_when_resumed():
    samples = Samples()
    first = patterns.pattern_settings(PLACE)[0]
    for write in (True, False):
        add(samples, patterns.setting_word(PLACE, first, write), 1.1)
    _, machine = searched(samples)
    assert patterns.setting_word(PLACE, first, True) not in machine.stages[0]
    assert len(machine.stages[0]) == 2 * (len(patterns.pattern_settings(PLACE)) - 1)


def test_a_setting_that_fails_is_left_out():
    samples = Samples()
    add(samples, patterns.setting_word(PLACE, ONE_OST, True), 0, error=5)
    search, _ = searched(samples)
    assert search.best(samples, PLACE, True)[0].osts_each == 2
    assert ONE_OST not in search.finalists


def test_without_time_nothing_is_found_best():
    search = patterns.search(Samples(), PLACE, lambda words: False)
    assert search.best(Samples(), PLACE, True) == []


def result_of(samples: Samples) -> Result:
    for write in (True, False):
        for size in plan.call_sizes(PLACE):
            add(samples, plan.call_word(PLACE, write, size), 1 + (1 << 16) / size)
    for nodes in plan.doublings(PLACE.nodes):
        add(samples, plan.ost_word(PLACE, nodes), 1 + 0.2 * (nodes - 1))
    search, _ = searched(samples)
    best = {write: search.best(samples, PLACE, write)[0] for write in (True, False)}
    compared = Comparison(PLACE, "lustre", best)
    for word in compared.words():
        add(samples, word, 2.0 if "nacre_enable=false" in word else 1.0)
    return Result(samples, PLACE, figures.find(samples, PLACE), search, compared)


def test_the_comparison_says_how_much_faster_nacre_is_than_the_mpi():
    found = result_of(Samples())
    assert any(
        line == f"Collective writes, a contiguous part for each rank: {comparison.BY_FILE} reaches 32 MiB/s, "
        f"2.00 times {comparison.MPI_ALONE}, 1.00 times {comparison.BY_CLASS}, 1.00 times {comparison.BY_HINTS}."
        for line in summary.remarks(found)
    )
    assert any(
        line.startswith("Fastest writes: 1-OST, 8 aggregators, rounds of 256 KiB") for line in summary.remarks(found)
    )


def test_the_hints_that_force_the_best_setting_are_printed_as_a_command(nacre):
    """The best of these writes and reads are the same."""
    found = result_of(Samples())
    (line,) = (line for line in summary.remarks(found) if line.startswith("To force"))
    sentence, _, command = line.partition(": ")
    assert sentence == "To force the fastest writes and reads"
    verb, *words, last = shlex.split(command)
    assert (verb, last) == ("nacre", "...")
    accepted = nacre(*words[:-1], "--dry-run", "--", "true")
    assert accepted.returncode == 0, accepted.stderr
    forced = {f"{name}={value}" for name, value in summary.as_json(found)["best_hints"]["reads"].items()}
    assert forced == set(words) - {"run", "--hint", "--"}
    assert {"striping_factor=8", "cb_nodes=8", "nacre_osts_per_aggregator=1", "cb_buffer_size=262144"} <= forced
    found.testbed = "/mnt/played"
    assert any("nacre testbed run --at /mnt/played --hint" in line for line in summary.remarks(found))


def test_the_commands_for_different_best_settings_say_that_each_sets_both_plans():
    found = result_of(Samples())
    both = "Each of these commands sets the plan of writes and of reads."
    assert both not in summary.remarks(found)
    found.comparison.best[False] = Setting("stripes", 2, 4)
    writes, reads, last = result.hint_sentences(found)
    assert writes.startswith("To force the fastest writes: ") and "nacre_pattern=osts" in writes
    assert reads.startswith("To force the fastest reads: ") and "nacre_pattern=stripes" in reads
    assert last == both
    assert both in summary.remarks(found)


def test_the_page_holds_every_drawing_with_its_table_and_nothing_from_elsewhere(tmp_path):
    heading = machine_file.Heading("a <machine>", "lustre", "/scratch", "mpiexec -n 16")
    report_page.write(tmp_path, heading, result_of(Samples()))
    page = (tmp_path / report_page.PAGE).read_text()
    assert "a &lt;machine&gt;" in page
    assert page.count("<svg") == page.count("<figure>") == 4
    assert page.count("<table") >= 5
    assert "currentColor" in page and "prefers-color-scheme:dark" in page and "@media print" in page
    assert not re.search(r'(src|href)="(?!#)|@import|<script', page)
    names = re.findall(r'\bid="([^"]+)"', page)
    assert len(names) == len(set(names))
    assert sorted(path.stem for path in tmp_path.glob("*.svg")) == ["calls", "comparison", "osts", "patterns"]
    for path in tmp_path.glob("*.svg"):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_without_matplotlib_the_page_has_its_tables(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    report_page.write(tmp_path, machine_file.Heading("m", "lustre", "", "mpiexec"), result_of(Samples()))
    assert "-m pip install matplotlib" in capsys.readouterr().err
    page = (tmp_path / report_page.PAGE).read_text()
    assert "<svg" not in page and page.count("<table") >= 5
    with pytest.raises(drawing.Missing):
        drawing.draw(result_of(Samples()))


def test_every_file_system_has_the_class_that_the_library_takes():
    assert file_system.machine_class("testbed") == file_system.machine_class("lustre") == "lustre"
    assert file_system.machine_class("tmpfs") == "memory"
    assert file_system.machine_class("ext4") == "local"
    assert file_system.machine_class("nfs4") == file_system.machine_class("unheard-of") == "remote"


def test_space_that_the_user_may_not_take_is_refused_before_anything_is_written(nacre, build, tmp_path):
    """A limit on the size of a file stands for a quota: the reservation meets both."""
    files, out = tmp_path / "files", tmp_path / "m.toml"
    files.mkdir()
    words = ["tune", "--out", out, files, "--", build / "venv/mpich/bin/mpiexec", "-n", 2]
    result = subprocess.run(
        [str(nacre.path), *map(str, words)],
        env=nacre.environment,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64 * MIB, 64 * MIB)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert f"cannot reserve 128 MiB on {files}: {os.strerror(27)}" in result.stderr
    assert list(files.iterdir()) == [] and not out.exists()


def launcher(build: Path, ranks: int) -> list[object]:
    return ["--", build / "venv/mpich/bin/mpiexec", "-n", ranks]


def test_a_full_ost_is_refused_by_its_number(nacre, build, played, tmp_path):
    fault = nacre("testbed", "fault", "--at", played, "ost", 3, "no_space")
    assert fault.returncode == 0, fault.stderr
    result = nacre("tune", "--max-bytes", "4m", "--out", tmp_path / "m.toml", played, *launcher(build, 2))
    assert result.returncode == 2
    assert f"cannot reserve 2 MiB on OST 3 of {played / '0'}: No space left on device" in result.stderr
    assert list((played / "0").iterdir()) == []


def test_patterns_are_measured_through_nacre_on_the_testbed(nacre, build, played, tmp_path, node_namespaces):
    out = tmp_path / "machine.toml"
    words = ["--max-bytes", "4m", "--repetitions", 2, "--out", out, "--figures", tmp_path / "drawn", played]
    result = nacre("tune", *words, *launcher(build, 4))
    assert result.returncode == 0, result.stdout + result.stderr
    for direction in ("writes", "reads"):
        assert f"# Fastest {direction}: " in out.read_text(), result.stdout + result.stderr
    for name in (comparison.MPI_ALONE, comparison.BY_FILE):
        assert name in result.stdout
    assert (tmp_path / "drawn" / report_page.PAGE).exists()
    assert (tmp_path / "drawn" / "patterns.svg").exists()
    assert list((played / "0").iterdir()) == []
