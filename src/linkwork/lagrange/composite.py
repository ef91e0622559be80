"""Inertia, momentum and their rates of all that a joint carries, in world axes from where the root is.

In that frame the sums need no transport: m, h, J, the rate of J, and the momentum (n, p), whose linear part is the rate of h.
With Jd that rate, the symmetric and the gyroscopic part of the inertia's motion are together

    B = [[(Jd - [n]) / 2, 0], [-[p], 0]]        B + B^T = I_dot,   B V = ad*(V) I V,

so that with columns c, C_ij = c_i . (I c_dot_j + B c_j) for i above j is a Coriolis matrix for which M_dot - 2 C is skew
[Echeandia & Wensing 2021].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernel.sweep import Codec
from ..spatial.articulated import symmetric
from ..spatial.rigid import UPPER, RigidInertia
from ..spatial.scalar import Vector, array, cross
from .rules import momentum_rates, moving_columns, rigid_of


@dataclass(frozen=True, slots=True, eq=False)
class Moving:
    """A composite inertia I, the rate Jd of its J, and its momentum (n, p)."""

    I: RigidInertia
    Jd: np.ndarray
    n: Vector
    p: Vector

    def __add__(self, other: Moving) -> Moving:
        return Moving(self.I + other.I, self.Jd + other.Jd, self.n + other.n, self.p + other.p)

    def rate(self, c: Vector) -> Vector:
        """I_dot c = (Jd w + p x u, w x p) for c = (w, u)."""
        w, u = c[:3], c[3:]
        return np.concatenate([self.Jd @ w + cross(self.p, u), cross(w, self.p)])

    def B(self, c: Vector) -> Vector:
        """B c, see the module."""
        w = c[:3]
        return np.concatenate([(self.Jd @ w - cross(self.n, w)) * 0.5, cross(w, self.p)])

    def B_transposed(self, c: Vector) -> Vector:
        """The angular half of B^T c; the other is zero."""
        w, u = c[:3], c[3:]
        return (self.Jd @ w + cross(self.n, w)) * 0.5 + cross(self.p, u)

    def packed(self) -> list[Any]:
        return [*self.I.packed(), *(self.Jd[i] for i in UPPER), *self.n, *self.p]

    @staticmethod
    def unpacked(x: Any) -> Moving:
        return Moving(RigidInertia.unpacked(x[:10]), symmetric(x[10:16]), array(x[16:19]), array(x[19:22]))


MOVING = Codec(22, Moving.packed, Moving.unpacked)


def move(n: Any, parent: Any) -> None:
    """Outward: pose, twist, columns, and what the body itself contributes."""
    n.pose, n.V, n.column_list, n.column_rates = moving_columns(n, parent)
    I = rigid_of(n).moved(n.pose)
    momentum, Jd = momentum_rates(I, n.V)
    n.own = Moving(I, Jd, momentum[:3], momentum[3:])


def gathered(n: Any, parent: Any) -> Moving:
    """Inward: what the joint carries, handed on."""
    total = n.own + n.carried
    parent.carried = parent.carried + total
    return total
