"""nacre-bench growth: its verdicts, and two points that are simulated."""

import os
import pathlib
import sys
import unittest

from nacre_bench.growth.points import TWO_PHASE, Figures, Point, exceeds_log, figures_of, points
from nacre_bench.growth.run import decisions
from nacre_bench.growth.text import page
from parsing import built_command

CLUSTER = pathlib.Path(__file__).resolve().parents[3] / "tests/data/machines/cluster.toml"


def figures(messages: float, most: int) -> Figures:
    return Figures(messages, most, 0, 4.0, 10, 1 << 20)


class Verdicts(unittest.TestCase):
    def test_a_figure_may_grow_as_the_logarithm_of_the_ranks(self):
        self.assertFalse(exceeds_log((64, 12), (4096, 24), 1.0))
        self.assertTrue(exceeds_log((64, 12), (4096, 25), 1.0))

    def test_the_page_names_what_grows_faster(self):
        text = page({Point("pieces", 4): figures(10, 20), Point("pieces", 16): figures(12, 80)}, [])
        self.assertIn("from 64 to 256 ranks: messages of the busiest rank: 20 to 80.", text)
        even = page({Point("pieces", 4): figures(10, 20), Point("pieces", 16): figures(12, 24)}, [])
        self.assertIn("nothing", even)

    def test_points_end_at_the_most_nodes(self):
        self.assertEqual(max(point.nodes for point in points(16)), 16)
        self.assertEqual(max(point.nodes for point in points(100_000)), 1024)


class Decisions(unittest.TestCase):
    def test_the_choice_is_measured_for_a_million_ranks(self):
        build = pathlib.Path(built_command(self)).parents[1]
        found = decisions(str(build / "tools/bench/nacre_bench_decision"))
        largest = [one for one in found if (one["ranks"], one["osts"]) == (1_000_000, 2_000)]
        self.assertEqual({one["direction"] for one in largest}, {"write", "read"})
        self.assertTrue(all(0 < one["median_nanoseconds"] <= one["max_nanoseconds"] for one in found))
        self.assertIn("| 1,000,000 | 2,000 | read |", page({}, found))


class InVirtualTime(unittest.TestCase):
    def test_ranks_and_peers_are_counted(self):
        os.environ["NACRE_LIBRARY_DIR"] = str(pathlib.Path(built_command(self)).parents[1] / "lib")
        small, large = (figures_of(Point("interleaved", nodes, TWO_PHASE), str(CLUSTER)) for nodes in (4, 16))
        for found in (small, large):
            self.assertGreater(found.messages_max, found.messages_mean)
            self.assertGreaterEqual(found.messages_mean, found.peers_mean)
            self.assertGreater(found.node_bytes, 0)
        self.assertGreater(large.peers_max, small.peers_max)


if __name__ == "__main__":
    sys.exit(unittest.main())
