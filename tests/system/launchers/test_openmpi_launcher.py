from launching import PRELOAD, Cases, line, prepared
from nacre import launchers

VERSION = "mpirun (Open MPI) 5.0.5"
SPECTRUM = "mpirun (IBM Spectrum MPI) 10.4.0.03rtm4"

CASES = Cases(
    version=VERSION,
    recognised=["mpiexec", "mpirun", "mpirun-openmpi-gcc12", "prterun", "orterun", "prun"],
    on_ranks=[
        ("mpirun app", f"mpirun -x LD_PRELOAD={PRELOAD} app"),
        (
            "mpirun --mca btl self -n 2 app : -n 3 other",
            f"mpirun -x LD_PRELOAD={PRELOAD} --mca btl self -n 2 app : -x LD_PRELOAD={PRELOAD} -n 3 other",
        ),
    ],
    own_preload=[("mpirun -x LD_PRELOAD=/a.so -np 2 app", f"mpirun -x LD_PRELOAD=/a.so:{PRELOAD} -np 2 app")],
    programs=[
        ("mpirun --mca btl self,vader --bind-to core -np 4 app a", ["app a"]),
        ("mpirun --oversubscribe --tag-output app", ["app"]),
        ("mpirun --an-option-of-tomorrow value app", ["app"]),
        ("mpirun --a-flag-of-tomorrow app other", ["app other"]),
    ],
)


def test_spectrum_mpi_is_recognised_by_its_version_text(machine):
    machine("mpirun", SPECTRUM)
    assert launchers.recognise("mpirun").launcher.name == "openmpi"


def test_an_x_without_a_value_takes_the_value_of_the_environment(machine):
    machine("mpirun", VERSION)
    given = line("mpirun -x LD_PRELOAD -np 2 app", LD_PRELOAD="/e.so")
    assert given == f"mpirun -x LD_PRELOAD=/e.so:{PRELOAD} -np 2 app"


def test_open_mpi_passes_the_settings_to_other_nodes(machine):
    machine("mpirun", VERSION)
    assert line("mpirun app", NACRE_REPORT="/r") == f"mpirun -x LD_PRELOAD={PRELOAD} -x NACRE_REPORT=/r app"


def test_with_an_application_file_the_list_of_variables_is_used(machine):
    machine("mpirun", VERSION)
    launch = prepared("mpirun --app file", NACRE_REPORT="/r")
    assert launch.argv == ["mpirun", "--app", "file"]
    assert launch.environ["OMPI_MCA_mca_base_env_list"] == f"LD_PRELOAD={PRELOAD};NACRE_REPORT=/r"


def test_an_existing_list_of_variables_is_extended(machine):
    machine("mpirun", VERSION)
    launch = prepared("mpirun -n 1 app", OMPI_MCA_mca_base_env_list="A;LD_PRELOAD=/a.so")
    assert launch.argv == ["mpirun", "-n", "1", "app"]
    assert launch.environ["OMPI_MCA_mca_base_env_list"] == f"A;LD_PRELOAD=/a.so:{PRELOAD}"
    given = line("mpirun --mca mca_base_env_list A=1 -n 1 app")
    assert given == f"mpirun --mca mca_base_env_list A=1;LD_PRELOAD={PRELOAD} -n 1 app"
