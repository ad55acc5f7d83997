"""What a paper says, beside what is simulated."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from .points import Outcome

HEADER = ["experiment", "published", "simulated", "comes out", "made by", "the paper does not say"]
FACTOR = 2  # between a published number and a simulated one that comes out


@dataclasses.dataclass(frozen=True)
class Statement:
    """`comes_out`: None if the paper does not say enough to compare. `made_by`: the resource or the figure that causes
    what is simulated. `unsaid`: what the comparison would need."""

    experiment: str
    published: str
    simulated: str
    comes_out: bool | None
    made_by: str
    unsaid: str = "-"

    def cells(self) -> list[str]:
        verdict = {True: "yes", False: "no", None: "cannot be said"}[self.comes_out]
        return [self.experiment, self.published, self.simulated, verdict, self.made_by, self.unsaid]


def busiest(outcomes: Iterable[Outcome]) -> str:
    """Each busiest resource once, as "OSTs busiest"."""
    return f"{' and '.join(dict.fromkeys(one.bottleneck for one in outcomes))} busiest"


def near(simulated: float, published: float) -> bool:
    return published / FACTOR <= simulated <= published * FACTOR
