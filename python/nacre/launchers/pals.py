"""The mpiexec of HPE's PALS."""

from nacre.launchers.base import Grammar, Launcher, assigning

LAUNCHER = Launcher(
    name="pals",
    title="HPE's PALS mpiexec",
    documented=("HPE PALS", "`--version`", "`--env NAME=VALUE`, for each program"),
    version=r"PALS|mpiexec version \d",
    suffixes=("pals",),
    grammar=Grammar(
        valued="""
            n np ppn N e env d depth cpu-bind mem-bind gpu-bind hosts host hostfile wdir path umask transfer rlimits
            timeout pmi
        """.split()
    ),
    write=assigning("--env", names=("env", "e", "E")),
)
