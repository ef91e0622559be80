"""Steady turns of ball joints whose coordinates change charts: A v = S v is the angular velocity in axes of the body.

Steps that keep energy are taken in it (`Joint.advance`): where they end does not depend on charts, but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..spatial import so3
from ..spatial.scalar import Scalar, Vector, atan2, inv, stack, where, zeros
from ..spatial.se3 import SE3
from .base import Joint

Angles = Callable[[np.ndarray], Sequence[Scalar] | Vector]


def turning_steadily(E: SE3) -> SE3:
    """The motion of a ball joint where accelerations are those of the angular velocity: it has no bias."""
    return E.with_tangent(replace(E.tangent, bias=zeros(6)))


def bend_of_angles(joint: Joint, q: Vector, v: Vector) -> Vector:
    """S^-1 S_dot v."""
    t = joint.motion(q, v).tangent
    return inv(t.S[:3]) @ t.bias[:3]


def advance_angles(
    joint: Joint, q: Vector, way: Vector, velocities: Sequence[Vector], proper: Scalar, angles: Angles
) -> tuple[Vector, ...]:
    """See `Joint.advance`; q are three angles and the number of their sequence.

    proper   whether the first axis comes again in this sequence
    angles   of a rotation in this sequence
    """
    E = joint.motion(q, way)
    reached = angles(E.R @ so3.exp(E.tangent.phi[:3]))
    moved = stack(*nearest_angles(proper, reached, q[:3] + way), q[3])
    q_new, _ = joint.rechart(moved, way)
    back = inv(joint.motion(q_new, way).tangent.S[:3])
    return q_new, *(back @ (E.tangent.S[:3] @ v) for v in velocities)


def nearest_angles(proper: Scalar, angles: Sequence[Scalar] | Vector, near: Vector) -> list[Scalar]:
    """Angles of the same rotation that lie nearest to others: the outer ones turned by pi or not, by any number of turns."""
    a, b, c = angles
    turned = where(proper, np.sin(near[1]), np.cos(near[1])) < 0.0
    half = where(turned, np.pi, 0.0)
    middle = where(turned, where(proper, -b, np.pi - b), b)
    away = [x - y for x, y in zip((a + half, middle, c + half), near, strict=True)]
    return [y + atan2(np.sin(x), np.cos(x)) for x, y in zip(away, near, strict=True)]
