"""nacre-bench scale: a job of 256 ranks, and samples of it."""

import os
import pathlib
import sys
import tempfile
import unittest

from nacre_bench.growth.points import DYNAMIC, TWO_PHASE
from nacre_bench.scale.run import operations
from nacre_bench.scale.samples import Job, samples, simulate
from nacre_bench.scale.text import page
from parsing import built_command

CLUSTER = pathlib.Path(__file__).resolve().parents[3] / "tests/data/machines/cluster.toml"
JOB = Job(nodes=16, ranks_per_node=16, osts=32)


class Samples(unittest.TestCase):
    def test_a_sample_has_its_share_of_the_osts(self):
        million = Job(15_625, 64, 2_000)
        self.assertEqual(million.ranks, 1_000_000)
        self.assertEqual(million.sample(64), Job(64, 64, 8))
        self.assertEqual(million.sample(1), Job(1, 64, 1))
        self.assertEqual(JOB.sample(64), JOB)


class InVirtualTime(unittest.TestCase):
    def setUp(self):
        build = pathlib.Path(built_command(self)).parents[1]
        os.environ["NACRE_LIBRARY_DIR"] = str(build / "lib")
        program = build / "tools/bench/nacre_bench_scale"
        self.found = {one["operation"]: one for one in operations(str(program), JOB)}

    def test_each_operation_counts_messages_and_heap_of_all_ranks(self):
        self.assertEqual(len(self.found), 4)
        for one in self.found.values():
            self.assertEqual(one["ranks"], JOB.ranks)
            self.assertTrue(0 < one["kept_bytes"]["max"] <= one["heap_bytes"]["max"])
            self.assertGreaterEqual(one["messages"]["max"], one["messages"]["mean"])

    def test_a_write_without_exchange_sends_two_messages_along_each_edge_of_the_tree(self):
        messages = self.found["collective write without exchange"]["messages"]
        self.assertAlmostEqual(messages["mean"] * JOB.ranks, 2 * 2 * (JOB.ranks - 1), places=2)

    def test_rank_0_gathers_24_bytes_of_each_rank_for_the_groups(self):
        received = self.found["groups of segmentation"]["bytes"]
        self.assertEqual(received["rank_of_max"], 0)
        self.assertGreater(received["max"], 24 * (JOB.ranks - 1))

    def test_the_page_has_all_operations(self):
        text = page(JOB, [], list(self.found.values()), {})
        for name in self.found:
            self.assertIn(f"| {name} |", text)

    def test_samples_are_simulated(self):
        found = {}
        for sample in samples(JOB, 4):
            with tempfile.TemporaryDirectory() as folder:
                found[sample] = simulate(sample, str(CLUSTER), pathlib.Path(folder))
        self.assertEqual([sample.algorithm for sample in found], [TWO_PHASE, DYNAMIC, TWO_PHASE])
        share, _, wide = found.values()
        self.assertGreater(share.messages.mean, 10)
        self.assertGreater(wide.node_bytes, share.node_bytes)
        self.assertIn("| two_phase, with all OSTs, an aggregator for each | 64 | 32 |", page(JOB, [], [], found))


if __name__ == "__main__":
    sys.exit(unittest.main())
