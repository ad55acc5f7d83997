"""Signals that end a command which has to clean up."""

from __future__ import annotations

import signal
from collections.abc import Iterable


def exit_on(signals: Iterable[signal.Signals]) -> None:
    """Makes each of these signals raise SystemExit(128 + its number). One that is ignored stays so, as SIGHUP under
    nohup."""
    for number in signals:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _exit)


def _exit(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)
