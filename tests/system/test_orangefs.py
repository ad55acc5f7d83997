"""Layouts on OrangeFS: the xattrs of the kernel's client, as OrangeFS 2.10 returned them."""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path

import pytest
from nacre import orangefs_client
from nacre.file_system import FileSystem

SIMPLE_STRIPE = struct.pack("<I20sq24x", 13, b"simple_stripe", 65536)  # and more zeros than here
BASIC = struct.pack("<I12s", 10, b"basic_dist")
FOUR_HANDLES = struct.pack("<4Q", 4, 5, 6, 7)


@pytest.fixture(name="attributes")
def _attributes(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The xattrs of every file."""
    values: dict[str, bytes] = {}

    def getxattr(path: str, name: str) -> bytes:
        if name not in values:
            raise OSError(errno.ENODATA, "no such attribute", path)
        return values[name]

    monkeypatch.setattr(os, "getxattr", getxattr)
    return values


def test_the_layout_of_a_file_is_its_distribution_and_its_data_files(attributes: dict[str, bytes]) -> None:
    attributes |= {"system.pvfs2.md": SIMPLE_STRIPE, "system.pvfs2.dh": FOUR_HANDLES}
    expected = {"dist_name": "simple_stripe", "strip_size": 65536, "num_dfiles": 4}
    assert orangefs_client.layout_of("/orangefs/out") == expected
    attributes["system.pvfs2.md"] = BASIC
    assert orangefs_client.layout_of("/orangefs/out") == {"dist_name": "basic_dist", "num_dfiles": 4}


def test_reports_number_the_data_files_of_a_striped_file(attributes: dict[str, bytes]) -> None:
    assert orangefs_client.regions("/orangefs/out") == []
    attributes |= {"system.pvfs2.md": SIMPLE_STRIPE, "system.pvfs2.dh": FOUR_HANDLES}
    expected = {"begin": 0, "end": -1, "stripe_bytes": 65536, "stripes": 4, "osts": [0, 1, 2, 3]}
    assert orangefs_client.regions("/orangefs/out") == [expected]
    attributes["system.pvfs2.md"] = BASIC
    assert orangefs_client.regions("/orangefs/out") == []


def test_bytes_that_are_no_distribution_are_an_error_that_shows_them(attributes: dict[str, bytes]) -> None:
    attributes |= {"system.pvfs2.md": SIMPLE_STRIPE[:10], "system.pvfs2.dh": FOUR_HANDLES}
    with pytest.raises(ValueError, match="unknown contents: 0d00000073696d706c65"):
        orangefs_client.layout_of("/orangefs/out")


def test_a_directory_has_the_layout_of_new_files_or_none(attributes: dict[str, bytes], tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No data available"):
        orangefs_client.layout_of(str(tmp_path))
    attributes |= {"user.pvfs2.num_dfiles": b"2\0", "user.pvfs2.dist_params": b"strip_size:1048576\0"}
    expected = {"dist_params": "strip_size:1048576", "num_dfiles": 2}
    assert orangefs_client.layout_of(str(tmp_path)) == expected


def test_what_is_said_of_a_file_and_a_directory(attributes: dict[str, bytes], tmp_path: Path) -> None:
    mount = FileSystem("orangefs", "/orangefs", "tcp://server:3334/orangefs")
    texts = [text for _, _, text, _ in orangefs_client.remarks(tmp_path, mount)]
    assert "the directory has no layout of its own" in texts[1]
    assert "no byte-range locks" in texts[2]
    attributes |= {"user.pvfs2.num_dfiles": b"2\0", "system.pvfs2.md": SIMPLE_STRIPE, "system.pvfs2.dh": FOUR_HANDLES}
    local = FileSystem("orangefs", "/orangefs", "", frozenset({"local_lock"}))
    texts = [text for _, _, text, _ in orangefs_client.remarks(tmp_path, local)]
    assert texts[1:] == ["the directory's layout of new files: num_dfiles 2"]
    ((state, _, text, _),) = orangefs_client.file_remarks("/orangefs/out")
    assert (state, text) == ("good", "/orangefs/out: 4 data files, stripes of 64 KiB")
    attributes["system.pvfs2.md"] = BASIC
    ((state, _, text, _),) = orangefs_client.file_remarks("/orangefs/out")
    assert state == "note"
    assert "basic_dist: Nacre treats the file as not striped" in text


def test_the_commands_for_a_directory_set_all_of_its_layout() -> None:
    command = orangefs_client.command(4, 1 << 20, "/orangefs/run 1")
    assert command.split(" && ") == [
        r"""setfattr -n user.pvfs2.num_dfiles -v '"4\000"' '/orangefs/run 1'""",
        r"""setfattr -n user.pvfs2.dist_name -v '"simple_stripe\000"' '/orangefs/run 1'""",
        r"""setfattr -n user.pvfs2.dist_params -v '"strip_size:1048576\000"' '/orangefs/run 1'""",
    ]
