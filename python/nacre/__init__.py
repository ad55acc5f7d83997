"""The command line of Nacre, the MPI-IO library made for Lustre."""

__version__ = "0.1.0"
