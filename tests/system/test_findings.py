"""The findings of `nacre report`: each has a program that must raise it, and one like it that must not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("findings.c")
LAUNCHER = ["mpiexec.mpich"]
RANKS = {"small-accesses": 1, "file-per-rank": 16}
# Findings on layouts: the simulated layout of the bad program and of the good one (sizes are 1,024 times smaller), on
# two simulated nodes.
LAYOUTS = {
    "few-stripes": ("-c 1 -S 64m", "-c 4 -S 64m"),
    "many-stripes": ("-c 8 -S 64m", "-c 1 -S 64m"),
    "moving-locks": ("-c 4 -S 64m", "-c 4 -S 64m"),
}
RULES = [
    "collective-missing", "small-accesses", "one-rank", "uneven-ranks", "late-ranks", "reopened", "size-storm",
    "sync-storm", "view-storm", "file-per-rank", "hint-without-effect", "read-modify-write", "reads-holes",
    "small-collective-calls", "metadata-by-all-ranks", "unaligned", *LAYOUTS,
]  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("findings") / "findings"
    subprocess.run(["mpicc.mpich", SOURCE, "-o", path], check=True, timeout=600)
    return path


def ranks_on_nodes(rule: str, words: list[object]) -> list[object]:
    """The ranks of a launch: on one node, or for findings on layouts on two simulated ones."""
    count = RANKS.get(rule, 4)
    if rule not in LAYOUTS:
        return ["-n", count, *words]
    half = ["-n", count // 2]
    return [*half, "env", "NACRE_NODE_ID=1", *words, ":", *half, "env", "NACRE_NODE_ID=2", *words]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("good", [False, True], ids=["bad", "good"])
def test_a_finding_is_raised_by_the_program_that_has_it_alone(nacre, program, tmp_path, rule, good):
    words = [program, tmp_path / "data", rule, *(["good"] if good else [])]
    layout = {"NACRE_TEST_LAYOUT": LAYOUTS[rule][good]} if rule in LAYOUTS else {}
    run = nacre("run", "--report", "io.jsonl", *LAUNCHER, *ranks_on_nodes(rule, words), **layout)
    assert run.returncode == 0, run.stdout + run.stderr
    least = [] if good else ["--min-share", 0]  # on a busy machine other times grow
    result = nacre("report", "--summary", "--json", *least, "io.jsonl")
    assert result.returncode == 0, result.stderr
    (job,) = json.loads(result.stdout)
    found = {finding["rule"]: finding for finding in job["findings"]}
    assert (rule in found) != good, (tmp_path / "io.jsonl").read_text()
    if not good:
        finding = found[rule]
        assert finding["title"]
        assert finding["evidence"]
        assert finding["remedy"]
        text = nacre("report", "--summary", *least, "io.jsonl").stdout
        assert finding["title"] in text
        assert f"-> {finding['remedy'][0]}"[:60] in text
