"""Rows of shapes that touch: along the normal and, where there is friction, along two tangents of every point; about the normal
and the tangents where they resist spinning and rolling, of the relative angular velocity.

With the point c, the normal n and tangents t, u of `ContactPoint`, and the twists (w, v) of two bodies at poses E = (R, p),

    slip = frame^T (v_a(c) - v_b(c)),    v(c) = R v + R w x (c - p),    r = R^T (c - p),    frame = [n, t, u],
    G    = frame^T [R_a (-[r_a]x, 1),  -R_b (-[r_b]x, 1)],

and the first entry of the slip is the rate of the gap, as the points of two shapes that are nearest to one another move along
both. The bias G_dot v is the rate of the slip along the motion: points and normals are followed, as functions of time.

**Looking ahead.** A fast body may pass beside another, though it would cross the plane that touches that now. So where normals
turn, rows are made where bodies meet: at the part s of a step in which the gap along the free motion becomes zero. As a function
of s it is convex, so that Newton's method, s + gap / (-h rate), comes from below and never passes the first zero; where it finds
the bodies apart and parting, they have missed one another. The gap now is what leads there: gap(s) - s h rate(s). On the way
velocities of origins and angular velocities stay, and arms turn: rows there belong to bodies in the axes that they have now, and
to arms that have turned. Turned back with the body, the arm of a ball that spins would not go through its centre.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..geometry.contact_point import ContactPoint
from ..spatial import so3
from ..spatial.dual import Rate, held, split
from ..spatial.scalar import Scalar, Vector, absolute, array, cross, dot, maximum, minimum, stack, where
from ..spatial.se3 import SE3
from .law import RowLaw
from .ports import At, values

FAR = 1e6  # m: the gap of points that are not there
LOOKS = 5  # steps of Newton's method to where bodies meet, at most, after the first one
LOOKED = 1e-6  # of a step: one that is shorter is the last
BENT = 0.1  # of the speeds of two bodies at a point: what rows may bend by in a step; beyond, they bend less and less


def frame_of(normal: Vector) -> tuple[Vector, Vector, Vector]:
    """The normal and two tangents: the axis that leans least on it, made perpendicular, and what completes them."""
    x, y, z = (absolute(e) for e in normal)
    first, second = (x <= y) & (x <= z), y <= z
    axis = stack(where(first, 1.0, 0.0), where(first, 0.0, where(second, 1.0, 0.0)), where(first | second, 0.0, 1.0))
    t = axis - dot(axis, normal) * normal
    t = t * (1.0 / np.sqrt(dot(t, t)))
    return normal, t, cross(normal, t)


def directions(law: RowLaw, normal: Vector) -> Sequence[Vector]:
    """Along which rows act at a point with such a normal: forces."""
    return frame_of(normal) if law.cones else (normal,)


def axes(law: RowLaw, normal: Vector) -> Sequence[Vector]:
    """About which further rows act: torques of spinning and rolling friction."""
    if not (law.spins or law.rolls):
        return ()
    n, t, u = frame_of(normal)
    return (*((n,) if law.spins else ()), *((t, u) if law.rolls else ()))


def gaps(law: RowLaw, touches: Sequence[ContactPoint]) -> Vector:
    """The residual of every row: gaps of normals, none of tangents."""
    rest = [0.0] * (law.per_point - 1)
    return stack(*(x for touch in touches for x in (where(touch.on > 0.5, touch.gap, FAR), *rest)))


def velocity_at(E: Any, twist: Vector, point: Vector) -> Vector:
    """The velocity of the point of a body that is at a point of the world; R v and R w serve all points of the body."""
    return E.rotate(twist[3:]) + cross(E.rotate(twist[:3]), point - E.p)


def turned_back(ahead: Sequence[Any], now: Sequence[Any]) -> list[SE3]:
    """Bodies where they will be, in the axes that they have now."""
    return [SE3(R=here.R, p=there.p) for here, there in zip(now, ahead, strict=True)]


def slips(law: RowLaw, touches: Sequence[ContactPoint], poses: Sequence[Any], twists: Sequence[Vector]) -> Vector:
    """What every row sees of a motion."""
    found: list[Scalar] = []
    for touch in touches:
        v = velocity_at(poses[0], twists[0], touch.point) - velocity_at(poses[1], twists[1], touch.point)
        found += [dot(d, v) for d in directions(law, touch.normal)]
        if law.spins or law.rolls:
            w = poses[0].rotate(twists[0][:3]) - poses[1].rotate(twists[1][:3])
            found += [dot(axis, w) for axis in axes(law, touch.normal)]
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
    rates = slips(law, points, turned_back(poses, values(at)), motion)[:: law.per_point]
    step, closes, _ = _way_to_meet(points, rates, h, 1.0 - s)
    return where(closes > 0.5, s + step, s), where((s > 0.0) & (closes < 0.5), 1.0, 0.0)


def nearing(law: RowLaw, at: Sequence[At], motion: Sequence[Vector], h: Scalar) -> tuple[Scalar, Scalar]:
    """1 where shapes are apart, and a gap closes: bodies that touch, or only part, meet at the part 0 of a step; else 0. And the
    first step of `meeting`, from 0 on."""
    poses = values(at)
    points = law.touch(poses)
    rates = slips(law, points, poses, motion)[:: law.per_point]
    step, closes, touches = _way_to_meet(points, rates, h, 1.0)
    return closes * (1.0 - touches), step


def _way_to_meet(points: Sequence[ContactPoint], rates: Vector, h: Scalar, most: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """The part of a step after which the first gap is closed at its rate, and at most so much; 1 where some gap closes, and where
    it is closed already, else 0."""
    step: Scalar = most
    closes: Scalar = 0.0
    touches: Scalar = 0.0
    for point, rate in zip(points, rates, strict=True):
        closing_in = (point.on > 0.5) & (rate < 0.0)
        needed = maximum(point.gap, 0.0) / where(closing_in, -h * rate, 1.0)
        step, closes = where(closing_in, minimum(step, needed), step), where(closing_in, 1.0, closes)
        touches = where(closing_in & (point.gap <= 0.0), 1.0, touches)
    return step, closes, touches


class Lever(NamedTuple):
    """What the rows of a point need: the arms (3,) to it in the axes of both bodies, the normal in the world, and the gap."""

    arms: tuple[Vector, Vector]
    normal: Vector
    gap: Scalar


LEVER = 10  # numbers of one


def lever_numbers(law: RowLaw) -> int:
    """How many numbers the points have at which bodies meet ahead; none where normals do not turn."""
    return LEVER * (law.size // law.per_point) if law.curved else 0


def levers(law: RowLaw, poses: Sequence[Any], now: Sequence[Any]) -> list[Lever]:
    """Those of all points of bodies at some poses, in the axes that they have now."""
    found = []
    for touch in law.touch(poses):
        one, other = (E.unrotate(touch.point - E.p) for E in turned_back(poses, now))
        found.append(Lever((one, other), touch.normal, where(touch.on > 0.5, touch.gap, FAR)))
    return found


def levers_ahead(law: RowLaw, at: Sequence[At], motion: Sequence[Vector], h: Scalar, s: Scalar) -> Vector:
    """The numbers of those where bodies meet, one after the other."""
    there = levers(law, moved(at, motion, s * h), values(at))
    return stack(*(x for lever in there for x in (*lever.arms[0], *lever.arms[1], *lever.normal, lever.gap)))


def are_there(numbers: Vector) -> Vector:
    """1 for points that shapes have where they meet, else 0; of the numbers of `levers_ahead`."""
    return array([where(gap < 0.5 * FAR, 1.0, 0.0) for gap in numbers[LEVER - 1 :: LEVER]])


def ahead_or_now(law: RowLaw, at: Sequence[At], numbers: Vector, is_ahead: Any) -> list[Lever]:
    """Levers from their numbers where bodies meet ahead, else those of now."""
    found = []
    for k, (arms, normal, gap) in enumerate(levers(law, values(at), values(at))):
        pairs = zip(numbers[LEVER * k : LEVER * (k + 1)], (*arms[0], *arms[1], *normal, gap), strict=True)
        x = [where(is_ahead, there, now) for there, now in pairs]
        found.append(Lever((stack(*x[:3]), stack(*x[3:6])), stack(*x[6:9]), x[9]))
    return found


def rows_of(law: RowLaw, levers: Sequence[Lever], poses: Sequence[Any]) -> np.ndarray:
    """G (rows, 12) at the poses that the bodies have."""
    rows = []
    for arms, normal, _ in levers:
        for d in directions(law, normal):
            row: list[Scalar] = []
            for E, arm, sign in zip(poses, arms, (1.0, -1.0), strict=True):
                f = sign * E.unrotate(d)
                row += [*cross(arm, f), *f]
            rows.append(row)
        for axis in axes(law, normal):
            rows.append(
                [x for E, sign in zip(poses, (1.0, -1.0), strict=True) for x in (*(sign * E.unrotate(axis)), 0.0, 0.0, 0.0)]
            )
    return array(rows)


def gaps_before(law: RowLaw, levers: Sequence[Lever], way: Scalar, rates: Vector) -> Vector:
    """The residual of every row that is made a way ahead, as it is now: less what it changes by until then."""
    each = law.per_point
    return stack(*(levers[k // each].gap - way * r if k % each == 0 else 0.0 for k, r in enumerate(rates)))


def touching_rows(law: RowLaw, poses: Sequence[Any]) -> np.ndarray:
    """G (rows, 12)."""
    return rows_of(law, levers(law, poses, poses), poses)


def touching_bias(law: RowLaw, at: Sequence[At]) -> tuple[Vector, Vector]:
    """The slip of every row and its rate along the motion, on which points and normals are followed.

    A point c that moves among those of a body sees R v + R w x (c - p), whose rate is R w x c_dot: twists are constant.
    """
    poses, (one, other) = values(at), (here.velocity for here in at)
    turn = poses[0].rotate(one[:3]) - poses[1].rotate(other[:3])
    slip: list[Scalar] = []
    rate: list[Scalar] = []
    for touch in law.touch([here.flowing() for here in at]):
        c, c_dot = _followed(touch.point)
        v, a = velocity_at(poses[0], one, c) - velocity_at(poses[1], other, c), cross(turn, c_dot)
        for d, d_dot in map(_followed, directions(law, touch.normal)):
            slip.append(dot(d, v))
            rate.append(dot(d_dot, v) + dot(d, a))
        for d, d_dot in map(_followed, axes(law, touch.normal)):
            slip.append(dot(d, turn))
            rate.append(dot(d_dot, turn))
    return stack(*slip), stack(*rate)


def carried(law: RowLaw, levers: Sequence[Lever], at: Sequence[At]) -> Vector:
    """The part of a bias that bodies have by themselves, as their axes turn: what rows see of w x v of those of their points that
    touch. The rest is what points and normals do to one another."""
    found: list[Scalar] = []
    poses, twists = values(at), [here.velocity for here in at]
    for arms, normal, _ in levers:
        parts = zip(poses, twists, arms, strict=True)
        one, other = (E.rotate(cross(phi[:3], phi[3:] + cross(phi[:3], arm))) for E, phi, arm in parts)
        found += [dot(d, one - other) for d in directions(law, normal)] + [0.0] * len(axes(law, normal))
    return stack(*found)


def bent(law: RowLaw, at: Sequence[At], bend: Vector) -> Vector:
    """What points and normals bend rows by in a step, as far as that can be: BENT of what bodies do to one another at a point.

    Where two edges cross at next to no angle, or capsules lie along one another or over the edge of a face, a point runs away,
    or its normal turns over: followed along the motion, they say nothing of the step any more. Nor does the lowest point of a rim
    that lies flat on a plane; but unless that tilts, its normal stays, and sliding and spinning bend no gap there.
    """
    poses, twists, found = values(at), [here.velocity for here in at], []
    turns = [E.rotate(twist[:3]) for E, twist in zip(poses, twists, strict=True)]
    tilts = where(dot(turns[1], turns[1]) > 0.0, 1.0, 0.0)
    for k, touch in enumerate(law.touch(poses)):
        slip = velocity_at(poses[0], twists[0], touch.point) - velocity_at(poses[1], twists[1], touch.point)
        mosts = [dot(slip, slip) + _turning(law, turns)] * len(directions(law, touch.normal))
        mosts += [dot(turns[0], turns[0]) + dot(turns[1], turns[1])] * len(axes(law, touch.normal))
        if law.on_plane:
            mosts[0] = tilts * dot(slip, slip) + _turning(law, [cross(touch.normal, w) for w in turns])
        for x, most in zip(bend[law.per_point * k : law.per_point * (k + 1)], mosts, strict=True):
            found.append(_fading(x, BENT * BENT * most))
    return stack(*found)


def _turning(law: RowLaw, turns: Sequence[Vector]) -> Scalar:
    """The sum of the squares of speeds at which shapes turn."""
    return sum((dot(w, w) * radius * radius for w, radius in zip(turns, law.radii(), strict=True)), start=0.0)


def _fading(x: Scalar, most: Scalar) -> Scalar:
    """x where its square is at most `most`; beyond, the less the larger it is: most / x."""
    beyond = x * x > most
    return where(beyond, most / where(beyond, x, 1.0), x)


def _followed(x: Vector) -> tuple[Vector, Vector]:
    """A vector and its rate along the motion."""
    value, rate = split(x, 1, Rate)
    return value, rate[:, 0]
