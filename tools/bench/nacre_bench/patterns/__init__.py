"""`nacre-bench patterns`: writes and reads one shared file in every N-OST pattern and with the collective call of the
MPI itself, as in the papers of Dickens & Logan and of Logan & Dickens on Lustre."""

NAME = "patterns"
