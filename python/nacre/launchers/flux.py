"""Flux: `flux run` and `flux submit`, in older versions `flux mini run`."""

from __future__ import annotations

from nacre.launchers.base import Context, Grammar, Launcher, Writer, assigning, split_contexts

VERBS = ("run", "submit", "bulksubmit")
_write_after_verb = assigning("--env", names=("env", "e", "E"), joined=True)


def _verb(words: list[str]) -> int | None:
    return next((index for index, word in enumerate(words) if word in VERBS), None)


def _split(grammar: Grammar, arguments: list[str]) -> list[Context]:
    """One context. Its options include the verb and the words before it."""
    verb = _verb(arguments)
    contexts = split_contexts(grammar, arguments[verb + 1 :] if verb is not None else arguments)
    if verb is not None:
        contexts[0].options[:0] = arguments[: verb + 1]
    return contexts


def _write(writer: Writer, contexts: list[Context], environment: dict[str, str]) -> list[str]:
    """Adds --env=NAME=VALUE after the verb. Commands of Flux without one of these verbs pass their environment on."""
    [context] = contexts
    verb = _verb(context.options)
    if verb is None:
        environment.update(writer.missing())
        return context.options + context.program
    after = Context(context.options[verb + 1 :], context.program)
    return context.options[: verb + 1] + _write_after_verb(writer, [after], environment)


LAUNCHER = Launcher(
    name="flux",
    title="Flux",
    documented=("Flux", "name", "`--env=NAME=VALUE`"),
    executables=("flux",),
    grammar=Grammar(
        valued="""
            n ntasks N nodes c cores-per-task g gpus-per-task tasks-per-node cores gpus-per-node t time-limit o setopt
            setattr env env-remove env-file queue q bank B job-name requires urgency cwd input output error label
            begin-time dependency flags
        """.split(),
        separator=None,
    ),
    split=_split,
    write=_write,
)
