"""How a command line is taken apart and put together again, launcher by launcher, without running any MPI.

The launchers here are recorders: scripts that have a launcher's name and version text and nothing else, because this
machine has no Slurm, Flux, LSF or Cray. What real Hydra and Open MPI make of our options is in test_run.py.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from nacre import launcher
from nacre.errors import UserError

PRELOAD = "/opt/nacre/lib/libnacre.so"
VERSIONS = {
    "hydra": "HYDRA build details:\n    Version:   4.2.0",
    "intel": "Intel(R) MPI Library for Linux* OS, Version 2021.13 Build 20240515",
    "openmpi": "mpirun (Open MPI) 5.0.5",
    "spectrum": "mpirun (IBM Spectrum MPI) 10.4.0.03rtm4",
    "pals": "mpiexec version 1.3.4 revision e1a2b3c",
    "slurm": "slurm 23.11.4",
}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A PATH with the launchers that a test asks for, and `app` and `other`, which are programs."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def add(name: str, version: str = "") -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\ncat <<'END'\n{version}\nEND\n")
        path.chmod(0o755)
        return str(path)

    add("app")
    add("other")
    return add


def prepared(words: str, **environ: str) -> launcher.Launch:
    return launcher.prepare(words.split(), {}, PRELOAD, {"PATH": os.environ["PATH"], **environ})


def line(words: str, **environ: str) -> str:
    return " ".join(prepared(words, **environ).argv)


@pytest.mark.parametrize(
    ("name", "version", "kind"),
    [
        ("mpiexec", "hydra", "hydra"),
        ("mpirun", "intel", "hydra"),
        ("mpiexec.hydra", "intel", "hydra"),
        ("mpiexec", "openmpi", "openmpi"),
        ("mpirun-openmpi-gcc12", "openmpi", "openmpi"),
        ("mpirun", "spectrum", "openmpi"),
        ("mpiexec", "pals", "pals"),
        ("srun", "slurm", "slurm"),
    ],
)
def test_a_launcher_is_known_by_what_it_says_not_by_its_name(machine, name, version, kind):
    machine(name, VERSIONS[version])
    assert launcher.recognise(name).kind == kind


def test_a_program_is_no_launcher_and_is_not_run_to_find_out(machine, tmp_path):
    (tmp_path / "app").write_text("#!/bin/sh\ntouch ran\n")
    assert launcher.recognise("app") is None
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["mpirun_case1.sh", "mpirun-case1", "srun-job.sh", "mpiexec-wrapper", "mpirun.sh"])
def test_a_script_named_like_a_launcher_is_not_run_to_find_out(machine, tmp_path, name):
    machine(name)
    (tmp_path / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    launch = prepared(name)
    assert launch.launcher is None
    assert launch.environ["LD_PRELOAD"] == PRELOAD
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("prefix", ["env A=1", "timeout 1h", "timeout -k 5 1h", "nice", "numactl --all", "env"])
def test_a_launcher_is_found_behind_what_starts_it(machine, prefix):
    machine("mpirun", VERSIONS["openmpi"])
    if "-k" in prefix:  # what -k takes is not known to be a value: the environment is what is left
        assert prepared(f"{prefix} mpirun -n 2 app").environ["LD_PRELOAD"] == PRELOAD
        return
    machine(prefix.split()[0])
    assert line(f"{prefix} mpirun -n 2 app") == f"{prefix} mpirun -x LD_PRELOAD={PRELOAD} -n 2 app"


def test_open_mpis_application_file_is_served_by_its_list_of_variables(machine):
    machine("mpirun", VERSIONS["openmpi"])
    launch = prepared("mpirun --app file", NACRE_REPORT="/r")
    assert launch.argv == ["mpirun", "--app", "file"]
    assert launch.environ["OMPI_MCA_mca_base_env_list"] == f"LD_PRELOAD={PRELOAD};NACRE_REPORT=/r"


def test_open_mpis_own_list_of_variables_is_added_to(machine):
    machine("mpirun", VERSIONS["openmpi"])
    launch = prepared("mpirun -n 1 app", OMPI_MCA_mca_base_env_list="A;LD_PRELOAD=/a.so")
    assert launch.argv == ["mpirun", "-n", "1", "app"]
    assert launch.environ["OMPI_MCA_mca_base_env_list"] == f"A;LD_PRELOAD=/a.so:{PRELOAD}"
    given = line("mpirun --mca mca_base_env_list A=1 -n 1 app")
    assert given == f"mpirun --mca mca_base_env_list A=1;LD_PRELOAD={PRELOAD} -n 1 app"


def test_a_launcher_with_a_strange_version_is_refused_with_advice(machine):
    machine("mpiexec", "mpiexec of a kind never seen")
    with pytest.raises(UserError) as refused:
        launcher.recognise("mpiexec")
    assert "no launcher that nacre knows" in refused.value.problem
    assert "LD_PRELOAD" in refused.value.advice


def test_a_program_by_itself_gets_the_preload_in_its_environment(machine):
    launch = prepared("app -x 1")
    assert launch.argv == ["app", "-x", "1"]
    assert launch.environ["LD_PRELOAD"] == PRELOAD


def test_a_preload_that_is_there_is_kept_and_comes_first(machine):
    machine("mpiexec", VERSIONS["hydra"])
    assert prepared("app", LD_PRELOAD="/d/libdarshan.so").environ["LD_PRELOAD"] == f"/d/libdarshan.so:{PRELOAD}"
    assert line("mpiexec app", LD_PRELOAD="/d/libdarshan.so") == (
        f"mpiexec -genv LD_PRELOAD /d/libdarshan.so:{PRELOAD} app"
    )
    assert prepared("mpiexec app", LD_PRELOAD="/d/a.so").environ["LD_PRELOAD"] == "/d/a.so"


def test_our_library_is_not_preloaded_twice(machine):
    assert prepared("app", LD_PRELOAD=f"/a.so {PRELOAD}").environ["LD_PRELOAD"] == f"/a.so:{PRELOAD}"


def test_hydra_gets_one_genv_for_all_programs_of_the_launch(machine):
    machine("mpiexec", VERSIONS["hydra"])
    assert line("mpiexec -n 2 app a : -n 3 other b") == (
        f"mpiexec -genv LD_PRELOAD {PRELOAD} -n 2 app a : -n 3 other b"
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("-genv LD_PRELOAD /a.so", f"-genv LD_PRELOAD /a.so:{PRELOAD}"),
        ("-genv LD_PRELOAD=/a.so", f"-genv LD_PRELOAD=/a.so:{PRELOAD}"),
    ],
)
def test_hydras_own_genv_of_the_preload_is_added_to(machine, given, expected):
    machine("mpiexec", VERSIONS["hydra"])
    assert line(f"mpiexec {given} -n 2 app -genv LD_PRELOAD /b.so") == (
        f"mpiexec {expected} -n 2 app -genv LD_PRELOAD /b.so"
    )


def test_hydras_env_of_one_program_is_added_to_as_it_overrides_genv(machine):
    machine("mpiexec", VERSIONS["hydra"])
    assert line("mpiexec -n 2 -env LD_PRELOAD /a.so app : other") == (
        f"mpiexec -genv LD_PRELOAD {PRELOAD} -n 2 -env LD_PRELOAD /a.so:{PRELOAD} app : other"
    )


def test_open_mpi_gets_an_x_for_each_program_of_the_launch(machine):
    machine("mpirun", VERSIONS["openmpi"])
    assert line("mpirun --mca btl self -n 2 app : -n 3 other") == (
        f"mpirun -x LD_PRELOAD={PRELOAD} --mca btl self -n 2 app : -x LD_PRELOAD={PRELOAD} -n 3 other"
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [("-x LD_PRELOAD=/a.so", f"-x LD_PRELOAD=/a.so:{PRELOAD}"), ("-x LD_PRELOAD", f"-x LD_PRELOAD=/e.so:{PRELOAD}")],
)
def test_open_mpis_own_x_of_the_preload_is_added_to(machine, given, expected):
    machine("mpirun", VERSIONS["openmpi"])
    assert line(f"mpirun {given} -np 2 app", LD_PRELOAD="/e.so") == f"mpirun {expected} -np 2 app"


def test_open_mpi_gets_the_settings_too_for_other_nodes(machine):
    machine("mpirun", VERSIONS["openmpi"])
    assert line("mpirun app", NACRE_REPORT="/r") == f"mpirun -x LD_PRELOAD={PRELOAD} -x NACRE_REPORT=/r app"


def test_slurm_exports_the_preload_beside_everything_else(machine):
    machine("srun", VERSIONS["slurm"])
    assert line("srun -N 2 app") == f"srun --export=ALL,LD_PRELOAD={PRELOAD} -N 2 app"


@pytest.mark.parametrize("given", ["--export=A,LD_PRELOAD=/a.so", "--export A,LD_PRELOAD=/a.so"])
def test_slurms_own_export_is_added_to(machine, given):
    machine("srun", VERSIONS["slurm"])
    assert line(f"srun -n 2 {given} app") == f"srun --export=A,LD_PRELOAD=/a.so:{PRELOAD} -n 2 app"


@pytest.mark.parametrize("nothing", ["NONE", "NIL"])
def test_slurm_that_exports_nothing_exports_ours(machine, nothing):
    machine("srun", VERSIONS["slurm"])
    expected = f"srun --export=NACRE_HINTS,LD_PRELOAD={PRELOAD} app"
    assert line(f"srun --export={nothing} app", NACRE_HINTS="*:a=1,b:c=2") == expected
    assert line("srun app", NACRE_HINTS="*:a=1,b:c=2", SLURM_EXPORT_ENV=nothing) == expected


def test_every_component_of_a_slurm_launch_gets_its_export(machine):
    machine("srun", VERSIONS["slurm"])
    export = f"--export=ALL,LD_PRELOAD={PRELOAD}"
    assert line("srun -n1 app : -n2 other") == f"srun {export} -n1 app : {export} -n2 other"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("jsrun -n 2 -a 4 app", f"jsrun -E LD_PRELOAD={PRELOAD} -n 2 -a 4 app"),
        ("jsrun -E LD_PRELOAD=/a.so -n 2 app", f"jsrun -E LD_PRELOAD=/a.so:{PRELOAD} -n 2 app"),
        ("aprun -n 4 app : -n 2 other", f"aprun -e LD_PRELOAD={PRELOAD} -n 4 app : -e LD_PRELOAD={PRELOAD} -n 2 other"),
        ("flux run -N 2 app", f"flux run --env=LD_PRELOAD={PRELOAD} -N 2 app"),
        ("flux run --env=-* -N 2 app", f"flux run --env=-* --env=LD_PRELOAD={PRELOAD} -N 2 app"),
        ("flux mini run -n 4 app", f"flux mini run --env=LD_PRELOAD={PRELOAD} -n 4 app"),
        ("mpiexec -n 4 --ppn 2 app", f"mpiexec --env LD_PRELOAD={PRELOAD} -n 4 --ppn 2 app"),
    ],
)
def test_other_launchers_get_their_own_options(machine, words, expected):
    machine(words.split()[0], VERSIONS["pals"])
    assert line(words) == expected


def test_ibrun_passes_its_environment_on(machine):
    machine("ibrun")
    launch = prepared("ibrun -n 4 app")
    assert launch.argv == ["ibrun", "-n", "4", "app"]
    assert launch.environ["LD_PRELOAD"] == PRELOAD


@pytest.mark.parametrize(
    ("kind", "name", "words", "programs"),
    [
        ("hydra", "mpiexec", "-n 2 -ppn 1 app -n 3", ["app -n 3"]),
        ("hydra", "mpiexec", "-genv A B -n 2 app", ["app"]),
        ("hydra", "mpiexec", "-genv A=B -n 2 -l app : other -x", ["app", "other -x"]),
        ("openmpi", "mpirun", "--mca btl self,vader --bind-to core -np 4 app a", ["app a"]),
        ("openmpi", "mpirun", "--oversubscribe --tag-output app", ["app"]),
        ("openmpi", "mpirun", "--an-option-of-tomorrow value app", ["app"]),
        ("openmpi", "mpirun", "--a-flag-of-tomorrow app other", ["app other"]),
        ("slurm", "srun", "-N2 -n 4 --mpi=pmix -l app", ["app"]),
        ("slurm", "srun", "--ntasks 4 --cpu-bind cores -u app", ["app"]),
    ],
)
def test_the_program_is_found_behind_the_launchers_options(machine, kind, name, words, programs):
    machine(name, VERSIONS[kind])
    assert [" ".join(program) for program in prepared(f"{name} {words}").programs] == programs


def test_slurms_environment_agrees_with_its_export_as_it_would_win(machine):
    """Regression: with --export=ALL,LD_PRELOAD=..., srun passed on the LD_PRELOAD of its own environment."""
    machine("srun", VERSIONS["slurm"])
    launch = prepared("srun app", LD_PRELOAD="/a.so")
    assert launch.environ["LD_PRELOAD"] == f"/a.so:{PRELOAD}"
    assert "LD_PRELOAD" not in prepared("srun app").environ
