"""`nacre report` of Darshan's logs. The logs are of real jobs; they come with the package darshan."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from pathlib import Path

import pytest
from nacre import darshan_log, findings, jobs


def log(name: str) -> Path:
    folder = Path(importlib.util.find_spec("darshan").origin).parent
    found = sorted(folder.rglob(f"{name}*.darshan"))
    assert found, f"the package darshan has no log {name}"
    return found[0]


# What each log is known to hold: see the names that Darshan's authors gave them, and darshan-parser.
FINDINGS = {
    "sample-badost": {"slow-ost", "file-per-rank"},  # one of the OSTs was far slower than the others
    "sample-goodost": {"file-per-rank"},
    # The stat of a file that rank 0 reads by stdio is all that Darshan has of POSIX.
    "noposixopens": {"reopened", "collective-missing", "uneven-ranks", "one-rank"},
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
    assert writes["backward_calls"]["sum"] == 0  # 18 accesses are not sequential: the first ones of ranks
    assert writes["phases"]["file"]["sum"] == pytest.approx(100397.6)
    assert writes["phases"]["file"]["max"] <= writes["seconds"]["max"]


MACHINE = "[machine]\nversion = 1\n[osts]\nbandwidth = "


def test_a_finding_says_what_nacre_would_do_and_what_the_estimate_rests_on(nacre, tmp_path):
    """Of 85.5 s of the slowest rank and 49 s on average, in which 24 OSTs got 2 TiB."""
    example, command = log("example"), ("report", "--summary", "--json")
    (guessed,) = json.loads(nacre(*command, example).stdout)[0]["findings"]
    assert guessed["at_stake_seconds"] == pytest.approx(100397.897 / 2048)
    assert any(line.startswith("With Nacre, aggregators access whole stripes") for line in guessed["remedy"])
    assert any("whole time of these calls" in line for line in guessed["remedy"])
    assert not any("predicted to take" in line for line in guessed["remedy"])
    (tmp_path / "fast.toml").write_text(f'{MACHINE}"4g"\n')
    fast = str(tmp_path / "fast.toml")
    (predicted,) = json.loads(nacre(*command, example, NACRE_MACHINE=fast).stdout)[0]["findings"]
    (line,) = [line for line in predicted["remedy"] if "predicted to take at least" in line]
    assert "at least 21.3 s, instead of 85.5 s on the slowest rank: 24 OSTs need this time" in line
    assert fast in line
    assert predicted["at_stake_seconds"] == pytest.approx(100397.897 / 2048 * (1 - 21.333 / 85.492), rel=1e-3)
    (tmp_path / "slow.toml").write_text(f'{MACHINE}"1g"\n')
    result = nacre(*command, example, NACRE_MACHINE=str(tmp_path / "slow.toml"))
    assert json.loads(result.stdout)[0]["findings"] == []  # no plan is faster than the OSTs


class MadeLog:
    """A log of the records that a test makes, of one file."""

    ranks, path, program, names = 4, "made.darshan", ["./app"], {1: "/scratch/out.dat"}
    job = {"jobid": 4711, "nprocs": 4, "start_time_sec": 1000, "end_time_sec": 1100}

    def __init__(self, layout: list[dict], modules: dict[str, list]):
        self.layout = layout
        self.modules = modules

    def records(self, module: str) -> list:
        return self.modules.get(module, [])

    def layouts(self) -> dict[int, list[dict]]:
        return {1: self.layout}


@pytest.fixture
def made(build, monkeypatch):
    """The report of a made log, and the rules of its findings, whatever time they may save. Records: the rank (-1: all
    ranks together) and the counters without prefix."""
    monkeypatch.setenv("NACRE_LIBRARY_DIR", str(build / "lib"))
    monkeypatch.setenv("NACRE_MACHINE", "lustre")

    def of(stripes: int = 0, **modules: list[tuple[int, dict]]) -> tuple[dict, dict[str, findings.Finding]]:
        layout = [{"begin": 0, "end": -1, "stripe_bytes": MIB, "stripes": stripes, "osts": list(range(stripes))}]
        records = {
            name.replace("_", "-"): [darshan_log._Record(1, rank, dict(values)) for rank, values in found]
            for name, found in modules.items()
        }
        monkeypatch.setattr(darshan_log, "_Log", lambda path: MadeLog(layout if stripes else [], records))
        (report,) = darshan_log._reports(MadeLog.path)
        (job,) = jobs.jobs_of([report])
        return report, {finding.rule: finding for finding in findings.find(job, 0)}

    return of


MIB = 1 << 20
RANKS = range(MadeLog.ranks)


def writes(count: int, size: int, seconds: float, **more: float) -> dict:
    """The counters of a record with so many writes of one size."""
    return {"OPENS": 1, "WRITES": count, "BYTES_WRITTEN": count * size, "F_WRITE_TIME": seconds, **more}


def test_accesses_that_are_not_sequential_go_back_and_forth(made):
    """Darshan counts an access as sequential if it begins behind the rank's last one. The first one of a rank is left
    out: at byte 0 it is not sequential either."""
    back = writes(400, MIB // 2, 10.0, SEQ_WRITES=100, CONSEC_WRITES=0)
    report, found = made(POSIX=[(rank, back) for rank in RANKS])
    assert report["kinds"]["independent_write"]["backward_calls"]["sum"] == 4 * (400 - 100 - 1)
    assert "1,196 of 1,600 writes begin before the end" in found["back-and-forth"].evidence
    shared = {**writes(1600, MIB // 2, 40.0, SEQ_WRITES=400), "OPENS": 12}  # each rank opens the file three times
    report, found = made(POSIX=[(-1, shared)])
    assert report["kinds"]["independent_write"]["backward_calls"]["sum"] == 1600 - 400 - 12
    assert "back-and-forth" in found
    forth = writes(400, MIB // 2, 10.0, SEQ_WRITES=399, CONSEC_WRITES=0)
    report, found = made(POSIX=[(rank, forth) for rank in RANKS])
    assert report["kinds"]["independent_write"]["backward_calls"]["sum"] == 0
    assert "back-and-forth" not in found
    for unknown in ({}, {"SEQ_WRITES": -1}):  # stdio has no such counter
        _, found = made(STDIO=[(rank, writes(400, MIB // 2, 10.0, **unknown)) for rank in RANKS])
        assert "back-and-forth" not in found


def test_findings_say_what_nacre_does_without_a_change_of_the_program(made):
    small = {"INDEP_OPENS": 1, "INDEP_WRITES": 4000, "BYTES_WRITTEN": 4000 << 10, "F_WRITE_TIME": 40.0}
    _, found = made(MPI_IO=[(rank, small) for rank in RANKS])
    assert (
        found["collective-missing"]
        .remedy[-1]
        .startswith("With Nacre, but an unchanged program, a call that writes one")
    )
    _, found = made(POSIX=[(-1, {**writes(16000, 1 << 10, 160.0), "OPENS": 4})])
    assert not any("With Nacre" in line for line in found["collective-missing"].remedy)  # Nacre serves MPI-IO
    large = {"INDEP_OPENS": 1, "INDEP_WRITES": 64, "BYTES_WRITTEN": 64 * MIB, "F_WRITE_TIME": 40.0}
    unaligned = writes(64, MIB, 40.0, FILE_NOT_ALIGNED=64)
    _, found = made(1, MPI_IO=[(rank, large) for rank in RANKS], POSIX=[(rank, unaligned) for rank in RANKS])
    assert found["unaligned"].remedy[-1].startswith("With Nacre, but an unchanged program")
    assert found["few-stripes"].remedy[-1].startswith("With Nacre, a new file gets its layout from its first writes")


def test_the_time_of_posix_calls_is_that_of_file_access(made):
    """48 MiB on one OST are too few for a finding without the time."""
    by_mpi = {"COLL_OPENS": 4, "COLL_WRITES": 16, "BYTES_WRITTEN": 48 * MIB, "F_WRITE_TIME": 40.0}
    accesses = {**writes(48, MIB, 36.0), "OPENS": 4}
    report, found = made(1, MPI_IO=[(-1, by_mpi)], POSIX=[(-1, accesses)])
    file_access = report["kinds"]["collective_write"]["phases"]["file"]
    assert (file_access["sum"], file_access["max"]) == (36.0, 9.0)
    assert "few-stripes" in found
    _, found = made(1, MPI_IO=[(-1, by_mpi)], POSIX=[(-1, {**accesses, "F_WRITE_TIME": 4.0})])
    assert "few-stripes" not in found  # the ranks wait for each other, not for the OST
    report, found = made(1, MPI_IO=[(-1, by_mpi)])
    assert report["kinds"]["collective_write"]["phases"]["file"]["max"] == 0  # unknown
    assert "few-stripes" not in found


def test_file_access_by_few_ranks_is_spread_over_all_ranks(made):
    by_mpi = {"COLL_OPENS": 4, "COLL_WRITES": 16, "BYTES_WRITTEN": 48 * MIB, "F_WRITE_TIME": 40.0}
    report, _ = made(MPI_IO=[(-1, by_mpi)], POSIX=[(2, writes(48, MIB, 8.0))])
    assert report["kinds"]["collective_write"]["phases"]["file"] == {"min": 0, "median": 0, "max": 8.0, "sum": 8.0}


def test_stats_of_a_file_are_counted_though_it_is_not_read(made):
    asks = {"STATS": 500, "F_META_TIME": 5.0}
    report, found = made(POSIX=[(rank, asks) for rank in RANKS])
    assert report["other_calls"]["stat"]["calls"] == {"min": 500, "median": 500, "max": 500, "sum": 2000}
    assert report["other_calls"]["stat"]["seconds"]["sum"] == pytest.approx(20.0)
    assert (report["opens"], report["kinds"]) == (0, {})
    assert "500 stat or access of a rank took 5 s" in found["stat-storm"].evidence
    assert not made(POSIX=[(rank, {"STATS": 2, "F_META_TIME": 5.0}) for rank in RANKS])[1]


def test_stats_of_a_file_do_not_hide_that_stdio_writes_it(made):
    asked, written = {"STATS": 300, "F_META_TIME": 3.0}, writes(8, MIB, 1.0)
    report, found = made(POSIX=[(rank, asked) for rank in RANKS], STDIO=[(1, written)])
    assert report["bytes_written"] == 8 * MIB
    assert report["kinds"]["independent_write"]["busiest"][0]["rank"] == 1
    assert report["other_calls"]["stat"]["calls"]["sum"] == 1200
    assert "stat-storm" in found


def test_stats_that_the_mpi_may_have_made_are_not_the_program_s(made):
    by_mpi = {"COLL_OPENS": 4, "COLL_WRITES": 16, "BYTES_WRITTEN": 48 * MIB, "F_WRITE_TIME": 40.0}
    report, _ = made(MPI_IO=[(-1, by_mpi)], POSIX=[(-1, {**writes(48, MIB, 36.0), "OPENS": 4, "STATS": 4000})])
    assert report["other_calls"] == {}


def test_aggregators_that_are_fewer_than_osts_are_named(made):
    by_mpi = {"COLL_OPENS": 4, "COLL_WRITES": 16, "BYTES_WRITTEN": 48 * MIB, "F_WRITE_TIME": 40.0}
    _, found = made(4, MPI_IO=[(-1, by_mpi)], POSIX=[(0, writes(48, MIB, 36.0)), (1, {"OPENS": 1})])
    finding = found["collective-calls-of-the-mpi"]
    assert finding.evidence == "48 writes: made by 1 rank to 4 OSTs"
    assert finding.remedy[0].startswith("With Nacre, the number of aggregators follows from the bytes")
    assert "no machine file describes this file system" in finding.remedy[1]  # the class is no machine
    _, found = made(4, MPI_IO=[(-1, by_mpi)], POSIX=[(rank, writes(12, MIB, 9.0)) for rank in RANKS])
    assert "collective-calls-of-the-mpi" not in found


def test_gaps_that_the_mpi_reads_are_named(made):
    by_mpi = {"COLL_OPENS": 4, "COLL_WRITES": 16, "BYTES_WRITTEN": 24 * MIB, "F_WRITE_TIME": 40.0}
    accesses = {**writes(48, MIB, 20.0), "OPENS": 4, "READS": 48, "BYTES_READ": 48 * MIB, "F_READ_TIME": 12.0}
    report, found = made(4, MPI_IO=[(-1, by_mpi)], POSIX=[(-1, accesses)])
    assert report["kinds"]["collective_write"]["phases"]["file"]["sum"] == 32.0  # with the reads
    finding = found["collective-calls-of-the-mpi"]
    assert "48 reads of the gaps" in finding.evidence
    assert any(line.startswith("With Nacre, writes do not read the gaps") for line in finding.remedy)


def test_gaps_that_independent_writes_read_are_named(made):
    by_mpi = {"INDEP_OPENS": 1, "INDEP_WRITES": 16, "BYTES_WRITTEN": 6 * MIB, "F_WRITE_TIME": 10.0}
    accesses = writes(48, MIB, 5.0, READS=48, BYTES_READ=48 * MIB, F_READ_TIME=3.0)
    modules = {"MPI_IO": [(rank, by_mpi) for rank in RANKS], "POSIX": [(rank, accesses) for rank in RANKS]}
    finding = made(**modules)[1]["sieving-of-the-mpi"]
    assert finding.at_stake == 3.0
    assert finding.evidence == "192 reads of gaps took 3 s per rank"
    assert finding.remedy[0].startswith("With Nacre, writes do not read the gaps")
    by_mpi |= {"INDEP_READS": 1, "BYTES_READ": MIB, "F_READ_TIME": 1.0}
    assert "sieving-of-the-mpi" not in made(**modules)[1]
    _, found = made(MPI_IO=[(rank, by_mpi) for rank in RANKS], POSIX=[(rank, writes(48, MIB, 5.0)) for rank in RANKS])
    assert "sieving-of-the-mpi" not in found


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
    assert "-m pip install darshan" in result.stderr
