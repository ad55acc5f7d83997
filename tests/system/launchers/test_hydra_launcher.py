from launching import PRELOAD, Cases, line, prepared
from nacre import launchers

VERSION = "HYDRA build details:\n    Version:   4.2.0"
INTEL = "Intel(R) MPI Library for Linux* OS, Version 2021.13 Build 20240515"

CASES = Cases(
    version=VERSION,
    recognised=["mpiexec", "mpirun", "mpiexec.hydra", "mpiexec.mpich", "mpirun-intel"],
    on_ranks=[
        ("mpiexec app", f"mpiexec -genv LD_PRELOAD {PRELOAD} app"),
        # One -genv serves all programs.
        ("mpiexec -n 2 app a : -n 3 other b", f"mpiexec -genv LD_PRELOAD {PRELOAD} -n 2 app a : -n 3 other b"),
    ],
    own_preload=[
        (
            "mpiexec -genv LD_PRELOAD /a.so -n 2 app -genv LD_PRELOAD /b.so",
            f"mpiexec -genv LD_PRELOAD /a.so:{PRELOAD} -n 2 app -genv LD_PRELOAD /b.so",
        ),
        ("mpiexec -genv LD_PRELOAD=/a.so app", f"mpiexec -genv LD_PRELOAD=/a.so:{PRELOAD} app"),
        # -env of one program overrides -genv.
        (
            "mpiexec -n 2 -env LD_PRELOAD /a.so app : other",
            f"mpiexec -genv LD_PRELOAD {PRELOAD} -n 2 -env LD_PRELOAD /a.so:{PRELOAD} app : other",
        ),
    ],
    programs=[
        ("mpiexec -n 2 -ppn 1 app -n 3", ["app -n 3"]),
        ("mpiexec -genv A B -n 2 app", ["app"]),
        ("mpiexec -genv A=B -n 2 -l app : other -x", ["app", "other -x"]),
    ],
)


def test_intels_hydra_is_recognised_by_its_version_text(machine):
    machine("mpirun", INTEL)
    assert launchers.recognise("mpirun").launcher.name == "hydra"


def test_a_command_line_that_ends_within_an_option_is_passed_to_hydra(machine):
    """Regression: IndexError."""
    machine("mpiexec", VERSION)
    for words in ("-n 2 -genv A", "-genv"):
        assert line(f"mpiexec {words}") == f"mpiexec -genv LD_PRELOAD {PRELOAD} {words}"


def test_the_launcher_itself_keeps_the_preload_of_the_user(machine):
    machine("mpiexec", VERSION)
    assert prepared("mpiexec app", LD_PRELOAD="/d/a.so").environ["LD_PRELOAD"] == "/d/a.so"
