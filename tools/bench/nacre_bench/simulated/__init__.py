"""`nacre-bench simulated`: times that `nacre simulate` predicts, against those that the testbed measures."""

NAME = "simulated"
