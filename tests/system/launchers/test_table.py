"""Every launcher in the table has the tests that a launcher needs, passes them, and has its row in docs/run.md."""

from __future__ import annotations

import importlib.util
import re

import pytest
from launching import PRELOAD, Cases, prepared
from nacre import launchers
from nacre.launchers.base import Launcher

NO_LAUNCHER = ("scripts, programs without a launcher", "none of the above", "the environment")
NAMES = [launcher.name for launcher in launchers.TABLE]


@pytest.fixture(params=launchers.TABLE, ids=NAMES)
def launcher(request: pytest.FixtureRequest) -> Launcher:
    return request.param


@pytest.fixture
def cases(launcher: Launcher) -> Cases:
    module = f"test_{launcher.name}_launcher"
    if importlib.util.find_spec(module) is None:
        pytest.fail(
            f"launcher {launcher.name} has no tests: add CASES (launching.py) in tests/system/launchers/{module}.py"
        )
    found = importlib.import_module(module).CASES
    assert found.recognised and found.on_ranks and found.own_preload and found.programs
    return found


def test_a_launcher_is_recognised_by_its_version_text_and_not_by_its_name(machine, launcher, cases):
    for name in cases.recognised:
        machine(name, cases.version)
        found = launchers.recognise(name)
        assert found.launcher is launcher
        assert found.version in cases.version
        assert bool(found.version) == bool(cases.version)


def test_the_ranks_get_the_preload(machine, cases):
    for words, expected in cases.on_ranks:
        machine(words.split()[0], cases.version)
        launch = prepared(words)
        assert " ".join(launch.argv) == expected
        assert ("LD_PRELOAD" in launch.environ) == cases.preload_by_environment


def test_a_preload_of_the_user_is_kept_before_nacres(machine, cases):
    for words, expected in cases.own_preload:
        machine(words.split()[0], cases.version)
        assert " ".join(prepared(words).argv) == expected
    words, _ = cases.on_ranks[0]
    launch = prepared(words, LD_PRELOAD="/d/libdarshan.so")
    place = launch.environ["LD_PRELOAD"] if cases.preload_by_environment else " ".join(launch.argv)
    assert f"/d/libdarshan.so:{PRELOAD}" in place


def test_the_programs_are_found_after_the_options_of_the_launcher(machine, cases):
    for words, expected in cases.programs:
        machine(words.split()[0], cases.version)
        assert [" ".join(program) for program in prepared(words).programs] == expected


def test_names_are_unique_and_each_launcher_can_be_recognised(launcher):
    assert NAMES.count(launcher.name) == 1
    assert launcher.version or launcher.executables
    others = [name for one in launchers.TABLE if one is not launcher for name in one.executables]
    assert not set(launcher.executables) & set(others)


def test_the_documentation_has_a_row_for_each_launcher(source):
    text = (source / "docs" / "run.md").read_text()
    [table] = re.findall(r"\| launcher \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text)
    rows = [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in table.splitlines()]
    expected = [launcher.documented for launcher in launchers.TABLE] + [NO_LAUNCHER]
    missing = [f"| {' | '.join(row)} |" for row in expected if row not in rows]
    assert not missing, "the table of launchers in docs/run.md lacks these rows, in the order of launchers.TABLE"
    assert rows == expected, "the table of launchers in docs/run.md has more rows than launchers.TABLE or another order"
