"""What a law does not say itself: rows of a residual, loads of an energy, slopes of loads. The law is run on numbers that know
how they change.

Along a motion with constant velocities, values x(s) at the time t + s (poses E exp(s phi), coordinates of joints), a residual
g(x, t) has

    G = dg/dxi  (displacements xi),   g_dot = G v + dg/dt,   g_ddot = G v_dot + bias,   bias = G_dot v + (dg/dt)_dot.

Displacements xi and the time are the variables of a gradient whose entries are functions of s: one run yields G, G_dot, g_dot.
Unknowns w(x, t) with c(x, t, w) = 0 are eliminated by Newton's method on the same numbers. From the solution, where the values
stay, the first step makes the first derivatives of w right, the second step the second ones (the implicit function theorem).

Loads of an energy are minus its gradient along displacements; slopes of loads f are df_dx along displacements and df_dv.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..geometry.contact_point import ContactPoint
from ..spatial.dual import Bend, Gradient, Rate, split, variables
from ..spatial.scalar import Scalar, Vector, array, dot, pivoted_inverse, zeros
from .law import ForceLaw, RowLaw
from .ports import At, joined, starts, still, time_at, values, velocities
from .touch import Lever, closing, rows_of, slips, touching_bias, touching_rows


@dataclass(frozen=True, eq=False)
class Derived:
    """Rows at one situation; `given` is what G v must be where the constraint itself moves with time."""

    residual: Vector
    rate: Vector
    bias: Vector
    given: Vector
    G: np.ndarray


# --- forces ----------------------------------------------------------------------------------------------------------------
def displaced(at: Sequence[At]) -> list[Any]:
    """The values of ports as functions of their displacements: what is computed from them carries its gradient."""
    n = starts(at)[-1]
    return [a.displaced(n, first, Gradient) for a, first in zip(at, starts(at), strict=False)]


def gradient_of(x: Scalar, at: Sequence[At]) -> list[Vector]:
    """The gradient of what was computed from `displaced` values, along the displacement of each port."""
    ends = starts(at)
    grad = array(list(x.grad)) if isinstance(x, Gradient) else zeros(ends[-1])
    return [grad[first:last] for first, last in pairwise(ends)]


def conservative(energy: Callable[[Sequence[Any]], Scalar], at: Sequence[At]) -> list[Vector]:
    """Minus the gradient of an energy of the values of ports: the load on each."""
    return [-g for g in gradient_of(energy(displaced(at)), at)]


def load_slopes(law: ForceLaw, at: Sequence[At], t: Scalar, u: Vector) -> tuple[np.ndarray, np.ndarray]:
    """df_dx and df_dv (n, n): how the loads on all ports change with their displacements and with their velocities, as implicit
    steppers should know it."""
    return _slopes_of(law.implicit_loads, at, t, u)


def exact_load_slopes(law: ForceLaw, at: Sequence[At], t: Scalar, u: Vector) -> tuple[np.ndarray, np.ndarray]:
    """The same of the loads as they are."""
    return _slopes_of(law.loads, at, t, u)


def _slopes_of(loads: Callable[..., Any], at: Sequence[At], t: Scalar, u: Vector) -> tuple[np.ndarray, np.ndarray]:
    n, moved = starts(at)[-1], []
    for a, first in zip(at, starts(at), strict=False):
        value, velocity = a.displaced(2 * n, first, Bend), variables(a.velocity, 2 * n, n + first, Bend)
        moved.append(replace(a, value=value, velocity=velocity))
    _, slopes = split(joined(loads(moved, t, u)), 2 * n, Bend)
    return slopes[:, :n], slopes[:, n:]


def power(law: ForceLaw, at: Sequence[At], t: Scalar, u: Vector) -> Scalar:
    """The power of a force, less what it takes from its own energy."""

    def stored(x: Sequence[Any]) -> Scalar:
        return law.stored_energy([replace(a, value=value) for a, value in zip(at, x, strict=True)], t, u)

    rest = joined(law.loads(at, t, u)) - joined(conservative(stored, at))
    return dot(rest, joined(velocities(at)))


# --- constraints -----------------------------------------------------------------------------------------------------------
def derive(law: RowLaw, at: Sequence[At], t: Scalar, unknown: Vector) -> Derived:
    """All rows of a constraint; `unknown` are its unknowns where they solve their conditions."""
    n = starts(at)[-1]
    if law.touches:
        found = _from_touch(law, at, t, unknown)
    else:
        found = _from_gap(law, at, t, unknown, n) if law.holonomic else _from_slip(law, at, t, n)
    return replace(found, **{error: zeros(law.size) for error in law.unseen}) if law.unseen else found


def _from_gap(law: RowLaw, at: Sequence[At], t: Scalar, unknown: Vector, n: int) -> Derived:
    moved, time = [a.moving(n + 1, first) for a, first in zip(at, starts(at), strict=False)], time_at(n, t)
    unknown = followed(law, at, t, unknown, moved, time, 2)
    g_s, slopes_s = split(array(list(law.gap_of(moved, time, unknown))), n + 1, Gradient)
    value, rate = split(g_s, 1, Rate)
    slopes, bends = split(slopes_s, 1, Rate)
    bias = bends[:, :n, 0] @ joined(velocities(at)) + bends[:, n, 0]
    found = Derived(value, rate[:, 0], bias, -slopes[:, n], slopes[:, :n])
    if not law.cones:
        return found
    return _with_friction(law, at, found, slopes_s[0, 3:6], split(law.rub_at(moved, time, unknown), n + 1, Gradient)[0])


def _with_friction(law: RowLaw, at: Sequence[At], found: Derived, slope: Vector, point: Vector) -> Derived:
    """Tangents of a gap: across its slope with the first body, at a point; both are followed along the motion."""
    flows: list[Any] = [a.flowing() for a in at]
    normal = flows[0].rotate(slope)
    normal = normal * (1.0 / np.sqrt(dot(normal, normal)))
    slip, change = split(slips(law, [ContactPoint(point, normal, 0.0, 1.0)], flows, velocities(at)), 1, Rate)
    x, c, n = values(at), split(point, 1, Rate)[0], split(normal, 1, Rate)[0]
    one, other = (E.unrotate(c - E.p) for E in x)
    G = rows_of(law, [Lever((one, other), n, 0.0)], x)
    rate, bias = (array([own[0], *other[1:]]) for own, other in ((found.rate, slip), (found.bias, change[:, 0])))
    return replace(found, rate=rate, bias=bias, G=array([list(found.G[0]), *map(list, G[1:])]))


def _from_slip(law: RowLaw, at: Sequence[At], t: Scalar, n: int) -> Derived:
    flows, firsts = [a.flowing() for a in at], starts(at)
    turning = [variables(a.velocity, n, first, Gradient) for a, first in zip(at, firsts, strict=False)]
    at_rest = array(list(law.slip_of(values(at), still(at), t)))
    r_s, slopes_s = split(array(list(law.slip_of(flows, turning, Rate(t, (1.0,))))), n, Gradient)
    value, rates = split(r_s, 1, Rate)
    return Derived(zeros(len(at_rest)), value, rates[:, 0], -at_rest, split(slopes_s, 1, Rate)[0])


def _from_touch(law: RowLaw, at: Sequence[At], t: Scalar, unknown: Vector) -> Derived:
    x = values(at)
    rate, bias = touching_bias(law, at)
    return Derived(law.gap_of(x, t, unknown), rate, bias, zeros(law.size), touching_rows(law, x))


def equations(law: RowLaw, x: Sequence[Any], t: Scalar, unknown: Vector) -> tuple[Vector, np.ndarray]:
    """The conditions on the unknowns of a constraint, and their Jacobian (unknowns, unknowns)."""
    found: Any = law.conditions_of(x, t, variables(unknown, law.unknowns, 0, Rate))
    return split(array(list(found)), law.unknowns, Rate)


def nearer(law: RowLaw, x: Sequence[Any], t: Scalar, unknown: Vector) -> Vector:
    """The unknowns of a constraint after one step of Newton's method."""
    conditions, jacobian = equations(law, x, t, unknown)
    return unknown - pivoted_inverse(jacobian) @ conditions


def followed(
    law: RowLaw, at: Sequence[At], t: Scalar, unknown: Vector, moved: Sequence[Any], time: Scalar, rounds: int
) -> Vector:
    """The unknowns of a constraint as functions of what moves its ports: each round makes one more of their derivatives right."""
    if not law.unknowns:
        return unknown
    inverse = pivoted_inverse(equations(law, values(at), t, unknown)[1])
    for _ in range(rounds):
        unknown = unknown - inverse @ array(list(law.conditions_of(moved, time, unknown)))
    return unknown


def approach(law: RowLaw, at: Sequence[At], t: Scalar, unknown: Vector, motion: Sequence[Vector]) -> tuple[Vector, Vector]:
    """The residual of every cone or row, and its rate along another motion of the ports: what decides whether it may act."""
    each = law.per_point
    if law.touches:
        x = values(at)
        return law.gap_of(x, t, unknown)[::each], slips(law, law.touch(x), x, motion)[::each]
    flows, time = [a.flowing(v) for a, v in zip(at, motion, strict=True)], Rate(t, (1.0,))
    unknown = followed(law, at, t, unknown, flows, time, 1)
    value, rate = split(array(list(law.gap_of(flows, time, unknown))), 1, Rate)
    return value[::each], rate[::each, 0]


def reach(
    law: RowLaw, at: Sequence[At], t: Scalar, unknown: Vector, motion: Sequence[Vector], h: Scalar
) -> tuple[Vector, Vector]:
    """The residual of every cone or row, and how fast it may close in a time h, if other rows act on its bodies where these are
    shapes. Other gaps bend along the motion, E exp((s + r) phi) by s and r: their mean rate is g_dot + h/2 g_ddot."""
    if not law.touches:
        twice = [a.flowing_twice(v) for a, v in zip(at, motion, strict=True)]
        time = Gradient(Rate(t, (1.0,)), (Rate(1.0, (0.0,)),))
        unknown = followed(law, at, t, unknown, twice, time, 2)
        g_s, slopes = split(array(list(law.gap_of(twice, time, unknown))), 1, Gradient)
        (residual, rate), bend = split(g_s, 1, Rate), split(slopes[:, 0], 1, Rate)[1]
        return residual[:: law.per_point], (rate + 0.5 * h * bend)[:: law.per_point, 0]
    x, points = values(at), law.touch(values(at))
    return law.gap_of(x, t, unknown)[:: law.per_point], closing(points, x, motion)
