"""The command line of Nacre, the MPI-IO library made for Lustre."""
