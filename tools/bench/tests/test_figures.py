import random
import unittest

from nacre_bench.figures import paired_ratio, unpaired_ratio


class RatioOfMedians(unittest.TestCase):
    def test_the_ratio_of_the_medians_lies_in_its_interval(self):
        ratio = paired_ratio({0: 2.0, 1: 4.0, 2: 6.0}, {0: 1.0, 1: 2.0, 2: 3.0})
        self.assertEqual(ratio.value, 2.0)
        self.assertLessEqual(ratio.low, 2.0)
        self.assertGreaterEqual(ratio.high, 2.0)

    def test_a_slowdown_of_whole_rounds_does_not_widen_a_paired_interval(self):
        slow = dict(enumerate([1.0, 0.3, 1.0, 0.5, 0.8]))
        paired = paired_ratio({r: 3.0 * f for r, f in slow.items()}, {r: 2.0 * f for r, f in slow.items()})
        self.assertAlmostEqual(paired.low, 1.5)
        self.assertAlmostEqual(paired.high, 1.5)
        unpaired = unpaired_ratio([3.0 * f for f in slow.values()], [2.0 * f for f in slow.values()])
        self.assertGreater(unpaired.high - unpaired.low, 0.1)

    def test_only_rounds_that_both_have_are_used(self):
        self.assertEqual(paired_ratio({0: 1.0, 1: 4.0}, {1: 2.0, 2: 9.0}).value, 2.0)
        self.assertIsNone(paired_ratio({0: 1.0}, {1: 1.0}))

    def test_two_rounds_give_no_interval(self):
        self.assertIsNone(paired_ratio({0: 1.0, 1: 1.0}, {0: 1.0, 1: 1.0}).low)

    def test_the_interval_of_equal_series_usually_contains_1(self):
        seed = 20261120
        print(f"seed {seed}")
        draw = random.Random(seed)
        held = 0
        for _ in range(40):
            first = {r: draw.gauss(10, 1) for r in range(7)}
            second = {r: draw.gauss(10, 1) for r in range(7)}
            ratio = paired_ratio(first, second)
            held += ratio.low <= 1 <= ratio.high
        self.assertGreaterEqual(held, 34)


if __name__ == "__main__":
    unittest.main()
