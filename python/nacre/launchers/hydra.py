"""Hydra, the mpiexec of MPICH, Intel MPI and MVAPICH."""

from nacre.launchers.base import Context, Grammar, Launcher, Writer, joined_contexts, values_after

GRAMMAR = Grammar(
    valued="""
        n np envlist genvlist f hostfile machinefile machine host hosts wdir path hostlist ppn perhost grr
        bootstrap bootstrap-exec launcher launcher-exec rmk bind-to map-by membind topolib iface prepend-pattern
        outfile-pattern errfile-pattern nameserver configfile demux usize localhost gpus-per-proc hosts-group s tmpdir
    """.split(),
    assigning=["genv", "env"],
)


def _write(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
    """Adds -genv, which sets a variable for all programs at any position. -env of one program overrides it."""
    present: set[str] = set()
    rewritten = [_rewrite_pairs(writer, context.options, present) + context.program for context in contexts]
    new = [word for name, value in writer.missing(present).items() for word in ("-genv", name, value)]
    return new + joined_contexts(rewritten)


def _rewrite_pairs(writer: Writer, options: list[str], present: set[str]) -> list[str]:
    words: list[str] = []
    at = 0
    while at < len(options):
        count = values_after(GRAMMAR, options, at)
        option, values = options[at], options[at + 1 : at + 1 + count]
        name = option.lstrip("-")
        # If the line ends within an option, Hydra prints the error.
        if name in GRAMMAR.assigning and len(values) == count > 0:
            variable, _, value = values[0].partition("=") if count == 1 else (values[0], "=", values[1])
            value = writer.value_of(variable, value)
            if name == "genv":
                present.add(variable)
            values = [f"{variable}={value}"] if count == 1 else [variable, value]
        words += [option, *values]
        at += 1 + count
    return words


LAUNCHER = Launcher(
    name="hydra",
    title="MPICH's or Intel's Hydra",
    documented=("MPICH, Intel MPI, MVAPICH (Hydra)", "`--version`", "`-genv NAME VALUE`"),
    executables=("mpiexec.hydra", "mpiexec.gforker"),
    version=r"HYDRA build details|Intel\(R\) MPI Library",
    suffixes=("mpich", "hydra", "gforker", "intel", "impi", "mvapich"),
    grammar=GRAMMAR,
    write=_write,
    abi="mpich",
)
