"""Figures by matplotlib, which only they need: it is imported when one is drawn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType


def pyplot() -> ModuleType:
    """That of matplotlib, which draws into files."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def is_drawn(path: str, draw: Callable[[], None]) -> bool:
    """Calls `draw`. Returns False and prints the reason if that fails."""
    try:
        draw()
    except (ImportError, OSError, ValueError) as error:
        print(
            f"nacre-bench: --plot {path}: cannot draw the figure: {error}. `make setup-test` installs matplotlib.",
            file=sys.stderr,
        )
        return False
    return True
