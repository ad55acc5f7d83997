"""Modules of the standard library that Python 3.9 and 3.10 lack: Nacre runs on the Python of RHEL 9 and Debian 11."""

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

__all__ = ["tomllib"]
