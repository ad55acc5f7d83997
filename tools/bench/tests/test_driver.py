import collections
import contextlib
import dataclasses
import io
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from nacre_bench import cli, contenders, launch, matrix, options, overhead, overlap, report, results, schedule
from nacre_bench.cells import cells_of
from nacre_bench.compare import verdict
from nacre_bench.config import Config, Mpi
from nacre_bench.errors import BenchError
from nacre_bench.figures import Ratio
from nacre_bench.workloads import Workload
from parsing import parsed

MPICH = Mpi("mpich5", "mpich", "mpiexec", "/programs")
OPENMPI = Mpi("openmpi4", "openmpi", "mpiexec", "/programs")
CONFIG = Config("0", "/no/such/libnacre.so", "", {"openmpi4": OPENMPI, "mpich5": MPICH})


def sample(seconds: float, warmup: bool = False) -> dict:
    one = {"open_s": 0.0, "data_s": seconds, "close_s": 0.0, "total_s": seconds, "cpu_s": seconds}
    one |= {"memory_mean": 1024.0, "memory_max": 2048.0}
    return {"type": "sample", "workload": "w", "warmup": warmup, "bytes": 1 << 30, "write": one, "read": one}


def outcome(seconds: float, error: str = "") -> launch.Outcome:
    return launch.Outcome(lines=[sample(99.0, warmup=True), sample(seconds)], error=error)


def quiet_plan(chosen, rounds: int, directory: str) -> schedule.Plan:
    return schedule.Plan([schedule.Job(Workload("w"), 2)], chosen, rounds, seed=7, directory=directory, quiet=True)


def result_of(chosen, records) -> dict:
    return {
        "version": "0",
        "started": "now",
        "machine": {"cores": 2, "cpu": "", "memory": "", "kernel": "", "directory": "", "file_system": "", "load": [0]},
        "settings": {"rounds": 3, "seed": 7, "warmups": 1, "repeats": 1},
        "contenders": [contender.describe() for contender in chosen],
        "launches": records,
    }


class CommandLine(unittest.TestCase):
    def run_cli(self, *words: str) -> tuple[int, str]:
        """The exit code, and the output without the frames and line breaks of rich."""
        output = io.StringIO()
        with (
            contextlib.redirect_stderr(output),
            contextlib.redirect_stdout(output),
            self.assertRaises(SystemExit) as end,
        ):
            cli.main(list(words))
        return end.exception.code, " ".join(output.getvalue().replace("│", " ").split())

    def test_the_help_of_every_verb_lists_every_option(self):
        code, text = self.run_cli("--help")
        self.assertEqual(code, 0)
        for verb in cli.VERBS:
            self.assertIn(f"{verb.name} {verb.help[:20]}", text)
            with unittest.mock.patch.dict(os.environ, {"COLUMNS": "200"}):
                code, described = self.run_cli(verb.name, "--help")
            self.assertEqual(code, 0)
            for field in dataclasses.fields(verb.options):
                self.assertIn(field.name.replace("_", "-"), described)

    def test_defaults_of_the_options(self):
        plain = parsed(options.Collective)
        self.assertEqual((plain.workloads, plain.ranks, plain.contenders), (["interleaved", "subarray3d"], [8], []))
        self.assertEqual((plain.rounds, plain.repeats, plain.warmups, plain.hosts, plain.sync), (5, 2, 1, 0, False))
        self.assertEqual((plain.size_mib, plain.phase, plain.timeout, plain.preload), (256, "total", 120, []))
        self.assertEqual((parsed(options.Peers).repeats, parsed(options.Peers).ranks), (1, []))
        patterns = parsed(options.Patterns)
        self.assertEqual(
            (patterns.rounds, patterns.timeout, patterns.stripe_size, patterns.osts), (3, 300, 0, [8, 16, 24])
        )
        self.assertEqual(parsed(options.Check, "--mpi", "M").ranks, [1, 3])

    def test_options_that_repeat_are_kept_in_order(self):
        self.assertEqual(parsed(options.Overhead, "--hint", "a=1", "--hint", "b=2").hint, ["a=1", "b=2"])

    def test_an_error_names_the_option_the_value_and_the_reason(self):
        for words, complaint in (
            (["collective", "--ranks", "4,0"], "'--ranks': 0 is less than 1"),
            (["collective", "--ranks", "4,x"], "'--ranks': x is not a whole number"),
            (["run", "--workload", "w"], "Missing option '--contender'"),
            (["overlap", "--cycles", "0k"], "'--cycles': 0k is less than 1"),
            (["overlap", "--cycles", "1x"], "'--cycles': \"1x\" is not a number of bytes"),
            (["patterns", "--aggregators", "many"], "many is neither a number nor a multiple of the OSTs such as 2x"),
            (["patterns", "--aggregators", "0x"], "0x: at least one aggregator is needed"),
            (["show", "r", "--phase", "open"], "'--phase'"),
            (["nosuch"], "No such command 'nosuch'"),
            (["peers", "--nosuch"], "No such option"),
            (["list"], "--config is needed"),
        ):
            code, text = self.run_cli(*words)
            self.assertEqual(code, 2, text)
            self.assertIn(complaint, text)

    def test_check_needs_either_native_or_preload(self):
        for flags in ([], ["--native", "--preload"]):
            with unittest.mock.patch.object(cli, "read_config", return_value=CONFIG):
                code, text = self.run_cli("check", "--mpi", "mpich5", *flags)
            self.assertEqual((code, text), (2, "nacre-bench: check: exactly one of --native and --preload is needed"))

    def test_without_typer_the_error_says_what_to_install(self):
        code = "import sys; sys.modules['typer'] = None; import nacre_bench.cli"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("pip install typer rich", done.stderr)


class NumbersOfRanks(unittest.TestCase):
    def test_a_workload_that_needs_a_square_runs_at_the_nearest_square(self):
        bt = Workload("bt", "", ranks="square")
        self.assertEqual([bt.nearest_ranks(n) for n in (1, 2, 3, 4, 8, 16)], [1, 1, 4, 4, 9, 16])
        self.assertEqual(Workload("w", "", ranks="any").nearest_ranks(8), 8)


class Contenders(unittest.TestCase):
    def test_nacre_has_the_mpi_settings_of_the_peer_but_not_its_hints(self):
        ours = contenders.ours_over(MPICH, "N", "/lib.so", {})
        peer = contenders.peers_over(MPICH)[0]
        self.assertEqual((ours.environment, ours.arguments), (peer.environment, peer.arguments))
        self.assertEqual(ours.hints, {})

    def test_cb_nodes_is_limited_to_the_number_of_ranks(self):
        peer = contenders.peers_over(MPICH)[0]
        self.assertEqual(peer.hints_for(2)["cb_nodes"], "2")
        self.assertEqual(peer.hints_for(16)["cb_nodes"], "4")

    def test_with_default_hints_tuned_and_untuned_are_measured_once(self):
        everyone = contenders.all_contenders(CONFIG, {}, {})
        chosen = overhead.with_default_hints(everyone)
        self.assertEqual([contender.name for contender in chosen], ["M5t", "O4", "O4R", "ref"])
        self.assertFalse(any(contender.hints for contender in chosen))

    def test_an_unknown_contender_is_an_error_that_lists_the_contenders(self):
        everyone = contenders.all_contenders(CONFIG, {}, {})
        with self.assertRaisesRegex(BenchError, "M5t"):
            contenders.choose(everyone, ["X9"])
        self.assertEqual([c.name for c in contenders.choose(everyone, ["O4*"])], ["O4", "O4R", "O4Rt"])

    def test_over_hosts_untuned_romio_is_added_and_mpich_4_is_left_out(self):
        mpich4 = Mpi("mpich4", "mpich", "mpiexec", "/programs")
        everyone = contenders.all_contenders(Config("0", "", "", {**CONFIG.mpis, "mpich4": mpich4}), {}, {})
        peers = {hosts: [c.name for c in everyone if c.role == "peer" and c.fits(hosts)] for hosts in (0, 4)}
        self.assertEqual(peers[0], ["M5t", "M5nlt", "M4t", "M4nlt", "O4", "O4R", "O4Rt"])
        self.assertEqual(peers[4], ["M5t", "M5nlt", "M5", "O4", "O4R", "O4Rt"])


class Overlap(unittest.TestCase):
    SETTINGS = {
        **{"latency_us": 1000, "bandwidth_mib": 100, "aggregators": 2, "buffers": 0, "cycles": [1 << 20]},
        **{"rounds": 1, "seed": 7, "repeats": 1},
    }

    def test_the_shortest_time_of_the_store_contains_one_latency(self):
        self.assertAlmostEqual(overlap.SlowStore(10_000, 100).seconds(20 << 20), 0.210)

    def test_the_ratio_is_to_the_longer_of_exchange_and_file_time(self):
        ours = contenders.ours_over(MPICH, "N", "/lib.so", {})
        chosen = overlap.contenders([ours], self.SETTINGS)
        self.assertEqual([c.environment["NACRE_TEST_FAULTS"] for c in chosen][0], "latency_us=0")
        records = [
            schedule.record(one, schedule.Job(Workload("w"), 2), 0, outcome(seconds))
            for one, seconds in zip(chosen, (2.0, 8.0), strict=True)
        ]
        result = {**result_of(chosen, records), "settings": self.SETTINGS}
        self.assertIn("N/M5 1 MiB  write     2.000  5.121       8.000   1.56", overlap.overlap_text(result))

    def test_a_job_is_made_from_the_options(self):
        arguments = parsed(options.Overlap, "--cycles", "64k,2m,7")
        self.assertEqual(arguments.cycles, [64 << 10, 2 << 20, 7])
        self.assertEqual(cli.job_for(Workload("w"), 4, arguments).ranks, 4)

    def test_overlap_refuses_peers(self):
        with self.assertRaisesRegex(BenchError, "only Nacre"):
            overlap.of_ours(contenders.peers_over(MPICH))


class Launches(unittest.TestCase):
    def contender(self, **fields):
        # /bin/sh replaces mpiexec: "sh -c SCRIPT -n RANKS PROGRAM".
        shell = Mpi("fake", "mpich", "/bin/sh", "/programs")
        script = fields.pop("script")
        return contenders.Contender("c", fields.pop("role", "peer"), shell, "", arguments=("-c", script), **fields)

    def test_lines_of_the_worker_are_found_among_other_output(self):
        script = """echo noise; echo '{"type": "end", "loaded": []}'; echo '{"type": broken'"""
        seen = launch.launch(self.contender(script=script), 1, [], 10)
        self.assertEqual((seen.error, seen.lines), ("", [{"type": "end", "loaded": []}]))

    def test_a_launch_that_hangs_is_stopped_and_reported(self):
        seen = launch.launch(self.contender(script="sleep 60"), 1, [], 0.2)
        self.assertIn("took over 0.2 s", seen.error)

    def test_wrong_bytes_are_reported_before_the_exit_status(self):
        script = """echo '{"type": "sample", "wrong_bytes": 3}'; exit 3"""
        self.assertEqual(launch.launch(self.contender(script=script), 1, [], 10).error, "wrong bytes: 3")

    def test_a_launch_fails_if_nacre_is_not_loaded(self):
        script = """echo '{"type": "end", "loaded": ["libnacre.so"]}'"""
        ours = self.contender(script=script, role="ours", preload="/lib/libnacre.so")
        self.assertIn("not loaded", launch.launch(ours, 1, [], 10).error)
        script = """echo '{"type": "end", "loaded": ["libnacre.so", "libnacre_mpich.so"]}'"""
        ours = self.contender(script=script, role="ours", preload="/lib/libnacre.so")
        self.assertEqual(launch.launch(ours, 1, [], 10).error, "")

    def test_the_ranks_are_preloaded_and_the_launcher_is_not(self):
        ours = contenders.ours_over(MPICH, "N", "/lib.so", {})
        with unittest.mock.patch.dict(os.environ, {"LD_PRELOAD": "/inherited.so"}):
            self.assertNotIn("LD_PRELOAD", launch.environment(ours))
        self.assertIn("LD_PRELOAD=/lib.so", launch.command_line(ours, 2, ["worker"]))

    def test_over_hosts_the_launcher_runs_under_nacre_hosts_which_shares_the_files_directory(self):
        job = schedule.Job(Workload("w"), 8, file="/dev/shm/scratch/file", hosts=4)
        with unittest.mock.patch.object(schedule, "launch") as launched:
            schedule.launch_worker(contenders.peers_over(MPICH)[0], job)
        self.assertEqual(
            launched.call_args.args[-1][2:], ["--hosts", "4", "--ranks", "8", "--share", "/dev/shm/scratch", "--"]
        )

    def test_the_command_that_runs_the_launcher_precedes_it(self):
        script = """echo '{"type": "end", "under": "'$UNDER'"}'"""
        seen = launch.launch(self.contender(script=script), 1, [], 10, under=["env", "UNDER=1"])
        self.assertEqual(seen.lines, [{"type": "end", "under": "1"}])


class InterleavedRun(unittest.TestCase):
    def setUp(self):
        self.contenders = [contenders.ours_over(MPICH, "N", "/lib.so", {}), *contenders.peers_over(OPENMPI)[:2]]

    def run_with(self, launcher, rounds=3):
        records = []
        with tempfile.TemporaryDirectory() as directory:
            plan = quiet_plan(self.contenders, rounds, directory)
            schedule.run_plan(plan, schedule.Hooks(launcher, records.append))
        return records

    def test_every_round_has_every_contender_once(self):
        records = self.run_with(lambda contender, job: outcome(1.0))
        for number in range(3):
            names = sorted(entry["contender"] for entry in records if entry["round"] == number)
            self.assertEqual(names, ["N/M5", "O4", "O4R"])

    def test_a_peer_that_keeps_failing_is_left_out_and_does_not_fail_the_run(self):
        def launcher(contender, job):
            return outcome(1.0, error="no" if contender.name == "O4" else "")

        records = self.run_with(launcher, rounds=5)
        self.assertEqual(sum(entry["contender"] == "O4" for entry in records), schedule.FAILURES_MAX)
        described = [contender.describe() for contender in self.contenders]
        self.assertEqual(schedule.ours_failed(records, described), [])

    def test_a_resumed_run_launches_only_missing_launches_in_the_original_order(self):
        whole = self.run_with(lambda contender, job: outcome(1.0))
        kept = whole[:4]
        with tempfile.TemporaryDirectory() as directory:
            hooks = schedule.Hooks(lambda contender, job: outcome(1.0), kept.append, before=whole[:4])
            schedule.run_plan(quiet_plan(self.contenders, 3, directory), hooks)
        self.assertEqual([schedule.launch_key(one) for one in kept], [schedule.launch_key(one) for one in whole])

    def test_a_peer_left_out_before_the_run_was_resumed_stays_left_out(self):
        before = self.run_with(lambda contender, job: outcome(1.0, error="no"))
        launched = []
        with tempfile.TemporaryDirectory() as directory:
            hooks = schedule.Hooks(lambda contender, job: outcome(1.0), launched.append, before=before)
            schedule.run_plan(quiet_plan(self.contenders, 5, directory), hooks)
        self.assertEqual(launched, [])

    def test_a_peer_far_behind_in_writes_and_reads_runs_two_rounds_and_nacre_runs_all(self):
        names = ("O4", "O4R", "O4Rt")
        peers = [one for one in contenders.peers_over(OPENMPI) if one.name in names]
        chosen = [*peers, contenders.ours_over(OPENMPI, "N", "/lib.so", {})]
        seconds = {"O4": 1.0, "O4R": 1.3, "O4Rt": 2.0, "N/O4": 9.0}
        for races, slow_count in ((True, 2), (False, 5)):
            records = []
            with tempfile.TemporaryDirectory() as directory:
                plan = quiet_plan(chosen, 5, directory)
                plan.races = races
                schedule.run_plan(plan, schedule.Hooks(lambda one, job: outcome(seconds[one.name]), records.append))
            counts = collections.Counter(entry["contender"] for entry in records)
            self.assertEqual(counts, {"O4": 5, "O4R": 5, "O4Rt": slow_count, "N/O4": 5})
            text = report.collective_text(result_of(chosen, records))
            self.assertEqual("Measured in fewer rounds: O4Rt 2" in text, races)

    def test_fewer_ranks_than_hosts_is_an_error_before_the_first_launch(self):
        with tempfile.TemporaryDirectory() as directory:
            plan = quiet_plan(self.contenders, 1, directory)
            plan.jobs[0].hosts = 4
            with self.assertRaisesRegex(BenchError, "a cell has 2 ranks"):
                schedule.run_plan(plan, schedule.Hooks(self.fail, self.fail))

    def test_a_failed_launch_of_nacre_is_reported(self):
        records = self.run_with(lambda contender, job: outcome(1.0, error="no"))
        described = [contender.describe() for contender in self.contenders]
        self.assertTrue(schedule.ours_failed(records, described))

    def test_warm_up_repeats_do_not_count_and_ratios_are_to_the_fastest_peer(self):
        seconds = {"N/M5": 1.0, "O4": 4.0, "O4R": 2.0}
        records = self.run_with(lambda contender, job: outcome(seconds[contender.name]))
        result = result_of(self.contenders, records)
        (cell,) = cells_of(result)
        self.assertEqual(cell.median("N/M5", "write", "rate"), 1.0)
        self.assertEqual(cell.best(["O4", "O4R"], "read"), "O4R")
        text = report.collective_text(result)
        self.assertIn("2.00 [2.00..2.00]", text)
        self.assertIn("Geometric means over 1 cells", text)


class Results(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = os.path.join(scratch.name, "result.json")
        self.empty = {"format": 1, "kind": "collective", "settings": {"seed": 7}, "contenders": [], "libraries": {}}
        results.ResultFile({**self.empty, "launches": []}, self.path).add({"round": 0})

    def test_a_launch_is_saved_before_the_run_ends(self):
        self.assertEqual(results.read_result(self.path)["launches"], [{"round": 0}])

    def test_a_resumed_run_keeps_the_launches_in_the_file(self):
        self.assertEqual(results.resumed({**self.empty, "launches": []}, self.path)["launches"], [{"round": 0}])

    def test_a_new_run_renames_the_result_of_another_run(self):
        results.ResultFile({**self.empty, "launches": []}, self.path)
        self.assertEqual(results.read_result(f"{self.path}~")["launches"], [{"round": 0}])

    def test_a_run_with_another_library_cannot_be_resumed(self):
        now = {**self.empty, "libraries": {"/lib.so": "1234"}, "launches": []}
        with self.assertRaisesRegex(BenchError, "libraries"):
            results.resumed(now, self.path)


class Matrix(unittest.TestCase):
    def test_every_workload_has_a_cell_at_8_ranks_and_some_also_at_4_and_16(self):
        cells = matrix.cells(["seg", "climate"])
        self.assertIn(("climate", 8), cells)
        self.assertNotIn(("climate", 16), cells)
        self.assertTrue({("seg", 4), ("seg", 8), ("seg", 16)} <= set(cells))


class Comparison(unittest.TestCase):
    def test_an_interval_that_contains_1_is_no_difference(self):
        self.assertEqual(verdict(Ratio(1.2, 0.9, 1.4), True), "")
        self.assertEqual(verdict(Ratio(1.2, 1.1, 1.4), True), "better")
        self.assertEqual(verdict(Ratio(1.2, 1.1, 1.4), False), "worse")
        self.assertEqual(verdict(Ratio(0.8, 0.7, 0.9), False), "better")


if __name__ == "__main__":
    sys.exit(unittest.main())
