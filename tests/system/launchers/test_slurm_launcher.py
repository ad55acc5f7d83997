import pytest
from launching import PRELOAD, Cases, line, prepared

VERSION = "slurm 23.11.4"
EXPORT = f"--export=ALL,LD_PRELOAD={PRELOAD}"

CASES = Cases(
    version=VERSION,
    recognised=["srun"],
    on_ranks=[
        ("srun -N 2 app", f"srun {EXPORT} -N 2 app"),
        ("srun -n1 app : -n2 other", f"srun {EXPORT} -n1 app : {EXPORT} -n2 other"),
    ],
    own_preload=[
        (f"srun -n 2 {given} app", f"srun --export=A,LD_PRELOAD=/a.so:{PRELOAD} -n 2 app")
        for given in ("--export=A,LD_PRELOAD=/a.so", "--export A,LD_PRELOAD=/a.so")
    ],
    programs=[
        ("srun -N2 -n 4 --mpi=pmix -l app", ["app"]),
        ("srun --ntasks 4 --cpu-bind cores -u app", ["app"]),
        ("srun --kill-on-bad-exit -n 4 --overcommit --nice app", ["app"]),
        ("srun --mem-per-gpu 4g --bcast app", ["app"]),
    ],
)


@pytest.mark.parametrize("nothing", ["NONE", "NIL"])
def test_with_export_none_slurm_exports_nacres_variables(machine, nothing):
    machine("srun", VERSION)
    expected = f"srun --export=NACRE_HINTS,LD_PRELOAD={PRELOAD} app"
    assert line(f"srun --export={nothing} app", NACRE_HINTS="*:a=1,b:c=2") == expected
    assert line("srun app", NACRE_HINTS="*:a=1,b:c=2", SLURM_EXPORT_ENV=nothing) == expected


def test_the_preload_in_sruns_environment_equals_the_one_in_export(machine):
    """Regression: with --export=ALL,LD_PRELOAD=..., srun passed on the LD_PRELOAD of its own environment."""
    machine("srun", VERSION)
    launch = prepared("srun app", LD_PRELOAD="/a.so")
    assert launch.environ["LD_PRELOAD"] == f"/a.so:{PRELOAD}"
    assert "LD_PRELOAD" not in prepared("srun app").environ
