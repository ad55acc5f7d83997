"""`nacre hints`: complete, and searchable."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest


def test_every_hint_has_a_kind_a_default_and_a_meaning(nacre):
    entries = json.loads(nacre("hints", "--json").stdout)
    assert len(entries) > 20
    for entry in entries:
        assert entry["name"]
        assert entry["meaning"]
        assert "default" in entry
    assert {"cb_nodes", "striping_factor", "nacre_enable", "NACRE_HINTS"} <= {entry["name"] for entry in entries}


def test_every_variable_that_the_library_reads_is_listed(nacre, source):
    """Regression: a variable was added to the library and forgotten in the list."""
    values = [value for entry in json.loads(nacre("hints", "--json").stdout) for value in entry.values()]
    listed = {value for value in values if isinstance(value, str) and value.startswith("NACRE_")}
    read = set()
    for path in (source / "src").rglob("*.cc"):
        read |= set(re.findall(r'(?:getenv|environment)\("(NACRE_[A-Z_]+)"\)', path.read_text()))
    assert read
    assert {name for name in read if not name.startswith("NACRE_TEST_")} <= listed


def test_every_hint_is_read_or_marked_as_ignored(nacre, source):
    """A row of the table alone gives a hint that is listed and checked, and changes nothing."""
    table = source / "src/file/hints/hint_table.cc"
    text = "".join(path.read_text() for path in (source / "src").rglob("*.cc") if path != table)
    hints = [entry for entry in json.loads(nacre("hints", "--json").stdout) if "kind" in entry]
    used = [hint["name"] for hint in hints if hint["used"]]
    unread = [name for name in used if f'"{name}"' not in text]
    assert not unread, "no source of src reads them: read them in src/file/hints/hints.cc, or use ignored_hint()"


def test_the_page_of_all_hints_is_what_the_library_has(nacre, source):
    entries = nacre("hints", "--json").stdout
    script = [sys.executable, source / "scripts" / "hints_page.py"]
    page = subprocess.run(script, input=entries, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert page == (source / "docs" / "hints.md").read_text(), "write it anew: scripts/hints_page.py says how"


def test_a_key_selects_by_part_of_the_name(nacre):
    entries = json.loads(nacre("hints", "striping", "--json").stdout)
    assert {entry["name"] for entry in entries} >= {"striping_factor", "striping_unit"}
    assert all("striping" in entry["name"] for entry in entries)


@pytest.mark.parametrize("key", ["NACRE_CB_NODES", "nacre_cb_nodes"])
def test_a_key_may_be_a_variable(nacre, key):
    assert [entry["name"] for entry in json.loads(nacre("hints", key, "--json").stdout)] == ["cb_nodes"]


def test_the_error_for_a_misspelt_key_suggests_a_similar_key(nacre):
    result = nacre("hints", "cb_nods")
    assert result.returncode == 2
    assert "Did you mean cb_nodes?" in result.stderr
    assert "Did you mean striping_factor?" in nacre("hints", "stripe_factor").stderr
    assert "Did you mean" not in nacre("hints", "stripe_count").stderr


def test_a_file_on_a_testbed_has_the_machine_that_its_jobs_have(nacre, nodes):
    assert "machine: lustre" in nacre("hints", nodes[0] / "new").stdout


def test_the_table_has_no_line_wider_than_the_terminal(nacre):
    result = nacre("hints", COLUMNS="100")
    assert "cb_buffer_size" in result.stdout
    assert max(len(line) for line in result.stdout.splitlines()) <= 100


def test_hints_that_are_ignored_share_one_row(nacre):
    entries = {entry["name"]: entry for entry in json.loads(nacre("hints", "--json").stdout)}
    shown = nacre("hints", COLUMNS="400").stdout
    [row] = [line for line in shown.splitlines() if "(ignored)" in line]
    assert "accepted, returned by MPI_File_get_info and otherwise ignored: access_style, cb_block_size, chunked," in row
    ignored = row.rpartition(": ")[2].split(", ")
    assert {"chunked_item", "chunked_size", "io_node_list", "num_io_nodes"} <= {name.strip() for name in ignored}
    for name in ignored:
        assert shown.count(f"{name.strip()} ") + shown.count(f"{name.strip()},") <= 1, name
        assert name.strip() in entries
    assert "cb_nodes" not in row
    alone = nacre("hints", "chunked_item").stdout
    assert "otherwise ignored: chunked_item" in " ".join(alone.split())


def test_for_a_file_the_effective_hints_and_their_sources_are_shown(nacre, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text('[hints]\ncb_nodes = 4\n[files."*.nc"]\nstriping_factor = 8\n')
    variables = {"NACRE_CONFIG": str(config), "MPICH_MPIIO_HINTS": "*.nc:cb_buffer_size=4m", "ROMIO_HINTS": "/none"}
    found = json.loads(nacre("hints", "/scratch/x.nc", "--json", **variables).stdout)
    assert found["hints"]["cb_nodes"] == {"value": "4", "from": "user's file"}
    assert found["hints"]["striping_factor"] == {"value": "8", "from": "user's file"}
    assert found["hints"]["cb_buffer_size"] == {"value": "4194304", "from": "environment"}
    assert found["notes"] == ['variable ROMIO_HINTS: cannot read the file "/none"']
    other = nacre("hints", "/scratch/x.h5", **variables).stdout
    assert re.search(r"cb_nodes +4 +user's file", other)
    assert "striping_factor" not in other
    assert "no variable sets a hint" in nacre("hints", "./x.nc", NACRE_CONFIG="/none").stdout


def test_for_a_file_the_machine_that_holds_is_shown(nacre, tmp_path):
    machines = tmp_path / "nacre" / "machines"
    machines.mkdir(parents=True)
    text = f'[machine]\nversion = 1\nmount = "{tmp_path}"\n[osts]\nbandwidth = "5m"\n'
    (machines / "site.toml").write_text(text)
    variables = {"XDG_CONFIG_HOME": str(tmp_path), "NACRE_CONFIG": "/none"}
    file = tmp_path / "not" / "there" / "x.nc"
    assert json.loads(nacre("hints", str(file), "--json", **variables).stdout)["machine"] == str(machines / "site.toml")
    assert "machine: lustre" in nacre("hints", str(file), **variables, NACRE_MACHINE="lustre").stdout
    assert "machine: none" in nacre("hints", str(file), **variables, NACRE_MACHINE="none").stdout
    (machines / "site.toml").write_text(text + "speed = 1\n")
    wrong = nacre("hints", str(file), **variables)
    assert wrong.returncode == 2
    assert "site.toml" in wrong.stderr and "speed" in wrong.stderr


def test_an_invalid_hint_for_a_file_is_an_error(nacre):
    result = nacre("hints", "/scratch/x.nc", NACRE_CB_NODES="many")
    assert result.returncode == 2
    assert "variable NACRE_CB_NODES" in result.stderr


OPEN = """
import sys
from mpi4py import MPI
try:
    MPI.File.Open(MPI.COMM_WORLD, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR).Close()
except MPI.Exception as error:
    print(error.Get_error_class() == MPI.ERR_INFO_VALUE, error.Get_error_string(), flush=True)
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "nacre_machine = .*/m.toml: there is no such file"),
        ('[osts]\ncount = "many"\n', "m.toml:2: osts.count = many"),
    ],
)
def test_a_bad_machine_file_that_a_user_names_fails_the_open_on_each_rank(nacre, tmp_path, text, message):
    machine = tmp_path / "m.toml"
    if text:
        machine.write_text(text)
    program = ["/usr/bin/python3", "-c", OPEN, tmp_path / "f"]
    ranks = ["mpiexec.openmpi", "--oversubscribe", "-n", 2, "-x", f"NACRE_MACHINE={machine}"]
    done = nacre("run", "--", *ranks, *program)
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stdout + done.stderr
    assert all(re.match(f"True .*{message}", line) for line in lines), lines
