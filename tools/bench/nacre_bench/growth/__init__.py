"""`nacre-bench growth`: what grows with the ranks of a job, in virtual time."""

NAME = "growth"
