"""What the sweeps of an assembly depend on, besides the classes of its nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Rule = Callable[..., None]


@dataclass(frozen=True)
class Extent:
    """Sizes and kinds.

    largest   block of a part's velocities, or of a condition
    widest    numbers in the rows of a condition on the forest
    links     parts of a condition on the forest, at most; 0 if there are none
    rows      parts of an auxiliary condition, at most; 0 if there are none
    pulls     parts of an interaction, at most; 0 if there are none
    one_sided whether an auxiliary condition only pushes
    directed  whether one has forces along directions of their own
    """

    largest: int
    widest: int
    links: int
    rows: int
    pulls: int
    one_sided: bool
    directed: bool


def part_roles(count: int) -> tuple[str, ...]:
    """The roles of parts."""
    return tuple(f"p{k}" for k in range(count))
