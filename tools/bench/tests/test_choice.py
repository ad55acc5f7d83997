"""nacre-bench choice: its cases, its search, its figures, and a small run."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import typer
from nacre_bench import options
from nacre_bench.choice import figures, search, virtual
from nacre_bench.choice.cases import Case, all_cases, chosen_cases
from nacre_bench.choice.fixed import fixed_settings
from nacre_bench.choice.plans import longest
from nacre_bench.choice.run import Sequence, site_of
from nacre_bench.choice.search import AUTOMATIC, Setting
from nacre_bench.choice.text import choice_text
from nacre_bench.config import Config
from nacre_bench.errors import BenchError
from nacre_bench.results import ResultLines, read_result
from parsing import built_command, parsed

BY_DEFAULT = Case("ranger", "steps", 16, 8, 16, "fs8", "write")
STRIPED = Case("ranger", "latency", 16, 8, 16, "c8", "write")
LOCAL = Case("local", "latency", 16, 1, 2, "", "read")


def hints_of(label: str) -> dict[str, str]:
    algorithm, _, count = label.partition(" A=")
    return {} if label == AUTOMATIC else {"nacre_algorithm": algorithm, **({"cb_nodes": count} if count else {})}


def entry(case: str, times: dict[str, list[float]], best: str, **more) -> dict:
    series = {label: dict(enumerate(seconds)) for label, seconds in times.items()}
    plan = {"algorithm": "direct", "reason": "large_pieces", "calls": 1, "plans": 1, "observed": 2.0}
    plans = {AUTOMATIC: plan, best: {**plan, "algorithm": best.split()[0]}}
    hints = {label: hints_of(label) for label in times}
    fields = {"file_system": case.split("/")[0], "error": "", "too_slow": [], "lines": [], "predictions": []}
    fields |= {"hints": hints, "nodes": 8, "ranks": 16, **more}
    return {"case": case, "times": series, "best": best, "plans": plans, "contender": "N/M5", "round": 0, **fields}


def result_of(*entries: dict) -> dict:
    facts = {"cores": 2, "cpu": "", "memory": "", "kernel": "", "directory": "", "file_system": "", "load": [0]}
    about = {"format": 1, "kind": "choice", "version": "0", "started": "now", "machine": facts, "contenders": []}
    return {**about, "settings": {"rounds": 8, "seed": 1, "timeout": 30.0}, "launches": list(entries)}


class Plans(unittest.TestCase):
    def test_predictions_are_of_all_calls_or_none(self):
        def plan(calls: int, seconds: float, **more) -> dict:
            return {"call": "read", "algorithm": "direct", "calls": calls, "seconds": {"max": seconds}, **more}

        first, steps = plan(2, 0.4, predicted={"seconds": 0.1}), plan(8, 1.0, predicted={"seconds": 0.2})
        report = {"plans": [first, steps], "other_plan_calls": 0}
        found = longest(report, "read")
        self.assertEqual((found["calls"], found["plans"], found["observed"]), (8, 2, 1.4))
        self.assertAlmostEqual(found["predicted"], 2 * 0.1 + 8 * 0.2)
        self.assertIsNone(longest(report, "write"))
        written = plan(5, 1.0, predicted={"seconds": 0.3, "busy": {"ost": 0.1, "link": 0.05, "agreement": 0.2}})
        of_writes = longest({**report, "plans": [{**written, "call": "write"}]}, "write")
        self.assertAlmostEqual(of_writes["predicted"], 5 * 0.1 + 0.2)
        self.assertNotIn("predicted", longest({**report, "other_plan_calls": 3}, "read"))
        self.assertNotIn("predicted", longest({**report, "plans": [first, plan(8, 1.0)]}, "read"))


class Cases(unittest.TestCase):
    def test_the_table_covers_what_the_paper_and_the_issue_name(self):
        cases = all_cases()
        self.assertGreaterEqual(len(cases), 134)
        self.assertEqual(len({case.name for case in cases}), len(cases))
        self.assertEqual({case.ranks for case in cases}, {4, 9, 16, 32})
        self.assertEqual({case.nodes for case in cases} & {1, 16}, {1, 16})
        self.assertEqual({case.file_system for case in cases}, {"local", "ranger", "tungsten", "big-red", "flash"})
        named = "latency tile64 bt flash seg strided block4d climate steps header uneven"
        self.assertLessEqual(set(named.split()), {case.workload for case in cases})
        self.assertEqual({case.layout_kind for case in cases}, {"", "c", "dir", "fs"})

    def test_every_case_can_run(self):
        for case in all_cases():
            self.assertLessEqual(case.nodes, case.ranks, case.name)
            self.assertTrue(case.workload != "bt" or case.ranks in (4, 9, 16), case.name)
            self.assertEqual(bool(case.osts), case.file_system != "local", case.name)

    def test_cases_are_chosen_by_name_file_system_and_ranks(self):
        chosen = chosen_cases(["*/steps/*"], ["ranger"], [16])
        self.assertEqual({(case.workload, case.file_system) for case in chosen}, {("steps", "ranger")})
        with self.assertRaisesRegex(BenchError, "--file-system nfs"):
            chosen_cases([], ["nfs"], [])
        with self.assertRaisesRegex(BenchError, "--cases nothing"):
            chosen_cases(["nothing"], [], [])
        with self.assertRaisesRegex(BenchError, "together"):
            chosen_cases(["*/bt/*"], [], [32])

    def test_only_a_default_of_the_file_system_needs_a_testbed_of_its_own(self):
        self.assertEqual(site_of(STRIPED), ("ranger", 0))
        self.assertEqual(site_of(BY_DEFAULT), ("ranger", 8))


class Search(unittest.TestCase):
    def test_the_automatic_choice_has_no_hint_and_is_the_first(self):
        for case in all_cases():
            first, *others = search.competitors(case, 8, [search.HINTS])
            self.assertEqual(first, Setting(AUTOMATIC))
            self.assertEqual(len({one.label for one in others}), len(others))
            self.assertEqual(
                {dict(one.hints).get("nacre_algorithm") for one in others} - {None},
                {"direct", "two_phase", "dynamic_segmentation", "static_segmentation"},
            )
            self.assertFalse(any(one.is_peer for one in others))

    def test_the_mpi_alone_can_be_all_that_the_choice_is_compared_with(self):
        only_mpi = search.competitors(BY_DEFAULT, 8, [search.MPI])
        self.assertEqual(only_mpi, [Setting(AUTOMATIC), *search.peer_settings(BY_DEFAULT)])
        both = search.competitors(BY_DEFAULT, 8, [search.HINTS, search.MPI])
        self.assertEqual(both, search.competitors(BY_DEFAULT, 8, [search.HINTS]) + only_mpi[1:])
        self.assertEqual(parsed(options.Choice, "--against", "mpi").against, ["mpi"])
        with self.assertRaisesRegex(typer.BadParameter, "romio is not one of hints, mpi"):
            parsed(options.Choice, "--against", "hints,romio")

    def test_stripe_counts_are_searched_where_nacre_lays_out_the_file(self):
        counts = [dict(one.hints)["striping_factor"] for one in search.stripe_settings(BY_DEFAULT, 48)]
        self.assertEqual(counts, ["1", "2", "4", "8", "16", "32", "48"])
        self.assertEqual(search.stripe_settings(STRIPED, 48), [])

    def test_aggregators_follow_nodes_osts_and_ranks(self):
        self.assertEqual(search.aggregator_counts(STRIPED), [1, 4, 8, 16])
        self.assertEqual(search.aggregator_counts(LOCAL), [1, 4, 8, 16])

    def test_settings_that_do_the_same_are_measured_once(self):
        self.assertEqual(search.rounds_for(LOCAL, 1), [256 << 10, 1 << 20, 4 << 20])
        self.assertEqual(search.rounds_for(LOCAL, 16), [256 << 10])
        self.assertEqual(search.patterns_for(LOCAL, 8), [("even", 0)])
        self.assertEqual(search.patterns_for(STRIPED, 4), [("even", 0), ("osts", 1), ("stripes", 1)])
        self.assertEqual(search.patterns_for(STRIPED, 8), [("even", 0), ("osts", 1), ("osts", 2)])

    def test_the_better_half_goes_on_and_then_the_finalists(self):
        settings = [Setting(AUTOMATIC), *[Setting(f"two_phase A={n}") for n in range(20)]]
        times = {AUTOMATIC: {0: 99.0}, **{one.label: {0: float(n)} for n, one in enumerate(settings[1:])}}
        self.assertEqual(search.survivors(settings, times, 0), settings[:11])
        last = len(search.EARLY_ROUNDS) - 1
        self.assertEqual(search.survivors(settings, times, last), settings[: 1 + search.FINALISTS])

    def test_the_best_is_one_of_the_last_stage(self):
        times = {AUTOMATIC: {0: 1.0, 1: 1.0}, "lucky": {0: 0.1}, "steady": {0: 0.9, 1: 0.8}}
        settings = [Setting(label) for label in times]
        self.assertEqual(search.best_of(settings, times), "steady")
        self.assertIsNone(search.best_of(settings, {}))

    def test_the_settings_of_the_peer_compete_with_each_other_only(self):
        ours = [Setting(AUTOMATIC), *[Setting(f"two_phase A={n}") for n in range(8)]]
        peers = search.peer_settings(LOCAL)
        self.assertEqual([one.label for one in peers[:3]], ["MPI alone", "MPI alone, independent", "MPI alone A=1"])
        self.assertTrue(all(dict(one.hints)["nacre_enable"] == "false" for one in peers))
        settings = [*ours, *peers]
        times = {one.label: {0: float(n)} for n, one in enumerate(settings)}
        kept = search.survivors(settings, times, 0)
        self.assertEqual(kept, [*ours[:5], *peers[: (len(peers) + 1) // 2]])
        self.assertEqual(search.best_of(settings, times), "two_phase A=0")
        self.assertEqual(search.best_of(settings, times, peers=True), "MPI alone")

    def test_peers_are_compared_with_the_time_of_the_opens(self):
        times = {AUTOMATIC: [9.0, 9.0, 9.0, 1.0], "MPI alone": [0.9] * 4}
        one = entry("a", times, AUTOMATIC, best_peer="MPI alone")
        self.assertIsNone(figures.ratio_to_peer(one))
        one["opens"] = {AUTOMATIC: dict.fromkeys("0123", 0.1), "MPI alone": dict.fromkeys("0123", 0.2)}
        self.assertAlmostEqual(figures.ratio_to_peer(one).value, 1.0, msg="the rounds with reports do not count")

    def test_the_mpi_alone_is_shown_without_a_searched_setting_beside_it(self):
        one = entry("a", {AUTOMATIC: [1.0] * 4, "MPI alone": [2.0] * 4}, AUTOMATIC, best_peer="MPI alone")
        opens = dict.fromkeys("0123", 0.0)
        one |= {"best": None, "opens": {AUTOMATIC: opens, "MPI alone": opens}}
        shown = choice_text(result_of(one))
        self.assertIn("0 of 1 more than 10 % slower; median 0.5", shown)
        self.assertNotIn("straddle", shown)

    def test_too_few_rounds_are_an_error(self):
        with self.assertRaisesRegex(typer.BadParameter, "3 is less than 4"):
            parsed(options.Choice, "--rounds", "3")


class Sequences(unittest.TestCase):
    def lines(self, count: int) -> list[dict]:
        one = {"open_s": 1.0, "total_s": 3.0}
        return [{"type": "start"}, *[{"type": "sample", "write": one} for _ in range(count)]]

    def test_a_launch_that_was_stopped_leaves_what_it_did_not_complete(self):
        a, b = Setting("a"), Setting("b")
        sequence = Sequence([(a, 0), (b, 0), (b, 1), (a, 1)])
        times: search.Times = {}
        opens: search.Times = {}
        self.assertEqual(sequence.take(self.lines(2), STRIPED, times, opens), 2)
        self.assertEqual((times, opens), ({"a": {0: 2.0}}, {"a": {0: 1.0}}))
        self.assertEqual(sequence.order, [(b, 0), (b, 1), (a, 1)])
        self.assertEqual(sequence.drop_first(), "b")
        self.assertEqual(sequence.order, [(a, 1)])

    def test_without_a_complete_warm_up_nothing_is_taken(self):
        sequence = Sequence([(Setting("a"), 0)])
        self.assertEqual(sequence.take(self.lines(0), STRIPED, {}, {}), 0)
        self.assertEqual(len(sequence.order), 1)


class Figures(unittest.TestCase):
    NEAR = entry("local/a/4x1/1m/write", {AUTOMATIC: [1.0] * 5, "direct": [1.0] * 5}, "direct")
    FAR = entry(
        "ranger/b/16x8/8m/c8/read", {AUTOMATIC: [1.0, 1.0, 3.0, 3.0, 3.0], "two_phase A=8": [2.0] * 5}, "two_phase A=8"
    )

    def test_the_ratio_is_that_of_medians_of_paired_rounds(self):
        self.assertAlmostEqual(figures.ratio_of(self.FAR).value, 1.5)
        early = entry("local/a", {AUTOMATIC: [9.0, 1.0], "direct": [1.0]}, "direct")
        self.assertAlmostEqual(figures.ratio_of(early).value, 9.0)

    def test_rounds_that_selected_the_best_setting_do_not_judge(self):
        times = {AUTOMATIC: [2.0] * 6, "direct": [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]}
        self.assertAlmostEqual(figures.ratio_of(entry("local/a", times, "direct")).value, 1.0)
        few = {label: seconds[:5] for label, seconds in times.items()}
        self.assertAlmostEqual(figures.ratio_of(entry("local/a", few, "direct")).value, 2.0)

    def test_cases_are_judged_by_the_point_and_intervals_are_counted(self):
        near, far = figures.judged_of([self.NEAR, self.FAR, entry("x", {}, "direct", error="exit status 2")])
        self.assertTrue(near.within(figures.NEAR) and near.same_plan and not near.straddles(figures.NEAR))
        self.assertTrue(not far.within(figures.FAR) and far.straddles(figures.FAR) and not far.same_plan)

    def test_predictions_are_judged_by_their_relative_error(self):
        errors = figures.prediction_errors([{"predictions": [[1.5, 1.0], [0.9, 1.0]]}, {"predictions": []}])
        self.assertEqual([round(error, 6) for error in errors], [0.1, 0.5])
        self.assertEqual(figures.percentile(errors, 0.95), errors[1])

    def test_the_text_has_shares_misses_and_predictions(self):
        text = choice_text(result_of(self.NEAR, {**self.FAR, "predictions": [[1.0, 2.0]], "too_slow": ["direct"]}))
        self.assertRegex(text, r"all +1 of 2 \(50 %\) +1 +1 of 2 \(50 %\) +1 of 2 \(50 %\) +1 ")
        self.assertRegex(text, r"ranger/b/16x8/8m/c8/read +1\.50 \[.*\] +direct +large_pieces +two_phase A=8")
        self.assertIn("in 0 of 1 the best setting leads to the same plan", text)
        self.assertIn("1 files: median error 50 %", text)
        self.assertIn("over 30 s:\n  ranger/b/16x8/8m/c8/read: direct", text)

    def test_fixed_settings_are_compared_over_all_cases(self):
        found = {
            (one.algorithm, one.aggregators): one.ratios
            for one in fixed_settings(figures.judged_of([self.NEAR, self.FAR]))
        }
        self.assertEqual(found[("two_phase", "per node")], (1.0,))
        self.assertEqual(found[("direct", "")], (1.0,))
        self.assertEqual(len(found[(AUTOMATIC, "")]), 2)
        self.assertNotIn(("two_phase", "one"), found)
        self.assertRegex(choice_text(result_of(self.NEAR, self.FAR)), r"two_phase +per node +1 +1 \(100 %\)")

    def test_an_empty_result_has_a_text(self):
        self.assertNotIn("Misses", choice_text(result_of()))


class Lines(unittest.TestCase):
    def test_a_killed_run_keeps_its_complete_cases(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "out.jsonl")
            lines = ResultLines(result_of(), path)
            lines.add(Figures.NEAR)
            with open(path, "a", encoding="utf-8") as file:
                file.write('{"case": "local/cut')
            read = read_result(path)
            self.assertEqual([one["case"] for one in read["launches"]], ["local/a/4x1/1m/write"])
            ResultLines(read, path).add(Figures.FAR)
            self.assertEqual(len(read_result(path)["launches"]), 2)


class OnALocalFileSystem(unittest.TestCase):
    """Runs a case. NACRE_BENCH is the path of the nacre-bench command of a build."""

    def test_a_case_runs_and_a_resumed_run_does_not_repeat_it(self):
        command = built_command(self)
        with tempfile.TemporaryDirectory() as directory:
            out = os.path.join(directory, "out.jsonl")
            words = [command, "choice", "--cases", "local/uneven/4x1/*/read", "--rounds", "4", "--timeout", "200"]
            words += ["--out", out]
            done = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(out, encoding="utf-8") as file:
                _, case = map(json.loads, file)
            resumed = subprocess.run([*words, "--resume"], capture_output=True, text=True, timeout=900, check=False)
            self.assertEqual((resumed.returncode, resumed.stderr), (0, ""))
            self.assertIn("local/uneven/4x1/64m/read", resumed.stdout)
        self.assertEqual((case["error"], case["wrong_bytes"]), ("", 0))
        self.assertEqual(sorted(case["times"][AUTOMATIC]), ["0", "1", "2", "3"])
        self.assertEqual(case["times"].keys(), case["hints"].keys())
        self.assertEqual(case["plans"]["direct"]["algorithm"], "direct")
        self.assertEqual(case["plans"]["two_phase A=2 even 4 MiB"]["aggregators"], 2)


class InVirtualTime(unittest.TestCase):
    """Simulates cases, whose times are the same on every computer."""

    CASES = ("tungsten/*/16x8/*/write", "big-red/tile64/*/read", "flash/*/9x3/*", "flash/seg/32x16/*/read")

    def test_without_hints_nacre_is_within_25_percent_of_the_best_hints(self):
        command = built_command(self)
        with tempfile.TemporaryDirectory() as directory:
            out = os.path.join(directory, "out.jsonl")
            words = [command, "choice", "--virtual", "--cases", ",".join(self.CASES), "--out", out, "--quiet"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=1800, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            entries = read_result(out)["launches"]
        self.assertEqual(len(entries), len(chosen_cases(list(self.CASES), [], [])))
        slow = {one["case"]: ratio for one in entries if (ratio := figures.ratio_of(one).value) > figures.FAR}
        self.assertEqual(slow, {}, done.stdout)

    def test_a_local_file_system_is_not_emulated(self):
        with self.assertRaisesRegex(BenchError, "local file system, which is not emulated"):
            virtual.Run(Config("0", "", "", {}), parsed(options.Choice, "--file-system", "local"), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
