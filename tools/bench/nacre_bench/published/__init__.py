"""`nacre-bench published`: the experiments of the papers on the machines as published, in virtual time."""

NAME = "published"
