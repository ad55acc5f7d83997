from launching import PRELOAD, Cases

CASES = Cases(
    version="",
    recognised=["aprun"],
    on_ranks=[
        (
            "aprun -n 4 app : -n 2 other",
            f"aprun -e LD_PRELOAD={PRELOAD} -n 4 app : -e LD_PRELOAD={PRELOAD} -n 2 other",
        )
    ],
    own_preload=[("aprun -e LD_PRELOAD=/a.so -n 4 app", f"aprun -e LD_PRELOAD=/a.so:{PRELOAD} -n 4 app")],
    programs=[("aprun -n 4 -cc depth app : other", ["app", "other"])],
)
