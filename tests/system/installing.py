"""What the tests of installations share."""

from __future__ import annotations

import subprocess
from pathlib import Path

LIBRARIES = {"libnacre.so", "libnacre_mpich.so", "libnacre_openmpi.so", "libnacre_mpiabi.so", "libnacre_posix.so"}


def run(*command: object, **options) -> subprocess.CompletedProcess:
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=1500, **options)
    assert result.returncode == 0, f"{words}\n{result.stdout}\n{result.stderr}"
    return result


def sections(path: Path) -> str:
    return run("readelf", "-SW", path).stdout


def is_stripped(path: Path) -> bool:
    # A stripped library has 2 MB; its debug information alone had 45.
    return ".debug_info" not in sections(path) and path.stat().st_size < 6 << 20
