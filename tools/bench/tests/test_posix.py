"""nacre-bench posix: its table, and a small run."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from nacre_bench import options, posix
from nacre_bench.cells import DIRECTIONS
from nacre_bench.config import Config
from nacre_bench.errors import BenchError
from nacre_bench.patterns import place
from parsing import built_command, parsed


def result_of(seconds: dict[tuple[str, str], list[float]]) -> dict:
    """A result in which the launches of (variant, direction) took so many seconds, round by round."""
    facts = {"time": "now", "cores": 2, "cpu": "", "memory": "", "kernel": "", "directory": "", "file_system": ""}
    return {
        "version": "0",
        "started": "now",
        "machine": {**facts, "load": [0]},
        "settings": vars(parsed(options.Posix)),
        "launches": [
            {"round": number, "variant": variant, "direction": direction, "seconds": taken, "error": ""}
            for (variant, direction), times in seconds.items()
            for number, taken in enumerate(times)
        ],
    }


class Text(unittest.TestCase):
    def test_the_ratio_is_that_of_the_medians(self):
        times = {("without", "write"): [9.0, 8.0], ("with", "write"): [2.0, 2.0]}
        text = posix.posix_text(result_of(times))
        self.assertIn("write      8.500   2.000   4.25", text)
        self.assertIn("read           -       -      -", text)
        self.assertIn("16 MiB in calls of 1 KiB, without and with NACRE_IOBUF='file:size=4m'", text)

    def test_a_launch_that_failed_is_named_and_not_counted(self):
        result = result_of({("without", "read"): [4.0]})
        result["launches"].append({"round": 0, "variant": "with", "direction": "read", "error": "exit status 1: no"})
        text = posix.posix_text(result)
        self.assertIn("read with buffers, round 1 failed: exit status 1: no", text)
        self.assertIn("read       4.000       -      -", text)

    def test_another_node_of_the_testbed_reads(self):
        nodes = pathlib.Path("/testbed")
        on_testbed = place.Place(nodes / "0", nodes / "rank", counters="user.counters")
        in_directory = place.Place(nodes, nodes)
        folders = [
            posix.folder_of(where, direction) for where in (on_testbed, in_directory) for direction in DIRECTIONS
        ]
        self.assertEqual(folders, [nodes / "0", nodes / "1", nodes, nodes])

    def test_without_the_library_the_error_says_what_to_do(self):
        with self.assertRaisesRegex(BenchError, "libnacre_posix.so does not exist: run `make`"):
            posix.library_of(Config("0", "/no/such/libnacre.so", "", {}))


class OnALocalFileSystem(unittest.TestCase):
    def run_posix(self, directory: str, *words: str) -> subprocess.CompletedProcess:
        words = [built_command(self), "posix", "--dir", directory, "--size-mib", "1", "--rounds", "2", *words]
        return subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)

    def test_a_small_run(self):
        with tempfile.TemporaryDirectory() as scratch:
            out = pathlib.Path(scratch) / "out.json"
            done = self.run_posix(scratch, "--access", "700", "--out", str(out))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            launches = json.loads(out.read_text())["launches"]
            self.assertEqual([path.name for path in pathlib.Path(scratch).iterdir()], ["out.json"])
            shown = subprocess.run(
                [built_command(self), "show", str(out)], capture_output=True, text=True, timeout=600, check=True
            )
        self.assertEqual(len(launches), 8)
        self.assertEqual({(one["error"], one["wrong_bytes"]) for one in launches}, {("", 0)})
        self.assertIn("2 rounds", shown.stdout)
        self.assertTrue(done.stdout.startswith(shown.stdout.rstrip()))

    def test_wrong_settings_of_the_buffers_make_it_fail(self):
        with tempfile.TemporaryDirectory() as scratch:
            done = self.run_posix(scratch, "--iobuf", "size=5", "--quiet")
        self.assertEqual(done.returncode, 1)
        self.assertIn("expected a multiple of 4k", done.stdout)


if __name__ == "__main__":
    sys.exit(unittest.main())
