#!/usr/bin/env python3
"""Faults of the servers of a real Lustre in the midst of a program: every rank must return, all with the same class of
error in each phase, and what was reported written must be there.

    server_faults.py --mount /mnt/lustre [--second /mnt/lustre2] --preload build/lib/libnacre.so \\
        --program 'mpich=mpiexec.mpich -n 4 ./phases-mpich'

As root, on a machine that has the servers and the clients of a Lustre for tests: OSTs are filled and taken away, and
clients are evicted. Options as in requests.py. Exit status 1 if a case fails.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import re
import subprocess
import sys
import threading

import phased

FAILED_CALL = re.compile(r"rank (\d+): (\w+) failed: (\w+)")
WRONG_BYTES = re.compile(r"rank \d+: .*wrong bytes")


@dataclasses.dataclass(frozen=True)
class Case:
    """`begin`, `end`: commands for the shell after the phases `first` and `last`. `delay`: seconds between the start of
    the phase after `first` and the command `begin`. `classes`: of the errors that calls may return meanwhile and
    after it; empty: no call may fail. `must_fail`: some call has to. `has_layout`: the directory has a default
    layout."""

    name: str
    first: str
    begin: str
    last: str
    end: str
    classes: tuple[str, ...] = ()
    must_fail: bool = False
    as_root: bool = True
    has_layout: bool = True
    delay: float = 0


FULL = "lctl set_param -n fail_loc=0x215"
WELL = "lctl set_param -n fail_loc=0"
EVICT = (
    "for uuid in $(lctl get_param -n obdfilter.*-OST0000.exports.*.uuid | sort -u); do"
    " lctl set_param -n obdfilter.*-OST0000.evict_client=$uuid; done"
)
LRU = "lctl set_param -n ldlm.namespaces.*osc*.lru_size=clear"
AWAY = "for name in $(lctl list_param osc.*-OST0001-osc-[^M]*.active); do lctl set_param -n $name={}; done"
NO_OBJECTS = "lctl set_param -n obdfilter.*-OST0003.no_create={}"
RESTRICTED = "lctl set_param -n llite.*.enable_setstripe_gid={}"

CASES = [
    Case("all is well", "open", "true", "close", "true"),
    Case("locks are dropped", "write", LRU, "later", LRU),
    Case("OSTs are full before the first write", "open", FULL, "write", WELL, ("NO_SPACE", "IO"), must_fail=True),
    Case("OSTs are full before a later write", "write", FULL, "later", WELL, ("NO_SPACE", "IO")),
    Case("clients are evicted before the first write", "open", EVICT, "write", "true", ("IO",)),
    Case("clients are evicted after a write", "write", EVICT, "later", "true", ("IO",)),
    Case("clients are evicted before a read", "sync", EVICT, "read", "true", ("IO",)),
    Case("clients are evicted during the first write", "open", EVICT, "write", "true", ("IO",), delay=0.1),
    Case("clients are evicted later in the first write", "open", EVICT, "write", "true", ("IO",), delay=0.6),
    Case("clients are evicted during a later write", "write", EVICT, "later", "true", ("IO",), delay=0.3),
    Case("clients are evicted during a sync", "later", EVICT, "sync", "true", ("IO",), delay=0.05),
    Case("clients are evicted during a read", "sync", EVICT, "read", "true", ("IO",), delay=0.2),
    Case("an OST is away for a later write", "write", AWAY.format(0), "later", AWAY.format(1), ("IO",)),
    Case("an ordinary user", "open", "true", "close", "true", as_root=False),
    Case(
        "no user may set layouts with lfs",
        "start",
        RESTRICTED.format(0),
        "close",
        RESTRICTED.format(-1),
        as_root=False,
        has_layout=False,
    ),
    Case("an OST makes no new objects", "start", NO_OBJECTS.format(1), "write", NO_OBJECTS.format(0)),
]


def judged(case: Case, status: int, printed: str) -> str:
    """What is wrong; empty if nothing is."""
    counted = re.search(r"(\d+) ranks", printed)
    if counted is None:
        return f"the program ended with {status} before its end"
    ranks = int(counted[1])
    by_phase: dict[str, dict[int, str]] = collections.defaultdict(dict)
    for rank, phase, name in FAILED_CALL.findall(printed):
        by_phase[phase][int(rank)] = name
    if not by_phase:
        if WRONG_BYTES.search(printed) or status:
            return "no call failed, and bytes are wrong"
        return "no call failed" if case.must_fail else ""
    for phase, classes in by_phase.items():
        if phase != "alone" and (len(classes) != ranks or len(set(classes.values())) != 1):
            return f"{phase}: not all ranks returned one class: {classes}"
        if not set(classes.values()) <= set(case.classes):
            return f"{phase}: {classes}, expected {case.classes or 'success'}"
    if WRONG_BYTES.search(printed) and by_phase.keys() <= {"alone"}:
        return "all collective calls succeeded, and bytes are wrong"
    return ""


def shell(command: str) -> None:
    subprocess.run(command, shell=True, check=True, capture_output=True, text=True)


def tried(case: Case, words: list[str], arguments: argparse.Namespace) -> tuple[str, str]:
    """What is wrong, and what the ranks printed."""
    failures: list[subprocess.CalledProcessError] = []

    def begin_later() -> None:
        try:
            shell(case.begin)
        except subprocess.CalledProcessError as error:
            failures.append(error)

    later = threading.Timer(case.delay, begin_later)

    def act(phase: str, _file: str) -> None:
        if phase == case.first and case.delay:
            later.start()
        elif phase == case.first:
            shell(case.begin)
        if phase == case.last:
            if case.delay:
                is_late = later.is_alive()
                later.cancel()
                later.join()
                if failures:
                    raise failures[0]
                if is_late:
                    raise SystemExit(f"the phase {phase} ended before the fault was complete")
            shell(case.end)

    try:
        layout = arguments.layout if case.has_layout else ""
        # Ranks of an ordinary user in two namespaces could not share memory.
        second = arguments.second if case.as_root else None
        placed = argparse.Namespace(**{**vars(arguments), "layout": layout, "second": second})
        status, printed = phased.run(words, placed, arguments.preload, act, case.as_root)
    except (SystemExit, subprocess.TimeoutExpired) as error:
        return str(error), ""
    except subprocess.CalledProcessError as error:
        return f"{error.cmd} failed: {(error.stderr or '').strip()}", ""
    finally:
        later.cancel()
        subprocess.run(case.end, shell=True, check=False, capture_output=True)
    return judged(case, status, printed), printed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    phased.add_arguments(parser)
    parser.add_argument("--only", default="", metavar="REGEX", help="run the cases whose name matches")
    arguments = parser.parse_args()
    failed = 0
    for name, words in phased.programs_of(parser, arguments).items():
        for case in CASES:
            if not re.search(arguments.only, case.name):
                continue
            wrong, printed = tried(case, words, arguments)
            failed += bool(wrong)
            errors = collections.Counter(f"{phase} {kind}" for _, phase, kind in FAILED_CALL.findall(printed))
            seen = ", ".join(f"{what} on {count}" for what, count in errors.items()) or "no error"
            print(f"{'FAILED' if wrong else 'passed'}: {name}: {case.name}: {wrong or seen}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
