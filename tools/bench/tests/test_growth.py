"""nacre-bench growth: its verdicts, and a few points that are simulated."""

import dataclasses
import os
import pathlib
import sys
import tempfile
import unittest

from nacre_bench.cells import READ
from nacre_bench.errors import BenchError
from nacre_bench.growth.points import DYNAMIC, TWO_PHASE, Figures, OfRanks, Point, exceeds_log, figures_of, points
from nacre_bench.growth.run import decisions
from nacre_bench.growth.text import draw, page
from nacre_bench.simulation import run_program
from parsing import built_command

CLUSTER = pathlib.Path(__file__).resolve().parents[3] / "tests/data/machines/cluster.toml"


def figures(messages: float, most: int) -> Figures:
    few = OfRanks(4.0, 10, 0)
    return Figures(OfRanks(messages, most, 3), few, few, few, 1 << 20, 1 << 17)


class Verdicts(unittest.TestCase):
    def test_a_figure_may_grow_as_the_logarithm_of_the_ranks(self):
        self.assertFalse(exceeds_log((64, 12), (4096, 24), 1.0))
        self.assertTrue(exceeds_log((64, 12), (4096, 25), 1.0))

    def test_the_page_names_what_grows_faster(self):
        few, many = (Point("pieces", nodes, TWO_PHASE) for nodes in (4, 16))
        text = page({few: figures(10, 20), many: figures(12, 80)}, [])
        self.assertIn("from 64 to 256 ranks: messages of the busiest rank: 20 to 80.", text)
        self.assertIn("| 256 | 16 | 12.0 | 80 (rank 3) |", text)
        self.assertIn("nothing", page({few: figures(10, 20), many: figures(12, 24)}, []))

    def test_each_figure_is_drawn(self):
        few, many = (Point("pieces", nodes, TWO_PHASE) for nodes in (4, 16))
        with tempfile.TemporaryDirectory() as folder:
            drawing = pathlib.Path(folder) / "growth.svg"
            if not draw({few: figures(10, 20), many: figures(12, 80)}, str(drawing)):
                self.skipTest("no matplotlib")
            self.assertIn("<svg", drawing.read_text())

    def test_points_end_at_the_most_nodes(self):
        self.assertEqual(max(point.nodes for point in points(16)), 16)
        self.assertEqual(max(point.nodes for point in points(100_000)), 1024)


class InVirtualTime(unittest.TestCase):
    def setUp(self):
        self.build = pathlib.Path(built_command(self)).parents[1]
        os.environ["NACRE_LIBRARY_DIR"] = str(self.build / "lib")

    def test_the_choice_is_measured_for_a_million_ranks(self):
        found = decisions(str(self.build / "tools/bench/nacre_bench_decision"))
        largest = [one for one in found if (one["ranks"], one["osts"]) == (1_000_000, 2_000)]
        self.assertEqual({one["direction"] for one in largest}, {"write", "read"})
        self.assertTrue(all(0 < one["median_nanoseconds"] <= one["max_nanoseconds"] for one in found))
        self.assertIn("| 1,000,000 | 2,000 | read |", page({}, found))

    def test_messages_peers_bytes_and_memory_are_counted(self):
        small, large = (figures_of(Point("interleaved", nodes, TWO_PHASE), str(CLUSTER)) for nodes in (4, 16))
        for found in (small, large):
            self.assertGreater(found.messages.most, found.messages.mean)
            self.assertGreaterEqual(found.messages.mean, found.peers.mean)
            self.assertGreater(found.all_bytes.mean, found.control_bytes.mean)
            self.assertGreater(found.all_bytes.most, 1 << 20)
            self.assertGreater(found.shared_bytes, 0)
            self.assertGreater(found.process_bytes, 0)
        self.assertGreater(large.peers.most, small.peers.most)

    def test_rank_0_gathers_24_bytes_of_each_rank_in_segmentation(self):
        point = Point("interleaved", 16, DYNAMIC)
        found = figures_of(point, str(CLUSTER)).control_bytes
        others = figures_of(dataclasses.replace(point, algorithm=TWO_PHASE), str(CLUSTER)).control_bytes
        self.assertEqual(found.busiest_rank, 0)
        self.assertGreater(found.most, others.most + 24 * point.ranks)

    def test_a_read_finds_the_file_without_writing_it(self):
        words = ["--machine", str(CLUSTER), "--nodes", "4", "--ranks-per-node", "16", "--bytes", str(16 << 20)]
        found = run_program([*words, "--only-read", "interleaved"])
        self.assertEqual((found["bytes_written"], found["bytes_read"]), (0, 16 << 20))
        self.assertGreater(figures_of(Point("interleaved", 4, TWO_PHASE, READ), str(CLUSTER)).all_bytes.most, 1 << 20)
        with self.assertRaisesRegex(BenchError, "--only-read needs a WORKLOAD"):
            run_program([*words, "--only-read", "--read", "interleaved"])


if __name__ == "__main__":
    sys.exit(unittest.main())
