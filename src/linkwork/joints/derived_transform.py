"""The transform at coordinates that carry first derivatives, by the chain rule through the subspace.

With dE = E [S dq], a transform of duals q = x + sum_k g_k e_k is E + sum_k E [S g_k] e_k: everything costly is computed once, on
plain scalars. Where x and g_k are themselves functions of s along a motion, so are E and S, with S_dot from the same evaluation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..spatial.dual import Dual, Gradient, Rate
from ..spatial.scalar import Vector, array, stack
from ..spatial.se3 import SE3
from ..spatial.stage import skew
from .base import Joint


def derived_transform(joint: Joint, q: Vector) -> SE3:
    """`joint.transform(q)` for coordinates that add; gradients and rates in q are followed through the joint's subspace."""
    kind = next((k for k in (Gradient, Rate) if any(isinstance(x, k) for x in q)), None)
    if kind is None:
        return joint.transform(q)
    lifted = _lifted(q, kind)
    values = stack(*(x.x for x in lifted))
    slopes = [stack(*(x.grad[k] for x in lifted)) for k in range(len(lifted[0].grad))]
    E, S = _flowing(joint, values)
    steps = [(E.R @ skew(xi[:3]), E.R @ xi[3:]) for xi in (S @ g for g in slopes)]
    R = [kind(x, tuple(R_k.flat[i] for R_k, _ in steps)) for i, x in enumerate(E.R.flat)]
    p = [kind(x, tuple(p_k[i] for _, p_k in steps)) for i, x in enumerate(E.p)]
    return SE3(R=array(R).reshape(3, 3), p=array(p))


def _flowing(joint: Joint, q: Vector) -> tuple[SE3, np.ndarray]:
    """The transform and S where coordinates may be rates of one variable."""
    if not any(isinstance(x, Rate) for x in q):
        motion = joint.motion(q, np.zeros(joint.nv))
        return motion.with_tangent(None).collapsed(), motion.tangent.S
    lifted = _lifted(q, Rate)
    x, v = stack(*(e.x for e in lifted)), stack(*(e.grad[0] for e in lifted))
    if len(lifted[0].grad) != 1:
        raise TypeError("coordinates change along one motion, not along several")
    motion = joint.motion(x, v)
    t = motion.tangent
    R_dot, p_dot = motion.R @ skew(t.phi[:3]), motion.R @ t.phi[3:]
    R, p, S = (_rates(a, b) for a, b in ((motion.R, R_dot), (motion.p, p_dot), (t.S, t.S_dot)))
    return SE3(R=R, p=p), S


def _rates(a: np.ndarray, a_dot: np.ndarray) -> np.ndarray:
    pairs = zip(np.asarray(a, dtype=object).flat, np.asarray(a_dot, dtype=object).flat, strict=True)
    return array([Rate(x, (r,)) for x, r in pairs]).reshape(np.shape(a))


def _lifted(q: Vector, kind: type[Dual]) -> list[Any]:
    """All coordinates as duals of a kind."""
    some = next(x for x in q if isinstance(x, kind))
    return [some.like(x) for x in q]
