"""tests/lustre/run.py, the program behind `make test-lustre`, on a testbed in place of a Lustre."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SUMMARY = "{} passed, 0 failed, {} skipped"


class Runner:
    def __init__(self, source: Path, build: Path, environment: dict[str, str]):
        self.command = [sys.executable, source / "tests/lustre/run.py", "--build", build]
        self.environment = {**environment, "NACRE_TESTBED": "1"}

    def __call__(self, *arguments: object) -> subprocess.CompletedProcess:
        command = [str(word) for word in (*self.command, *arguments)]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=1200, check=False)


@pytest.fixture
def runner(source: Path, build: Path, clean_environment: dict[str, str]) -> Runner:
    return Runner(source, build, clean_environment)


def test_each_suite_has_tests_and_programs_run_at_two_three_and_four_ranks(runner: Runner, tmp_path: Path) -> None:
    listed = runner("--mount", tmp_path, "--mpis", "mpich4", "--list", "--long")
    assert listed.returncode == 0, listed.stderr
    titles = listed.stdout.splitlines()
    assert len(set(titles)) == len(titles)
    for ranks in (2, 3, 4):
        assert f"conformance/eof/mpich4/{ranks}, 1 client" in titles
        assert f"differential/group/mpich4/{ranks}, 1 client" in titles
    assert "conformance/groups/mpich4/4, 1 client" in titles
    assert "conformance/groups/mpich4/2, 1 client" not in titles
    assert {title.split("/")[0] for title in titles} == {"unit", "system", "bench", "conformance", "differential"}
    assert not any("hosts_" in title or "2 clients" in title for title in titles)


@pytest.mark.usefixtures("node_namespaces")
def test_tests_run_on_one_client_and_on_two(runner: Runner, nodes: list[Path], tmp_path: Path) -> None:
    only = "^(conformance/(eof|shared)/mpich4/3|differential/striped/mpich4/2),"
    out = tmp_path / "out"
    done = runner("--mount", nodes[0], "--second", nodes[1], "--only", only, "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert SUMMARY.format(6, 0) in done.stdout
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["outcome"] for line in lines] == ["passed"] * 6
    assert not list(nodes[0].iterdir())
    again = runner("--mount", nodes[0], "--second", nodes[1], "--only", only, "--out", out, "--resume")
    assert again.returncode == 2
    assert "no test is selected" in again.stderr


def test_a_failed_test_is_counted_and_its_output_is_printed(runner: Runner, tmp_path: Path) -> None:
    only = "^conformance/shared/mpich4/2,"
    runner.environment["NACRE_TEST_FAULTS"] = "open=1,errno=EIO"
    done = runner("--mount", tmp_path, "--only", only)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "0 passed, 1 failed, 0 skipped" in done.stdout
    assert "(injected)" in done.stdout


@pytest.mark.usefixtures("node_namespaces")
def test_a_second_client_that_is_none_is_refused(runner: Runner, nodes: list[Path], tmp_path: Path) -> None:
    (tmp_path / "beside").mkdir()
    for mount, second, why in (
        (tmp_path, tmp_path / "beside", "are in the same mount, so they are one client"),
        (tmp_path, nodes[1], "is not in"),
    ):
        done = runner("--mount", mount, "--second", second)
        assert done.returncode == 2
        assert why in done.stderr
