"""`nacre report --html` and `nacre compare --html`: the page in a real browser, from what real programs reported."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import time
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


MIB = 1 << 20


def opened(ranks: int, world_rank: int, job_ranks: int, percent: int, osts: dict[int, list[int]], **fields) -> dict:
    """The report of a file that `ranks` ranks had open for 10 seconds, in file access for `percent` of the time.
    `osts`: the bytes that each rank, or band, wrote to an OST."""
    firsts = [-(-band * ranks // min(ranks, 16)) for band in range(min(ranks, 16))]
    moved = [
        {"ost": ost, "bytes": sum(by_band), "calls": 1, "alone_bytes": 0, "alone_seconds": 0}
        for ost, by_band in osts.items()
    ]
    cells = [[by_band[band] for by_band in osts.values()] for band in range(len(firsts))]
    by_rank = {"first_ranks": firsts, "first_osts": list(osts), "bytes": cells}
    kind = kind_of(osts=moved, rank_osts=by_rank if osts else kind_of()["rank_osts"])
    return report_of({"independent_write": kind}) | {
        "file": f"/data/out.{world_rank}", "ranks": ranks, "world": {"rank": world_rank, "ranks": job_ranks},
        "opened_at": 1000, "open_for_seconds": 10,
        "timeline": {"interval_seconds": 1, "first_ranks": firsts, "percent": {"file": [[percent] * 10] * len(firsts)}},
    } | fields  # fmt: skip


def page_of(nacre, tmp_path: Path, lines: list[dict]) -> str:
    (tmp_path / "io.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = nacre("report", "--html", "page.html", "io.jsonl")
    assert result.returncode == 0, result.stderr
    return (tmp_path / "page.html").read_text()


def drawings(text: str) -> dict[str, list[dict]]:
    """The data of each drawing."""
    specs = json.loads(re.search(r'id="charts">(.*?)</script>', text)[1])
    return {name: spec["data"]["values"] for name, spec in specs.items()}


def table(text: str, name: str) -> list[list[str]]:
    """The table of a drawing, with its heading."""
    figure = re.search(rf'<figure[^>]*data-chart="{name}">(.*?)</figure>', text, re.DOTALL)[1]
    rows = re.findall(r"<tr>(.*?)</tr>", figure, re.DOTALL)
    return [[html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


def test_files_of_single_ranks_are_drawn_in_the_rows_of_their_ranks(nacre, tmp_path):
    lines = [opened(1, rank, 16, 50, {rank // 2: [MIB * (rank + 1)]}) for rank in range(16)]
    text = page_of(nacre, tmp_path, lines)
    drawn, ranks = drawings(text), list(map(str, range(16)))
    assert {bin["share"] for bin in drawn["timeline"]} == {0.5}
    assert {bin["share"] for bin in drawn["ranks"]} == {0.5}
    assert sorted({bin["ranks"] for bin in drawn["ranks"]}, key=int) == ranks
    assert [[row[0], *row[-2:]] for row in table(text, "ranks")[1:]] == [[rank, "5 s", "50.0 %"] for rank in ranks]
    cells = {(cell["ranks"], cell["ost"]): cell["MiB"] for cell in drawn["rank-osts"] if cell["MiB"]}
    assert cells == {(str(rank), str(rank // 2)): rank + 1 for rank in range(16)}
    heading, *rows = table(text, "rank-osts")
    assert heading == ["Ranks", *(f"OST {ost}" for ost in range(8))]
    assert rows[5] == ["5", "0 B", "0 B", "6 MiB", *["0 B"] * 5]
    assert "communicators" not in drawn
    assert "communicator-osts" not in drawn


def test_many_ranks_with_files_of_their_own_are_drawn_in_bands(nacre, tmp_path):
    """Each band has 625 ranks. 64 of the first band have a file, and all ranks have another one open meanwhile."""
    lines = [opened(1, rank, 10_000, 50, {7: [MIB]}) for rank in range(0, 128, 2)]
    lines.append(opened(10_000, 0, 10_000, 20, {7: [0] * 15 + [MIB]}))
    text = page_of(nacre, tmp_path, lines)
    shares = {row[0]: row[-1] for row in table(text, "ranks")[1:]}
    assert len(shares) == 16
    assert shares["0-624"] == "25.1 %"  # (64 x 50 % + 625 x 20 %) / 625
    assert shares["625-1249"] == shares["9375-9999"] == "20.0 %"
    moved = {row[0]: row[1] for row in table(text, "rank-osts")[1:]}
    assert [moved[band] for band in ("0-624", "625-1249", "9375-9999")] == ["64 MiB", "0 B", "1 MiB"]


def test_ranks_of_communicators_are_drawn_apart(nacre, tmp_path):
    """Even and odd ranks have a file each. The program's ranks of their communicators are not known but for rank 0."""
    even, odd = {3: [MIB] * 8}, {4: [2 * MIB] * 8}
    text = page_of(nacre, tmp_path, [opened(8, 0, 16, 60, even), opened(8, 1, 16, 20, odd)])
    drawn = drawings(text)
    assert {bin["share"] for bin in drawn["timeline"]} == {0.4}
    assert "ranks" not in drawn
    assert "rank-osts" not in drawn
    names = [f"8 ranks from {first}: {rank}" for first in (0, 1) for rank in range(8)]
    shares = {row[0]: row[-1] for row in table(text, "communicators")[1:]}
    assert shares == {name: "60.0 %" if "from 0" in name else "20.0 %" for name in names}
    assert {(bin["ranks"], bin["share"]) for bin in drawn["communicators"]} == {
        (name, 0.6 if "from 0" in name else 0.2) for name in names
    }
    rows = table(text, "communicator-osts")[1:]
    assert rows[0] == ["8 ranks from 0: 0", "1 MiB", "0 B"]
    assert rows[15] == ["8 ranks from 1: 7", "0 B", "2 MiB"]
    assert "is a communicator of 8 ranks whose rank 0 is rank 0 of the program" in text


def test_many_communicators_share_few_rows(nacre, tmp_path):
    lines = [opened(50, first, 10_000, 30, {0: [MIB] * 16}) for first in range(0, 10_000, 50)]
    text = page_of(nacre, tmp_path, [*lines, opened(1, 9_999, 10_000, 100, {})])
    rows = table(text, "communicators")[1:]
    assert len(rows) == 29  # of 7 communicators, the last of 4
    assert [rows[0][0], rows[-1][0]] == ["7 communicators from 0 to 300", "4 communicators from 9800 to 9950"]
    assert {row[-1] for row in rows} == {"30.0 %"}
    assert table(text, "ranks")[16][-1] == "0.2 %"  # one of 625 ranks, all the time
    assert "Files of communicators are drawn below." in text


def test_a_communicator_of_all_ranks_in_another_order_is_not_drawn_as_ranks_of_the_program(nacre, tmp_path):
    drawn = drawings(page_of(nacre, tmp_path, [opened(4, 3, 4, 50, {0: [MIB] * 4})]))
    assert "ranks" not in drawn
    assert {bin["ranks"] for bin in drawn["communicators"]} == {f"4 ranks from 3: {rank}" for rank in range(4)}


def test_a_short_open_is_not_drawn_beyond_its_close(nacre, tmp_path):
    """Open for a quarter of an interval, and busy all the time."""
    short = opened(1, 1, 2, 0, {}, open_for_seconds=0.25)
    short["timeline"] = {"interval_seconds": 1, "first_ranks": [0], "percent": {"file": [[25]]}}
    text = page_of(nacre, tmp_path, [opened(1, 0, 2, 50, {}), short])
    bins = [bin for bin in drawings(text)["ranks"] if bin["ranks"] == "1"]
    assert {bin["share"] for bin in bins} == {1}
    assert max(bin["u"] for bin in bins) == 0.25


def test_the_table_over_time_has_the_figures_of_the_drawing(nacre, tmp_path):
    line = opened(4, 0, 4, 50, {})
    line["timeline"]["percent"]["wait"] = [[0] * 5 + [40] * 5] * 4
    heading, *rows = table(page_of(nacre, tmp_path, [line]), "timeline")
    assert heading == ["Seconds", "file access", "waiting for ranks"]
    assert len(rows) == 20 + 2
    assert rows[0] == ["0 to 0.5", "50.0 %", "0.0 %"]
    assert rows[19] == ["9.5 to 10", "50.0 %", "40.0 %"]
    assert rows[20] == ["sum over the ranks", "20 s", "8 s"]
    assert rows[21] == ["share of the sum", "71.4 %", "28.6 %"]


def test_columns_of_a_heat_map_are_the_ranges_of_the_coarsest_file(nacre, tmp_path):
    """The first file has a column for OSTs 0 and 1, the second one for each. A third has one for OSTs 1 and 2."""
    coarse, fine = opened(2, 0, 2, 50, {0: [4 * MIB, 0], 2: [0, MIB]}), opened(2, 0, 2, 50, {1: [0, 2 * MIB]})
    figures = coarse["kinds"]["independent_write"]["osts"]
    figures += [figures[0] | {"ost": 1}, figures[1] | {"ost": 3}]
    text = page_of(nacre, tmp_path, [coarse, fine])
    heading, *rows = table(text, "rank-osts")
    assert heading == ["Ranks", "OST 0-1", "OST 2-3"]
    assert rows == [["0", "4 MiB", "0 B"], ["1", "2 MiB", "1 MiB"]]
    assert "divided among the OSTs" not in text
    other = opened(2, 0, 2, 50, {1: [4 * MIB, 0]})
    other["kinds"]["independent_write"]["osts"] = [
        {"ost": ost, "bytes": size, "calls": 1, "alone_bytes": 0, "alone_seconds": 0}
        for ost, size in ((1, 3 * MIB), (2, MIB))
    ]
    text = page_of(nacre, tmp_path, [coarse, other])
    assert table(text, "rank-osts")[1] == ["0", "7 MiB", "1 MiB"]
    assert "divided among the OSTs" in text


def test_objects_that_are_not_on_osts_are_named(nacre, tmp_path):
    layout = [
        {"begin": 0, "end": MIB, "stripe_bytes": MIB, "stripes": 1, "osts": [-2]},
        {"begin": MIB, "end": -1, "stripe_bytes": MIB, "stripes": 4, "osts": [-1, -1, -1, -1]},
    ]
    text = page_of(nacre, tmp_path, [opened(4, 0, 4, 50, {}, layout=layout, bytes_written=8 * MIB)])
    _, *rows = table(text, "layout-0")
    assert [row[3] for row in rows] == ["the metadata target", "not chosen yet"]
    assert drawings(text)["layout-0"] == []


def test_the_table_of_a_layout_says_which_ranks_wrote_and_read_the_osts(nacre, tmp_path):
    layout = [
        {"begin": 0, "end": 4 * MIB, "stripe_bytes": MIB, "stripes": 1, "osts": [9]},
        {"begin": 4 * MIB, "end": -1, "stripe_bytes": MIB, "stripes": 4, "osts": [2, 3, 4, 5]},
    ]
    written = {2: [1, 1, 0, 1], 3: [1, 1, 0, 1], 4: [0, 0, 1, 0]}
    line = opened(4, 0, 4, 50, written, layout=layout, bytes_written=8 * MIB)
    read = opened(4, 0, 4, 50, {4: [1, 1, 1, 1], 9: [0, 0, 0, 5]})["kinds"]["independent_write"]
    line["kinds"]["collective_read"] = read
    text = page_of(nacre, tmp_path, [line])
    heading, *rows = table(text, "layout-0")
    assert heading[-3:] == ["OSTs", "Written by ranks", "Read by ranks"]
    assert [row[3:] for row in rows] == [
        ["9", "nobody", "3"],
        ["2, 3", "0-1, 3", "nobody"],
        ["4", "2", "0-3"],
        ["5", "nobody", "nobody"],
    ]
    users = {stripe["OST"]: stripe["by"] for stripe in drawings(text)["layout-0"]}
    assert users == {9: "3", 2: "0", 3: "0", 4: "2", 5: "nobody"}


def test_a_layout_names_the_rank_that_has_the_file_alone_and_says_what_ranks_of_communicators_are(nacre, tmp_path):
    layout = [{"begin": 0, "end": -1, "stripe_bytes": MIB, "stripes": 1, "osts": [6]}]
    own = opened(1, 5, 16, 50, {6: [MIB]}, layout=layout, bytes_written=MIB)
    apart = opened(2, 5, 16, 50, {6: [0, MIB]}, layout=layout, bytes_written=MIB, file="/data/part")
    unknown = opened(16, 0, 16, 50, {}, layout=layout, bytes_written=MIB, file="/data/all")
    unknown["kinds"]["independent_write"]["file_bytes"] = {"min": 0, "median": 0, "max": MIB, "sum": MIB}
    for line, written, remark in ((own, "5", False), (apart, "1", True), (unknown, "unknown", False)):
        text = page_of(nacre, tmp_path, [line])
        assert table(text, "layout-0")[1][-2:] == [written, "nobody"]
        assert drawings(text)["layout-0"][0]["by"] == written
        assert ("The ranks are those of a communicator of 2 ranks" in text) == remark


class LiveBrowser:
    """A page in a browser in real time, which runs scripts for the test (Chrome DevTools Protocol)."""

    def __init__(self, page: Path, profile: Path):
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()
        command = [
            BROWSER, "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={profile}",
            f"--window-size={SIZES['desk']}", page.as_uri(),
        ]  # fmt: skip
        # The browser reads commands from descriptor 3, and writes answers to descriptor 4.
        redirected = ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "bash", *command]
        self._process = subprocess.Popen(redirected, pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self._messages = 0
        self._received = b""

    def __enter__(self) -> LiveBrowser:
        targets = self._ask("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = {"sessionId": self._ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]}
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def run(self, script: str) -> object:
        """What the promise of the script yields."""
        options = {"expression": script, "awaitPromise": True, "returnByValue": True}
        for _ in range(100):  # the browser forgets a script that begins before the page
            answer = self._ask("Runtime.evaluate", self._session, **options)
            if "value" in answer.get("result", {}):
                return answer["result"]["value"]
            time.sleep(0.1)
        raise AssertionError(answer)

    def _ask(self, method: str, more: dict[str, str] | None = None, **parameters: object) -> dict:
        self._messages += 1
        message = {"id": self._messages, "method": method, "params": parameters} | (more or {})
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._received:
                self._received += os.read(self._from, 1 << 16)
            answer, _, self._received = self._received.partition(b"\0")
            if json.loads(answer).get("id") == self._messages:
                return json.loads(answer).get("result", {})


# At most 5 minutes.
DRAWN = """new Promise((done,fail)=>{let looks=0;const look=()=>{const found=document.body.dataset;
if(found.drawn)done([+found.drawn,+found.milliseconds]);else if(++looks>6000)fail();
else setTimeout(look,50)};look()})"""
# From the top to the bottom, a step a frame: the milliseconds of each frame, in order of length.
SCROLLED = """new Promise(done=>{let at=0,before=performance.now();const times=[],end=document.body.scrollHeight;
const step=now=>{times.push(now-before);before=now;scrollTo(0,at+=end/100);
at<end?requestAnimationFrame(step):done(times.slice(1).sort((a,b)=>a-b))};requestAnimationFrame(step)})"""


def test_the_page_of_10000_ranks_with_files_of_their_own_is_drawn(nacre, tmp_path, record_property, capsys):
    """Prints how long it took, and how long the frames are while the page scrolls; these depend on the machine."""
    lines = [opened(1, rank, 10_000, 50, {rank % 100: [MIB]}) for rank in range(10_000)]
    lines += [opened(50, first, 10_000, 30, {0: [MIB] * 16}) for first in range(0, 10_000, 50)]
    lines.append(opened(10_000, 0, 10_000, 20, {ost: [MIB] * 16 for ost in range(32)}))
    text = page_of(nacre, tmp_path, lines)
    assert len(text) < PAGE_BYTES_MAX
    with LiveBrowser(tmp_path / "page.html", tmp_path / "profile") as live:
        count, milliseconds = live.run(DRAWN)
        frames = live.run(SCROLLED)
    assert count == len(drawings(text))
    figures = {"drawn_after_ms": milliseconds, "frame_median_ms": round(frames[len(frames) // 2], 1),
               "frame_longest_ms": round(frames[-1], 1), "marks": sum(map(len, drawings(text).values()))}  # fmt: skip
    for name, figure in figures.items():
        record_property(name, figure)
    with capsys.disabled():
        print(f"\npage of 10,000 ranks: {figures}")


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
