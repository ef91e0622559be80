"""What a step asks of a row, in one place for every formulation and stepper: when a gap counts, how much of an error is removed,
what a constraint that moves with time wants.

At velocity level, with the residual g(q, t) at the start of a step h and the wanted motion of the constraint itself, so that
g(q', t + h) = (1 - correction) g up to the third order in h,

    equality      G v' = asked - correction g / h - h/2 bias,      asked = -(g(q, t + h) - g(q, t)) / h
    only pushes   G v' >= asked - g / h - h/2 bias                 where the gap is open: it may close, and not cross
                  G v' >= asked - correction g / h - h/2 bias      where it is not; no faster than RECOVERY
    on velocities G v' = asked(t + h) - h bias

At acceleration level G v_dot = -bias, and for rows that only push >= where they touch and do not part.
A row that only pushes takes part if it is closed, or would be after the step at twice its speed: others cannot act.
"""

from __future__ import annotations

from ..spatial.scalar import Scalar, Vector, absolute, array, maximum, minimum, where

CORRECTION = 0.2  # the part of a position error that one step removes
RECOVERY = 1.0  # m/s, rad/s: faster than this a row that only pushes removes no error, so a run may begin beyond a stop
TOUCHING = 1e-9  # m: a gap up to here counts as closed at acceleration level, and a speed up to here as none
AT_BOUND = 1e-9  # of a force: so near to a bound it is at it
REACH = 2.0  # times the speed: gaps that would close take part


def velocity_targets(residual: Vector, asked: Vector, h: Scalar, correction: Scalar, only_pushes: bool) -> Vector:
    """What G v' should be, or not fall below."""
    if not only_pushes:
        return asked - (correction / h) * residual
    rates = [where(g > 0.0, g, correction * g) / h for g in residual]
    return array([a - maximum(rate, -RECOVERY) for rate, a in zip(rates, asked, strict=True)])


def reached(residual: Vector, rate: Vector, h: Scalar) -> Vector:
    """1 where a row that only pushes takes part in a step, else 0; `rate` is that of the motion without it."""
    return array([where(g + REACH * h * minimum(r, 0.0) <= 0.0, 1.0, 0.0) for g, r in zip(residual, rate, strict=True)])


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
