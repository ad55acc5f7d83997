"""Open MPI's mpirun, IBM Spectrum MPI's, and PRRTE's prun."""

from nacre.launchers.base import (
    Context,
    Grammar,
    Launcher,
    Writer,
    joined_contexts,
    rewrite_assignments,
    rewritten_assignment,
)

GRAMMAR = Grammar(
    valued="""
        n np c N x host H hostfile machinefile default-hostfile app wd wdir path prefix rf rankfile npernode npersocket
        map-by rank-by bind-to output-filename stdin report-pid report-uri timeout cpu-set cpu-list slot-list tune am
        display output personality preload-files dvm dvm-uri runtime-options launch-agent pset max-restarts ompi-server
        xterm cpus-per-proc cpus-per-rank
    """.split(),
    two_valued=["mca", "gmca", "pmca", "prtemca", "pmixmca"],
)
# An MCA parameter that sets variables on all ranks: NAME=VALUE or NAME, separated by semicolons.
VARIABLE_LIST = "mca_base_env_list"


def _write(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
    """Adds -x to each program: in Open MPI 4, -x applies to one program only. In 5, the first of several -x counts."""
    words = [word for context in contexts for word in context.options]
    in_file = any(word.lstrip("-") == "app" for word in words)
    if in_file or VARIABLE_LIST in words or f"OMPI_MCA_{VARIABLE_LIST}" in environment:
        return _write_list(writer, contexts, environment)
    rewritten = []
    for context in contexts:
        present: set[str] = set()
        options = rewrite_assignments(writer, context.options, ("x",), present)
        new = [word for name, value in writer.missing(present).items() for word in ("-x", f"{name}={value}")]
        rewritten.append(new + options + context.program)
    return joined_contexts(rewritten)


def _write_list(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
    """Extends mca_base_env_list: Open MPI 4 refuses -x together with it, and applies no -x to programs of an --app
    file."""
    rewritten = []
    in_options = False
    for context in contexts:
        options = list(context.options)
        for at, word in enumerate(options[:-1]):
            if word == VARIABLE_LIST and options[at - 1].lstrip("-") in GRAMMAR.two_valued:
                options[at + 1] = _extended_list(writer, options[at + 1])
                in_options = True
        rewritten.append(options + context.program)
    if not in_options:
        variable = f"OMPI_MCA_{VARIABLE_LIST}"
        environment[variable] = _extended_list(writer, environment.get(variable, ""))
    return joined_contexts(rewritten)


def _extended_list(writer: Writer, there: str) -> str:
    present: set[str] = set()
    items = [rewritten_assignment(writer, item, present) for item in there.split(";") if item]
    items += [f"{name}={value}" for name, value in writer.missing(present).items()]
    return ";".join(items)


LAUNCHER = Launcher(
    name="openmpi",
    title="Open MPI's mpirun",
    documented=(
        "Open MPI, IBM Spectrum MPI",
        "`--version`",
        "`-x NAME=VALUE`, for each program; with `--app` or `mca_base_env_list` that list",
    ),
    executables=("orterun", "prterun", "prun"),
    version="Open MPI|OpenRTE|PRRTE|PRTE|IBM Spectrum MPI|OpenMPI",
    suffixes=("openmpi", "ompi"),
    grammar=GRAMMAR,
    write=_write,
    abi="openmpi",
    doctor_options=("--oversubscribe",),
    root_option="--allow-run-as-root",
    root_variables=("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"),
)
