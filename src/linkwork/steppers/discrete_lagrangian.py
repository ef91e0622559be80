"""The discrete Lagrangian of a step with constant velocities, and the momenta that it has at both ends.

With q_m = integrate(q, h v / 2) it is h L(q_m, v). Its derivatives at both ends are the momenta before and after
[Marsden & West 2001; on groups, Bou-Rabee & Marsden 2009]. With xi = h v, A = ad(xi), the body Jacobian J_r(xi) of the
exponential, mu = dL/dv and f = dL/dq + forces at (q_m, v):

    w  = J_r(xi)^-T (mu + h/2 J_r(xi/2)^T f)
    p0 = exp(-A)^T w - h exp(-A/2)^T f,     p1 = w

Where coordinates add, A = 0 and this is p = mu -+ h f / 2. dL/dq follows from the composite momentum H of every subtree,

    dL/dq_k = H^T (ad(phi) S_k + S_dot_k - S [v, e_k]) + S_k^T (weight and external wrenches of the subtree).

Velocities and momenta are those of `paths`: the joint's own, but for `Free`.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from ..joints import Joint
from ..kernel.sweep import Field, vector
from ..model.rules import inertia_of, placement_of
from ..spatial.scalar import Vector, cross, is_zero
from ..spatial.se3 import bracket
from .paths import along, is_straight, own, path_of
from .tangent import WEIGHTS

TERMS = 12  # of the series of exponentials; turns are below 1 rad per step


def _series(A: np.ndarray, x: Vector, weights: list[float]) -> Vector:
    """sum of weights[k] (A^T)^k x."""
    total, power = weights[0] * x, x
    for weight in weights[1:]:
        power = A.T @ power
        if weight:
            total = total + weight * power
    return total


EXP = [(-1.0) ** k / factorial(k) for k in range(TERMS)]  # exp(-A)
JACOBIAN = [(-1.0) ** k / factorial(k + 1) for k in range(TERMS)]  # J_r
INVERSE = [WEIGHTS[k] if k != 1 else 0.5 for k in range(TERMS)]  # J_r^-1


def momenta(joint: Joint, xi: Vector, h: Any, mu: Vector, f: Vector) -> tuple[Vector, Vector]:
    """p0 and p1 of the module's text."""
    A = np.stack([joint.bracket(xi, e) for e in np.eye(joint.nv)], axis=1) if joint.nv else np.zeros((0, 0))
    if all(is_zero(x) for x in np.asarray(A, dtype=object).flat):
        return mu - 0.5 * h * f, mu + 0.5 * h * f
    w = _series(A, mu + 0.5 * h * _series(0.5 * A, f, JACOBIAN), INVERSE)
    return _series(A, w, EXP) - h * _series(0.5 * A, f, EXP), w


def midpoint(n: Any, parent: Any) -> None:
    """Where the joint and its body are in the middle of the step: coordinates, velocities, twist, the direction of gravity."""
    path = path_of(n)
    n.mid_q = path.integrate(n.q, 0.5 * n.step * n.path_v)
    E = placement_of(n) @ path.motion(n.mid_q, n.path_v)
    t = E.tangent
    n.twist = E.pull_twist(parent.twist) + t.phi
    n.g = E.unrotate(parent.g)
    n.E_mid, n.S_mid, n.S_dot = E.with_tangent(None), t.S, t.S_dot
    n.mid_v = own(n, t.S, n.path_v)


def end_momenta(n: Any, parent: Any, load: Vector, push: Vector) -> tuple[Vector, Vector]:
    """p0 and p1 under a wrench on the body and a joint force; the parent gathers momenta and wrenches."""
    path, S, v = path_of(n), n.S_mid, n.path_v
    weight = np.concatenate([cross(n.first_moment, n.g), n.mass * n.g]) + load
    H, W = inertia_of(n) @ n.twist + n.H, weight + n.W
    drive = n.armature * n.mid_v
    mu = S.T @ H + along(n, S, drive)
    f = _slope(path, n).T @ H + S.T @ W + along(n, S, push - n.damping * n.mid_v)
    if path.nv and not all(is_zero(x) for x in n.armature):
        f = f + _drive_slope(path, n).T @ drive
    parent.H, parent.W = parent.H + n.E_mid.move_wrench(H), parent.W + n.E_mid.move_wrench(W)
    return momenta(path, n.step * v, n.step, mu, f)


def _slope(path: Joint, n: Any) -> np.ndarray:
    """ad(phi) S_k + S_dot_k - S [v, e_k]: how the body's twist changes along the joint's directions."""
    if not path.nv:
        return n.S_mid
    turned = np.stack([bracket(n.twist, n.S_mid[:, k]) for k in range(path.nv)], axis=1)
    return turned + n.S_dot - n.S_mid @ _brackets(path, n)


def _drive_slope(path: Joint, n: Any) -> np.ndarray:
    """T_dot_k - T [v, e_k]: the same for drives, whose inertia resists the rates of the joint's velocities T v, nothing else."""
    inner = _brackets(path, n)
    return n.S_dot - n.S_mid @ inner if is_straight(n.joint) else -inner


def _brackets(path: Joint, n: Any) -> np.ndarray:
    """[v, e_k]."""
    return np.stack([path.bracket(n.path_v, e) for e in np.eye(path.nv)], axis=1)


SUMS = {
    "g": Field("shared", codec=vector(3), world=lambda n: n.gravity),
    "H": Field("gathered", codec=vector(6)),
    "W": Field("gathered", codec=vector(6)),
}
