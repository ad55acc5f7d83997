"""`nacre report` of Darshan's logs. The logs are of real jobs; they come with the package darshan."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path

import pytest


def log(name: str) -> Path:
    folder = Path(importlib.util.find_spec("darshan").origin).parent
    found = sorted(folder.rglob(f"{name}*.darshan"))
    assert found, f"the package darshan has no log {name}"
    return found[0]


# What each log is known to hold: see the names that Darshan's authors gave them, and darshan-parser.
FINDINGS = {
    "sample-badost": {"slow-ost", "file-per-rank"},  # one of the OSTs was far slower than the others
    "sample-goodost": {"file-per-rank"},
    "noposixopens": {"reopened", "collective-missing", "uneven-ranks"},
    "example": {"collective-calls-of-the-mpi"},
    "shane_macsio": {"collective-missing"},
    "ior_hdf5_example": set(),
    "pq_app_readAB_writeC": set(),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_a_log_has_the_findings_that_it_is_known_for(nacre, name):
    result = nacre("report", "--summary", "--json", log(name))
    assert result.returncode == 0, result.stderr
    (job,) = json.loads(result.stdout)
    assert {finding["rule"] for finding in job["findings"]} == FINDINGS[name]
    assert all(finding["at_stake_seconds"] <= job["seconds"]["max"] for finding in job["findings"])


def test_the_slow_ost_is_named(nacre):
    text = nacre("report", "--summary", log("sample-badost")).stdout
    assert "OST 14 is far slower than the others" in text
    assert "2,048 ranks\n" in text
    assert "without Nacre; from a log of Darshan" in text


def test_figures_are_those_of_the_log(nacre):
    result = nacre("report", "--json", log("example"))
    (report,) = json.loads(result.stdout)
    assert report["ranks"] == 2048
    assert report["bytes_written"] == 2199023259968
    writes = report["kinds"]["collective_write"]
    assert writes["calls"]["sum"] == 16402
    assert writes["seconds"]["sum"] == pytest.approx(100397.897)
    assert writes["seconds"]["max"] == pytest.approx(85.49, rel=1e-3)
    assert writes["unaligned_calls"]["sum"] == 16401
    assert sum(writes["file_call_sizes"].values()) == 16402
    assert report["layout"] == [
        {"begin": 0, "end": -1, "stripe_bytes": 1 << 20, "stripes": 24, "osts": report["layout"][0]["osts"]}
    ]
    assert sorted(report["layout"][0]["osts"]) == list(range(24))


def test_text_page_and_comparison_take_logs(nacre, tmp_path):
    text = nacre("report", log("ior_hdf5_example"))
    assert text.returncode == 0, text.stderr
    assert re.search(r"collective writes|independent writes", text.stdout)
    assert nacre("report", "--html", "page.html", log("ior_hdf5_example")).returncode == 0
    assert "OST 106" in (tmp_path / "page.html").read_text()
    compared = nacre("compare", log("sample-goodost"), log("sample-badost"))
    assert compared.returncode == 0, compared.stderr
    assert "slow-ost" in compared.stdout


@pytest.mark.parametrize("length", [4, 100, 1000, 5000, 11_000])
def test_a_damaged_log_is_an_error_and_is_kept(nacre, tmp_path, length):
    data = log("example").read_bytes()
    assert length < len(data)
    damaged = tmp_path / "damaged.darshan"
    damaged.write_bytes(data[:length])
    result = nacre("report", "damaged.darshan")
    assert result.returncode == 2, result.stdout
    assert "damaged.darshan: Darshan's library cannot read this log" in result.stderr
    assert "Traceback" not in result.stderr
    assert damaged.read_bytes() == data[:length]


def test_a_log_is_recognised_by_its_content(nacre, tmp_path):
    shutil.copy(log("example"), tmp_path / "job.log")
    assert "2,048 ranks" in nacre("report", "--summary", "job.log").stdout


def test_a_missing_log_is_an_error(nacre):
    result = nacre("report", "missing.darshan")
    assert result.returncode == 2
    assert "cannot read missing.darshan" in result.stderr


def test_a_missing_package_is_named(nacre, tmp_path):
    (tmp_path / "darshan.py").write_text("raise ImportError('no such package')\n")
    result = nacre("report", log("example"), PYTHONPATH=str(tmp_path))
    assert result.returncode == 2
    assert "pip install 'nacre[darshan]'" in result.stderr
