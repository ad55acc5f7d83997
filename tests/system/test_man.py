"""`nacre man`: a page for each verb, from the texts of --help, which groff formats without a warning."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

VERBS = ["run", "doctor", "report", "explain", "hints", "tune", "stripe", "stripe-show", "testbed-run", "man"]


def test_every_verb_has_a_page_that_groff_formats(nacre, tmp_path):
    assert nacre("man", "--write", tmp_path / "man1").returncode == 0
    pages = {path.stem for path in (tmp_path / "man1").iterdir()}
    assert pages >= {"nacre", *(f"nacre-{verb}" for verb in VERBS)}
    for page in sorted((tmp_path / "man1").iterdir()):
        words = ["groff", "-man", "-Tascii", "-P-c", "-P-b", "-P-u", "-ww", page]
        formatted = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600)
        assert not formatted.stderr
        assert "NAME" in formatted.stdout
        assert "[bold]" not in formatted.stdout


def test_a_page_has_the_options_and_examples_of_the_help(nacre):
    page = nacre("man", "stripe-advise").stdout
    for words in (".SH SYNOPSIS", ".SH EXAMPLES", "nacre stripe advise", "\\-\\-osts"):
        assert words in page
    assert nacre("man", "nacre-stripe-advise").stdout == page
    assert nacre("man", "nacre").stdout == nacre("man").stdout
    assert ".SH COMMANDS" in nacre("man", "nacre").stdout


def test_a_page_has_the_arguments_and_defaults_of_the_help(nacre):
    for page, entries in (
        ("report", [r"\fIFILE\fR", "Report files;", "[default: 5.0; "]),
        ("stripe-advise", [r"\fISIZE\fR", "Size of the complete file. [required]", "(the current directory)"]),
        ("hints", [r"\fIKEY|FILE\fR", "Part of a name;"]),
    ):
        arguments, _, options = nacre("man", page).stdout.partition(".SH ARGUMENTS")[2].partition(".SH OPTIONS")
        assert all(entry in (options if entry.startswith("[") else arguments) for entry in entries)
    assert ".SH ARGUMENTS" not in nacre("man", "nacre").stdout


def test_an_optional_argument_has_one_pair_of_brackets_in_the_usage(nacre):
    """Regression: Usage: nacre man [OPTIONS] [[NAME]]."""
    with_one = {"man": "[NAME]", "simulate": "[WORKLOAD]", "testbed-up": "[DIRECTORY]"}
    for page, argument in with_one.items():
        usage = nacre(*page.split("-"), "--help").stdout.partition("Usage: ")[2].partition("\n")[0].strip()
        assert usage == f"nacre {page.replace('-', ' ')} [OPTIONS] {argument}"
        assert "[[" not in nacre("man", page).stdout


def on_a_terminal(nacre, *arguments: str, **environment: str) -> str:
    """What the command prints to a terminal, without the codes that set colours and fonts."""
    leader, terminal = pty.openpty()
    with subprocess.Popen(
        [str(nacre.path), *arguments], env={**nacre.environment, **environment}, stdout=terminal, stderr=terminal
    ) as command:
        os.close(terminal)
        text = b""
        while piece := read_terminal(leader):
            text += piece
        os.close(leader)
        assert command.wait(timeout=600) == 0, text
    return re.sub(r"\x1b\[[0-9;]*m|.\x08", "", text.decode().replace("\r\n", "\n"))


def read_terminal(leader: int) -> bytes:
    """Empty once all processes have closed the terminal."""
    try:
        return os.read(leader, 1 << 16)
    except OSError:  # EIO
        return b""


def test_a_terminal_gets_the_page_formatted(nacre):
    shown = on_a_terminal(nacre, "man", "stripe-advise", MANPAGER="cat", MAN_KEEP_FORMATTING="", TERM="dumb")
    assert shown.startswith("NACRE-STRIPE-ADVISE(1)")
    assert "\nSYNOPSIS\n" in shown
    assert ".SH" not in shown


def test_without_man_a_terminal_gets_the_text_of_help(nacre, tmp_path: Path):
    for name, words in (("nacre", []), ("stripe-advise", ["stripe", "advise"])):
        shown = on_a_terminal(nacre, "man", name, PATH=str(tmp_path), TERM="dumb")
        assert shown.strip() == on_a_terminal(nacre, *words, "--help", PATH=str(tmp_path), TERM="dumb").strip()
        assert f"Usage: {' '.join(['nacre', *words])}" in shown


def test_a_man_that_fails_is_replaced_by_the_text_of_help(nacre, tmp_path: Path):
    (tmp_path / "man").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "man").chmod(0o755)
    assert "Usage: nacre report" in on_a_terminal(nacre, "man", "report", PATH=str(tmp_path), TERM="dumb")


def test_an_unknown_page_is_refused_with_the_names_of_all(nacre, tmp_path):
    refused = nacre("man", "rum")
    assert refused.returncode == 2
    assert "there is no page 'rum'" in refused.stderr
    assert "run" in refused.stderr
    (tmp_path / "file").touch()
    assert "cannot write" in nacre("man", "--write", tmp_path / "file" / "man1").stderr
