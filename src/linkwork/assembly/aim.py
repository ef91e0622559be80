"""What a pass over an assembly solves for, and what that asks of the rows of a condition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..spatial.scalar import Scalar, Vector, maximum, stack
from .condition import Condition, ConditionRows, derive
from .views import bound_law, bound_parts

HUGE = 1e300
TOUCHING = 1e-9  # a gap, or a speed of approach, up to here counts as touching
BELOW = -1e-300  # a residual up to here is negative


class Aim(NamedTuple):
    """What a pass solves for; b and c may be Baumgarte's, or 0.

    applied    1: what is applied acts, 0: it does not
    natural    the same of gravity, interactions and the bias of the parts
    bias       target = -bias c - rate r_dot - residual r, of equalities
    one_sided  in the place of `residual` in rows that only push
    bounce     they get bounce max(-r_dot, 0) besides
    near       rows that only push act where r <= near
    slow       and r_dot <= slow
    straight   1: forces along J^T in all conditions, 0: along directions of their own where they have some
    """

    applied: Scalar = 0.0
    natural: Scalar = 0.0
    bias: Scalar = 0.0
    rate: Scalar = 0.0
    residual: Scalar = 0.0
    one_sided: Scalar = 0.0
    bounce: Scalar = 0.0
    near: Scalar = HUGE
    slow: Scalar = HUGE
    straight: Scalar = 0.0

    @property
    def numbers(self) -> np.ndarray:
        """As programs take them."""
        return np.array(self)


AIM_SIZE = len(Aim())


def acceleration_aim(b: float = 0.0, c: float = 0.0) -> Aim:
    """f = m a, with Baumgarte's b and c."""
    return Aim(1.0, 1.0, 1.0, 2.0 * b, c * c, c * c, near=TOUCHING, slow=TOUCHING)


def rows_at(n: Any, at: Sequence[Any], k: int = 0) -> ConditionRows:
    """The rows of a condition of a node, its parts being at these roles."""
    parts = bound_parts(n)
    xs, vs = [role.q for role in at[: len(parts)]], [role.v for role in at[: len(parts)]]
    return derive(bound_law(n, k), parts, xs, vs, n.t)


def target_of(n: Any, condition: Condition, rows: ConditionRows) -> Vector:
    """What J z shall be, by the aim of the pass."""
    aim = Aim(*n.aim)
    target = -aim.bias * rows.bias - aim.rate * rows.rate
    if not condition.unilateral:
        return target - aim.residual * rows.residual
    return target - aim.one_sided * rows.residual + stack(*(aim.bounce * maximum(-r, 0.0) for r in rows.rate))
