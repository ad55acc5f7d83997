"""What holds for all launchers: what is one, and what a command without one gets."""

from __future__ import annotations

import pytest
from launching import PRELOAD, line, prepared
from nacre import launchers
from nacre.errors import UserError

OPENMPI = "mpirun (Open MPI) 5.0.5"


def test_a_program_is_not_run_to_recognise_launchers(machine, tmp_path):
    (tmp_path / "app").write_text("#!/bin/sh\ntouch ran\n")
    assert launchers.recognise("app") is None
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["mpirun_case1.sh", "mpirun-case1", "srun-job.sh", "mpiexec-wrapper", "mpirun.sh"])
def test_a_script_named_like_a_launcher_is_not_run_to_recognise_it(machine, tmp_path, name):
    machine(name)
    (tmp_path / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    launch = prepared(name)
    assert launch.found is None
    assert launch.environ["LD_PRELOAD"] == PRELOAD
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "prefix",
    ["env A=1", "env -u B -i A=1", "timeout 1h", "timeout -k 5 --signal=INT 1h", "nice", "nice -n 10", "nice -5",
     "numactl --all", "numactl -N 0 --membind 0", "env", "stdbuf -o L", "taskset -c 0-3", "time -f %e --",
     "env -- A=1"],
)  # fmt: skip
def test_a_launcher_is_found_after_a_prefix_command(machine, prefix):
    machine("mpirun", OPENMPI)
    machine(prefix.split()[0])
    assert line(f"{prefix} mpirun -n 2 app") == f"{prefix} mpirun -x LD_PRELOAD={PRELOAD} -n 2 app"


def test_a_launcher_with_an_unknown_version_text_is_refused_with_advice(machine):
    machine("mpiexec", "mpiexec of a kind never seen")
    with pytest.raises(UserError) as refused:
        launchers.recognise("mpiexec")
    assert "is an unknown launcher" in refused.value.problem
    assert "LD_PRELOAD" in refused.value.advice


def test_a_program_without_a_launcher_gets_the_preload_in_its_environment(machine):
    launch = prepared("app -x 1")
    assert launch.argv == ["app", "-x", "1"]
    assert launch.environ["LD_PRELOAD"] == PRELOAD


def test_nacres_library_is_not_preloaded_twice(machine):
    assert prepared("app", LD_PRELOAD=f"/a.so {PRELOAD}").environ["LD_PRELOAD"] == f"/a.so:{PRELOAD}"
