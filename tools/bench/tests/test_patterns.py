"""nacre-bench patterns: its launches, its figures, and a small run on the testbed."""

import dataclasses
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

import typer
from nacre_bench import contenders, options
from nacre_bench.config import Mpi
from nacre_bench.errors import BenchError
from nacre_bench.patterns import cells, checks, place, run
from nacre_bench.patterns.figures import Medians, rate_of
from nacre_bench.patterns.text import patterns_text
from nacre_bench.units import MIB
from parsing import built_command, parsed

MPICH = Mpi("mpich5", "mpich", "mpiexec", "/programs")
OURS = contenders.ours_over(MPICH, "N", "/lib.so", {})
ROMIO = next(one for one in contenders.peers_over(MPICH) if one.name == "M5")
EXTENT = cells.Extent(stripe_bytes=65536, mib_per_ost=1, patterns=(1, 2, 8), redistributed=(1,))


def sample(label: str, mib_a_second: float) -> dict:
    one = {"open_s": 1.0, "total_s": 1.0 + 8 / mib_a_second}
    counters = json.dumps({"osts": {"clients": [1, 3]}, "nodes": {"lock_callbacks": [2, 2]}})
    line = {"type": "sample", "workload": label, "warmup": False, "bytes": 8 * MIB, "write": one, "read": one}
    return {**line, "write_counters": counters, "read_counters": counters}


def entry(contender: str, osts: int, rates: dict[str, float], variant: str = "") -> dict:
    lines = [sample(label, rate) for label, rate in rates.items()]
    at = {"round": 0, "variant": variant, "osts": osts, "ranks": osts, "contender": contender}
    return {**at, "workload": "patterns", "stripe_bytes": 65536, "unstriped": "", "error": "", "lines": lines}


def result_of(*launches: dict, machine: str = "ranger") -> dict:
    settings = {"rounds": 1, "seed": 1, "machine": machine, "set": [], "mib_per_ost": 1, "dir": "/d"}
    facts = {"cores": 2, "cpu": "", "memory": "", "kernel": "", "directory": "", "file_system": "", "load": [0]}
    described = [OURS.describe(), ROMIO.describe()]
    about = {"version": "0", "started": "now", "machine": facts, "settings": settings, "contenders": described}
    return {**about, "launches": list(launches)}


class CommandLine(unittest.TestCase):
    def test_aggregators_are_numbers_or_multiples_of_the_osts(self):
        wishes = parsed(options.Patterns, "--aggregators", "0.5x,2x,7").aggregators
        self.assertEqual([wish.at(8) for wish in wishes], [4, 16, 7])
        with self.assertRaises(typer.BadParameter):
            cells.aggregators("many")

    def test_equal_cells_run_once(self):
        self.assertEqual(cells.cells([8], cells.aggregators("1x,8,2x")), [cells.Cell(8, 8), cells.Cell(8, 16)])

    def test_with_a_changed_setting_there_are_as_many_aggregators_as_osts(self):
        arguments = parsed(options.Patterns, "--osts", "8", "--rounds", "2", "--switch-off", "osts.client_cost=0")
        plan = run.launches(arguments, [OURS, ROMIO])
        changed = [one for one in plan if one.variant.is_changed]
        self.assertEqual({(one.cell, one.round) for one in changed}, {(cells.Cell(8, 8), 0)})
        self.assertEqual(len(plan), 2 * 3 * 2 + 2)
        self.assertEqual(plan, run.launches(arguments, [OURS, ROMIO]))


class Tasks(unittest.TestCase):
    def test_nacre_runs_the_patterns_that_fit_the_file_and_two_phase(self):
        tasks = cells.tasks_of(OURS, cells.Cell(4, 4), EXTENT, cells.Variant())
        patterns = ["1-OST", "2-OST", "1-OST two-phase", "1-OST redistributed"]
        self.assertEqual([one.label for one in tasks], [*patterns, *cells.CHOSEN])
        self.assertEqual([one.block_bytes >> 16 for one in tasks[:4]], [1, 2, 1, 1])
        self.assertEqual({one.bytes for one in tasks}, {4 * MIB})
        self.assertIn("cb_nodes=4", tasks[3].words())

    def test_the_automatic_choice_has_no_hint_but_the_machine(self):
        extent = dataclasses.replace(EXTENT, machine_file="/m.toml")
        tasks = {one.label: one for one in cells.tasks_of(OURS, cells.Cell(4, 8), extent, cells.Variant())}
        self.assertEqual(tasks["automatic"].hints, (("nacre_machine", "/m.toml"),))
        self.assertEqual(tasks["static segmentation"].hints, (("nacre_algorithm", "static_segmentation"),))
        self.assertIn("nacre_machine=none", tasks["automatic by k"].words())
        changed = cells.tasks_of(OURS, cells.Cell(4, 4), extent, cells.Variant("osts.client_cost=0"))
        self.assertEqual([one.label for one in changed], ["1-OST", "2-OST"])

    def test_the_mpi_itself_has_one_contiguous_piece_per_rank_and_no_hints(self):
        (task,) = cells.tasks_of(ROMIO, cells.Cell(4, 4), EXTENT, cells.Variant())
        self.assertEqual((task.workload, task.label, task.hints), ("pieces", "contiguous", ()))

    def test_the_layout_matches_lustre_user_h(self):
        self.assertEqual(struct.unpack("<IIQQIHH", place.default_layout(8, 65536))[4:], (65536, 8, 0xFFFF))

    def test_comments_of_machine_settings_are_ignored(self):
        where = place.Place(None, None, settings="osts.count = 8  # OSTs\nstriping.size = 65536  # bytes\n")
        self.assertEqual((where.setting("striping.size"), where.setting("x")), ("65536", None))


class Places(unittest.TestCase):
    def test_a_directory_without_lustre_is_used_unstriped(self):
        with tempfile.TemporaryDirectory() as directory, place.in_directory(directory) as where:
            files, why = where.striped(4, 65536)
            self.assertTrue(files.is_dir())
            self.assertIn("not striped", why)
            self.assertEqual(place.with_ranks(where, 4).rank_words, ())

    def test_a_missing_directory_is_an_error(self):
        with self.assertRaisesRegex(BenchError, "/no/such"), place.in_directory("/no/such"):
            self.fail()


class Figures(unittest.TestCase):
    RATES = {8: (60.0, 50.0, 30.0, 27.0), 16: (110.0, 100.0, 50.0, 30.0)}

    def launches(self) -> list[dict]:
        result = []
        for osts, (one, two, many, own) in self.RATES.items():
            result.append(entry("N/M5", osts, {"warm-up": 1.0, "1-OST": one, "2-OST": two, "8-OST": many}))
            result.append(entry("M5", osts, {"contiguous": own}))
        return result

    def test_rates_leave_out_the_open(self):
        self.assertAlmostEqual(rate_of(sample("1-OST", 40.0), "write"), 40.0)

    def test_medians_are_over_rounds(self):
        medians = Medians(result_of(*[entry("N/M5", 8, {"1-OST": rate}) for rate in (1.0, 9.0, 5.0)]))
        self.assertAlmostEqual(medians.pattern(cells.Cell(8, 8), 1), 5.0)

    def test_ratios_refer_to_romio_if_it_was_measured(self):
        result = result_of(*self.launches(), entry("O5", 8, {"contiguous": 90.0}))
        ompio = next(one for one in contenders.peers_over(Mpi("openmpi5", "openmpi", "", "")) if one.name == "O5")
        result["contenders"].append(ompio.describe())
        self.assertAlmostEqual(Medians(result).own(cells.Cell(8, 8)), 27.0)
        self.assertIn("M5 27, O5 90", checks.checks_of(Medians(result), "ranger")[0].figures)

    def test_published_orders_are_checked_against_the_medians(self):
        held = checks.checks_of(Medians(result_of(*self.launches())), "/machines/ranger.toml")
        self.assertTrue(all(check.held for check in held), held)
        self.assertEqual(len(held), 4)
        self.assertIn("2.22", held[0].figures)
        held = checks.checks_of(Medians(result_of(*self.launches())), "big-red")
        self.assertEqual([check.held for check in held], [False, False, True, True])

    def test_the_text_has_rates_traffic_and_changed_settings(self):
        changed = entry("N/M5", 8, {"1-OST": 61.0, "8-OST": 59.0}, variant="osts.client_cost=0")
        text = patterns_text(result_of(*self.launches(), changed))
        self.assertRegex(text, r"1-OST +60\.0 +60\.0 +2\.22 +2\.22")
        self.assertRegex(text, r"M5, own +3 +512")
        self.assertRegex(text, r"8-OST +30\.0 +59\.0")
        self.assertIn("yes  1-OST is at least twice as fast as the MPI's own collective at 8 OSTs", text)
        self.assertNotIn("warm-up", text)

    def test_no_order_is_checked_if_files_are_not_striped(self):
        launches = [{**one, "unstriped": "files are not striped"} for one in self.launches()]
        self.assertNotIn("Published orders", patterns_text(result_of(*launches)))

    def test_an_empty_result_has_a_text(self):
        self.assertNotIn("Published orders", patterns_text(result_of()))


class OnTheTestbed(unittest.TestCase):
    """Runs on the testbed. NACRE_BENCH is the path of the nacre-bench command of a build."""

    def test_a_small_run_has_right_bytes_and_ost_counts(self):
        command = built_command(self)
        with tempfile.TemporaryDirectory() as directory:
            out = os.path.join(directory, "out.json")
            size = "--osts 2 --aggregators 1x --patterns 1,2 --mib-per-ost 1 --stripe-size 64k --rounds 1".split()
            words = [command, "patterns", "--machine", "ranger", *size, "--switch-off", "locks.wide=1", "--out", out]
            done = subprocess.run([*words, "--quiet"], capture_output=True, text=True, timeout=1100, check=False)
            if "--machine ranger:" in done.stderr:
                self.skipTest(f"nothing can be mounted here: {done.stderr.strip()}")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(out, encoding="utf-8") as file:
                result = json.load(file)
        ours = [one for one in result["launches"] if one["contender"].startswith("N/")]
        self.assertEqual({one["variant"] for one in ours}, {"", "locks.wide=1"})
        self.assertFalse([one["error"] for one in ours if one["error"]])
        medians = Medians(result)
        cell = cells.Cell(2, 2)
        for series in medians.series(2):
            if series.contender.startswith("N/") and series.label in ("1-OST", "2-OST"):
                (traffic,) = medians.traffic[cell, series, "write"]
                self.assertEqual(f"{traffic.nodes_an_ost}-OST", series.label)
        self.assertEqual(sorted(medians.patterns(cell)), [1, 2])


if __name__ == "__main__":
    sys.exit(unittest.main())
