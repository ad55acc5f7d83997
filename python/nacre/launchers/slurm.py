"""Slurm's srun."""

from __future__ import annotations

from nacre.launchers.base import PRELOAD, Context, Grammar, Launcher, Writer, joined_contexts

# As of srun(1). Values in brackets there ("--nice[=adjustment]") are joined to the option, never the next word.
GRAMMAR = Grammar(
    valued="""
        A account accel-bind acctg-freq B extra-node-info b begin bb bbf bcast-exclude C constraint c cpus-per-task
        cluster-constraint comment container cores-per-socket cpu-bind cpu-freq cpus-per-gpu D chdir d dependency
        deadline delay-boot e error epilog export F nodefile G gpus gid gpu-bind gpu-freq gpus-per-node gpus-per-socket
        gpus-per-task gres gres-flags het-group hint i input J job-name jobid L licenses M clusters m distribution
        mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus mpi msg-timeout N nodes n ntasks
        network ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket o output open-mode p partition
        pack-group power prefer priority profile prolog q qos R reservation r relative S core-spec signal slurmd-debug
        sockets-per-node switches T threads t time task-epilog task-prolog tasks-per-node thread-spec threads-per-core
        time-min tmp tres-bind tres-per-task uid W wait w nodelist wckey x exclude
    """.split(),
    flags="""
        E preserve-env H hold I immediate K kill-on-bad-exit k no-kill l label O overcommit Q quiet s oversubscribe
        u unbuffered V version v verbose X disable-status Z no-allocate bcast compress contiguous exact exclusive
        multi-prog nice overlap propagate pty quit-on-interrupt reboot resv-ports send-libs spread-job test-only usage
        use-min-nodes x11
    """.split(),
)


def _write(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
    """Adds --export to each component of the job. Its values cannot contain a comma, so it sets only LD_PRELOAD. All
    other variables are in the environment of srun, and --export lists their names."""
    rewritten = []
    for context in contexts:
        options, exported = _without_export(context.options)
        if exported is None:
            exported = environment.get("SLURM_EXPORT_ENV", "ALL")
        export = _export(writer, exported)
        if PRELOAD in environment:
            # With ALL, the preload in srun's environment overrides the one in the option (seen in 22.05).
            environment[PRELOAD] = export.rpartition(f"{PRELOAD}=")[2]
        rewritten.append([f"--export={export}", *options, *context.program])
    return joined_contexts(rewritten)


def _without_export(options: list[str]) -> tuple[list[str], str | None]:
    """The options without --export, and its value."""
    words: list[str] = []
    exported = None
    follows = False
    for word in options:
        if follows:
            exported, follows = word, False
        elif word == "--export":
            follows = True
        elif word.startswith("--export="):
            exported = word.partition("=")[2]
        else:
            words.append(word)
    return words, exported


def _export(writer: Writer, exported: str) -> str:
    items = [item for item in exported.split(",") if item and item not in ("NONE", "NIL")]
    given: str | None = None
    kept = []
    for item in items:
        name, equals, value = item.partition("=")
        if name == PRELOAD:
            given = value if equals else None
        else:
            kept.append(item)
    names = {item.partition("=")[0] for item in kept}
    if "ALL" not in names:
        kept += [name for name in writer.variables if name not in names]
    kept.append(f"{PRELOAD}={writer.value_of(PRELOAD, given)}")
    return ",".join(kept)


LAUNCHER = Launcher(
    name="slurm",
    title="Slurm's srun",
    documented=(
        "Slurm",
        "name, `--version`",
        "`--export=ALL,LD_PRELOAD=...`; other variables through srun's environment",
    ),
    executables=("srun",),
    version=r"(?im)^slurm\b",
    suffixes=("slurm",),
    grammar=GRAMMAR,
    write=_write,
)
