"""Slurm's srun."""

from __future__ import annotations

from nacre.launchers.base import PRELOAD, Context, Grammar, Launcher, Writer, joined_contexts

GRAMMAR = Grammar(
    valued="""
        A account b begin c cpus-per-task C constraint d dependency D chdir e error export G gpus gres gpus-per-node
        gpus-per-task gpu-bind i input J job-name jobid m distribution mem mem-per-cpu mem-bind cpu-bind mpi n ntasks N
        nodes ntasks-per-node o output p partition q qos r relative R reservation t time T threads w nodelist x exclude
        kill-on-bad-exit overcommit S core-spec W wait M clusters L licenses hint het-group pack-group tasks-per-node
        ntasks-per-core ntasks-per-socket ntasks-per-gpu network nice open-mode prolog epilog propagate slurmd-debug
        switches task-epilog task-prolog wckey comment acctg-freq bcast cluster-constraint cpu-freq delay-boot
        deadline extra-node-info B signal tmp uid gid thread-spec threads-per-core profile mail-type mail-user
    """.split(),
    flags=["l", "O", "K", "v", "Q", "u", "X", "s", "h", "H", "E", "k", "Z"],
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
