"""Errors that nacre-bench prints in one line, without a traceback."""


class BenchError(Exception):
    pass
