"""nacre-bench published: its statements and orders, the marks of its machines, and points that are simulated."""

import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

from nacre.described_calls import calls_text
from nacre_bench.errors import BenchError
from nacre_bench.published import claims, counts, opal, origins, patterns
from nacre_bench.published.patterns import OWN, Rates
from nacre_bench.published.points import Outcome, Point, outcome_of
from nacre_bench.published.statements import Statement, busiest
from nacre_bench.units import GIB, MIB
from parsing import built_command


def rates_of(rates: dict[str, float], aggregators: int = 32) -> Rates:
    return {(row, aggregators): rate for row, rate in rates.items()}


def outcome(seconds: float = 1.0, bottleneck: str = "OSTs", rate: float = 1.0, **phases: float) -> Outcome:
    return Outcome(seconds, rate, bottleneck, {"aggregators": 8}, phases)


def lines_of(point: Point) -> list[list[str]]:
    """What nacre-simulate reads of the calls of a point, as words."""
    with tempfile.TemporaryDirectory() as scratch:
        tables = pathlib.Path(scratch) / "calls.toml"
        tables.write_text(point.calls)
        return [line.split() for line in calls_text(str(tables), point.ranks).splitlines()]


class Orders(unittest.TestCase):
    def test_the_fastest_pattern_may_have_to_be_ahead_by_far(self):
        close = rates_of({"1-OST": 110, "2-OST": 100, OWN: 300})
        self.assertTrue(patterns.fastest_is("1-OST", (32,), "").holds(close))
        self.assertFalse(patterns.fastest_is("1-OST", (32,), "", patterns.BY_FAR).holds(close))
        self.assertEqual(patterns.fastest_is("2-OST", (32,), "").found(close), "1-OST (32)")

    def test_the_same_for_several_numbers_of_aggregators_is_said_once(self):
        rates = {**rates_of({"1-OST": 2, "2-OST": 1}, 13), **rates_of({"1-OST": 2, "2-OST": 1}, 26)}
        self.assertEqual(patterns.fastest_is("2-OST", (13, 26), "").found(rates), "1-OST (13, 26)")

    def test_the_slowest_are_a_set(self):
        found = rates_of({"1-OST": 4, "8-OST": 3, "16-OST": 1, OWN: 2})
        self.assertTrue(patterns.slowest_are({"16-OST", OWN}, (32,), "").holds(found))
        self.assertFalse(patterns.slowest_are({OWN}, (32,), "").holds(found))

    def test_a_factor_is_an_order_and_shown(self):
        order = patterns.times_as_fast("1-OST", 32, 5)
        self.assertTrue(order.holds(rates_of({"1-OST": 30, OWN: 10})))
        self.assertEqual(order.found(rates_of({"1-OST": 30, OWN: 10})), "3.0 times")
        self.assertFalse(order.holds(rates_of({"1-OST": 11, OWN: 10})))


class Causes(unittest.TestCase):
    CLOSE = {("1-OST", 32): 110, ("2-OST", 32): 100, (OWN, 32): 50}
    ORDER = patterns.fastest_is("1-OST", (32,), "")
    ALONE = patterns.Variant("no cost", (), "the cost")
    SLOW = patterns.Variant("slow requests", ())

    def made_by(self, rates: dict, of_variants: dict) -> str:
        outcomes = {key: outcome(rate=rate) for key, rate in rates.items()}
        return patterns.made_by(self.ORDER, outcomes, of_variants)

    def test_an_order_is_made_by_what_it_vanishes_without(self):
        other = {**self.CLOSE, ("2-OST", 32): 120}
        self.assertEqual(self.made_by(self.CLOSE, {self.ALONE: other, self.SLOW: other}), "the cost; OSTs busiest")
        self.assertEqual(self.made_by(self.CLOSE, {self.ALONE: self.CLOSE}), "OSTs busiest")

    def test_an_order_that_does_not_come_out_may_with_other_figures(self):
        other = {**self.CLOSE, ("2-OST", 32): 120}
        found = self.made_by(other, {self.ALONE: other, self.SLOW: self.CLOSE})
        self.assertEqual(found, "comes out with: slow requests; OSTs busiest")

    def test_a_variant_simulates_only_what_the_orders_compare(self):
        ranger = patterns.STUDIES[0]
        compared = {count for _, count in ranger.points(ranger.variants[0])}
        self.assertEqual(compared, {50})
        self.assertEqual({count for _, count in ranger.points()}, {50, 100, 150, 200, 600})


class Statements(unittest.TestCase):
    def test_a_paper_may_not_say_enough(self):
        cells = Statement("Jaguar", "as fast", "10 MiB/s", None, "OSTs busiest", "rates").cells()
        self.assertEqual(cells[3], "cannot be said")

    def test_each_busiest_resource_is_named_once(self):
        found = busiest([outcome(bottleneck=name) for name in ("OSTs", "node links", "OSTs")])
        self.assertEqual(found, "OSTs and node links busiest")

    def test_a_claim_holds_for_all_its_benchmarks_and_algorithms(self):
        times = {"8": 2.0, "64": 1.0}

        def simulated(point: Point) -> Outcome:
            return outcome(times.get(dict(point.hints).get("cb_nodes"), 3.0))

        latency = claims._of("deimos", "Latency-IO")
        with mock.patch.object(counts, "outcome_of", simulated):
            slow = claims.Claim("8 are slow", latency, counts.SEGMENTATION, 8, at_least=claims.CLOSE).statement()
            close = claims.Claim("8 are close", latency, counts.SEGMENTATION, 8, claims.CLOSE).statement()
        self.assertTrue(slow.comes_out)
        self.assertFalse(close.comes_out)
        self.assertEqual(slow.simulated, "2.00 times the time of the best")
        self.assertEqual(slow.experiment, "Latency-IO on Deimos (figure 9)")

    def test_the_summary_counts_the_choices_close_to_the_best(self):
        def simulated(point: Point) -> Outcome:
            is_by_k = "nacre_saturation_bytes" in dict(point.hints)
            return outcome(1.2 if is_by_k and point.machine == "shark" else 1.0)

        with mock.patch.object(counts, "outcome_of", simulated):
            within = [claims.cases_within(counts.BY_K, times) for times in (claims.BEST, claims.CLOSE)]
        self.assertEqual((within, claims.case_count()), ([21, 42], 42))


class Machines(unittest.TestCase):
    def test_all_machines_of_the_points_have_a_file(self):
        machines = {point.machine for point in [*patterns.points(), *counts.points(), *opal.points()]}
        self.assertEqual(machines, set(origins.names()))

    def test_each_figure_says_where_it_comes_from(self):
        for machine in origins.names():
            figures = {f"{section}.{key}" for section, keys in origins.sections_of(machine).items() for key in keys}
            self.assertEqual({one.name for one in origins.figures(machine)}, figures)

    def test_the_figures_that_no_paper_gives_are_listed(self):
        assumed = {one.name: one.value for one in origins.assumptions("ranger")}
        self.assertEqual(assumed["osts.bandwidth"], "250m")
        self.assertNotIn("osts.count", assumed)

    def test_a_figure_without_its_origin_is_refused(self):
        with mock.patch.object(origins, "_text", lambda machine: "[osts]\ncount = 8  # 8 OSTs\n"):
            self.assertRaisesRegex(BenchError, "new.toml:2: expected KEY = VALUE", origins.figures, "new")


class Programs(unittest.TestCase):
    def test_tiles_have_the_sizes_of_the_paper(self):
        tiles = claims._of("deimos", "Tile-IO")
        bytes_of_a_rank = []
        for one in tiles:
            words = lines_of(one.point("two_phase", 1))[-1]
            self.assertEqual(words[:2], ["shape", "143"])
            bytes_of_a_rank.append(int(words[4]))
        self.assertEqual(bytes_of_a_rank, [200 * MIB, 200 * MIB, 300 * MIB])

    def test_checkpoint_files_of_flash_have_the_published_sizes(self):
        for processes, published in ((128, 60.8), (1024, 486)):
            kind = lines_of(opal.FLASH.point(processes))[1]
            self.assertAlmostEqual(int(kind[5]) / GIB, published, delta=0.06)

    def test_synchronization_is_waiting_and_agreement(self):
        found = outcome(wait=3, agreement=1, file=4, copy=2)
        self.assertAlmostEqual(found.share(opal.SYNCHRONIZATION), 0.4)


class InVirtualTime(unittest.TestCase):
    def setUp(self):
        os.environ["NACRE_LIBRARY_DIR"] = str(pathlib.Path(built_command(self)).parents[1] / "lib")

    def test_a_point_is_simulated_on_its_machine_with_changes(self):
        hints = (("striping_factor", "4"), ("nacre_algorithm", "direct"))
        point = Point("ranger", 4, 1, 64 * MIB, "interleaved", MIB, hints)
        found = outcome_of(point)
        self.assertEqual(found.bottleneck, "OSTs")
        slower = outcome_of(point.changed((("osts.bandwidth", 1 << 20),)))
        self.assertGreater(slower.seconds, 10 * found.seconds)

    def test_described_calls_are_simulated_and_their_phases_known(self):
        found = opal.IOR_ONCE.outcome(16, 4)
        self.assertEqual(found.plan["aggregators"], 4)
        self.assertGreater(found.share(opal.SYNCHRONIZATION), 1 / 2)  # of 12 of 16 processes, that only wait
        reads = opal.READS.outcome(4)
        self.assertGreater(reads.mib_per_second, 0)
        self.assertIsNone(reads.plan)


if __name__ == "__main__":
    sys.exit(unittest.main())
