"""`nacre run` with the launchers of this machine: what reaches the ranks, and what comes back."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from figures import many, report_of
from nacre import settings

SHOW = 'echo "[$LD_PRELOAD]"'
CHECKPOINT = Path(__file__).resolve().parents[2] / "demo" / "checkpoint.py"


def lines(text: str) -> list[str]:
    return sorted(line for line in text.splitlines() if line.startswith("["))


def test_every_rank_has_the_preload(nacre, mpiexec):
    result = nacre("run", "--", *mpiexec, "-n", 3, "sh", "-c", SHOW)
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == [f"[{nacre.library}]"] * 3


def test_every_program_of_a_launch_has_the_preload(nacre, mpiexec):
    script = f"{SHOW}; echo '['$0]"
    result = nacre("run", *mpiexec, "-n", 2, "sh", "-c", script, "ocean", ":", "-n", 1, "sh", "-c", script, "air")
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == sorted([f"[{nacre.library}]"] * 3 + ["[ocean]"] * 2 + ["[air]"])


def test_the_settings_reach_every_rank(nacre, mpiexec, tmp_path):
    options = ["--hint", "cb_nodes=2", "--hint", "*.h5:striping_factor=4", "--report", "r.json", "--disable", "*.tmp"]
    result = nacre("run", *options, *mpiexec, "-n", 2, "sh", "-c", 'echo "[$NACRE_HINTS $NACRE_REPORT $NACRE_EXCLUDE]"')
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == [f"[*:cb_nodes=2,*.h5:striping_factor=4 {tmp_path}/r.json *.tmp]"] * 2


def test_hints_and_exclusions_of_the_environment_are_kept_and_come_first(nacre):
    result = nacre(
        "run", "--hint", "cb_nodes=2", "--disable", "b", "sh", "-c", 'echo "[$NACRE_HINTS][$NACRE_EXCLUDE]"',
        NACRE_HINTS="*:cb_nodes=1", NACRE_EXCLUDE="a",
    )  # fmt: skip
    assert result.stdout == "[*:cb_nodes=1,*:cb_nodes=2][a,b]\n"


def test_a_preload_of_the_user_is_kept_on_the_ranks_and_comes_first(nacre, mpiexec):
    libm = "libm.so.6"
    result = nacre("run", *mpiexec, "-n", 1, "sh", "-c", SHOW, LD_PRELOAD=libm)
    assert lines(result.stdout) == [f"[{libm}:{nacre.library}]"], result.stderr


def test_every_rank_of_an_application_file_has_the_preload(nacre, tmp_path):
    (tmp_path / "show.sh").write_text(f"#!/bin/sh\n{SHOW}\n")
    (tmp_path / "show.sh").chmod(0o755)
    (tmp_path / "ranks").write_text(f"-np 2 {tmp_path}/show.sh\n")
    for mpiexec in (["mpirun.openmpi", "--oversubscribe"], ["timeout", "1m", "mpirun.openmpi", "--oversubscribe"]):
        result = nacre("run", *mpiexec, "--app", tmp_path / "ranks")
        assert lines(result.stdout) == [f"[{nacre.library}]"] * 2, result.stderr


def test_ranks_that_a_script_starts_have_the_preload(nacre, mpiexec, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/sh\nexec {' '.join(mpiexec)} -n 2 sh -c '{SHOW}'\n")
    script.chmod(0o755)
    result = nacre("run", script)
    assert result.returncode == 0, result.stderr
    assert lines(result.stdout) == [f"[{nacre.library}]"] * 2


def test_the_launcher_itself_is_not_preloaded(nacre, mpiexec):
    result = nacre("run", "--dry-run", *mpiexec, "-n", 2, "true")
    assert result.returncode == 0
    assert result.stdout.startswith(mpiexec[0] + " ")
    assert str(nacre.library) in result.stdout


def test_a_dry_run_runs_nothing_and_prints_an_equivalent_command(nacre, mpiexec, tmp_path):
    result = nacre(
        "run", "--dry-run", "--hint", "*.nc:nacre_pool=b c", *mpiexec, "-n", 1, "sh", "-c", f"touch ran; {SHOW}"
    )
    assert not (tmp_path / "ran").exists()
    again = subprocess.run(
        ["sh", "-c", result.stdout], env=nacre.environment, cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert lines(again.stdout) == [f"[{nacre.library}]"], again.stderr
    assert (tmp_path / "ran").exists()


def test_a_dry_run_in_json_has_the_command_and_the_variables(nacre):
    words = ["sh", "-c", "echo 'a b'"]
    dry = json.loads(nacre("run", "--dry-run", "--json", "--hint", "cb_nodes=2", *words).stdout)
    assert dry == {"command": words, "environment": {"LD_PRELOAD": str(nacre.library), "NACRE_HINTS": "*:cb_nodes=2"}}


def test_top_limits_the_findings_of_a_summary(nacre, tmp_path):
    storms = {name: {"calls": many(60), "seconds": many(1)} for name in ("sync", "set_view", "get_size")}
    (tmp_path / "line").write_text(json.dumps(report_of({}, run="RUN", other_calls=storms, seconds=many(3))) + "\n")
    job = ["sh", "-c", 'sed "s/RUN/$NACRE_RUN/" line > "$NACRE_REPORT"']
    for options, findings in ((["--summary", "--top", 2], 2), (["--summary"], 3)):
        summed_up = nacre("run", *options, *job).stderr
        assert len(re.findall(r"^  \d\. ", summed_up, re.MULTILINE)) == findings
        assert ("1 more finding: show all with --top 3." in summed_up) == (findings == 2)
    assert "1 more finding" in nacre("run", "--top", 2, *job, NACRE_SUMMARY="1").stderr


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_the_exit_code_is_the_programs(nacre, code):
    assert nacre("run", "sh", "-c", f"exit {code}").returncode == code


def test_the_exit_code_of_a_launch_is_the_launchers(nacre, mpiexec):
    command = [*mpiexec, "-n", "2", "sh", "-c", "exit 5"]
    alone = subprocess.run(command, env=nacre.environment, capture_output=True, timeout=600)
    assert nacre("run", *command).returncode == alone.returncode != 0


def test_standard_input_reaches_the_program(nacre):
    result = subprocess.run(
        [nacre.path, "run", "cat"], env=nacre.environment, input="in\n", capture_output=True, text=True, timeout=600
    )
    assert result.stdout == "in\n"


def test_the_program_has_the_signals_and_locale_of_nacre_run(nacre):
    plain = subprocess.run(["env", "-i", "grep", "SigIgn", "/proc/self/status"], capture_output=True, text=True)
    assert nacre("run", "grep", "SigIgn", "/proc/self/status").stdout == plain.stdout
    without_locale = {k: v for k, v in nacre.environment.items() if not k.startswith(("LC_", "LANG"))}
    seen = subprocess.run([nacre.path, "run", "env"], env=without_locale, capture_output=True, text=True)
    assert "LC_" not in seen.stdout


def test_a_signal_reaches_the_program(nacre, tmp_path):
    ready = tmp_path / "ready"
    script = f"trap 'exit 42' TERM; touch {ready}; while true; do sleep 0.05; done"
    process = subprocess.Popen([nacre.path, "run", "sh", "-c", script], env=nacre.environment)
    deadline = time.monotonic() + 600
    while not ready.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=600) == 42


def test_an_interrupted_launch_leaves_no_rank_behind(nacre, mpiexec, tmp_path):
    script = f"echo $$ > {tmp_path}/$$.pid; exec sleep 300"
    process = subprocess.Popen(
        [nacre.path, "run", *mpiexec, "-n", "2", "sh", "-c", script], env=nacre.environment, cwd=tmp_path,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 600
    while len(list(tmp_path.glob("*.pid"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    ranks = [int(path.stem) for path in tmp_path.glob("*.pid")]
    assert len(ranks) == 2
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=600)  # what Hydra then returns is a matter of its timing
    deadline = time.monotonic() + 600
    while any(Path(f"/proc/{rank}").exists() for rank in ranks) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [rank for rank in ranks if Path(f"/proc/{rank}").exists()]


@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_a_python_program_is_served_and_reported(nacre, build, python_of, family, tmp_path):
    options = ["--oversubscribe"] if family == "openmpi" else []
    mpiexec = str(build / "venv" / family / "bin/mpiexec")
    command = [mpiexec, *options, "-n", "3", python_of(family), CHECKPOINT, "data", "16"]
    result = nacre("run", "--report", "report.jsonl", *command)
    assert result.returncode == 0, result.stderr
    report = [json.loads(line) for line in (tmp_path / "report.jsonl").read_text().splitlines()]
    assert {os.path.basename(line["file"]) for line in report} == {"data"}
    size = (tmp_path / "data").stat().st_size
    assert sum(line["bytes_written"] for line in report) >= size - 4096
    assert sum(line["bytes_read"] for line in report) >= 4 * 16**3 * 8
    assert all(line["calls"] > 0 for line in report)


def test_the_mpi_serves_files_for_which_nacre_is_disabled(nacre, build, python_of, tmp_path):
    mpiexec = str(build / "venv/mpich/bin/mpiexec")
    command = [mpiexec, "-n", "2", python_of("mpich"), CHECKPOINT, "data", "16"]
    result = nacre("run", "--disable", "*data", "--report", "report.jsonl", *command)
    assert result.returncode == 0, result.stderr
    assert not (tmp_path / "report.jsonl").exists()
    assert (tmp_path / "data").stat().st_size > 4 * 16**3 * 8


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nosuchprogram"], 127, ["program not found: nosuchprogram", "module"]),
        (["--", "--max-time", "4m"], 2, ["--max-time stands where the command begins", "before the command"]),
        (["./file"], 126, ["./file is not executable", "chmod +x"]),
        (["/tmp"], 126, ["/tmp is a directory, not a program", "launcher"]),
        (["--hint", "cb_nodes", "true"], 2, ["'cb_nodes' is not of the form KEY=VALUE", "GLOB:KEY=VALUE"]),
        (["--hint", "cb_node=2", "true"], 2, ['--hint cb_node=2: unknown hint "cb_node"', "Did you mean cb_nodes?"]),
        (["--hint", "stripe_count=4", "true"], 2, ['unknown hint "stripe_count"', "Did you mean striping_factor?"]),
        (["--hint", "cb_nodes=many", "true"], 2, ["--hint cb_nodes=many: ", 'the value "many"', "whole number"]),
        (["--hint", "*.h5:a=b:c", "true"], 2, ["colon or a comma", "configuration file"]),
        (["--abi", "lam", "true"], 2, ["--abi lam: unknown ABI", "mpich, openmpi, mpiabi"]),
        (
            ["--json", "true"],
            2,
            ["--json: without --dry-run nacre prints no JSON", "Add --dry-run", "`nacre report --summary --json FILE`"],
        ),
        (["--top", "3", "true"], 2, ["--top 3: no summary would be printed", "Add --summary"]),
        ([], 2, ["Missing argument"]),
        (["--nosuch", "true"], 2, ["No such option"]),
    ],
)
def test_an_error_says_what_to_do_next(nacre, tmp_path, arguments, code, words):
    (tmp_path / "file").write_text("")
    result = nacre("run", *arguments)
    assert result.returncode == code
    assert not result.stdout
    for word in words:
        assert word in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("by", ["--report ", "NACRE_REPORT=", "hint nacre_report=", "config.toml"])
@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("none/r.jsonl", "directory {here}/none does not exist"),
        ("file/r.jsonl", "{here}/file is not a directory"),
        ("folder", "it is a directory"),
    ],
)
def test_a_report_that_cannot_be_written_is_an_error_before_the_job_starts(nacre, tmp_path, by, path, why):
    """Regression: the job ran to its end, and its report was nowhere."""
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "config.toml").write_text(f'[files."*"]\nnacre_report = "{path}"\n' if by == "config.toml" else "")
    options = {"--report ": ["--report", path], "hint nacre_report=": ["--hint", f"nacre_report={path}"]}.get(by, [])
    variables = {"NACRE_CONFIG": str(tmp_path / "config.toml")}
    if by == "NACRE_REPORT=":
        variables["NACRE_REPORT"] = path
    result = nacre("run", *options, "touch", "ran", **variables)
    assert result.returncode == 2
    assert (by if by == "config.toml" else by + path) in result.stderr
    assert why.format(here=tmp_path) in result.stderr
    assert "Name a file in an existing directory" in result.stderr
    assert not (tmp_path / "ran").exists()


def test_a_report_without_permission_to_write_is_refused(tmp_path, monkeypatch):
    """Root may write everywhere, so the test replaces os.access."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert settings.why_unwritable(str(tmp_path / "r")) == f"no permission to write {tmp_path}"
    (tmp_path / "r").write_text("")
    assert settings.why_unwritable(str(tmp_path / "r")) == f"no permission to write {tmp_path}/r"
    assert settings.why_unwritable("") == "the name is empty"


def test_an_empty_variable_means_no_report(nacre):
    assert nacre("run", "true", NACRE_REPORT="").returncode == 0


@pytest.mark.parametrize("path", ["new.jsonl", "old.jsonl", "folder/new.jsonl", "link.jsonl"])
def test_a_report_file_may_be_new_or_existing(nacre, tmp_path, path):
    (tmp_path / "old.jsonl").write_text("{}\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.jsonl").symlink_to("old.jsonl")
    result = nacre("run", "--report", path, "sh", "-c", 'echo "[$NACRE_REPORT]"')
    assert result.stdout == f"[{tmp_path}/{path}]\n", result.stderr
    assert nacre("run", "true", NACRE_REPORT=str(tmp_path / path)).returncode == 0
    assert (tmp_path / "old.jsonl").read_text() == "{}\n"


def test_a_missing_library_is_named_before_anything_runs(nacre, tmp_path):
    result = nacre("run", "touch", "ran", NACRE_LIBRARY_DIR=str(tmp_path))
    assert result.returncode == 2
    assert f"libnacre.so not found in {tmp_path}" in result.stderr
    assert not (tmp_path / "ran").exists()


def test_an_abi_can_be_forced(nacre, build):
    result = nacre("run", "--abi", "mpich", "sh", "-c", SHOW)
    assert result.stdout == f"[{build}/lib/libnacre_mpich.so]\n"


@pytest.mark.parametrize("verb", [[], ["run"], ["doctor"], ["report"], ["explain"], ["hints"]])
def test_help_has_a_description_and_examples(nacre, verb):
    result = nacre(*verb, "--help")
    assert result.returncode == 0
    assert "Usage: nacre" in result.stdout
    if verb:
        assert f"nacre {verb[0]}" in result.stdout.split("Examples")[1]


OPENS_A_FILE = """
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Info info = argc > 2 ? MPI_INFO_ENV : MPI_INFO_NULL;
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file);
  MPI_File_write_at_all(file, 0, "a", 1, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  return MPI_Finalize();
}
"""


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
@pytest.mark.parametrize("linking", [["-fPIE", "-pie"], ["-fno-PIE", "-no-pie"], ["-fPIC", "-pie"]])
def test_a_program_with_copied_predefined_handles_is_served(nacre, tmp_path, mpi, linking):
    """Regression: "MPI_Info_get_nkeys: invalid info object". Open MPI's handles are data symbols, which the linker
    moves into the program (COPY relocations) unless that is position-independent throughout."""
    (tmp_path / "app.c").write_text(OPENS_A_FILE)
    subprocess.run([f"mpicc.{mpi}", *linking, "app.c", "-o", "app"], cwd=tmp_path, check=True, timeout=600)
    mpiexec = [f"mpiexec.{mpi}", *(["--oversubscribe"] if mpi == "openmpi" else [])]
    result = nacre("run", "--report", "report.jsonl", *mpiexec, "-n", 2, "./app", "data")
    assert result.returncode == 0, result.stdout + result.stderr
    assert json.loads((tmp_path / "report.jsonl").read_text())["calls"] > 0


FIRST_OPEN = """
#include <mpi.h>
int main(int argc, char** argv) {
  MPI_File file;
  MPI_Init(&argc, &argv);
  int wrong = MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (!wrong) wrong = MPI_File_close(&file);
  MPI_Finalize();
  return wrong;
}
"""


def test_the_first_open_searches_no_library_that_is_not_loaded(nacre, tmp_path):
    """Not for absent GPU runtimes in the file system, and not for the MPI in every object of the process."""
    (tmp_path / "app.c").write_text(FIRST_OPEN)
    subprocess.run(["mpicc.mpich", "app.c", "-o", "app"], cwd=tmp_path, check=True, timeout=60)
    debug = ["env", "LD_DEBUG=libs,files", f"LD_DEBUG_OUTPUT={tmp_path}/loader", "./app"]
    result = nacre("run", "mpiexec.mpich", "-n", 1, *debug)
    assert result.returncode == 0, result.stderr
    said = "".join(path.read_text() for path in tmp_path.glob("loader.*"))
    assert "libnacre_mpich.so" in said
    assert "libcuda" not in said
    assert "libamdhip64" not in said
    assert "opening file=/lib/x86_64-linux-gnu/libc.so.6" not in said.replace("/usr/lib", "/lib")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("nacre re", ["report"]),
        ("nacre run --hint cb_n", ["cb_nodes="]),
        ("nacre run --hint *.nc:striping_f", ["*.nc:striping_factor="]),
        ("nacre report --mi", ["--min-share"]),
        ("nacre stripe adv", ["advise"]),
        ("nacre stripe out.h5 --js", ["--json"]),
        ("nacre testbed run --hint cb_n", ["cb_nodes="]),
        ("nacre run --abi open", ["openmpi"]),
        ("nacre report --format p", ["prometheus"]),
        ("nacre hints striping_f", ["striping_factor"]),
        ("nacre hints NACRE_SUM", ["NACRE_SUMMARY"]),
        ("nacre man stripe-a", ["stripe-advise"]),
    ],
)
def test_a_shell_completes_verbs_options_and_their_values(nacre, words, expected):
    position = str(len(words.split()) - 1)
    result = nacre(_NACRE_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=position)
    assert result.stdout.split() == expected, result.stderr


def test_ranks_in_pid_namespaces_of_their_own_share_memory(nacre, build, clean_environment):
    """They do not find memory without a name. UCX has its own trouble there, except with TCP."""
    own = ["unshare", "--pid", "--fork"]
    if subprocess.run([*own, "true"], capture_output=True).returncode:
        pytest.skip("this user may not create PID namespaces")
    worker = build / "tools/bench/mpich5/worker"
    words = ["--warmups", "0", "--repeats", "1", "--bytes", "4194304", "--file", "x", "--workload", "interleaved"]
    hint = ["--hint", "nacre_algorithm=two_phase"]
    launch = [build / "venv/mpich/bin/mpiexec", "-n", "4", *own, worker, *words, *hint]
    result = nacre("run", "--report", "r", "--", *launch, UCX_TLS="tcp,self", MPIR_CVAR_NOLOCAL="1")
    assert result.returncode == 0, result.stderr
    writes = json.loads((nacre.directory / "r").read_text().splitlines()[0])["kinds"]["collective_write"]
    assert writes["message_bytes"]["sum"] < 100_000  # of 4 MiB
