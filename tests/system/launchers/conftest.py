"""The launchers of these tests are recorders: scripts that have a launcher's name and version text and nothing else,
because this machine has no Slurm, Flux, LSF or Cray. test_run.py tests our options with the real Hydra and Open MPI."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A PATH with the launchers that a test asks for, and `app` and `other`, which are programs."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def add(name: str, version: str = "") -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\ncat <<'END'\n{version}\nEND\n")
        path.chmod(0o755)
        return str(path)

    add("app")
    add("other")
    return add
