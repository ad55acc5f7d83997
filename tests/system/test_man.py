"""`nacre man`: a page for each verb, from the texts of --help, which groff formats without a warning."""

from __future__ import annotations

import subprocess

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


def test_an_unknown_page_is_refused_with_the_names_of_all(nacre, tmp_path):
    refused = nacre("man", "rum")
    assert refused.returncode == 2
    assert "there is no page 'rum'" in refused.stderr
    assert "run" in refused.stderr
    (tmp_path / "file").touch()
    assert "cannot write" in nacre("man", "--write", tmp_path / "file" / "man1").stderr
