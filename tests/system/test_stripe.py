"""`nacre stripe`, on layouts captured from a real Lustre; `--raw` takes them as they were saved."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nacre import file_system, layout_text, lustre_client
from striping import ALL_OSTS, END_OF_FILE, LAYOUT, composite, count_of, plain

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "lustre-layouts"


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.bin")), ids=lambda path: path.stem)
def test_a_saved_layout_reads_as_lfs_wrote_it(nacre, sample: Path) -> None:
    shown = nacre("stripe", "show", "--raw", sample)
    assert shown.returncode == 0, shown.stderr
    expected = sample.with_suffix(".yaml").read_text().rstrip("\n")
    if sample.stem == "dir-default-pool":  # leaves the size of stripes to the file system, which lfs had asked
        expected = expected.replace("4194304", "0")
    assert shown.stdout.rstrip("\n") == expected


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.bin")), ids=lambda path: path.stem)
def test_layouts_as_json_have_the_names_and_values_of_the_text(nacre, sample: Path) -> None:
    text = nacre("stripe", "show", "--raw", sample).stdout
    (layout,) = json.loads(nacre("stripe", "show", "--json", "--raw", sample).stdout)

    def leaves(part: object) -> list[str]:
        if isinstance(part, dict):
            return [leaf for name, value in part.items() for leaf in leaves_of(name, value)]
        return [leaf for item in part for leaf in leaves(item)]

    def leaves_of(name: str, value: object) -> list[str]:
        return leaves(value) if isinstance(value, (dict, list)) else [f"{name}: {value}"]

    wanted = [re.sub(r":\s+", ": ", line.strip().removeprefix("- ")) for line in text.splitlines()]
    wanted = [line.replace("'", "") for line in wanted if not line.endswith(":")]
    assert leaves({name: value for name, value in layout.items() if name != "path"}) == wanted


def test_several_layouts_are_shown_with_their_paths(nacre) -> None:
    one, other = SAMPLES / "pfl-fresh.bin", SAMPLES / "pool-v3.bin"
    shown = nacre("stripe", "show", "--raw", one, "--raw", other)
    assert shown.stdout.startswith(f"{one}:\nlcm_layout_gen:")
    assert f"{other}:\nlmm_stripe_count:" in shown.stdout
    with_a_gap = nacre("stripe", "show", "--raw", one, "--raw", "none", "--raw", other)
    assert with_a_gap.returncode == 2
    assert with_a_gap.stdout == shown.stdout
    assert "none" in with_a_gap.stderr


def test_a_layout_can_be_read_from_standard_input(nacre) -> None:
    shown = subprocess.run(
        [str(nacre.path), "stripe", "show", "--raw", "-"],
        input=(SAMPLES / "one-stripe-64k.bin").read_bytes(),
        env=nacre.environment,
        capture_output=True,
        timeout=600,
        check=True,
    )
    assert b"lmm_stripe_size:   65536" in shown.stdout


def test_the_error_for_an_invalid_layout_says_why(nacre, tmp_path: Path) -> None:
    blob = tmp_path / "blob"
    blob.write_bytes((SAMPLES / "four-stripes-1m.bin").read_bytes()[:-5])
    shown = nacre("stripe", "show", "--raw", blob)
    assert shown.returncode == 2
    assert f"{blob}: layout (lustre.lov): truncated: the list of objects ends inside an object" in shown.stderr
    assert "no such file" in nacre("stripe", "show", "--raw", tmp_path / "none").stderr.lower()


def test_a_file_on_another_file_system_has_no_layout(nacre, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    shown = nacre("stripe", "show", plain)
    assert shown.returncode == 2
    assert "is not on Lustre" in shown.stderr
    assert nacre("stripe", "show").returncode == 2


def test_a_file_in_place_of_a_command_is_shown(nacre, nodes) -> None:
    (nodes[0] / "file").write_bytes(b"x")
    for words in ([nodes[0] / "file"], [nodes[0] / "file", nodes[0]], [nodes[0] / "file", "--json"]):
        shown = nacre("stripe", *words)
        assert shown.returncode == 0, shown.stderr
        assert shown.stdout == nacre("stripe", "show", *words).stdout
    missing = nacre("stripe", "nowhere/file")
    assert missing.returncode == 2
    assert "cannot read the layout of nowhere/file: No such file or directory" in missing.stderr


def test_commands_of_stripe_are_no_files(nacre, tmp_path: Path) -> None:
    for name in ("advise", "advis"):
        (tmp_path / name).touch()
    assert "Missing argument 'SIZE'" in nacre("stripe", "advise").stderr
    assert "advis is not on Lustre" in nacre("stripe", "advis").stderr  # a file here
    (tmp_path / "advis").unlink()
    assert "Did you mean 'advise'?" in nacre("stripe", "advis").stderr
    assert "No such option" in nacre("stripe", "--osts", "4").stderr
    assert "Usage: nacre stripe" in nacre("stripe", "--help").stdout


@pytest.mark.skipif(
    "NACRE_TEST_DIR" not in os.environ or file_system.of(Path(os.environ["NACRE_TEST_DIR"])).kind != "lustre",
    reason="NACRE_TEST_DIR is not set, or not on Lustre",
)
def test_a_file_on_lustre_shows_its_layout(nacre) -> None:
    path = Path(os.environ["NACRE_TEST_DIR"]) / "nacre-stripe-show"
    path.write_bytes(b"x")
    try:
        shown = nacre("stripe", "show", path)
        assert shown.returncode == 0, shown.stderr
        assert "lmm_stripe_size" in shown.stdout
    finally:
        path.unlink()


def test_a_directory_without_a_layout_of_its_own_is_no_error(nacre, nodes) -> None:
    (nodes[0] / "file").write_bytes(b"x")
    shown = nacre("stripe", "show", nodes[0], nodes[0] / "file")
    assert shown.returncode == 0, shown.stderr
    assert f"{nodes[0]}: no layout of its own" in shown.stdout
    assert "lmm_stripe_count" in shown.stdout
    directory, file = json.loads(nacre("stripe", "show", "--json", nodes[0], nodes[0] / "file").stdout)
    assert not directory["has_default"]
    assert file["lmm_stripe_count"] == 1


def erasure_coded(end: int) -> bytes:
    """Two data stripes and one parity stripe, up to byte `end`."""
    data, parity = plain(2, 1 << 20), plain(1, 1 << 20, pattern=0x5)
    coded = bytearray(composite((0, end, data), (0, end, parity), ids=(65537, 131074)))
    coded[16:19] = bytes([1, 0, 1])  # mirrors but one, components with parity
    coded[32 + 48 + 4] = 0x80  # the flag of parity
    coded[32 + 48 + 44 : 32 + 48 + 46] = bytes([2, 1])
    return bytes(coded)


def test_a_layout_with_parity_that_ends_early_is_not_completed(nacre, build: Path, tmp_path: Path) -> None:
    (tmp_path / "lov").write_bytes(erasure_coded(1 << 20))
    read = "import sys; from nacre import library; library.layout_rest(open(sys.argv[1], 'rb').read())"
    paths = {"PYTHONPATH": os.pathsep.join(sys.path), "NACRE_LIBRARY_DIR": str(build / "lib")}
    done = subprocess.run(
        [sys.executable, "-c", read, str(tmp_path / "lov")],
        env={**nacre.environment, **paths},
        capture_output=True,
        timeout=600,
        check=False,
    )
    assert b"it ends at byte 1048576 and has mirrors or parity" in done.stderr


def test_parity_is_no_stripe_of_the_data(nacre, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lov").write_bytes(erasure_coded(END_OF_FILE))
    shown = nacre("stripe", "show", "--raw", tmp_path / "lov")
    assert shown.returncode == 0, shown.stderr
    assert "lcme_flags:          parity\n    lcme_dstripe_count:  2\n    lcme_cstripe_count:  1\n" in shown.stdout
    layout = layout_text.parse(shown.stdout)
    monkeypatch.setattr(lustre_client.os, "getxattr", lambda *_: b"")
    monkeypatch.setattr(lustre_client.library, "layout_yaml", lambda _: shown.stdout)
    assert [one["stripes"] for one in lustre_client.regions("any")] == [2]
    assert len(layout["components"]) == 2


def test_a_default_layout_with_components_has_the_keys_of_lfs(nacre, nodes) -> None:
    os.setxattr(nodes[0], LAYOUT, composite((0, 1 << 20, plain(1)), (1 << 20, END_OF_FILE, plain(ALL_OSTS))))
    (nodes[0] / "file").write_bytes(b"x")
    text = nacre("stripe", "show", nodes[0]).stdout
    assert "    lcme_mirror_id:      N/A\n    lcme_flags:          0\n" in text
    assert "      stripe_count:  -1\n" in text
    assert "lmm_" not in text
    directory, file = json.loads(nacre("stripe", "show", "--json", nodes[0], nodes[0] / "file").stdout)
    assert [one["lcme_id"] for one in directory["components"]] == ["N/A", "N/A"]
    assert [one["lcme_id"] for one in file["components"]] == [1, 2]
    assert file["components"][0]["sub_layout"]["lmm_stripe_count"] == 1


def with_lfs(nacre, tmp_path: Path) -> dict[str, str]:
    """The environment of a machine that has lfs."""
    folder = tmp_path / "lustre-client"
    folder.mkdir()
    (folder / "lfs").symlink_to(shutil.which("true"))
    return {"PATH": f"{folder}:{nacre.environment['PATH']}"}


@pytest.mark.skipif(shutil.which("lfs") is not None, reason="lfs is on this machine")
def test_advice_prints_a_command_and_reasons(nacre, tmp_path: Path) -> None:
    advised = nacre("stripe", "advise", "1t", "--nodes", "120", "--ranks", "6400", "--osts", "144", "/scratch/run1")
    assert advised.returncode == 0, advised.stderr
    command, set_command, hint, *reasons = advised.stdout.splitlines()
    assert command == "lfs setstripe -c 120 -S 16m /scratch/run1/FILE"
    assert set_command == "or, without lfs: nacre stripe set -c 120 -S 16m /scratch/run1/FILE"
    assert hint == "or, without lfs: nacre run --hint 'nacre_layout=-c 120 -S 16m' -- ..."
    assert nacre("run", "--hint", "nacre_layout=-c 120 -S 16m", "--", "true").returncode == 0
    assert reasons[0] == "  at most 144: there are no more OSTs"
    assert reasons[1] == "  120 rather than 144: the 120 nodes share them evenly"
    as_json = json.loads(nacre("stripe", "advise", "1t", "--nodes", "120", "--osts", "144", "--json", "/s").stdout)
    assert as_json["command"] == f"lfs setstripe {as_json['options']} /s/FILE"
    assert as_json["set"] == f"nacre stripe set {as_json['options']} /s/FILE"
    assert as_json["reasons"][-1].startswith("stripes of")
    small = nacre("stripe", "advise", "10m", "--nodes", "2", "--osts", "8")
    assert small.stdout.splitlines()[0] == "lfs setstripe -c 4 -S 1m ./FILE"
    assert small.stdout.splitlines()[3] == "  at most 4: the ranks keep no more OSTs busy"
    beside_lfs = nacre("stripe", "advise", "10m", "--nodes", "2", "--osts", "8", **with_lfs(nacre, tmp_path))
    assert "nacre stripe set" not in beside_lfs.stdout
    one_writer = nacre("stripe", "advise", "10m", "--nodes", "2", "--osts", "8", NACRE_MACHINE="none")
    assert "each OST should have at least 32 MiB" in one_writer.stdout


def test_advice_needs_valid_arguments_and_a_number_of_osts(nacre, tmp_path: Path) -> None:
    elsewhere = nacre("stripe", "advise", "1g", tmp_path)
    assert elsewhere.returncode == 2
    assert "is not on Lustre" in elsewhere.stderr
    assert "--osts" in elsewhere.stderr
    for arguments, complaint in (
        (["1x", "--osts", "4"], 'SIZE "1x" is not a number of bytes'),
        (["1g", "--osts", "0"], "number of OSTs 0 is less than 1"),
        (["1g", "--osts", "4", "--nodes", "0"], "number of nodes 0 is less than 1"),
        (["1g", str(tmp_path / "none")], os.strerror(errno.ENOENT)),
    ):
        refused = nacre("stripe", "advise", *arguments)
        assert refused.returncode == 2
        assert complaint in " ".join(refused.stderr.split())


SET = (
    ("-c 3 -S 128k", ["lmm_stripe_count:  3", "lmm_stripe_size:   131072"]),
    ("-c -1", ["lmm_stripe_count:  4"]),
    ("-C -2", ["lmm_stripe_count:  8", "lmm_pattern:       raid0,overstriped"]),
    ("-c 1 -i 0", ["lcme_extent.e_end:   EOF", "lmm_stripe_offset: 0"]),
    ("-o 2,0", ["lmm_stripe_count:  2", "l_ost_idx: 2", "l_ost_idx: 0"]),
    ("-E 64m -c 1 -E -1 -c 4", ["lcme_extent.e_end:   67108864", "lmm_stripe_count:  4"]),
)


@pytest.mark.parametrize(("options", "lines"), SET, ids=[options for options, _ in SET])
def test_a_file_is_created_with_a_layout(nacre, nodes, options: str, lines: list[str]) -> None:
    words = options.split()
    for number, command in enumerate(([*words, "PATH"], ["PATH", *words], [options, "PATH"])):
        path = nodes[0] / f"file{number}"
        done = nacre("stripe", "set", *(path if word == "PATH" else word for word in command))
        assert done.returncode == 0, done.stderr
        assert done.stdout == nacre("stripe", "show", path).stdout
        assert path.stat().st_size == 0
        with path.open("r+b") as file:
            file.truncate(65 << 20)
            file.seek(64 << 20)
            file.write(b"x")
        shown = nacre("stripe", "show", nodes[1] / path.name).stdout
        for line in lines:
            assert line in shown


def test_a_directory_gets_a_default_layout_and_loses_it(nacre, nodes) -> None:
    directory = nodes[0] / "run"
    directory.mkdir()
    done = nacre("stripe", "set", "-c", 3, "-S", "128k", directory)
    assert done.returncode == 0, done.stderr
    assert "stripe_count:  3" in done.stdout
    (directory / "file").write_bytes(b"x")
    assert count_of(os.getxattr(directory / "file", LAYOUT)) == 3
    (layout,) = json.loads(nacre("stripe", "set", "-c", 2, directory, "--json").stdout)
    assert layout["stripe_count"] == 2
    assert "no layout of its own" in nacre("stripe", "set", "-d", directory).stdout
    assert "no layout of its own" in nacre("stripe", "set", directory, "--delete").stdout
    (directory / "other").write_bytes(b"x")
    assert count_of(os.getxattr(directory / "other", LAYOUT)) == 1


def test_the_error_for_a_layout_that_cannot_be_set_says_why(nacre, nodes, tmp_path: Path) -> None:
    (nodes[0] / "there").write_bytes(b"x")
    for words, complaint in (
        (["-c", "x", nodes[0] / "f"], "layout option -c x: a stripe count is 1 to 2000"),
        (["-x", "1", nodes[0] / "f"], "layout option -x: unknown; the options are -E, -c, -S"),
        ([nodes[0] / "f"], "there are no options; for example -c 4 -S 1m"),
        (["-c", "1", nodes[0] / "there"], f"{nodes[0] / 'there'} exists; only a new file can get a layout"),
        (["-c", "1", nodes[0] / "none" / "f"], f"cannot open the directory {nodes[0] / 'none'}: No such file"),
        (["-c", "1", "-i", "77", nodes[0] / "f"], "cannot set the layout '-c 1 -i 77' of"),
        (["-c", "1", "-i", "77", nodes[0] / "f"], "Check the numbers of OSTs (0 to 3)"),
        (["-c", "1", tmp_path / "f"], f"cannot set the layout of {tmp_path / 'f'}: {tmp_path} is on "),
        (["-c", "1", tmp_path], "not on Lustre"),
        (["-d", nodes[0] / "there"], f"-d: {nodes[0] / 'there'} is not a directory"),
    ):
        refused = nacre("stripe", "set", *words)
        assert refused.returncode == 2
        assert complaint in refused.stderr
    assert not (nodes[0] / "f").exists()
    assert not (tmp_path / "f").exists()


def test_a_value_of_an_option_is_no_option_of_nacre(nacre, nodes) -> None:
    """-pflash has an h and a d in it, and -h is help."""
    done = nacre("stripe", "set", nodes[0] / "f", "-c1", "-phdd")
    assert done.returncode == 0, done.stderr
    assert "hdd" in done.stdout
    assert "Usage: nacre stripe set" in nacre("stripe", "set", "-h").stdout
