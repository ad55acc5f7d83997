"""Summarizes a JUnit file of ctest: `count_tests.py FILE`.

Prints the counts that test programs print themselves (cases of mpi4py, random programs), the skipped and the failed
tests, and at the end "N passed, N failed, N skipped"."""

from __future__ import annotations

import dataclasses
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

COUNTS = re.compile(r"^(?:mpi4py on|differential:) .*$", re.MULTILINE)


@dataclasses.dataclass
class Counts:
    """The names of the tests, by outcome."""

    passed: list[str] = dataclasses.field(default_factory=list)
    failed: list[str] = dataclasses.field(default_factory=list)
    skipped: list[str] = dataclasses.field(default_factory=list)

    @staticmethod
    def sum(parts: list[Counts]) -> Counts:
        return Counts(*(sum((getattr(part, f.name) for part in parts), []) for f in dataclasses.fields(Counts)))

    def summary(self) -> str:
        text = f"{len(self.passed)} passed, {len(self.failed)} failed"
        return f"{text}, {len(self.skipped)} skipped" if self.skipped else text


def cases_of(path: Path) -> list[ElementTree.Element]:
    return list(ElementTree.parse(path).getroot().iter("testcase"))


def counts_of(path: Path) -> Counts | None:
    """The counts in a JUnit file; None if it does not exist or is not XML."""
    try:
        cases = cases_of(path)
    except (OSError, ElementTree.ParseError):
        return None
    counts = Counts()
    by_status = {"run": counts.passed, "fail": counts.failed}
    for case in cases:
        by_status.get(case.get("status"), counts.skipped).append(case.get("name"))
    return counts


def print_details(path: Path, counts: Counts) -> None:
    for case in cases_of(path):
        for line in COUNTS.findall(case.findtext("system-out") or ""):
            print(line)
        if case.get("name") in counts.skipped:
            reason = case.find("skipped")
            message = reason.get("message") if reason is not None else case.get("status")
            print(f"skipped: {case.get('name')}: {message}")
    for name in counts.failed:
        print(f"failed: {name}")


def main() -> int:
    path = Path(sys.argv[1])
    counts = counts_of(path)
    if counts is None:
        print(f"cannot read test results in {path}")
        return 1
    print_details(path, counts)
    print(counts.summary())
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
