"""Prints what a JUnit file of ctest says as "N passed, N failed, N skipped", with the names of the last two, and
before it what test programs counted inside: mpi4py's cases, random programs."""

import re
import sys
import xml.etree.ElementTree as ElementTree

COUNTS = re.compile(r"^(?:mpi4py on|differential:) .*$", re.MULTILINE)


def main() -> int:
    try:
        suite = ElementTree.parse(sys.argv[1]).getroot()
    except (OSError, ElementTree.ParseError) as error:
        print(f"no test results: {error}")
        return 1
    names = {"run": [], "fail": [], "skip": []}
    for case in suite.iter("testcase"):
        status = case.get("status")
        kind = {"run": "run", "fail": "fail"}.get(status, "skip")
        names[kind].append(case.get("name"))
        for line in COUNTS.findall(case.findtext("system-out") or ""):
            print(line)
        if kind == "skip":
            reason = case.find("skipped")
            print(f"skipped: {case.get('name')}: {reason.get('message') if reason is not None else status}")
    for name in names["fail"]:
        print(f"failed: {name}")
    summary = f"{len(names['run'])} passed, {len(names['fail'])} failed"
    if names["skip"]:
        summary += f", {len(names['skip'])} skipped"
    print(summary)
    return 1 if names["fail"] else 0


if __name__ == "__main__":
    sys.exit(main())
