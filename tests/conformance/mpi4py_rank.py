"""One rank of the test suite of mpi4py: runs the given modules and writes the outcome of each case.

    mpi4py_rank.py TEST_DIRECTORY REPORT_DIRECTORY EVERY_FILE_CASE MODULE...

run_mpi4py.py starts it. The suite is not modified. If EVERY_FILE_CASE is 1, the cases on files that the suite skips
for an MPI run too, because Nacre serves them. Cases that the suite skips because mpi4py was built with an MPI without a
function stay skipped.
"""

import ctypes
import json
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True

FILE_MODULES = ("test_io", "test_file")


class Recorder(unittest.TestResult):
    """The outcome of each case, by id: passed, skipped or failed. A case with a failed subtest has failed."""

    def __init__(self):
        super().__init__()
        self.outcomes = {}
        self.reasons = {}

    def note(self, test, outcome, reason=""):
        # The id of unittest includes the class, so a method that several classes inherit is a case of each.
        if self.outcomes.get(test.id()) != "failed":
            self.outcomes[test.id()] = outcome
            self.reasons[test.id()] = reason

    def addSuccess(self, test):
        self.note(test, "passed")

    def addSkip(self, test, reason):
        self.note(test, "skipped", str(reason))

    def addFailure(self, test, err):
        self.note(test, "failed", self._exc_info_to_string(err, test))

    def addError(self, test, err):
        self.addFailure(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addFailure(test, err)


def include_skipped_file_cases(mpiunittest):
    """Makes skipMPI of the suite skip nothing in the modules on files."""
    skip_for_mpi = mpiunittest.skipMPI

    def skip_elsewhere(predicate, *conditions, **keywords):
        skip = skip_for_mpi(predicate, *conditions, **keywords)

        def decorate(item):
            return item if item.__module__ in FILE_MODULES else skip(item)

        return decorate

    mpiunittest.skipMPI = skip_elsewhere


def calls_served():
    """The number of calls that Nacre has served, or -1 without Nacre."""
    try:
        served = ctypes.CDLL(None).nacre_calls_served
    except AttributeError:
        return -1
    served.restype = ctypes.c_ulonglong
    return served()


def about(test):
    """The name of a failure in a class or module set-up, which has no method."""
    return re.sub(r"^(setUpClass|setUpModule) \((.*)\)$", r"\2.\1", test)


def main(test_directory, report_directory, every_file_case, modules):
    sys.path.insert(0, test_directory)
    from mpi4py import MPI

    mpiunittest = __import__("mpiunittest")
    if every_file_case == "1":
        include_skipped_file_cases(mpiunittest)
    suite = unittest.TestLoader().loadTestsFromNames(modules)
    recorder = Recorder()
    suite.run(recorder)
    report = {
        "vendor": MPI.get_vendor()[0] + " " + ".".join(map(str, MPI.get_vendor()[1])),
        "served": calls_served(),
        "outcomes": {about(name): outcome for name, outcome in recorder.outcomes.items()},
        "reasons": {about(name): reason for name, reason in recorder.reasons.items() if reason},
    }
    rank = MPI.COMM_WORLD.Get_rank()
    path = pathlib.Path(report_directory) / f"{rank}.json"
    path.write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
