"""`nacre-bench choice`: the plan that Nacre chooses without a hint, against a search over algorithms, aggregators,
patterns and rounds in the same launches."""

NAME = "choice"
