"""What is told to the user in one line, without a traceback."""


class BenchError(Exception):
    pass
