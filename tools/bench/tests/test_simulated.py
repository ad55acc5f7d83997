"""nacre-bench simulated: its cases and its text."""

import unittest

from nacre.tune import figures, plan
from nacre.tune.samples import Figure, Samples
from nacre_bench.choice import measured
from nacre_bench.errors import BenchError
from nacre_bench.simulated.cases import all_cases, chosen_cases, settings_of
from nacre_bench.simulated.run import on_one_computer
from nacre_bench.simulated.text import shares, simulated_text

PLAN = {"algorithm": "direct", "plans": 1}


def entry(case: str, error: str = "", message_us: float = 5, **settings: tuple[list[float], float]) -> dict:
    found = {
        label: {"measured": measured, "measured_plan": PLAN, "simulated": simulated, "simulated_plan": PLAN}
        for label, (measured, simulated) in settings.items()
    }
    system, workload = case.split("/")[:2]
    return {"case": case, "file_system": system, "workload": workload, "ranks": 16, "contender": "N/M5", "round": 0,
            "error": error, "wrong_bytes": 0, "message_us": message_us, "lines": [], "settings": found}  # fmt: skip


def result_of(*entries: dict) -> dict:
    facts = {"cores": 2, "cpu": "", "memory": "", "kernel": "", "directory": "", "file_system": "", "load": [0]}
    about = {"format": 1, "kind": "simulated", "version": "0", "started": "now", "machine": facts, "contenders": []}
    return {**about, "settings": {}, "launches": list(entries)}


class Cases(unittest.TestCase):
    def test_every_machine_of_the_testbed_and_a_local_file_system_have_cases(self):
        systems = {case.file_system for case in all_cases()}
        self.assertEqual(systems, {"ranger", "tungsten", "big-red", "flash", "local"})

    def test_writes_are_the_default_and_patterns_choose(self):
        self.assertEqual({case.direction for case in chosen_cases([])}, {"write"})
        self.assertEqual({case.direction for case in chosen_cases(["ranger/bt/*/read"])}, {"read"})
        with self.assertRaises(BenchError):
            chosen_cases(["nothing/*"])

    def test_each_case_has_a_setting_for_each_kind_of_algorithm(self):
        labels = [setting.label for setting in settings_of(all_cases()[0])]
        self.assertEqual(labels, ["automatic", "direct", "two_phase", "dynamic_segmentation", "static_segmentation"])


class Machine(unittest.TestCase):
    def calls_of(self, wide: int, **clients: int) -> dict:
        sections = {"nodes": {"count": 8}, "locks": {"latency_us": 200, "wide": wide}, "clients": clients}
        found = on_one_computer(sections)
        self.assertEqual(found["nodes"], {"count": 8, "one_computer": 1})
        self.assertEqual(sections["nodes"], {"count": 8})
        return found["clients"]

    def test_locks_of_measured_writes_are_not_counted_twice(self):
        self.assertEqual(self.calls_of(0, write_call_ns=425_000, read_call_ns=9_000)["write_call_ns"], 25_000)
        self.assertEqual(self.calls_of(0, write_call_ns=300_000, read_call_ns=9_000)["write_call_ns"], 9_000)
        self.assertEqual(self.calls_of(1, write_call_ns=30_000, read_call_ns=9_000)["write_call_ns"], 30_000)

    def test_sections_that_the_machine_does_not_have_stay_away(self):
        self.assertEqual(on_one_computer({"osts": {"count": 1}}), {"osts": {"count": 1}, "nodes": {"one_computer": 1}})


class Calls(unittest.TestCase):
    def found_from(self, *microseconds: float) -> figures.Findings:
        samples = Samples()
        word = plan.cached_word(True)
        samples.by_word[word] = [{"seconds": one * 1e-6, "count": 1, "error": 0} for one in microseconds]
        found = figures.Findings()
        found.add("clients.write_call_ns", Figure(samples.each(word).value * 1e9, samples.each(word).spread))
        measured.add_least(found, "clients.write_call_ns", samples, word)
        return found

    def test_the_least_time_of_a_call_stands_for_times_that_vary_too_much(self):
        self.assertAlmostEqual(self.found_from(6, 40, 90, 7, 6.5).figures["clients.write_call_ns"].value, 6000)

    def test_times_that_vary_little_keep_their_median(self):
        self.assertAlmostEqual(self.found_from(6, 6.2, 6.1, 6.3, 6.2).figures["clients.write_call_ns"].value, 6200)


class Text(unittest.TestCase):
    def test_ratios_are_of_the_medians_and_shares_count_those_that_are_near(self):
        one = entry("ranger/bt/16x8/8m/c8/write", automatic=([1.0, 2.0, 1.5], 1.5), direct=([1.0], 1.2))
        other = entry("flash/bt/16x8/32m/c8/write", automatic=([2.0], 1.8))
        rows = {row[0]: row[1:3] for row in shares([one, other])}
        self.assertEqual(rows["ranger"], ["2", "1 (50 %)"])
        self.assertEqual(rows["automatic"], ["2", "2 (100 %)"])
        self.assertEqual(rows["all"], ["3", "2 (67 %)"])

    def test_a_launch_that_failed_is_named(self):
        text = simulated_text(result_of(entry("ranger/bt/16x8/8m/c8/write", error="no nodes\nmore")))
        self.assertIn("ranger/bt/16x8/8m/c8/write: no nodes", text)
        self.assertNotIn("more", text)

    def test_a_busy_computer_is_named(self):
        case = "ranger/bt/16x8/8m/c8/write"
        self.assertIn(f"before {case}", simulated_text(result_of(entry(case, message_us=55_000, direct=([1.0], 1.2)))))
        self.assertNotIn("Busy", simulated_text(result_of(entry(case, direct=([1.0], 1.2)))))


if __name__ == "__main__":
    unittest.main()
