"""What the worker says of its workloads."""

from __future__ import annotations

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    summary: str = ""
    ranks: str = "any"  # or "square" if only square numbers of ranks will do
    hand: bool = False  # the worker also has it as a good user would write it, without MPI-IO

    def nearest_ranks(self, wish: int) -> int:
        if self.ranks == "any":
            return wish
        below = math.isqrt(wish) ** 2
        above = (math.isqrt(wish) + 1) ** 2
        return below if wish - below <= above - wish else above
