"""Rows of shapes that touch: along the normal and, where there is friction, along two tangents of every point; about the normal
and the tangents where they resist spinning and rolling, of the relative angular velocity.

With the point c, the normal n and tangents t, u of `ContactPoint`, and the twists (w, v) of two bodies at poses E = (R, p),

    slip = frame^T (v_a(c) - v_b(c)),    v(c) = R (v + w x r),    r = R^T (c - p),    frame = [n, t, u],
    G    = frame^T [R_a (-[r_a]x, 1),  -R_b (-[r_b]x, 1)],

and the first entry of the slip is the rate of the gap, as the points of two shapes that are nearest to one another move along
both. The bias G_dot v is the rate of the slip along the motion: points and normals are followed, as functions of time.

**Looking ahead.** A fast body may pass beside another, though it would cross the plane that touches that now. So where normals
turn, rows are made where bodies meet: at the part s of a step in which the gap along the free motion becomes zero. As a function
of s it is convex, so that Newton's method, s + gap / (-h rate), comes from below and never passes the first zero; where it finds
the bodies apart and parting, they have missed one another. The gap now is what leads there: gap(s) - s h rate(s).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..geometry.contact_point import ContactPoint
from ..spatial import so3
from ..spatial.dual import Rate, held, split
from ..spatial.scalar import Scalar, Vector, absolute, array, cross, dot, maximum, minimum, stack, where
from ..spatial.se3 import SE3
from .law import RowLaw
from .ports import At, values

FAR = 1e6  # m: the gap of points that are not there
LOOKS = 6  # steps of Newton's method to where bodies meet, at most
LOOKED = 1e-6  # of a step: one that is shorter is the last


def frame_of(normal: Vector) -> tuple[Vector, Vector, Vector]:
    """The normal and two tangents: the axis that leans least on it, made perpendicular, and what completes them."""
    x, y, z = (absolute(e) for e in normal)
    first, second = (x <= y) & (x <= z), y <= z
    axis = stack(where(first, 1.0, 0.0), where(first, 0.0, where(second, 1.0, 0.0)), where(first | second, 0.0, 1.0))
    t = axis - dot(axis, normal) * normal
    t = t * (1.0 / np.sqrt(dot(t, t)))
    return normal, t, cross(normal, t)


def directions(law: RowLaw, touch: ContactPoint) -> Sequence[Vector]:
    """Along which rows act at one point: forces."""
    return frame_of(touch.normal) if law.cones else (touch.normal,)


def axes(law: RowLaw, touch: ContactPoint) -> Sequence[Vector]:
    """About which further rows act: torques of spinning and rolling friction."""
    if not (law.spins or law.rolls):
        return ()
    n, t, u = frame_of(touch.normal)
    return (*((n,) if law.spins else ()), *((t, u) if law.rolls else ()))


def gaps(law: RowLaw, touches: Sequence[ContactPoint]) -> Vector:
    """The residual of every row: gaps of normals, none of tangents."""
    rest = [0.0] * (law.per_point - 1)
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
        if law.spins or law.rolls:
            w = poses[0].rotate(twists[0][:3]) - poses[1].rotate(twists[1][:3])
            found += [dot(axis, w) for axis in axes(law, touch)]
    return stack(*found)


def closing(touches: Sequence[ContactPoint], poses: Sequence[Any], twists: Sequence[Vector]) -> Vector:
    """How fast gaps may close if impacts turn the motion of the bodies, or stop one of them: minus the sum of their speeds.

    A body that turns about one point turns about another when that one is hit: |v(c)| + |w| |r| of each, r from its origin to c.
    It decides what takes part, and has no derivatives.
    """
    found = []
    for touch in touches:
        speed: Scalar = 0.0
        for E, twist in zip(poses, twists, strict=True):
            v, arm, w = (held(x) for x in (velocity_at(E, twist, touch.point), touch.point - E.p, twist[:3]))
            speed = speed + np.sqrt(dot(v, v)) + np.sqrt(dot(w, w) * dot(arm, arm))
        found.append(-speed)
    return stack(*found)


def moved(at: Sequence[At], motion: Sequence[Vector], way: Scalar) -> list[SE3]:
    """Where bodies are after a time `way` of a motion."""
    found = []
    for here, phi in zip(at, motion, strict=True):
        E: Any = here.value
        found.append(SE3(R=E.R @ so3.exp(way * phi[:3]), p=E.p + way * E.rotate(phi[3:])))
    return found


def meeting(law: RowLaw, at: Sequence[At], motion: Sequence[Vector], h: Scalar, s: Scalar) -> tuple[Scalar, Scalar]:
    """A step of Newton's method from a part s of a step on: the part after which bodies may meet, 1 at most; and 1 where they
    part at s and have missed one another, else 0."""
    poses = moved(at, motion, s * h)
    points = law.touch(poses)
    rates = slips(law, points, poses, motion)[:: law.per_point]
    step, closes = 1.0 - s, 0.0
    for point, rate in zip(points, rates, strict=True):
        closing_in = (point.on > 0.5) & (rate < 0.0)
        needed = maximum(point.gap, 0.0) / where(closing_in, -h * rate, 1.0)
        step, closes = where(closing_in, minimum(step, needed), step), where(closing_in, 1.0, closes)
    return where(closes > 0.5, s + step, s), where((s > 0.0) & (closes < 0.5), 1.0, 0.0)


def nearing(law: RowLaw, at: Sequence[At], motion: Sequence[Vector]) -> Scalar:
    """1 where shapes are apart, and a gap closes: bodies that touch, or only part, meet at the part 0 of a step; else 0."""
    poses = values(at)
    points = law.touch(poses)
    rates = slips(law, points, poses, motion)[:: law.per_point]
    closes: Scalar = 0.0
    touches: Scalar = 0.0
    for point, rate in zip(points, rates, strict=True):
        closing_in = (point.on > 0.5) & (rate < 0.0)
        closes = where(closing_in, 1.0, closes)
        touches = where(closing_in & (point.gap <= 0.0), 1.0, touches)
    return closes * (1.0 - touches)


def ahead(law: RowLaw, at: Sequence[At], motion: Sequence[Vector], h: Scalar, s: Scalar) -> tuple[np.ndarray, Vector]:
    """G (rows, 12) and the gaps of rows that are made where bodies meet."""
    there = moved(at, motion, s * h)
    points, poses = law.touch(there), values(at)
    G = carried_rows(law, points, there, poses)
    rates = G @ np.concatenate([np.asarray(phi, dtype=object) for phi in motion])
    return G, gaps(law, points) - s * h * array([r if k % law.per_point == 0 else 0.0 for k, r in enumerate(rates)])


def carried_rows(law: RowLaw, points: Sequence[ContactPoint], there: Sequence[Any], poses: Sequence[Any]) -> np.ndarray:
    """G of the points of bodies that meet there, at the poses that the bodies have now."""
    rows = []
    for touch in points:
        arms = [E.unrotate(touch.point - E.p) for E in there]
        for d in directions(law, touch):
            row: list[Scalar] = []
            for E, arm, sign in zip(poses, arms, (1.0, -1.0), strict=True):
                f = sign * E.unrotate(d)
                row += [*cross(arm, f), *f]
            rows.append(row)
        for axis in axes(law, touch):
            rows.append(
                [x for E, sign in zip(poses, (1.0, -1.0), strict=True) for x in (*(sign * E.unrotate(axis)), 0.0, 0.0, 0.0)]
            )
    return array(rows)


def touching_rows(law: RowLaw, touches: Sequence[ContactPoint], poses: Sequence[Any]) -> np.ndarray:
    """G (rows, 12)."""
    return carried_rows(law, touches, poses, poses)


def touching_bias(law: RowLaw, at: Sequence[At]) -> tuple[Vector, Vector]:
    """The slip of every row and its rate along the motion."""
    flows = [here.flowing() for here in at]
    value, rate = split(slips(law, law.touch(flows), flows, [here.velocity for here in at]), 1, Rate)
    return value, rate[:, 0]
