"""Rows of shapes that touch: along the normal and, where there is friction, along two tangents of every point.

With the point c, the normal n and tangents t, u of `ContactPoint`, and the twists (w, v) of two bodies at poses E = (R, p),

    slip = frame^T (v_a(c) - v_b(c)),    v(c) = R (v + w x r),    r = R^T (c - p),    frame = [n, t, u],
    G    = frame^T [R_a (-[r_a]x, 1),  -R_b (-[r_b]x, 1)],

and the first entry of the slip is the rate of the gap, as the points of two shapes that are nearest to one another move along
both. The bias G_dot v is the rate of the slip along the motion: points and normals are followed, as functions of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..geometry.contact_point import ContactPoint
from ..spatial.dual import split
from ..spatial.scalar import Scalar, Vector, absolute, array, cross, dot, minimum, stack, where
from .law import RowLaw
from .ports import At

FAR = 1e6  # m: the gap of points that are not there


def frame_of(normal: Vector) -> tuple[Vector, Vector, Vector]:
    """The normal and two tangents: the axis that leans least on it, made perpendicular, and what completes them."""
    x, y, z = (absolute(e) for e in normal)
    first, second = (x <= y) & (x <= z), y <= z
    axis = stack(where(first, 1.0, 0.0), where(first, 0.0, where(second, 1.0, 0.0)), where(first | second, 0.0, 1.0))
    t = axis - dot(axis, normal) * normal
    t = t * (1.0 / np.sqrt(dot(t, t)))
    return normal, t, cross(normal, t)


def directions(law: RowLaw, touch: ContactPoint) -> Sequence[Vector]:
    """Along which rows act at one point."""
    return frame_of(touch.normal) if law.cones else (touch.normal,)


def gaps(law: RowLaw, touches: Sequence[ContactPoint]) -> Vector:
    """The residual of every row: gaps of normals, none of tangents."""
    rest = [0.0, 0.0] if law.cones else []
    return stack(*(x for touch in touches for x in (where(touch.on > 0.5, touch.gap, FAR), *rest)))


def velocity_at(E: Any, twist: Vector, point: Vector) -> Vector:
    """The velocity of the point of a body that is at a point of the world."""
    return E.rotate(twist[3:] + cross(twist[:3], E.unrotate(point - E.p)))


def slips(law: RowLaw, touches: Sequence[ContactPoint], poses: Sequence[Any], twists: Sequence[Vector]) -> Vector:
    """What every row sees of a motion."""
    found: list[Scalar] = []
    for touch in touches:
        v = velocity_at(poses[0], twists[0], touch.point) - velocity_at(poses[1], twists[1], touch.point)
        found += [dot(d, v) for d in directions(law, touch)]
    return stack(*found)


def closing(touches: Sequence[ContactPoint], poses: Sequence[Any], twists: Sequence[Vector]) -> Vector:
    """How fast gaps may close at most, each body moving or not: minus the sum of what each does toward the other."""
    found = []
    for touch in touches:
        a, b = (dot(touch.normal, velocity_at(E, twist, touch.point)) for E, twist in zip(poses, twists, strict=True))
        found.append(minimum(a, 0.0) + minimum(-b, 0.0))
    return stack(*found)


def touching_rows(law: RowLaw, touches: Sequence[ContactPoint], poses: Sequence[Any]) -> np.ndarray:
    """G (rows, 12)."""
    rows = []
    for touch in touches:
        arms = [E.unrotate(touch.point - E.p) for E in poses]
        for d in directions(law, touch):
            row: list[Scalar] = []
            for E, arm, sign in zip(poses, arms, (1.0, -1.0), strict=True):
                f = sign * E.unrotate(d)
                row += [*cross(arm, f), *f]
            rows.append(row)
    return array(rows)


def touching_bias(law: RowLaw, at: Sequence[At]) -> tuple[Vector, Vector]:
    """The slip of every row and its rate along the motion."""
    flows = [here.flowing() for here in at]
    value, rate = split(slips(law, law.touch(flows), flows, [here.velocity for here in at]), 1)
    return value, rate[:, 0]
