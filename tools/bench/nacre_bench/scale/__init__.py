"""`nacre-bench scale`: what a rank of a job of a million ranks sends and holds."""

NAME = "scale"
