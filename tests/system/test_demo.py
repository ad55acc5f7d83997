"""`make demo`: the commands that it ends with. The demo itself runs real programs (docs/releasing.md)."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).resolve().parents[2]
REPORT = Path("/files of me/report.jsonl")


@pytest.fixture
def demo(monkeypatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("nacre_demo", SOURCE / "demo/run.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "nacre_demo", module)
    spec.loader.exec_module(module)
    return module


def outcome_of(demo: ModuleType, *testbed: str, problems: tuple[str, ...] = ()):
    program = demo.Program("steps", demo.Mpi("MPICH", []), [], testbed=testbed)
    return demo.Outcome(program, problems=list(problems))


def test_commands_name_the_report_of_a_last_program_that_passed_on_the_testbed(demo):
    outcomes = [outcome_of(demo), outcome_of(demo, *demo.RANGER)]
    _, _, *lines = demo.next_commands(outcomes, Path("/build/bin/nacre"), REPORT)
    assert all(purpose.endswith(":") for purpose in lines[::2])
    commands = [shlex.split(line) for line in lines[1::2]]
    assert [words[0] for words in commands] == ["/build/bin/nacre"] * 3
    assert [words[1] for words in commands] == ["report", "explain", "simulate"]
    assert all(str(REPORT) in words for words in commands)


def test_no_command_is_named_if_the_last_program_failed_or_ran_elsewhere(demo):
    passed, local = outcome_of(demo, *demo.RANGER), outcome_of(demo)
    failed = outcome_of(demo, *demo.RANGER, problems=("f differs",))
    for outcomes in ([], [passed, local], [passed, failed]):
        assert demo.next_commands(outcomes, Path("nacre"), REPORT) == []
