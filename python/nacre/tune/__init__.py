"""Measures a machine and its file system, and writes a machine file. verbs/tune.py is the command."""
