"""`nacre hints`: complete, and searchable."""

from __future__ import annotations

import json
import re

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


def test_a_key_selects_by_part_of_the_name(nacre):
    entries = json.loads(nacre("hints", "striping", "--json").stdout)
    assert {entry["name"] for entry in entries} >= {"striping_factor", "striping_unit"}
    assert all("striping" in entry["name"] for entry in entries)


@pytest.mark.parametrize("key", ["NACRE_CB_NODES", "nacre_cb_nodes"])
def test_a_key_may_be_a_variable(nacre, key):
    assert [entry["name"] for entry in json.loads(nacre("hints", key, "--json").stdout)] == ["cb_nodes"]


def test_a_misspelt_key_is_answered_with_a_near_one(nacre):
    result = nacre("hints", "cb_nods")
    assert result.returncode == 2
    assert "Did you mean cb_nodes" in result.stderr


def test_the_table_has_no_line_wider_than_the_terminal(nacre):
    result = nacre("hints", COLUMNS="100")
    assert "cb_buffer_size" in result.stdout
    assert max(len(line) for line in result.stdout.splitlines()) <= 100
