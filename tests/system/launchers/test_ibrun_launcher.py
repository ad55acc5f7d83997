from launching import Cases

CASES = Cases(
    version="",
    recognised=["ibrun"],
    on_ranks=[("ibrun -n 4 app", "ibrun -n 4 app")],
    own_preload=[("ibrun app", "ibrun app")],
    programs=[("ibrun -n 4 -o 2 app", ["app"])],
    preload_by_environment=True,
)
