"""nacre-bench: MPI-IO with and without Nacre, measured side by side and checked byte for byte."""
