"""What CI says at its end: its last line counts all parts, and nothing that failed is lost (scripts/ci.py)."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from pathlib import Path

import pytest

RESULTS = """<testsuite>
<testcase name="unit/plan" status="run"/>
<testcase name="unit/file" status="run"/>
<testcase name="mpi/one" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
{more}</testsuite>
"""
FAILURE = '<testcase name="mpi/two" status="fail"/>\n'


@pytest.fixture(scope="module")
def ci(source: Path):
    sys.path.insert(0, str(source / "scripts"))
    import ci

    return ci


def part_of(ci, directory: Path, text: str | None, status: int = 0):
    """A part whose command writes `text` as the results of its tests, and exits with `status`."""
    results = directory / "results.xml"
    if text is None:
        return ci.Part("part", "", [["sh", "-c", f"exit {status}"]])
    (directory / "text").write_text(text)
    return ci.Part("part", "", [["sh", "-c", f"cp '{directory}/text' '{results}'; exit {status}"]], results)


def test_tests_that_ctest_counted_are_counted(ci, tmp_path):
    counts = ci.run(part_of(ci, tmp_path, RESULTS.format(more=FAILURE), status=8)).counts
    assert counts.summary() == "2 passed, 1 failed, 1 skipped"
    assert counts.failed == ["mpi/two"]


def test_a_part_without_tests_counts_as_one(ci, tmp_path):
    assert ci.run(part_of(ci, tmp_path, None)).counts.summary() == "1 passed, 0 failed"
    assert ci.run(part_of(ci, tmp_path, None, status=1)).counts.summary() == "0 passed, 1 failed"


def test_a_part_that_cannot_run_here_is_skipped_with_its_reason(ci, source, tmp_path, monkeypatch, capfd):
    """The part `ceph` on a machine without Ceph counted as passed."""
    bare = tmp_path / "bin"
    bare.mkdir()
    for tool in ("sh", "dirname", "env"):
        (bare / tool).symlink_to(shutil.which(tool))
    (bare / "python3").symlink_to(Path(sys.executable).resolve())
    monkeypatch.setenv("PATH", str(bare))
    part = next(part for part in ci.parts() if part.name == "ceph")
    monkeypatch.setattr(ci, "parts", lambda: [dataclasses.replace(part, commands=part.commands[-1:])])
    monkeypatch.setattr(sys, "argv", ["ci.py", "ceph"])
    assert ci.main() == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[-1] == "0 passed, 0 failed, 1 skipped"
    assert lines[-2].startswith("skipped: ceph: ceph-mon, ")
    assert "not installed; Debian: apt-get install ceph-mon" in lines[-2]


def test_a_part_that_runs_on_request_only_is_named_as_not_run(ci, tmp_path, monkeypatch, capfd):
    good = part_of(ci, tmp_path, None)
    monkeypatch.setattr(ci, "parts", lambda: [good, dataclasses.replace(good, name="rare", on_request=True)])
    monkeypatch.setattr(sys, "argv", ["ci.py"])
    assert ci.main() == 0
    assert capfd.readouterr().out.splitlines()[-2:] == [
        "not run: rare: only on request, with .ci/run rare",
        "1 passed, 0 failed",
    ]


def test_a_failed_command_is_a_failure_even_if_all_tests_passed(ci, tmp_path):
    assert ci.run(part_of(ci, tmp_path, RESULTS.format(more=""), status=2)).counts.failed == ["part"]


def test_a_part_without_results_has_failed(ci, tmp_path):
    part = ci.Part("part", "", [["true"]], tmp_path / "results.xml")
    assert ci.run(part).counts.failed == ["part: no test ran"]


def test_results_of_an_earlier_run_are_not_counted(ci, tmp_path):
    results = tmp_path / "results.xml"
    results.write_text(RESULTS.format(more=""))
    assert ci.run(ci.Part("part", "", [["false"]], results)).counts.summary() == "0 passed, 1 failed"


def test_the_last_line_sums_all_parts_and_a_failure_sets_the_exit_status(ci, tmp_path, monkeypatch, capfd):
    good, bad = part_of(ci, tmp_path, RESULTS.format(more="")), part_of(ci, tmp_path, None, status=3)
    monkeypatch.setattr(ci, "parts", lambda: [good, bad])
    monkeypatch.setattr(sys, "argv", ["ci.py"])
    assert ci.main() == 1
    assert capfd.readouterr().out.splitlines()[-1] == "2 passed, 1 failed, 1 skipped"
