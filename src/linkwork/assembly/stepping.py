"""Assemblies in time, as a program: each step is four passes for Runge and Kutta's accelerations, then back to the conditions.

    0 ... 3   accelerations at the stages, f = m a
    4         positions move to where the residuals vanish, by the shortest way in the metric of the mass
    5         impulses take from the velocities what leaves the conditions, and let what has met bounce

so that conditions are kept without changing the order. Each is one pass (`passes`) with an aim of its own; a clock says which is
next, and what the parts do with the motion z that it finds:

    q <- base + step N(q) (cruise v + drift z) + share total,        v <- base + kick z + share total

The base is where the step began (or, outside of the stages, where the parts are), the total is the weighted sum of the rates.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from ..kernel.sweep import SCALAR, Algorithm, Field, each, vector
from ..spatial.scalar import Scalar, Vector, stack, where
from .aim import AIM_SIZE, BELOW, HUGE, TOUCHING, Aim
from .auxiliary import watch
from .extent import Extent
from .passes import eliminate_and_remember, fields, state_fields, sweeps
from .views import bound_parts

STAGES, PASSES = 4, 6
WEIGHTS = (1.0, 2.0, 2.0, 1.0)  # of the stages, in sixths
TIMES = (0.0, 0.5, 0.5, 1.0)  # in steps
MEMORY = ("q_base", "v_base", "q_total", "v_total")  # of the parts, from pass to pass


class Update(NamedTuple):
    """What parts do with the motion of a pass; see the module's text.

    here     1: the base is where the parts are, 0: where the step began
    weight   of the rates in the total
    tidy     1: coordinates are brought back to what they may be
    """

    here: Scalar
    weight: Scalar
    step: Scalar
    cruise: Scalar
    drift: Scalar
    kick: Scalar
    share: Scalar
    tidy: Scalar


def tick(n: Any) -> None:
    """The aim of this pass, what becomes of its motion, and which pass is next.

    scheme   whether there are passes 4 and 5, Baumgarte's b and c, restitution
    """
    k, h = n.passing, n.h
    projects, bounces, b, c, restitution = n.scheme
    stage, project, bounce = k < 3.5, (k > 3.5) & (k < 4.5), k > 4.5
    n.t = n.begin + h * (n.steps + _of_stage(k, TIMES, 1.0))  # no sum of steps: it would not be exact
    aim = Aim(
        applied=where(stage, 1.0, 0.0),
        natural=where(stage, 1.0, 0.0),
        bias=where(stage, 1.0, 0.0),
        rate=where(stage, 2.0 * b, where(bounce, 1.0, 0.0)),
        residual=where(stage, c * c, where(project, 1.0, 0.0)),
        one_sided=where(stage, c * c, where(project, 1.0, 0.0)),
        bounce=where(bounce, restitution, 0.0),
        near=where(project, BELOW, TOUCHING),
        slow=where(stage, TOUCHING, HUGE),
        straight=where(project, 1.0, 0.0),
    )
    last, onward = (k > 2.5) & stage, h * where(k < 1.5, 0.5, where(k < 2.5, 1.0, 0.0))
    update = Update(
        here=where((k < 0.5) | (k > 3.5), 1.0, 0.0),
        weight=_of_stage(k, WEIGHTS, 0.0),
        step=where(project, 1.0, onward),
        cruise=where(stage, 1.0, 0.0),
        drift=where(project, 1.0, 0.0),
        kick=where(bounce, 1.0, onward),
        share=where(last, h / 6.0, 0.0),
        tidy=where(last | project, 1.0, 0.0),
    )
    n.aim, n.update = stack(*aim), stack(*update)
    after = k + 1.0
    after = where((after > 3.5) & (after < 4.5) & (projects <= 0.0), 5.0, after)
    after = where((after > 4.5) & (after < 5.5) & (bounces <= 0.0), 6.0, after)
    n.passing = where(after > 5.5, 0.0, after)
    n.steps = where(after > 5.5, n.steps + 1.0, n.steps)


def _of_stage(k: Scalar, values: tuple[float, ...], rest: Scalar) -> Scalar:
    """The value of a stage, or the rest in other passes."""
    for stage in reversed(range(STAGES)):
        rest = where(k < stage + 0.5, values[stage], rest)
    return rest


def advance(n: Any) -> None:
    """A part takes its motion."""
    (part,) = bound_parts(n)
    u, q, v = Update(*n.update), n.q, n.v
    q_rate, v_rate = part.velocity_map(q) @ (u.cruise * v + u.drift * n.z), n.z
    q_base, v_base = _where(u.here, q, n.q_base), _where(u.here, v, n.v_base)
    q_total = _where(u.here, u.weight * q_rate, n.q_total + u.weight * q_rate)
    v_total = _where(u.here, u.weight * v_rate, n.v_total + u.weight * v_rate)
    moved = q_base + u.step * q_rate + u.share * q_total
    tidied = part.normalised(moved)
    n.q = moved if tidied is moved else _where(u.tidy, tidied, moved)
    n.v = v_base + u.kick * v_rate + u.share * v_total
    n.q_base, n.v_base, n.q_total, n.v_total = q_base, v_base, q_total, v_total


def _where(flag: Scalar, a: Vector, b: Vector) -> Vector:
    return stack(*(where(flag > 0.0, x, y) for x, y in zip(a, b, strict=True)))


@functools.cache
def step_algorithm(e: Extent) -> Algorithm:
    """One pass of a step, and what follows from it."""
    clock = {
        "h": Field("input", "global", SCALAR),
        "scheme": Field("input", "global", vector(5)),
        "begin": Field("input", "global", SCALAR),
        "steps": Field("state", "global", SCALAR),
        "passing": Field("state", "global", SCALAR),
        "t": Field("work", "global", SCALAR),
        "aim": Field("work", "global", vector(AIM_SIZE)),
        "update": Field("work", "global", vector(len(Update._fields))),
    }
    memory = {name: Field("state", name[0], of="part") for name in MEMORY}
    steps = [each(tick, on="clock"), *sweeps(e, eliminate_and_remember, watch), each(advance, on="part")]
    return Algorithm(f"assembly_step_{e}", {**state_fields("state"), **clock, **memory, **fields(e, "state")}, {"run": steps})
