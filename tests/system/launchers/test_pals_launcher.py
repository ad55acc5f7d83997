from launching import PRELOAD, Cases

CASES = Cases(
    version="mpiexec version 1.3.4 revision e1a2b3c",
    recognised=["mpiexec", "mpiexec.pals"],
    on_ranks=[("mpiexec -n 4 --ppn 2 app", f"mpiexec --env LD_PRELOAD={PRELOAD} -n 4 --ppn 2 app")],
    own_preload=[
        ("mpiexec --env LD_PRELOAD=/a.so -n 4 app", f"mpiexec --env LD_PRELOAD=/a.so:{PRELOAD} -n 4 app"),
        ("mpiexec --env=LD_PRELOAD=/a.so -n 4 app", f"mpiexec --env=LD_PRELOAD=/a.so:{PRELOAD} -n 4 app"),
    ],
    programs=[("mpiexec -n 4 --cpu-bind depth app : -n 1 other", ["app", "other"])],
)
