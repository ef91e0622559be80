"""What a step asks of a row, in one place for every formulation and stepper: when a gap counts, how much of an error is removed,
what a constraint that moves with time wants, how fast shapes part that have met.

At velocity level, with the residual g(q, t) at the start of a step h and the wanted motion of the constraint itself, so that
g(q', t + h) = (1 - correction) g up to the third order in h,

    equality      G v' = asked - correction g / h - h/2 bias,      asked = -(g(q, t + h) - g(q, t)) / h
    only pushes   G v' >= asked - g / h - h/2 bias                 where the gap is open: it may close, and not cross
                  G v' >= asked - h/2 bias                         where it is not: it does not go on closing
                  G v' >= asked + rebound - h/2 bias               where shapes meet in this step, and have restitution
    on velocities G v' = asked(t + h) - h bias

A gap up to TOUCHING is none. Asked to close what rounding leaves of them, rows that hold a body more than once would contradict
one another by as much over h, and friction would have to slide by it.

Velocities are never asked to separate because a gap is negative: opposite contacts would contradict one another. What has gone
too deep is pushed out by a displacement of its own, which no velocity knows (`rows.push_out`).

At acceleration level G v_dot = -bias, and for rows that only push >= where they touch and do not part.
A row that only pushes takes part if it is closed, or would be after the step at twice its speed: others cannot act.
"""

from __future__ import annotations

import numpy as np

from ..spatial.scalar import Scalar, Vector, absolute, array, is_zero, maximum, minimum, where

CORRECTION = 0.2  # the part of a position error that one step removes
RECOVERY = 1.0  # m/s, rad/s: nothing is pushed out faster than this, so a run may begin beyond a stop
TOUCHING = 1e-9  # m: a gap up to here counts as closed, and a speed up to here as none at acceleration level
AT_BOUND = 1e-9  # of a force: so near to a bound it is at it
REACH = 2.0  # times the speed: gaps that would close take part


def velocity_targets(residual: Vector, asked: Vector, h: Scalar, correction: Scalar) -> Vector:
    """What G v' of equalities should be."""
    return asked - (correction / h) * residual


def room(gap: Scalar) -> Scalar:
    """The way that a gap leaves to a step: none where it is closed."""
    return where(gap > TOUCHING, gap, 0.0)


def push_targets(residual: Vector, asked: Vector, h: Scalar) -> Vector:
    """What G v' of rows that only push should not fall below."""
    return array([a - room(g) / h for g, a in zip(residual, asked, strict=True)])


def recovering_targets(residual: Vector, asked: Vector, h: Scalar) -> Vector:
    """The same in steps that push nothing out: velocities must do it."""
    rates = [where(g > 0.0, g, CORRECTION * g) / h for g in residual]
    return array([a - maximum(rate, -RECOVERY) for rate, a in zip(rates, asked, strict=True)])


def rebound(gap: Scalar, before: Scalar, free: Scalar, restitution: Scalar, h: Scalar) -> Scalar:
    """How fast two shapes part in the step in which they meet; 0 where they do not.

    before, free   the rate of the gap in the last step, and in this one without the contact: -s, and -s - h a

    Newton's law v' = e s would be in error by the way that is left, and by what a step adds, of the order h a / s. Steps
    v' = v - h a, g' = g + h v' keep v^2/2 + a g - h a v/2; the contact takes it to e^2 of what it was, as the height of a flight:

        v'^2 + h a v' = e^2 (s^2 + h a s) - 2 (1 - e^2) a g.

    Where the way that is left is higher than the flight will be, Newton's law it is. Slower than h a nothing bounces.
    """
    speed, fall = -before, maximum(before - free, 0.0)
    open_gap, e2 = maximum(gap, 0.0), restitution * restitution
    squared = e2 * speed * (speed + fall) - 2.0 * (1.0 - e2) * (fall / h) * open_gap
    high = squared > 0.0
    root = np.sqrt(0.25 * fall * fall + where(high, squared, 0.0))
    meets = (open_gap + h * free < 0.0) & (speed > fall)
    return where(meets, where(high, root - 0.5 * fall, restitution * speed), 0.0)


def late_rebound(gap: Scalar, before: Scalar, now: Scalar, force: Scalar, restitution: Scalar, h: Scalar) -> Scalar:
    """How fast two shapes part that meet in the step after this one, or have met in it; 0 where they do neither.

    before, now   the rate of the gap where the step begins and where it ends: -s - h a, with a what it falls with
    force         of the row in this step: where it has pushed, `now` is what that has left, and the speed is that before it

    For steps that keep v^2/2 + a g while nothing touches: s^2 + 2 a g at the surface, e^2 of that after it, and back at the gap

        v'^2 = e^2 s^2 - 2 (1 - e^2) a g.

    Where the way that is left is higher than the flight will be, v' = e s. Slower than h a nothing bounces, and nothing takes a
    flight that would end in the next step, v' < h a / 2.
    """
    speed, fall = where(force > 0.0, maximum(-before, -now), -now), maximum(before - now, 0.0)
    e2 = restitution * restitution
    squared = e2 * speed * speed - 2.0 * (1.0 - e2) * (fall / h) * gap
    high = squared > 0.0
    meets = (gap < h * (speed + 0.5 * fall)) & (speed > fall + TOUCHING)
    parting = where(high, np.sqrt(where(high, squared, 1.0)), restitution * speed)
    return where(meets & (parting > 0.5 * fall), parting, 0.0)


def strikes(before: Vector, free: Vector) -> Vector:
    """1 where a row that only pushes was closing faster in the last step than one step makes it: an impact; else 0."""
    pairs = zip(before, free, strict=True)
    return array([where(r < -maximum(r - f, f - r), 1.0, 0.0) for r, f in pairs])


def contact_targets(residual: Vector, before: Vector, free: Vector, h: Scalar, restitution: Scalar) -> Vector:
    """What G v' of normals should not fall below, with restitution."""
    rows = zip(residual, before, free, strict=True)
    bounce = [(g, rebound(g, r, f, restitution, h)) for g, r, f in rows]
    return array([where(v > 0.0, v, -room(g) / h) for g, v in bounce])


def inelastic_targets(residual: Vector, before: Vector, free: Vector, h: Scalar, restitution: Scalar) -> Vector:
    """The same without restitution: a gap may close, and not cross."""
    return array([-room(g) / h for g in residual])


def hit_of(gap: Scalar, before: Scalar, free: Scalar, restitution: Scalar, h: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Of a normal row, by Poisson's law: whether shapes meet and bounce (1, else 0), which part of the impulse of compression is
    given back, and the rate at which the compression begins.

    By itself a row that bounces parts as fast as by Newton's law (`rebound`), at which s of compression, and what the step adds,
    v' = -s - h a + s + part s: the part is (v' + h a) / s, which is e in the limit. What does not meet is open by its way.
    """
    parting = rebound(gap, before, free, restitution, h)
    fall = maximum(before - free, 0.0)
    bounces = parting > 0.0
    meets = (maximum(gap, 0.0) + h * free < 0.0) & (-before > fall)
    speed = where(bounces, -before, 1.0)
    part = where(bounces, (parting + fall) / speed, restitution)
    return where(bounces, 1.0, 0.0), part, where(meets, before, maximum(before, 0.0) + room(gap) / h)


def reached(residual: Vector, rate: Vector, h: Scalar, late: Scalar = 0.0) -> Vector:
    """1 where a row that only pushes takes part in a step, else 0; `rate` is that of the motion without it. Where `late` is not
    zero, so do gaps that a displacement may leave or close, whatever their rate."""
    found = [where(g + REACH * h * minimum(r, 0.0) <= 0.0, 1.0, 0.0) for g, r in zip(residual, rate, strict=True)]
    if is_zero(late):
        return array(found)
    return array([where((g <= RECOVERY * h) & (late > 0.0), 1.0, x) for g, x in zip(residual, found, strict=True)])


def touching(residual: Vector, rate: Vector) -> Vector:
    """1 where a row that only pushes may act on accelerations, else 0."""
    pairs = zip(residual, rate, strict=True)
    return array([where((g <= TOUCHING) & (r <= TOUCHING), 1.0, 0.0) for g, r in pairs])


def closed(residual: Vector) -> Vector:
    """1 where the gap of a row that only pushes is none, else 0."""
    return array([where(g <= TOUCHING, 1.0, 0.0) for g in residual])


def slipping(lower: Vector, upper: Vector, rate: Vector) -> tuple[Vector, Vector]:
    """Bounds of forces at acceleration level: what slips has the whole force against its motion, what sticks any within."""
    rows = list(zip(lower, upper, rate, strict=True))
    least = array([where(r < -TOUCHING, u, l) for l, u, r in rows])
    return least, array([where(r > TOUCHING, l, u) for l, u, r in rows])


def resisting(x: Vector, missing: Vector, lower: Vector, upper: Vector) -> Vector:
    """Forces of rows with bounds where accelerations are given, which miss G a + bias = 0 by `missing`: what begins to slip has
    the whole force against it, what does not any within its bounds, x if that is one."""
    rows = zip(x, missing, lower, upper, strict=True)
    return array([where(w > TOUCHING, l, where(w < -TOUCHING, u, minimum(maximum(f, l), u))) for f, w, l, u in rows])


def holding(x: Vector, lower: Vector, upper: Vector) -> Vector:
    """1 where a force is within its bounds, so that its row holds what it asks for, else 0."""
    rows = [(minimum(f - l, u - f), AT_BOUND * absolute(f)) for f, l, u in zip(x, lower, upper, strict=True)]
    return array([where(room > small, 1.0, 0.0) for room, small in rows])


def any_of(flags: Vector) -> Scalar:
    """The largest of some flags."""
    found = flags[0]
    for flag in flags[1:]:
        found = maximum(found, flag)
    return found
