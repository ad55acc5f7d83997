"""The table of file systems: what the command says of each, and that its rows are what the library is made from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nacre import file_system

STATE = {"local": "good", "coherent": "good", "cached": "note"}
ROWS = file_system.known()


def judged(kind: str, *options: str) -> tuple[str, str, str, str]:
    return file_system.judgement(file_system.FileSystem(kind, "/m", "source", frozenset(options)), Path("/m/d"))


@pytest.mark.parametrize("name", ROWS)
def test_the_command_judges_each_file_system_as_its_row_says(name):
    row = ROWS[name]
    for kind in row.get("mount_types", [name]):
        state, _, text, _ = judged(kind, *row.get("global_locks_options", []))
        assert state == STATE[row["sharing"]]
        assert ("only ranks on this node" in text) == (row["sharing"] == "local")
        assert ("POSIX" in text) == (row["sharing"] != "cached" and "store" not in row)
    for option in row.get("local_locks_options", []):
        state, _, text, advice = judged(row.get("mount_types", [name])[0], option)
        assert state == "note"
        assert f"({option})" in text
        assert row["locks_advice"] in advice
    if "global_locks_options" in row:
        state, _, text, advice = judged(name)
        assert (state, row["locks_advice"] in advice) == ("note", True)
        assert f"(no {row['global_locks_options'][0]})" in text


def test_settings_of_a_client_may_limit_locks_to_a_node(monkeypatch, tmp_path):
    (tmp_path / "config").write_text("a = 1\ntuneUseGlobalFileLocks = 0\n")
    row = file_system.known()["beegfs"]
    assert row["local_locks_settings"][1] == "tuneUseGlobalFileLocks = 0"
    assert judged("beegfs")[0] == "good"
    changed = {"beegfs": row | {"local_locks_settings": [f"{tmp_path}/*", "tuneUseGlobalFileLocks = 0"]}}
    monkeypatch.setattr(file_system, "known", lambda: changed)
    assert "within one node (tuneUseGlobalFileLocks = 0)" in judged("beegfs")[2]


def test_a_mount_type_belongs_to_one_file_system():
    kinds = [kind for name, row in ROWS.items() for kind in row.get("mount_types", [name])]
    assert len(kinds) == len(set(kinds))
    assert "uses POSIX calls" in judged("fuse.some-daemon")[2]
    assert "only ranks on this node" in judged("some-new-one")[2]


def test_file_systems_with_the_same_magic_have_different_markers_or_mount_types():
    seen: set[int] = set()
    for name, row in ROWS.items():
        assert not seen & set(row["magics"]), f"{name} is never found"
        if "marker_attribute" not in row and not row.get("by_mount_type"):
            seen |= set(row["magics"])


def test_each_store_in_the_table_is_a_folder_of_src_store(source):
    for row in ROWS.values():
        if "store" in row:
            assert (source / "src/store" / row["store"] / f"{row['store']}_store.h").is_file()


def test_magic_numbers_are_only_in_the_table(source):
    magics = {magic for row in ROWS.values() for magic in row["magics"] if magic > 0xFFFF}
    for path in (source / "src").rglob("*.[ch]*"):
        numbers = {int(text, 16) for text in re.findall(r"\b0x[0-9a-fA-F]{8}\b", path.read_text())}
        assert not numbers & magics, path
