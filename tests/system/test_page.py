"""`nacre report --html` and `nacre compare --html`: the page in a real browser, from what real programs reported."""

from __future__ import annotations

import html
import json
import re
import subprocess
from pathlib import Path

import pytest
from figures import kind_of, report_of
from PIL import Image, ImageStat

BROWSER = "chromium-headless-shell"
PAGE_BYTES_MAX = 5_000_000
SIZES = {"phone": "400,800", "desk": "1300,900", "wall": "2600,1400"}
TESTBED = ["--nodes", 2, "--osts", 4, "--set", "striping.count=4", "--report", "io.jsonl"]


# Two files, each with collective writes and reads of 1 MiB a rank in pieces of 4 KiB, and 300 small independent writes.
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { size = 1 << 20, piece = 4096 };
int main(int argc, char** argv) {
  int rank, ranks, file, i;
  char name[1000];
  char* data = calloc(size, 1);
  MPI_File handle;
  MPI_Datatype pieces;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Type_vector(size / piece, piece, piece * ranks, MPI_BYTE, &pieces);
  MPI_Type_commit(&pieces);
  for (file = 0; file < 2; ++file) {
    snprintf(name, sizeof name, "%s/out.%d", argv[1], file);
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &handle)) return 1;
    MPI_File_set_view(handle, (MPI_Offset)piece * rank, MPI_BYTE, pieces, "native", MPI_INFO_NULL);
    MPI_File_write_all(handle, data, size, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(handle, 0, data, size, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_set_view(handle, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    for (i = 0; i < 300; ++i) {
      MPI_File_write_at(handle, (MPI_Offset)512 * (i * ranks + rank), data, 512, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&handle);
  }
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "app"
    path.with_suffix(".c").write_text(PROGRAM)
    subprocess.run(["mpicc.mpich", path.with_suffix(".c"), "-o", path], check=True, timeout=600)
    return path


@pytest.fixture
def reported(nacre, node_namespaces, program, tmp_path):
    """The report of a job of 4 ranks on 2 nodes, with files on 4 OSTs."""
    run = nacre("testbed", "run", *TESTBED, "--", "mpiexec.mpich", "-n", 4, program, "{}")
    assert run.returncode == 0, run.stdout + run.stderr
    return tmp_path / "io.jsonl"


class Drawn:
    """A page after its script has run, as the browser has it."""

    def __init__(self, page: Path, size: str = SIZES["desk"]):
        log = page.with_suffix(".netlog")
        command = [
            BROWSER, "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000", f"--window-size={size}",
            "--enable-logging=stderr", f"--log-net-log={log}", "--dump-dom", page.as_uri(),
        ]  # fmt: skip
        result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
        self.dom = result.stdout
        self.complaints = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
        self.fetched = re.findall(r'"url":"((?:https?|wss?):[^"]*)"', log.read_text())

    @property
    def charts(self) -> set[str]:
        """Those that have been drawn."""
        return set(re.findall(r'<div class="chart[^"]*" id="([^"]*)"[^>]*>(?=.{0,200}<svg)', self.dom))

    @property
    def drawn_count(self) -> int:
        found = re.search(r'data-drawn="(\d+)"', self.dom)
        return int(found[1]) if found else -1


@pytest.mark.parametrize("size", SIZES)
def test_the_page_is_drawn_without_errors_or_requests(nacre, reported, tmp_path, size):
    result = nacre("report", "--html", "page.html", reported)
    assert result.returncode == 0, result.stderr
    drawn = Drawn(tmp_path / "page.html", SIZES[size])
    assert drawn.complaints == []
    assert drawn.fetched == []
    expected = {"timeline", "ranks", "phases", "sizes", "osts", "rank-osts", "layout-0", "predictions"}
    assert drawn.charts == expected
    assert drawn.drawn_count == len(expected)
    assert 'data-chart="plans"' in drawn.dom
    assert 'data-rule="collective-missing"' in drawn.dom
    assert (tmp_path / "page.html").stat().st_size < PAGE_BYTES_MAX


def browser(page: Path, *options: str) -> None:
    command = [BROWSER, "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000", *options, page.as_uri()]
    subprocess.run(command, capture_output=True, timeout=600, check=True)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_has_the_colours_that_the_browser_prefers(nacre, reported, tmp_path, size, dark):
    assert nacre("report", "--html", "page.html", reported).returncode == 0
    picture = tmp_path / "page.png"
    preferred = ["--blink-settings=preferredColorScheme=0"] if dark else []
    browser(tmp_path / "page.html", f"--window-size={SIZES[size]}", f"--screenshot={picture}", *preferred)
    with Image.open(picture) as image:
        assert f"{image.width},{image.height}" == SIZES[size]
        brightness = ImageStat.Stat(image.convert("L")).mean[0]
    assert (brightness < 80) == dark
    assert (brightness > 180) == (not dark)


def test_all_tables_are_unfolded_on_paper(nacre, reported, tmp_path):
    """A copy whose tables stay folded takes fewer sheets."""
    assert nacre("report", "--html", "page.html", reported).returncode == 0
    text = (tmp_path / "page.html").read_text()
    assert "beforeprint" in text
    (tmp_path / "folded.html").write_text(text.replace("beforeprint", "never"))
    sheets = {}
    for name in ("page", "folded"):
        browser(tmp_path / f"{name}.html", f"--print-to-pdf={tmp_path / name}.pdf")
        sheets[name] = len(re.findall(rb"/Type\s*/Page\b", (tmp_path / f"{name}.pdf").read_bytes()))
    assert sheets["page"] > sheets["folded"] > 0


def test_each_chart_has_its_figures_as_a_table(nacre, reported, tmp_path):
    assert nacre("report", "--html", "page.html", reported).returncode == 0
    text = (tmp_path / "page.html").read_text()
    figures = re.findall(r'<figure[^>]*data-chart="([^"]*)">(.*?)</figure>', text, re.DOTALL)
    assert len(figures) > 8
    for name, figure in figures:
        assert "<table>" in figure, name
        assert figure.count("<tr>") > 1, name
    report = json.loads(reported.read_text().splitlines()[0])
    for expected in (report["program"][0], "OST 3", "collective writes", "independent writes"):
        assert html.escape(expected) in text


def test_the_page_says_how_much_file_access_other_work_hid(nacre, reported, tmp_path):
    report = json.loads(reported.read_text().splitlines()[0])
    assert report["kinds"]["collective_write"]["file_busy_seconds"]["sum"] > 0  # the testbed has servers
    assert nacre("report", "--html", "page.html", reported).returncode == 0
    text = (tmp_path / "page.html").read_text()
    assert "<td>collective writes, I/O threads</td>" in text
    assert re.search("<td>file access (behind other work|that ranks waited for)</td>", text)


def many(reported: Path, count: int, **changed: object) -> str:
    """The first report `count` times, for other files."""
    one = json.loads(reported.read_text().splitlines()[0]) | changed
    lines = []
    for number in range(count):
        at = one["opened_at"] + number * one["open_for_seconds"]
        lines.append(json.dumps(one | {"file": f"/data/step.{number}", "opened_at": at}, separators=(",", ":")))
    return "\n".join(lines) + "\n"


def test_the_page_says_what_a_layout_comes_from_and_how_it_grew(nacre, reported, tmp_path):
    note = "the layout grew with the file from 1 OST to 4 OSTs, from byte 1048576 on; Nacre set it at the first"
    (tmp_path / "one").write_text(many(reported, 1, layout_origin="nacre", notes=[note, "hint x: no"]))
    assert nacre("report", "--html", "page.html", "one").returncode == 0
    assert f"Data on 4 OSTs. Layout: chosen by Nacre. T{note[1:]}.</p>" in (tmp_path / "page.html").read_text()


def test_ranges_of_osts_are_not_single_osts(nacre, tmp_path):
    """Rank 0 accessed the OSTs from 0 on, rank 1 those from 4 on; a column of the report stands for four OSTs."""
    mebibyte = 1 << 20
    moved = [
        {"ost": ost, "bytes": mebibyte, "calls": 1, "alone_bytes": mebibyte, "alone_seconds": 0.1} for ost in range(8)
    ]
    bands = {"first_ranks": [0, 1, 2, 3], "first_osts": [0, 4], "bytes": [[4, 0], [0, 4], [0, 0], [0, 0]]}
    layout = [{"begin": 0, "end": -1, "stripe_bytes": mebibyte, "stripes": 8, "osts": list(range(8))}]
    kind = kind_of(osts=moved, rank_osts=bands)
    one = report_of({"independent_write": kind}, layout=layout, bytes_written=8 * mebibyte)
    (tmp_path / "r").write_text(json.dumps(one))
    result = nacre("report", "--html", "page.html", "r")
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "page.html").read_text()
    assert "<th>OST 0-3</th><th>OST 4-7</th>" in text
    assert "Each met at most 1 range of OSTs." in text
    charts = json.loads(re.search(r'id="charts">(.*?)</script>', text)[1])
    assert {cell["ost"] for cell in charts["rank-osts"]["data"]["values"]} == {"0-3", "4-7"}
    users = {stripe["OST"]: stripe["by"] for stripe in charts["layout-0"]["data"]["values"]}
    assert users == {ost: "0" if ost < 4 else "1" for ost in range(8)}


def test_10000_ranks_and_5000_files_are_one_page(nacre, reported, tmp_path):
    bands = list(range(0, 10_000, 625))
    shares = {"file": [[50] * 64] * 16, "wait": [[25, 50] * 32] * 16}
    timeline = {"interval_seconds": 0.5, "first_ranks": bands, "percent": shares}
    world = {"rank": 0, "ranks": 10_000}
    text = many(reported, 1, ranks=10_000, nodes=200, world=world, timeline=timeline, open_for_seconds=32)
    text += many(reported, 5_000)
    (tmp_path / "large.jsonl").write_text(text)
    assert nacre("report", "--html", "page.html", "large.jsonl").returncode == 0
    page = tmp_path / "page.html"
    assert page.stat().st_size < PAGE_BYTES_MAX
    drawn = Drawn(page)
    assert drawn.complaints == []
    assert {"timeline", "ranks", "phases"} <= drawn.charts
    assert "9375-9999" in drawn.dom
    assert "/data/step.* (5000 files)" in drawn.dom.replace(",", "")


def test_two_jobs_are_one_page(nacre, reported, tmp_path):
    first, second = reported.read_text().splitlines()
    (tmp_path / "a.jsonl").write_text(first + "\n")
    (tmp_path / "b.jsonl").write_text(second + "\n")
    result = nacre("compare", "--html", "both.html", "a.jsonl", "b.jsonl")
    assert result.returncode == 0, result.stderr
    drawn = Drawn(tmp_path / "both.html")
    assert drawn.complaints == []
    assert drawn.fetched == []
    assert {"A-timeline", "B-timeline", "A-osts", "B-osts"} <= drawn.charts


def test_of_several_jobs_the_page_shows_the_slowest_or_the_one_that_is_named(nacre, reported, tmp_path):
    slow = {"min": 9, "median": 9, "max": 9, "sum": 36}
    text = many(reported, 1, run="fast", program=["fast"])
    text += many(reported, 1, run="slow", program=["slow"], seconds=slow)
    (tmp_path / "both.jsonl").write_text(text)
    for options, program, others in (([], "slow", True), (["--run", 1], "slow", False), (["--run", 2], "fast", False)):
        result = nacre("report", *options, "--html", "page.html", "both.jsonl")
        assert result.returncode == 0, result.stderr
        assert f"<h1>{program}, " in (tmp_path / "page.html").read_text()
        assert ("page.html shows run 1 of 2, the slowest; for another add --run N." in result.stderr) == others


def test_a_name_cannot_end_the_script_that_holds_the_data(nacre, reported, tmp_path):
    text = many(reported, 1, program=["</script><b id=bad>", "&amp;"])
    (tmp_path / "bad.jsonl").write_text(text.replace("/data/step.0", "/data/</script><b id=bad>"))
    assert nacre("report", "--html", "page.html", "bad.jsonl").returncode == 0
    drawn = Drawn(tmp_path / "page.html")
    assert drawn.complaints == []
    assert '<b id="bad">' not in drawn.dom
    assert drawn.drawn_count >= 7


def test_a_report_of_schema_1_is_a_page_without_a_timeline(nacre, reported, tmp_path):
    report = json.loads(reported.read_text().splitlines()[0])
    report |= {"schema": 1}
    (tmp_path / "old.jsonl").write_text(json.dumps(report, separators=(",", ":")) + "\n")
    assert nacre("report", "--html", "page.html", "old.jsonl").returncode == 0
    drawn = Drawn(tmp_path / "page.html")
    assert drawn.complaints == []
    assert "timeline" not in drawn.charts
    assert "phases" in drawn.charts


def test_a_page_that_cannot_be_written_is_an_error(nacre, reported):
    result = nacre("report", "--html", "missing/page.html", reported)
    assert result.returncode == 2
    assert "cannot write missing/page.html" in result.stderr
    assert "--html" in result.stderr
