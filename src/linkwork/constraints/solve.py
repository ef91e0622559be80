"""Solving constraints on a response: one piece of code for every formulation.

With rows G, the constrained motion is  free + apply(G^T x);  its multipliers solve  G apply(G^T) x + (G free - target) = 0
for equalities, and the complementarity of force and residual for constraints that only push.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.state import Motion, Response
from ..solvers.complementarity import multipliers
from .rows import ConstraintRows
from .targets import TOUCHING


@dataclass(frozen=True, eq=False)
class Constrained:
    """The motion that obeys the constraints, and the multiplier of every row (zero for inactive ones).

    Multipliers are forces at acceleration level and impulses at velocity level, in the units of their rows.
    """

    motion: Motion
    multipliers: np.ndarray


def solve(response: Response, c: ConstraintRows, target: np.ndarray) -> Constrained:
    """The motion with G motion = target (or >= target for unilateral rows)."""
    if not c.rows.count:
        return Constrained(response.free, np.zeros(0))
    x = multipliers(response.delassus(c.rows), c.rows @ response.free - target, c.unilateral)
    return Constrained(response.corrected(c.rows, x), x)


def accelerations(response: Response, c: ConstraintRows) -> Constrained:
    """Constrained accelerations: G a + G_dot phi = 0, and for touching contacts that do not separate, >= 0."""
    keep = ~c.unilateral | ((c.residual <= TOUCHING) & (c.rate <= TOUCHING))
    active = c.restricted(keep)
    found = solve(response, active, -active.bias)
    full = np.zeros(c.rows.count)
    full[keep] = found.multipliers
    return Constrained(found.motion, full)
