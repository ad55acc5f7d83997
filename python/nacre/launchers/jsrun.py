"""IBM's jsrun, of LSF's job step manager."""

from nacre.launchers.base import Grammar, Launcher, assigning

LAUNCHER = Launcher(
    name="jsrun",
    title="IBM's jsrun",
    documented=("jsrun", "name", "`-E NAME=VALUE`"),
    executables=("jsrun",),
    grammar=Grammar(
        valued="""
            n nrs a tasks_per_rs c cpu_per_rs g gpu_per_rs r rs_per_host b bind d launch_distribution
            l latency_priority E env F env_eval D env_no_propagate m memory_per_rs p np h chdir M smpiargs e stdio_mode
            o stdio_stdout k stdio_stderr t stdio_stdin U rs_file f erf_input J appfile L use_reservation Q timelimit
        """.split(),
        separator=None,
    ),
    write=assigning("-E", names=("E", "env")),
)
