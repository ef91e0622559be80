"""From a residual to its rows: the residual, run on numbers that know how they change.

Along a motion with constant body twists phi, E(s) = E exp(s phi) at the time t + s, a residual g(E, t) has

    G = dg/dxi  (E exp(xi)),     g_dot = G phi + dg/dt,     g_ddot = G phi_dot + bias,     bias = G_dot phi + (dg/dt)_dot.

Displacements xi and the time are the variables of a gradient whose entries are functions of s: one run yields G, G_dot, g_dot.
Unknowns u(E, t) with c(E, t, u) = 0 are eliminated by Newton's method on the same numbers. From the solution, where the values
stay, the first step makes the first derivatives of u right, the second step the second ones (the implicit function theorem).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..spatial.dual import Dual, Gradient, displaced, split, variables
from ..spatial.scalar import Scalar, Vector, array, zeros
from ..spatial.se3 import SE3
from ..spatial.stage import skew
from .constraint import Constraint

RESULTS = ("residual", "rate", "bias", "given")


@dataclass(frozen=True, eq=False)
class Derived:
    """Rows at one situation; `given` is what G phi must be where the constraint itself moves with time."""

    residual: Vector
    rate: Vector
    bias: Vector
    given: Vector
    G: np.ndarray

    def write(self, n: Any) -> None:
        """Hand all of it to a node, in a rule."""
        for name in RESULTS:
            setattr(n, name, getattr(self, name))
        n.G = self.G.reshape(-1)


def flowing(E: SE3, phi: Vector) -> SE3:
    """E exp(s phi) as a function of s at s = 0."""
    R, p = E.R, E.p
    R_dot, p_dot = R @ skew(phi[:3]), R @ phi[3:]
    return SE3(R=following(R, R_dot), p=following(p, p_dot))


def following(x: np.ndarray, x_dot: np.ndarray) -> np.ndarray:
    """The array x + s x_dot as a function of s at s = 0."""
    pairs = zip(np.asarray(x, dtype=object).flat, np.asarray(x_dot, dtype=object).flat, strict=True)
    return array([Dual(a, (b,)) for a, b in pairs]).reshape(np.shape(x))


def from_gap(g: Vector, v: Vector) -> Derived:
    """Rows of a residual that was run on gradients with respect to moves and, last, to time; v are the rates of the moves."""
    n = len(v)
    g_s, slopes_s = split(g, n + 1, Gradient)
    values, rates = split(g_s, 1)
    slopes, bends = split(slopes_s, 1)
    bias = bends[:, :n, 0] @ v + bends[:, n, 0]
    return Derived(values, rates[:, 0], bias, -slopes[:, n], slopes[:, :n])


def from_slip(r: Vector, at_rest: Vector, n: int) -> Derived:
    """Rows of a rate that was run on gradients with respect to the n velocities; at_rest is its value without any."""
    r_s, slopes_s = split(r, n, Gradient)
    values, rates = split(r_s, 1)
    return Derived(zeros(len(r)), values, rates[:, 0], -np.asarray(at_rest, dtype=object), split(slopes_s, 1)[0])


def time_in(n: int, t: Scalar) -> Gradient:
    """The time that passes with s, as the last of n + 1 variables."""
    return Gradient(Dual(t, (1.0,)), (0.0,) * n + (1.0,))


def derive(c: Constraint, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector, inverse: np.ndarray) -> Derived:
    """All rows of a constraint; u are its unknowns where they solve their conditions, with the inverse of their Jacobian."""
    n = 6 * len(poses)
    flows = [flowing(E, phi) for E, phi in zip(poses, twists, strict=True)]
    if not c.holonomic:
        turning = [variables(phi, n, 6 * i, Gradient) for i, phi in enumerate(twists)]
        still = c.slip(poses, [zeros(6) for _ in poses], t)
        return from_slip(c.slip(flows, turning, Dual(t, (1.0,))), still, n)
    moved = [displaced(E, n + 1, 6 * i, Gradient) for i, E in enumerate(flows)]
    time = time_in(n, t)
    for _ in range(2 if c.unknowns else 0):
        u = u - inverse @ c.conditions(moved, time, u)
    return from_gap(c.gap(moved, time, u), np.concatenate(list(twists)))


def equations(c: Constraint, poses: Sequence[SE3], t: Scalar, u: Vector) -> tuple[Vector, np.ndarray]:
    """The conditions on the unknowns of a constraint, and their Jacobian (unknowns, unknowns)."""
    found: Any = c.conditions(poses, t, variables(u, c.unknowns))
    return split(array(list(found)), c.unknowns)
