"""`nacre-bench patterns`: one shared file in every N-OST pattern and with the MPI's own collective, as in the papers of
Dickens & Logan and of Logan & Dickens on Lustre."""

NAME = "patterns"
