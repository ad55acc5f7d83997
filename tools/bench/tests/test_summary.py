import unittest

from nacre_bench.cells import Cell
from nacre_bench.contenders import LIMIT, OURS, PEER
from nacre_bench.ratios import comparisons
from nacre_bench.summary import Judged, cell_rows, mean_rows, summary_text, verdicts

MIB = 1 << 20
RESULT = {
    "contenders": [
        {"name": name, "role": role}
        for name, role in (("N/M5", OURS), ("N/O5", OURS), ("M5t", PEER), ("O5", PEER), ("ref", LIMIT))
        + (("hand/M5", LIMIT), ("hand/O5", LIMIT))
    ]
}
OURS_NAMES = ["N/M5", "N/O5"]


def cell(workload: str, rates: dict[str, float], memory: dict[str, float] | None = None) -> Cell:
    """A cell with the same figures in both directions and in three rounds."""
    series = {}
    for name, rate in rates.items():
        figures = {"rate": rate, "cpu": 1.0, "memory_mean": (memory or {}).get(name, 8.0) * MIB}
        for direction in ("write", "read"):
            for figure, value in figures.items():
                series[name, direction, figure] = dict.fromkeys(range(3), value)
    return Cell(workload, 8, 256 * MIB, series, errors={})


def judged(*cells: Cell) -> list[Judged]:
    return [Judged(one, comparisons(one, RESULT)) for one in cells]


class Summary(unittest.TestCase):
    def test_the_fastest_nacre_contender_is_compared_with_the_fastest_peer(self):
        rows = cell_rows(judged(cell("w", {"N/M5": 1.0, "N/O5": 3.0, "M5t": 2.0, "O5": 1.0})), OURS_NAMES)
        self.assertEqual(rows[0][2:5], ["N/O5", "M5t", "1.50 [1.50..1.50]"])
        self.assertEqual(rows[0][7:9], ["0.50", "1.50"])

    def test_the_hand_written_limit_is_over_the_same_mpi(self):
        cells = judged(cell("w", {"N/M5": 1.0, "N/O5": 3.0, "O5": 1.0, "ref": 6.0, "hand/M5": 1.0, "hand/O5": 4.0}))
        self.assertEqual(cell_rows(cells, OURS_NAMES)[0][-2:], ["0.50", "0.75"])

    def test_means_are_geometric(self):
        cells = judged(cell("v", {"N/M5": 4.0, "O5": 1.0}), cell("w", {"N/M5": 1.0, "O5": 1.0}))
        self.assertEqual(mean_rows(cells, OURS_NAMES)[0][:5], ["best", "2.00", "2.00", "2.00", "1.00"])

    def test_memory_below_1_mib_counts_as_1_mib(self):
        cells = judged(cell("w", {"N/M5": 1.0, "O5": 1.0}, memory={"N/M5": 2.0, "O5": 0.01}))
        self.assertEqual(cells[0].comparisons[0].memory, 2.0)

    def test_slower_cells_are_listed_and_ties_are_not_called_slower(self):
        cells = judged(cell("v", {"N/M5": 1.0, "O5": 2.0}), cell("w", {"N/M5": 1.0, "O5": 1.0}))
        lines = verdicts(cells, OURS_NAMES).splitlines()
        self.assertIn("(2): v 8 write 0.50, v 8 read 0.50", lines[0])
        self.assertIn("(2): w 8 write 1.00", lines[1])
        self.assertIn("(0): none", lines[2])

    def test_a_run_without_nacre_has_no_summary(self):
        self.assertEqual(summary_text(judged(cell("w", {"O5": 1.0})), RESULT), "")


if __name__ == "__main__":
    unittest.main()
