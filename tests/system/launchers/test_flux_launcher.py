from launching import PRELOAD, Cases, prepared
from nacre import launchers

CASES = Cases(
    version="",
    recognised=["flux"],
    on_ranks=[
        ("flux run -N 2 app", f"flux run --env=LD_PRELOAD={PRELOAD} -N 2 app"),
        ("flux run --env=-* -N 2 app", f"flux run --env=-* --env=LD_PRELOAD={PRELOAD} -N 2 app"),
        ("flux mini run -n 4 app", f"flux mini run --env=LD_PRELOAD={PRELOAD} -n 4 app"),
    ],
    own_preload=[("flux run --env=LD_PRELOAD=/a.so app", f"flux run --env=LD_PRELOAD=/a.so:{PRELOAD} app")],
    programs=[("flux run -N 2 app run", ["app run"]), ("flux mini submit -n 4 app", ["app"])],
)


def test_other_commands_of_flux_get_the_environment(machine):
    machine("flux")
    launch = prepared("flux alloc -N 2 app")
    assert launch.argv == ["flux", "alloc", "-N", "2", "app"]
    assert launch.environ["LD_PRELOAD"] == PRELOAD


def test_a_wrapper_precedes_the_program_and_not_the_verb(machine):
    """Regression: `flux WRAPPER run -n 2 app`."""
    machine("flux")
    assert launchers.started_through("flux run -n 2 app".split(), ["wrap"]) == "flux run -n 2 wrap app".split()
