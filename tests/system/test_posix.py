"""libnacre_posix.so: what it counts, and that buffered files have the same bytes (docs/posix.md)."""

from __future__ import annotations

import filecmp
import itertools
import json
import os
import pty
import random
import signal
import subprocess
import time
from pathlib import Path

import findings_cases
import pytest

HERE = Path(__file__).parent
LAUNCHER = ["mpiexec.mpich"]
PYTHON = "/usr/bin/python3"  # Debian's, with h5py


def compiled(directory: Path, source: str, *options: str, compiler: str = "gcc") -> Path:
    path = directory / Path(source).stem
    subprocess.run([compiler, "-O1", *options, HERE / source, "-o", path], check=True, timeout=600)
    return path


@pytest.fixture(scope="module")
def calls(tmp_path_factory) -> Path:
    return compiled(tmp_path_factory.mktemp("posix"), "posix_calls.c")


@pytest.fixture(scope="module")
def findings(tmp_path_factory) -> Path:
    return compiled(tmp_path_factory.mktemp("posix"), "posix_findings.c")


@pytest.fixture
def preloaded(build, clean_environment, tmp_path):
    """Runs a command with libnacre_posix.so, in the test's folder."""

    def run(*words: object, **variables: str) -> subprocess.CompletedProcess:
        environment = {**clean_environment, "LD_PRELOAD": str(build / "lib" / "libnacre_posix.so"), **variables}
        return subprocess.run(
            [str(word) for word in words],
            env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip

    return run


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


# Counts.


def test_calls_of_each_kind_are_counted_by_file(preloaded, tmp_path):
    program = """
import os
descriptor = os.open("data", os.O_CREAT | os.O_RDWR)
for _ in range(10): os.write(descriptor, bytes(1000))
os.pwrite(descriptor, bytes(100), 5)
os.lseek(descriptor, 0, os.SEEK_SET)
os.read(descriptor, 4096); os.pread(descriptor, 16, 0)
os.fsync(descriptor); os.ftruncate(descriptor, 50); os.fstat(descriptor)
os.stat("data"); os.close(descriptor)
os.path.exists("absent")
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_REPORT="io.jsonl", NACRE_RUN="r", PMI_RANK="3", PMI_SIZE="8")
    assert result.returncode == 0, result.stderr
    (line,) = lines_of(tmp_path / "io.jsonl")
    assert (line["run"], line["rank"], line["ranks"]) == ("r", 3, 8)
    (data,) = [one for one in line["files"] if one["file"] == str(tmp_path / "data")]
    assert {name: call["calls"] for name, call in data["calls"].items()} == {
        "open": 1, "close": 1, "stat": 2, "seek": 1, "sync": 1, "truncate": 1,
    }  # fmt: skip
    writes, reads = data["accesses"]["write"], data["accesses"]["read"]
    assert (writes["calls"], writes["bytes"], writes["file_calls"]) == (11, 10100, 11)
    assert writes["file_call_sizes"] == {"512": 10, "64": 1}
    assert (reads["calls"], reads["bytes"]) == (2, 4096 + 16)
    assert line["elsewhere"]["failed_stats"]["calls"] >= 1


def test_mappings_of_a_file_are_counted_and_those_of_memory_are_not(nacre, preloaded, tmp_path):
    program = """
import mmap
with open("data", "wb+") as file:
    file.write(bytes(8192))
    file.flush()
    for _ in range(3): mmap.mmap(file.fileno(), 8192).close()
mmap.mmap(-1, 8192).close()
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_REPORT="io.jsonl")
    assert result.returncode == 0, result.stderr
    (line,) = lines_of(tmp_path / "io.jsonl")
    (data,) = line["files"]
    assert data["file"] == str(tmp_path / "data")
    assert data["calls"]["map"]["calls"] == 3
    (report,) = json.loads(nacre("report", "--json", "--file", "data", "io.jsonl").stdout)
    assert report["other_calls"]["map"]["calls"]["sum"] == 3


def test_streams_are_counted_by_calls_and_by_what_reaches_the_file(preloaded, findings, tmp_path):
    result = preloaded(findings, tmp_path, "small-stream-writes", NACRE_REPORT="io.jsonl")
    assert result.returncode == 0, result.stderr
    (line,) = lines_of(tmp_path / "io.jsonl")
    (log,) = line["files"]
    writes = log["accesses"]["stream_write"]
    size = (tmp_path / "log.0").stat().st_size
    assert writes["calls"] == 200000
    assert writes["bytes"] == writes["file_bytes"] == size
    assert writes["file_calls"] == -(-size // 4096)


def test_a_process_with_more_files_than_are_counted_has_a_whole_line(nacre, preloaded, tmp_path):
    """The sum of the files beyond comes first: it has the most time."""
    program = """
import os
for number in range(6000):
    descriptor = os.open(f"files/{number}", os.O_CREAT | os.O_WRONLY)
    if number > 5900: os.fsync(descriptor)
    os.write(descriptor, bytes(10)); os.close(descriptor)
"""
    (tmp_path / "files").mkdir()
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_REPORT="io.jsonl")
    assert result.returncode == 0, result.stderr
    (line,) = lines_of(tmp_path / "io.jsonl")
    written = sum(one["accesses"]["write"]["bytes"] for one in [*line["files"], line["other_files"]])
    assert written == 60000
    summary = nacre("report", "--summary", "io.jsonl").stdout
    assert "reopened" not in summary
    assert "again and again" not in summary


def test_launches_of_a_batch_job_are_told_apart_without_nacre_run(preloaded, tmp_path):
    variables = {"SLURM_JOB_ID": "47", "SLURM_STEP_ID": "3"}
    result = preloaded(PYTHON, "-S", "-c", "open('data', 'w').write('x')", NACRE_REPORT="io.jsonl", **variables)
    assert result.returncode == 0, result.stderr
    (line,) = lines_of(tmp_path / "io.jsonl")
    assert (line["job"], line["run"]) == ("47", "47.3")


def test_files_of_the_system_pipes_and_processes_without_files_leave_no_line(preloaded, tmp_path):
    result = preloaded("sh", "-c", "cat /etc/passwd | cat > /dev/null; echo done", NACRE_REPORT="io.jsonl")
    assert result.stdout == "done\n"
    assert not (tmp_path / "io.jsonl").exists()


def test_a_line_that_cannot_be_written_is_said_with_its_reason(preloaded, tmp_path):
    program = "open('data', 'w').write('x')"
    for report, reason in (("missing/io.jsonl", "its directory does not exist (ENOENT)"), (".", "(EISDIR)")):
        result = preloaded(PYTHON, "-S", "-c", program, NACRE_REPORT=report)
        assert result.returncode == 0, result.stderr
        assert f'are missing in the report "{report}" (NACRE_REPORT): ' in result.stderr
        assert reason in result.stderr


def test_a_child_counts_its_own_calls_alone(preloaded, tmp_path):
    program = """
import os
descriptor = os.open("data", os.O_CREAT | os.O_WRONLY)
os.write(descriptor, bytes(10))
if os.fork() == 0:
    os.write(descriptor, bytes(20)); os._exit(0)
os.wait()
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_REPORT="io.jsonl")
    assert result.returncode == 0, result.stderr
    written = [one["accesses"]["write"]["bytes"] for line in lines_of(tmp_path / "io.jsonl") for one in line["files"]
               if one["file"].endswith("/data")]  # fmt: skip
    assert sorted(written) == [10, 20]


def test_the_library_needs_only_the_c_library_and_exports_nothing_of_cxx(build):
    library = build / "lib" / "libnacre_posix.so"
    needed = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    assert "libstdc++" not in needed
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
    ).stdout.split()[2::3]
    assert "write" in symbols
    assert not [name for name in symbols if name.startswith("_Z")]


# Reports.


def findings_in(nacre, *options: object) -> dict[str, dict]:
    """The findings of the one job in io.jsonl, of two ranks, by rule."""
    result = nacre("report", "--summary", "--json", *options, "io.jsonl")
    assert result.returncode == 0, result.stderr
    (job,) = json.loads(result.stdout)
    assert job["ranks"] == 2
    return {finding["rule"]: finding for finding in job["findings"]}


@pytest.mark.parametrize("rule", findings_cases.rules_of(findings_cases.POSIX))
@pytest.mark.parametrize("good", [False, True], ids=["bad", "good"])
def test_a_finding_is_raised_by_the_program_that_has_it_alone(nacre, findings, tmp_path, rule, good):
    words = [*LAUNCHER, "-n", 2, findings, tmp_path, rule, *(["good"] if good else [])]
    run = nacre("run", "--posix", "--report", "io.jsonl", "--", *words)
    assert run.returncode == 0, run.stderr
    by_default = findings_in(nacre)
    if good:
        assert rule not in by_default, (tmp_path / "io.jsonl").read_text()
        assert not findings_cases.false_findings(rule, by_default)
        return
    assert not findings_cases.false_findings_beside(rule, rule, by_default)
    found = findings_in(nacre, "--min-share", 0)
    assert rule in found, (tmp_path / "io.jsonl").read_text()
    assert found[rule]["evidence"]
    assert found[rule]["remedy"]
    if rule == "open-storm":  # of the files beyond those with lines of their own only sums are known
        assert not found.keys() & {"reopened", "sync-storm"}


CXX_STREAM = """
#include <cstdlib>
#include <fstream>
#include <string>
int main(int count, char**) {
  static char buffer[4 << 20];
  std::ofstream stream;
  if (count > 1) stream.rdbuf()->pubsetbuf(buffer, sizeof buffer);
  stream.open(std::string("log.") + std::getenv("PMI_RANK"));
  for (int i = 0; i < 4000; ++i) {
    stream << "step " << i << " of the simulation";
    if (count > 1) stream << '\\n';
    else stream << std::endl;
  }
}
"""


def test_small_writes_of_cxx_streams_have_remedies_that_work(nacre, tmp_path):
    (tmp_path / "stream.cc").write_text(CXX_STREAM)
    subprocess.run(["g++", "-O1", tmp_path / "stream.cc", "-o", tmp_path / "stream"], check=True, timeout=600)

    def found(*options: str, words: tuple[str, ...] = ()) -> tuple[int, dict[str, dict]]:
        """The accesses to the file, and the findings."""
        (tmp_path / "io.jsonl").unlink(missing_ok=True)
        run = nacre(
            "run", "--posix", "--report", "io.jsonl", *options, "--", *LAUNCHER, "-n", 2, tmp_path / "stream", *words
        )
        assert run.returncode == 0, run.stderr
        logs = json.loads(nacre("report", "--json", "--file", "log.*", "io.jsonl").stdout)
        calls = sum(log["kinds"]["independent_write"]["file_calls"]["sum"] for log in logs)
        return calls, findings_in(nacre, "--min-share", 0)

    calls, by_default = found()
    assert calls >= 2 * 4000
    option, program, _ = by_default["small-accesses"]["remedy"]
    assert "--iobuf 'log.*:size=4m'" in option
    assert "'\\n' instead of std::endl" in program
    for calls, findings in (found("--iobuf", "log.*:size=4m"), found(words=("buffer",))):
        assert calls < 10
        assert "small-accesses" not in findings


def test_calls_of_posix_and_of_mpi_io_are_one_job(nacre, tmp_path):
    program = compiled(tmp_path, "both_interfaces.c", compiler="mpicc.mpich")
    result = nacre("run", "--posix", "--report", "io.jsonl", "--", *LAUNCHER, "-n", 2, program, ".")
    assert result.returncode == 0, result.stderr
    (job,) = json.loads(nacre("report", "--summary", "--json", "io.jsonl").stdout)
    files = {Path(one["name"]).name: one for one in job["files"]}
    # Nacre's own accesses to the file and to the report are not counted a second time.
    assert files["data"]["bytes_written"] == 2000
    assert files["log"]["bytes_written"] == 5
    assert "io.jsonl" not in files
    text = nacre("report", "io.jsonl").stdout
    assert "I/O took" in text
    page = nacre("report", "--html", "io.html", "io.jsonl")
    assert page.returncode == 0, page.stderr


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--posix"], "nothing would be reported"),
        (["--iobuf", "*.log:size=5"], "expected a multiple of 4k from 4k to 1g"),
        (["--iobuf", "*.log:size=1.5"], "expected a multiple of 4k from 4k to 1g"),
        (["--iobuf", "*.log:size=1.3k"], "expected a multiple of 4k from 4k to 1g"),
        (["--iobuf", "*.log:count=0"], "expected a number from 1 to 64"),
        (["--iobuf", "*.log:ahead=1"], "expected size=BYTES, count=N or prefetch=N"),
        (["--iobuf", ":size=4m"], "expected a pattern of file names"),
    ],
)
def test_wrong_options_are_refused(nacre, options, text):
    result = nacre("run", *options, "true")
    assert result.returncode == 2
    assert text in result.stderr.replace("\n", " ")


def test_a_wrong_variable_is_said_once_and_buffers_nothing(preloaded, tmp_path):
    program = 'open("data", "w").write("text")'
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF="data:size=1")
    assert result.returncode == 0
    assert result.stderr.count("NACRE_IOBUF") == 1
    assert (tmp_path / "data").read_text() == "text"


# Buffers: the same bytes.


@pytest.mark.parametrize(
    "rule", ["size=4k:count=1:prefetch=0", "size=4k:count=2:prefetch=1", "size=0.0625m:prefetch=3"]
)
def test_random_calls_leave_the_bytes_that_they_must(preloaded, calls, tmp_path, rule):
    for seed in random.sample(range(1, 1 << 30), 40):
        result = preloaded(calls, tmp_path / "data", seed, 200, NACRE_IOBUF=f"data:{rule}")
        assert result.returncode == 0, f"seed {seed}: {result.stdout}{result.stderr}"


def test_buffers_gather_writes_and_reads(preloaded, tmp_path):
    program = """
import os
descriptor = os.open("data", os.O_CREAT | os.O_RDWR)
for i in range(1024): os.write(descriptor, bytes([i % 256]) * 1024)
os.lseek(descriptor, 0, os.SEEK_SET)
for i in range(1024): assert os.read(descriptor, 1024) == bytes([i % 256]) * 1024
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF="data:size=256k", NACRE_REPORT="io.jsonl")
    assert result.returncode == 0, result.stderr
    (line,) = lines_of(tmp_path / "io.jsonl")
    (data,) = [one for one in line["files"] if one["file"].endswith("/data")]
    assert data["accesses"]["write"]["calls"] == 1024
    # On a machine that stops for a second a buffer is written before it is full.
    assert 4 <= data["accesses"]["write"]["file_calls"] < 100
    assert data["accesses"]["read"]["calls"] == 1024
    assert data["accesses"]["read"]["file_calls"] < 100


def test_threads_write_to_one_file(preloaded, tmp_path):
    program = """
import os, threading
descriptor = os.open("data", os.O_CREAT | os.O_WRONLY)
def write(which):
    for i in range(which, 4000, 4): os.pwrite(descriptor, i.to_bytes(4, "little") * 25, 100 * i)
threads = [threading.Thread(target=write, args=(which,)) for which in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
os.close(descriptor)
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF="data:size=4k:count=2")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "data").read_bytes() == b"".join(i.to_bytes(4, "little") * 25 for i in range(4000))


def test_a_program_that_another_one_fails_to_replace_is_buffered_on(preloaded, tmp_path):
    program = """
import os
descriptor = os.open("data", os.O_CREAT | os.O_WRONLY)
def write(): [os.write(descriptor, bytes(1000)) for _ in range(1000)]
write()
try:
    os.execv("/no/such", ["x"])
except FileNotFoundError:
    write()
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF="data:size=64k", NACRE_REPORT="io.jsonl")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "data").stat().st_size == 2000 * 1000
    files = [file for line in lines_of(tmp_path / "io.jsonl") for file in line["files"]]
    writes = [file["accesses"]["write"] for file in files if file["file"] == str(tmp_path / "data")]
    assert sum(one["calls"] for one in writes) == 2000
    assert sum(one["file_calls"] for one in writes) < 50


ENDINGS = {
    "exit": "pass",
    "_exit": "os._exit(0)",
    "exec": "os.execv('/bin/true', ['true'])",
    "abort": "os.abort()",
    "segmentation fault": "import ctypes; ctypes.string_at(8)",
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
    "SIGINT": "signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGINT)",
    "handler": "signal.signal(signal.SIGUSR1, lambda *_: os._exit(0)); os.kill(os.getpid(), signal.SIGUSR1)",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
}
CODES = {"abort": -signal.SIGABRT, "segmentation fault": -signal.SIGSEGV, "SIGTERM": -signal.SIGTERM,
         "SIGINT": -signal.SIGINT, "SIGKILL": -signal.SIGKILL}  # fmt: skip


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_process_that_ends_loses_nothing_and_a_killed_one_no_more_than_its_buffers(preloaded, tmp_path, ending):
    size, count, written = 64 << 10, 2, 1000 * 1000
    program = f"""
import os, resource, signal
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
descriptor = os.open("data", os.O_CREAT | os.O_WRONLY)
for i in range(1000): os.write(descriptor, bytes([i % 256]) * 1000)
{ENDINGS[ending]}
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF=f"data:size={size}:count={count}")
    assert result.returncode == CODES.get(ending, 0), result.stderr
    least = written - size * (count + 1) if ending == "SIGKILL" else written
    found = (tmp_path / "data").read_bytes()
    assert least <= len(found) <= written
    assert found == b"".join(bytes([i % 256]) * 1000 for i in range(1000))[: len(found)]


SLOW_WRITER = """
import os, time
files = [os.open(name, os.O_CREAT | os.O_WRONLY) for name in ("direct", "buffered")]
while True:
    now = b"%.9f\\n" % time.monotonic()
    for file in files: os.write(file, now)
    time.sleep(0.02)
"""


def times_in(path: Path) -> list[float]:
    return [float(line) for line in path.read_text().split()]


def test_a_killed_process_loses_nothing_older_than_two_seconds(build, clean_environment, tmp_path):
    """Allows one second more, and twice the longest pause of the writer: the machine may have stopped the process."""
    library = str(build / "lib" / "libnacre_posix.so")
    environment = {**clean_environment, "LD_PRELOAD": library, "NACRE_IOBUF": "buffered"}
    with subprocess.Popen([PYTHON, "-S", "-c", SLOW_WRITER], env=environment, cwd=tmp_path) as writer:
        deadline = time.monotonic() + 60
        while not (tmp_path / "buffered").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(5)
        killed = time.monotonic()
        writer.kill()
    written, kept = times_in(tmp_path / "direct"), times_in(tmp_path / "buffered")
    assert kept, "nothing reached the file before the process was killed"
    assert kept == written[: len(kept)]
    longest_pause = max(after - before for before, after in itertools.pairwise([*written, killed]))
    lost = written[len(kept) :]
    assert not lost or killed - lost[0] < 2 + 1 + 2 * longest_pause


def test_a_killed_process_loses_at_most_the_buffer_of_a_stream(preloaded, tmp_path):
    size, line = 64 << 10, b"x" * 999 + b"\n"
    program = f"""
import ctypes, os, signal
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(libc.fopen(b"data", b"w"))
for _ in range(1000): libc.fputs({line!r}, stream)
os.kill(os.getpid(), signal.SIGKILL)
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF=f"data:size={size}")
    assert result.returncode == -signal.SIGKILL, result.stderr
    found = (tmp_path / "data").read_bytes()
    assert 1000 * len(line) - size <= len(found) < 1000 * len(line)
    assert found == (1000 * line)[: len(found)]


@pytest.mark.parametrize("call", ["os.write(d, bytes(1))", "os.fsync(d)", "os.close(d)"])
def test_an_error_of_a_buffered_write_is_reported_by_the_next_call(preloaded, tmp_path, call):
    program = f"""
import os, resource, signal, time
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
d = os.open("data", os.O_CREAT | os.O_WRONLY)
try:
    for i in range(400): os.write(d, bytes(1000))
    time.sleep(0.1)
    {call}
    print("no error", flush=True)
except OSError as error:
    print(error.errno, flush=True)
os._exit(0)
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF="data:size=16k")
    assert result.stdout == "27\n", result.stderr  # EFBIG
    assert (tmp_path / "data").stat().st_size == 100000


def test_other_processes_see_the_bytes_before_the_file_is_closed(preloaded, tmp_path):
    program = """
import os, time
descriptor = os.open("data", os.O_CREAT | os.O_WRONLY)
os.write(descriptor, b"text")
deadline = time.time() + 60
while not os.path.exists("seen") and time.time() < deadline: time.sleep(0.05)
print(os.path.exists("seen"))
"""
    watch = "while [ ! -s data ]; do sleep 0.05; done; touch seen"
    with subprocess.Popen(["sh", "-c", watch], cwd=tmp_path) as watcher:
        result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF="data:size=64k")
        watcher.kill()
    assert result.stdout == "True\n", result.stderr


@pytest.fixture(scope="module")
def cases(tmp_path_factory) -> Path:
    return compiled(tmp_path_factory.mktemp("posix"), "posix_cases.c", "-pthread", "-rdynamic")


def run_case(preloaded, cases: Path, tmp_path: Path, name: str, **variables: str) -> tuple[int, str, str]:
    """Status and output of a case of posix_cases.c, in a folder of its own."""
    folder = tmp_path / ("buffered" if "NACRE_IOBUF" in variables else "plain")
    folder.mkdir()
    words = ["timeout", "-s", "KILL", 60, "sh", "-c", 'cd "$1" && exec env LD_PRELOAD="$2" "$3" "$4"', "sh", folder]
    library = variables.pop("library", "")
    result = preloaded(*words, library, cases, name, **{"LD_PRELOAD": "", **variables})
    return result.returncode, result.stdout, result.stderr


# Regressions: a symptom, and the case of posix_cases.c that had it.
SYMPTOMS = {
    "fclose of a duplicate wrote into the next file": "fclose_of_duplicate",
    "freopen of a duplicate wrote into the next file": "freopen_of_duplicate",
    "close_range with UNSHARE wrote into the next file": "close_range_unshare",
    "unshare of descriptors wrote into the next file": "unshare_files",
    "the helper kept descriptors after unshare": "pipe_after_unshare",
    "a dup2 that failed closed the target": "failed_dup2",
    "the first SIGALRM of alarm was swallowed": "signal_alarm",
    "the first SIGPROF of a timer was swallowed": "signal_timer",
    "uncommon signals lost what was in memory": "signal_others",
    "signal forgot siginterrupt": "interrupted_read",
    "fork waited for ever beside the fork handlers of a library": "fork_with_handlers",
    "execl lost words or bytes": "exec_words",
    "a child wrote what its parent went on reading from memory": "child_writes_what_parent_reads",
    "a command wrote what the program went on reading from memory": "command_writes_what_program_reads",
    "a child of _Fork wrote before its parent": "bare_fork",
    "wrong addresses crashed": "addresses",
    "a write at the last offset never returned": "huge_offsets",
    "a write to a descriptor for reading succeeded": "wrong_direction",
    "a write while another thread closes the file crashed": "close_while_writing",
    "threads read short in the middle of a file": "short_reads",
    "threads read the same bytes by one descriptor": "shared_position",
    "stat waited for another thread's writes without end": "starved_stat",
    "bytes from before another thread's write were read": "reads_beside_large_writes",
    "a stream did not see bytes of a later descriptor": "stream_then_open",
    "a mapping did not see bytes of a later descriptor": "map_then_open",
    "bytes were missing under the file's other names": "other_names",
    "bytes were missing under a name that was opened first": "opened_by_other_name_first",
    "bytes came back after freopen had truncated the file": "truncated_by_freopen",
    "a stream that was reopened in place did not see bytes of a later descriptor": "reopened_in_place",
    "bytes came back after truncate": "truncated_by_path",
    "bytes in memory were not left to read": "bytes_left_to_read",
    "a stream that appends began before bytes in memory": "stream_begins_at_end",
    "bytes appended beside stdout and stderr changed their order": "append_beside_streams",
    "files of /proc stood still": "kernel_files",
    "without memory for a buffer writes failed": "no_memory",
    "bytes were missing by the descriptor of mkstemp": "temporary_by_two_descriptors",
    "dprintf overtook earlier bytes": "dprintf_between_calls",
    "times and modes were those of the last flush": "attributes",
    "a thread that writes could not be cancelled": "cancelled_write",
    "each seek of a stream read a whole buffer": "stream_seeks",
    "bytes were missing under a lock of another file": "lock_in_another_file",
}


RULES_OF_CASES = {
    "files of /proc stood still": "*",
    "without memory for a buffer writes failed": "*.log:size=1g",
    "each seek of a stream read a whole buffer": "*.log:size=1m",
    "stat waited for another thread's writes without end": "*.log:size=64k:count=16",
}


@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_a_program_sees_what_it_sees_without_buffers(build, preloaded, cases, tmp_path, symptom):
    """Regressions, by symptom: the program printed something else, crashed or hung."""
    library = str(build / "lib" / "libnacre_posix.so")
    plain = run_case(preloaded, cases, tmp_path, SYMPTOMS[symptom])
    assert plain[1], "the case printed nothing"
    buffered = run_case(
        preloaded,
        cases,
        tmp_path,
        SYMPTOMS[symptom],
        library=library,
        NACRE_IOBUF=RULES_OF_CASES.get(symptom, "*.log:size=64k:count=2"),
    )
    assert buffered == plain


def test_a_child_of_a_process_that_counts_waited_for_a_lock_of_another_thread(build, preloaded, cases, tmp_path):
    library = str(build / "lib" / "libnacre_posix.so")
    result = run_case(preloaded, cases, tmp_path, "fork_while_counting", library=library, NACRE_REPORT="/dev/null")
    assert result == (0, "forked\n", "")


def counted(build, preloaded, cases, tmp_path, name: str) -> dict[str, dict]:
    """Counts of the files of a case, by their names."""
    library = str(build / "lib" / "libnacre_posix.so")
    report = tmp_path / "io.jsonl"
    result = run_case(preloaded, cases, tmp_path, name, library=library, NACRE_REPORT=str(report))
    assert result[0] == 0, result
    (line,) = lines_of(report)
    return {Path(one["file"]).name: one for one in line["files"]}


def test_calls_of_streams_were_not_counted(build, preloaded, cases, tmp_path):
    """Regressions: calls without a lock, scans, wide characters, mkstemp, dprintf, streams that exit() closes."""
    files = counted(build, preloaded, cases, tmp_path, "all_calls_of_streams")
    text, wide = files["text"], files["wide"]
    assert (text["accesses"]["stream_write"]["calls"], text["accesses"]["stream_write"]["bytes"]) == (3, 10)
    assert (text["accesses"]["stream_read"]["calls"], text["accesses"]["stream_read"]["bytes"]) == (4, 10)
    assert text["calls"]["seek"]["calls"] == 1
    assert (wide["accesses"]["stream_write"]["calls"], wide["accesses"]["stream_write"]["bytes"]) == (2, 5)
    assert (wide["accesses"]["stream_read"]["calls"], wide["accesses"]["stream_read"]["bytes"]) == (2, 5)
    (temporary,) = [one for one in files.values() if "write" in one["accesses"]]
    assert temporary["accesses"]["write"]["bytes"] == 3
    assert files["unclosed"]["accesses"]["stream_write"]["file_bytes"] == 8


def test_temporary_files_of_one_inode_were_one_file(build, preloaded, cases, tmp_path):
    files = counted(build, preloaded, cases, tmp_path, "reused_inodes")
    assert len(files) == 20


def test_exit_in_a_handler_on_a_small_stack_crashed(build, preloaded, cases, tmp_path):
    library = str(build / "lib" / "libnacre_posix.so")
    result = run_case(
        preloaded, cases, tmp_path, "exit_on_small_stack", library=library, NACRE_IOBUF="*.log", NACRE_REPORT="io.jsonl"
    )
    assert result == (3, "begun\n", "")
    assert len(lines_of(tmp_path / "buffered" / "io.jsonl")) == 1


def bytes_read_by(preloaded, program: str, directory: Path, rules: str) -> int:
    """Bytes that a Python program reads from the file "data", by its report."""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF=rules, NACRE_REPORT="io.jsonl")
    assert result.returncode == 0, result.stderr
    (line,) = lines_of(directory / "io.jsonl")
    (data,) = [one for one in line["files"] if one["file"].endswith("/data")]
    return data["accesses"]["read"]["file_bytes"]


def test_a_file_that_was_read_twice_was_fetched_many_times(preloaded, tmp_path):
    """Regression: the buffer that the program was about to read was the first to be given up."""
    (tmp_path / "data").write_bytes(bytes(4 << 20))
    program = """
import os, time
d = os.open("data", os.O_RDONLY)
while os.read(d, 512): pass
os.lseek(d, 0, os.SEEK_SET)
for _ in range(200):
    os.read(d, 512)
    time.sleep(0.001)
"""
    assert bytes_read_by(preloaded, program, tmp_path, "data:size=1m") < 16 << 20


def test_reads_between_writes_fetched_whole_buffers_for_each(preloaded, tmp_path):
    (tmp_path / "data").write_bytes(bytes(4 << 20))
    program = """
import os
d = os.open("data", os.O_RDWR)
for i in range(1000):
    os.pread(d, 512, 512 * i)
    os.pwrite(d, b"x", 512 * i)
"""
    assert bytes_read_by(preloaded, program, tmp_path, "data:size=256k") < 10 << 20


def test_a_warning_was_written_into_a_file_of_the_program(preloaded, tmp_path):
    program = """
import os, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
d = os.open("data", os.O_CREAT | os.O_WRONLY)
os.write(d, b"AAAABBBB")
os.dup2(os.open("own", os.O_CREAT | os.O_WRONLY), 2)
resource.setrlimit(resource.RLIMIT_FSIZE, (3, resource.RLIM_INFINITY))
os.dup2(2, d)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF="data:size=16k")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "data").stat().st_size == 3
    assert (tmp_path / "own").read_bytes() == b""


def test_settings_were_read_from_an_environment_that_the_program_had_overwritten(preloaded, tmp_path):
    program = """
import ctypes, os
libc = ctypes.CDLL(None)
for name in (b"NACRE_IOBUF", b"NACRE_REPORT", b"PMI_RANK"):
    libc.getenv.restype = ctypes.c_void_p
    ctypes.memset(libc.getenv(name), ord("x"), 4)
d = os.open("data", os.O_CREAT | os.O_WRONLY)
for _ in range(100): os.write(d, b"text")
"""
    result = preloaded(
        PYTHON, "-S", "-c", program, NACRE_IOBUF="data:size=16k", NACRE_REPORT="io.jsonl", PMI_RANK="1234"
    )
    assert result.returncode == 0, result.stderr
    (line,) = lines_of(tmp_path / "io.jsonl")
    (data,) = [one for one in line["files"] if one["file"].endswith("/data")]
    assert data["accesses"]["write"]["file_calls"] < 10
    assert line["rank"] == 1234


def test_the_first_interrupt_from_a_terminal_was_swallowed(build, clean_environment):
    library = str(build / "lib" / "libnacre_posix.so")
    environment = {**clean_environment, "LD_PRELOAD": library, "NACRE_IOBUF": "*.log"}
    for key, expected in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)):
        child, terminal = pty.fork()
        if child == 0:
            os.execve("/bin/sh", ["sh", "-c", "ulimit -c 0; echo begun; exec sleep 60"], environment)
        os.read(terminal, 100)
        deadline = time.monotonic() + 30
        while "sleep" not in Path(f"/proc/{child}/comm").read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)  # until the library is loaded
        os.write(terminal, key)
        time.sleep(0.5)
        done, status = os.waitpid(child, os.WNOHANG)
        if done == 0:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        os.close(terminal)
        assert (done, status & 0x7F) == (child, expected)


def test_a_descriptor_that_closed_unseen_brought_bytes_into_another_file(build, preloaded, cases, tmp_path):
    library = str(build / "lib" / "libnacre_posix.so")
    result = run_case(preloaded, cases, tmp_path, "closed_unseen", library=library, NACRE_IOBUF="data.log")
    assert result[1] == "same 1\nother.log: 0 bytes ''\n"
    assert (tmp_path / "buffered" / "other.log").read_bytes() == b""


UNREPORTED = {
    "exec": "os.execv('/bin/true', ['true'])",
    "dup2": "os.dup2(os.open('/dev/null', os.O_WRONLY), d)",
    "close_range": "os.closerange(d, d + 1)",
    "_exit": "os._exit(0)",
    "SIGTERM": "os.kill(os.getpid(), signal.SIGTERM)",
}


@pytest.mark.parametrize("ending", UNREPORTED)
def test_an_error_that_no_call_returned_vanished(preloaded, tmp_path, ending):
    """Regression: exec, dup2, close_range and SIGTERM said nothing of bytes that could not be written."""
    program = f"""
import os, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
d = os.open("data", os.O_CREAT | os.O_WRONLY)
resource.setrlimit(resource.RLIMIT_FSIZE, (3, 3))
os.write(d, b"AAAABBBB")
{UNREPORTED[ending]}
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF="data:size=16k")
    assert result.stderr.count("data") == 1, result.stderr
    assert "are lost: the file is too large (EFBIG)" in result.stderr
    assert (tmp_path / "data").read_bytes() == b"AAA"


def test_fclose_of_a_stream_by_fdopen_hid_the_error_of_an_earlier_write(preloaded, tmp_path):
    program = """
import ctypes, os, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.fdopen.restype = ctypes.c_void_p
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
d = os.open("data", os.O_CREAT | os.O_WRONLY)
resource.setrlimit(resource.RLIMIT_FSIZE, (3, 3))
os.write(d, b"AAAABBBB")
print(libc.fclose(ctypes.c_void_p(libc.fdopen(d, b"w"))), ctypes.get_errno())
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF="data:size=16k")
    assert result.stdout == "-1 27\n", result.stderr  # EFBIG


def test_a_write_failed_again_and_again_after_its_error_was_returned(preloaded, tmp_path):
    program = """
import os, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
d = os.open("data", os.O_CREAT | os.O_WRONLY)
resource.setrlimit(resource.RLIMIT_FSIZE, (3, -1))
os.write(d, b"AAAA")
try: os.fsync(d)
except OSError as error: print(error.errno)
resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
os.pwrite(d, b"BBBB", 0)
os.fsync(d); os.close(d)
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF="data:size=16k")
    assert (result.stdout, result.stderr) == ("27\n", "")
    assert (tmp_path / "data").read_bytes() == b"BBBB"


def test_a_repeated_write_failed_for_buffers_that_were_queued_before(preloaded, tmp_path):
    program = """
import os, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
d = os.open("data", os.O_CREAT | os.O_WRONLY)
resource.setrlimit(resource.RLIMIT_FSIZE, (10000, -1))
try:
    while True: os.write(d, bytes(1000))
except OSError as error: print(error.errno)
resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
for _ in range(10): os.write(d, bytes(1000))
os.fsync(d); os.close(d)
"""
    for _ in range(10):
        result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF="data:size=16k")
        assert (result.stdout, result.stderr) == ("27\n", "")


# Buffers: C++ streams.


@pytest.fixture(scope="module")
def streams(tmp_path_factory) -> Path:
    return compiled(tmp_path_factory.mktemp("posix"), "posix_streams.cc", "-std=c++17", compiler="g++")


def run_streams(build, preloaded, program: Path, tmp_path: Path, words: list, rule: str) -> Path:
    """Runs posix_streams without and with buffers: it must print the same, and leave the same files. Returns the path
    of the report of the run with buffers, which no program that a signal ends writes."""
    seen = []
    library = {"LD_PRELOAD": str(build / "lib" / "libnacre_posix.so"), "NACRE_IOBUF": rule, "NACRE_REPORT": "io.jsonl"}
    for name, variables in (("plain", {"LD_PRELOAD": ""}), ("buffered", library)):
        folder = tmp_path / name
        folder.mkdir()
        assignments = [f"{key}={value}" for key, value in variables.items()]
        result = preloaded(
            "sh", "-c", 'cd "$1" && shift && exec env "$@"', "sh", folder, *assignments, program, *words, LD_PRELOAD=""
        )
        seen.append((result.returncode, result.stdout, result.stderr))
    assert seen[0] == seen[1], f"posix_streams {words}"
    assert seen[0][1] or list((tmp_path / "plain").iterdir())
    report = tmp_path / "buffered" / "io.jsonl"
    if report.exists():
        report.rename(tmp_path / "io.jsonl")
    assert same_trees(tmp_path / "plain", tmp_path / "buffered")
    return tmp_path / "io.jsonl"


CASES_OF_STREAMS = [
    "many_lines", "many_reads", "seeks", "appends", "two_streams", "unbuffered", "seen_by_others", "descriptors",
    "files_of_stdio", "forks", "ends", "signals", "errors", "wide_and_many",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES_OF_STREAMS)
def test_cxx_streams_see_and_leave_what_they_do_without_buffers(build, preloaded, streams, tmp_path, case):
    run_streams(build, preloaded, streams, tmp_path, [case], "*.log:size=64k:count=2")


def test_random_calls_of_cxx_streams(build, preloaded, streams, tmp_path):
    for seed in random.sample(range(1, 1 << 30), 10):
        (tmp_path / str(seed)).mkdir()
        run_streams(build, preloaded, streams, tmp_path / str(seed), [200, seed], "*.log:size=4k:count=2")


def accesses_of_data(report: Path, kind: str) -> dict:
    lines = lines_of(report)
    (data,) = [one for line in lines for one in line["files"] if one["file"].endswith("/data.log")]
    return data["accesses"][kind]


@pytest.mark.parametrize(("case", "calls"), [("many_lines", 5000), ("unbuffered", 1200)])
def test_buffers_gather_the_writes_of_cxx_streams(build, preloaded, streams, tmp_path, case, calls):
    writes = accesses_of_data(run_streams(build, preloaded, streams, tmp_path, [case], "*.log:size=64k"), "write")
    assert writes["calls"] == calls
    # On a machine that stops for a second a buffer is written before it is full.
    assert writes["file_calls"] < calls / 20


def test_buffers_gather_the_reads_of_cxx_streams(build, preloaded, streams, tmp_path):
    reads = accesses_of_data(run_streams(build, preloaded, streams, tmp_path, ["many_reads"], "*.log:size=64k"), "read")
    assert reads["file_calls"] < reads["calls"] / 5


def test_streams_of_a_program_with_its_own_copy_of_the_library_are_left_alone(build, preloaded, tmp_path):
    program = compiled(tmp_path, "posix_streams.cc", "-std=c++17", "-static-libstdc++", compiler="g++")
    report = run_streams(build, preloaded, program, tmp_path, ["many_lines"], "*.log:size=64k")
    assert accesses_of_data(report, "write")["file_calls"] == 5000


# Buffers: real programs.


def tree(directory: Path) -> None:
    """A tree of files of many sizes."""
    draw = random.Random(7)
    for number in range(60):
        path = directory / f"d{number % 7}" / f"f{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(draw.randbytes(draw.choice([0, 10, 4096, 10000, 70000])))


def same_trees(a: Path, b: Path) -> bool:
    compared = filecmp.dircmp(a, b)
    pending = [compared]
    while pending:
        one = pending.pop()
        _, different, odd = filecmp.cmpfiles(one.left, one.right, one.common_files, shallow=False)
        if one.left_only or one.right_only or different or odd:
            return False
        pending += one.subdirs.values()
    return True


BUFFERED = {"NACRE_IOBUF": "*:size=16k:count=2"}


def test_tar(preloaded, tmp_path):
    tree(tmp_path / "tree")
    for name, variables in (("plain.tar", {}), ("buffered.tar", BUFFERED)):
        result = preloaded("tar", "-b", "2", "--sort=name", "-cf", name, "tree", **variables)
        assert result.returncode == 0, result.stderr
    assert filecmp.cmp(tmp_path / "plain.tar", tmp_path / "buffered.tar", shallow=False)
    (tmp_path / "again").mkdir()
    os.chmod(tmp_path / "tree/d0/f0", 0o4755)
    os.utime(tmp_path / "tree/d1/f1", (1000, 1000))
    result = preloaded("tar", "-cf", "attributes.tar", "tree")
    assert result.returncode == 0, result.stderr
    result = preloaded("tar", "-b", "2", "-xpf", "attributes.tar", "-C", "again", **BUFFERED)
    assert result.returncode == 0, result.stderr
    assert same_trees(tmp_path / "tree", tmp_path / "again" / "tree")
    result = preloaded("cp", "-rp", "tree", "copied", **BUFFERED)
    assert result.returncode == 0, result.stderr
    for path in (tmp_path / "tree").glob("d*/f*"):
        for copy in ("again/tree", "copied"):
            found, wanted = (tmp_path / copy / path.relative_to(tmp_path / "tree")).stat(), path.stat()
            assert (int(found.st_mtime), found.st_mode) == (int(wanted.st_mtime), wanted.st_mode), path


def test_git(preloaded, tmp_path):
    tree(tmp_path / "tree")
    script = """
set -e
git init -q tree && cd tree
git -c user.name=a -c user.email=a@b add -A
git -c user.name=a -c user.email=a@b commit -q -m all
git gc -q && git fsck --strict && git status --porcelain
git clone -q . ../again
"""
    result = preloaded("sh", "-c", script, HOME=str(tmp_path), **BUFFERED)
    assert result.returncode == 0, result.stderr
    assert "error" not in result.stderr
    assert sorted((tmp_path / "again").rglob("f*")) != []
    for path in (tmp_path / "again").glob("d*/f*"):
        assert filecmp.cmp(path, tmp_path / "tree" / path.relative_to(tmp_path / "again"), shallow=False)


PYTHON_PROGRAM = """
import csv, pickle, shutil, sqlite3, zipfile
with open("rows.csv", "w", newline="") as file:
    csv.writer(file).writerows([i, i * i, "text %d" % i] for i in range(5000))
with open("some.pickle", "wb", buffering=512) as file:
    pickle.dump({"numbers": list(range(10000))}, file)
with zipfile.ZipFile("all.zip", "w") as archive:
    for name in ("rows.csv", "some.pickle"):
        archive.writestr(zipfile.ZipInfo(name), open(name, "rb", buffering=300).read())
shutil.copyfile("all.zip", "copy.zip")
with open("edited", "w+b", buffering=0) as file:
    for i in range(3000): file.write(b"%8d" % i)
    file.seek(800); file.write(b"changed "); file.truncate(20000)
    file.seek(0); assert file.read(16) == b"       0       1"
for mode in ("delete", "wal"):
    first = sqlite3.connect("%s.db" % mode)
    assert first.execute("pragma journal_mode=%s" % mode).fetchone() == (mode,)
    first.execute("create table t (a integer, b text)")
    second = sqlite3.connect("%s.db" % mode)
    for i in range(200):
        one = (first, second)[i % 2]
        one.execute("insert into t values (?, ?)", (i, "x" * i)); one.commit()
    assert first.execute("pragma integrity_check").fetchone() == ("ok",)
    assert second.execute("select count(*), sum(a) from t").fetchone() == (200, 19900)
    with open("%s.sql" % mode, "w") as file: file.write("\\n".join(first.iterdump()))
    second.close(); first.close()
"""


def run_twice(preloaded, tmp_path: Path, *words: object, **both: str) -> tuple[Path, Path]:
    """Runs a program in a folder without buffers and in one with; the folders. `both`: variables of both runs."""
    folders = tmp_path / "plain", tmp_path / "buffered"
    for folder, variables in zip(folders, ({}, BUFFERED), strict=True):
        folder.mkdir()
        result = preloaded("sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", folder, *words, **both, **variables)
        assert result.returncode == 0, result.stdout + result.stderr
    return folders


def test_python_and_sqlite(preloaded, tmp_path):
    plain, buffered = run_twice(preloaded, tmp_path, PYTHON, "-c", PYTHON_PROGRAM)
    assert len(list(plain.iterdir())) >= 9
    for path in plain.iterdir():
        if path.suffix != ".db":  # has counters of changes and versions
            assert filecmp.cmp(path, buffered / path.name, shallow=False), path.name


FORTRAN = """
program files
  implicit none
  integer :: i, value
  real :: numbers(100)
  open (10, file='sequential.txt', form='formatted')
  do i = 1, 5000
    write (10, '(i8, f12.4)') i, real(i) / 3
  end do
  rewind (10)
  do i = 1, 100
    read (10, *) value
    if (value /= i) stop 1
  end do
  close (10)
  open (11, file='sequential.bin', form='unformatted')
  do i = 1, 500
    numbers = real(i)
    write (11) i, numbers
  end do
  backspace (11)
  read (11) value
  if (value /= 500) stop 2
  close (11)
  open (12, file='direct.bin', form='unformatted', access='direct', recl=400)
  do i = 300, 1, -1
    numbers = real(i)
    write (12, rec=i) numbers
  end do
  do i = 1, 300, 7
    read (12, rec=i) numbers
    if (numbers(1) /= real(i)) stop 3
  end do
  close (12)
  open (13, file='stream.bin', form='unformatted', access='stream')
  do i = 1, 4000
    write (13) i
  end do
  write (13, pos=401) -1
  read (13, pos=397) value
  if (value /= 100) stop 4
  close (13)
  open (14, file='sequential.txt', position='append')
  write (14, '(a)') 'end'
  close (14)
end program
"""


def test_fortran_files_of_every_access(preloaded, tmp_path):
    (tmp_path / "files.f90").write_text(FORTRAN)
    program = tmp_path / "files"
    subprocess.run(["gfortran", tmp_path / "files.f90", "-o", program], check=True, timeout=600)
    plain, buffered = run_twice(preloaded, tmp_path, program)
    assert len(list(plain.iterdir())) == 4
    assert same_trees(plain, buffered)


HDF5_PROGRAM = """
import h5py, numpy
with h5py.File("data.h5", "w") as file:
    for step in range(20):
        group = file.create_group("step%d" % step)
        group.attrs["time"] = step
        group.create_dataset("chunked", data=numpy.arange(2000.0) * step, chunks=(100,), compression="gzip")
        group.create_dataset("whole", data=numpy.full((30, 30), step))
with h5py.File("data.h5", "r+") as file:
    del file["step3"]
    file["step4/whole"][10:20, 5] = 77
    assert file["step7/chunked"][1999] == 1999 * 7
"""


@pytest.mark.parametrize("locking", ["TRUE", "FALSE"])
def test_hdf5_files_are_buffered_unless_hdf5_locks_them(preloaded, tmp_path, locking):
    program = f"import os\nos.environ['HDF5_USE_FILE_LOCKING'] = '{locking}'\n{HDF5_PROGRAM}"
    plain, buffered = run_twice(preloaded, tmp_path, PYTHON, "-c", program, NACRE_REPORT="io.jsonl")
    (line,) = lines_of(buffered / "io.jsonl")
    (data,) = [one for one in line["files"] if one["file"].endswith("/data.h5")]
    writes = data["accesses"]["write"]
    if locking == "TRUE":
        assert writes["file_calls"] == writes["calls"]
    else:
        assert writes["file_calls"] < writes["calls"]
    result = preloaded("h5diff", plain / "data.h5", buffered / "data.h5")
    assert result.returncode == 0, result.stdout + result.stderr
    result = preloaded("h5repack", "-f", "NONE", buffered / "data.h5", "repacked.h5", **BUFFERED)
    assert result.returncode == 0, result.stderr
    assert preloaded("h5diff", plain / "data.h5", "repacked.h5").returncode == 0


def test_programs_that_are_not_asked_for_are_left_alone(preloaded, tmp_path):
    """Names that match no pattern, pipes and sockets: the system's own functions."""
    program = """
import os, socket
a, b = socket.socketpair()
a.sendall(b"x" * 100); assert b.recv(100) == b"x" * 100
r, w = os.pipe(); os.write(w, b"y"); assert os.read(r, 1) == b"y"
d = os.open("other.txt", os.O_CREAT | os.O_RDWR); os.write(d, b"z" * 10)
other = os.open("other.txt", os.O_RDONLY)
os.environ.clear()
print(os.stat("other.txt").st_size)
"""
    result = preloaded(PYTHON, "-S", "-c", program, NACRE_IOBUF="*.log")
    assert result.stdout == "10\n", result.stderr
    assert os.stat(tmp_path / "other.txt").st_size == 10
