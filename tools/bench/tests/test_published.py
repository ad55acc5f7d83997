"""nacre-bench published: its orders, and a point that is simulated."""

import os
import pathlib
import sys
import unittest

from nacre_bench.published import counts, patterns
from nacre_bench.published.patterns import OWN, Rates
from nacre_bench.published.points import MACHINES, Point, outcome_of
from nacre_bench.units import MIB
from parsing import built_command


def rates_of(rates: dict[str, float], aggregators: int = 32) -> Rates:
    return {(row, aggregators): rate for row, rate in rates.items()}


class Orders(unittest.TestCase):
    def test_the_fastest_pattern_may_have_to_be_ahead_by_far(self):
        close = rates_of({"1-OST": 110, "2-OST": 100, OWN: 300})
        self.assertTrue(patterns.fastest_is("1-OST", (32,), "").holds(close))
        self.assertFalse(patterns.fastest_is("1-OST", (32,), "", patterns.BY_FAR).holds(close))
        self.assertEqual(patterns.fastest_is("2-OST", (32,), "").found(close), "1-OST (32)")

    def test_the_slowest_are_a_set(self):
        found = rates_of({"1-OST": 4, "8-OST": 3, "16-OST": 1, OWN: 2})
        self.assertTrue(patterns.slowest_are({"16-OST", OWN}, (32,), "").holds(found))
        self.assertFalse(patterns.slowest_are({OWN}, (32,), "").holds(found))

    def test_a_factor_is_an_order_and_shown(self):
        order = patterns.times_as_fast("1-OST", 32, 5)
        self.assertTrue(order.holds(rates_of({"1-OST": 30, OWN: 10})))
        self.assertEqual(order.found(rates_of({"1-OST": 30, OWN: 10})), "3.0 times")
        self.assertFalse(order.holds(rates_of({"1-OST": 11, OWN: 10})))


class Points(unittest.TestCase):
    def test_all_machines_of_the_points_have_a_file(self):
        machines = {point.machine for point in [*patterns.points(), *counts.points()]}
        self.assertEqual(machines, {path.stem for path in MACHINES.glob("*.toml")})


class InVirtualTime(unittest.TestCase):
    def test_a_point_is_simulated_on_its_machine_with_changes(self):
        os.environ["NACRE_LIBRARY_DIR"] = str(pathlib.Path(built_command(self)).parents[1] / "lib")
        hints = (("striping_factor", "4"), ("nacre_algorithm", "direct"))
        point = Point("ranger", 4, 1, 64 * MIB, "interleaved", MIB, hints)
        found = outcome_of(point)
        self.assertEqual(found.bottleneck, "OSTs")
        slower = outcome_of(point.changed((("osts.bandwidth", 1 << 20),)))
        self.assertGreater(slower.seconds, 10 * found.seconds)


if __name__ == "__main__":
    sys.exit(unittest.main())
