"""Cray's aprun."""

from nacre.launchers.base import Grammar, Launcher, assigning

LAUNCHER = Launcher(
    name="aprun",
    title="Cray's aprun",
    documented=("aprun", "name", "`-e NAME=VALUE`, for each program"),
    executables=("aprun",),
    grammar=Grammar(valued="n N d S j m L cc cp sn sl e p a b D q r B R F C pa".split()),
    write=assigning("-e", names=("e",)),
)
