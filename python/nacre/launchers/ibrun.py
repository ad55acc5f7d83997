"""TACC's ibrun, which passes its environment to the ranks."""

from nacre.launchers.base import Grammar, Launcher, write_environment

LAUNCHER = Launcher(
    name="ibrun",
    title="TACC's ibrun",
    documented=("ibrun", "name", "the environment"),
    executables=("ibrun",),
    grammar=Grammar(valued=["n", "np", "o"], separator=None),
    write=write_environment,
)
