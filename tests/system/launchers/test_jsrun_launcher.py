from launching import PRELOAD, Cases

CASES = Cases(
    version="",
    recognised=["jsrun"],
    on_ranks=[("jsrun -n 2 -a 4 app", f"jsrun -E LD_PRELOAD={PRELOAD} -n 2 -a 4 app")],
    own_preload=[("jsrun -E LD_PRELOAD=/a.so -n 2 app", f"jsrun -E LD_PRELOAD=/a.so:{PRELOAD} -n 2 app")],
    programs=[("jsrun --nrs 2 -b packed:7 app :", ["app :"])],
)
