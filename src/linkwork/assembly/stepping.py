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
from typing import Any

from ..kernel.sweep import SCALAR, Algorithm, Field, each, vector
from ..spatial.scalar import Scalar, Vector, stack, where
from .aim import AIM_SIZE, BELOW, HUGE, TOUCHING
from .auxiliary import watch
from .extent import Extent
from .passes import eliminate_and_remember, fields, state_fields, sweeps
from .views import bound_parts

STAGES, PROJECT, BOUNCE, PASSES = 4, 4, 5, 6
WEIGHTS = (1.0, 2.0, 2.0, 1.0)  # of the stages, in sixths
TIMES = (0.0, 0.5, 0.5, 1.0)  # in steps
MEMORY = ("q_base", "v_base", "q_total", "v_total")  # of the parts, from pass to pass


def tick(n: Any) -> None:
    """The aim of this pass, what becomes of its motion, and which pass is next.

    scheme   whether there are passes 4 and 5, Baumgarte's b and c, restitution
    """
    k, h = n.passing, n.h
    projects, bounces, b, c, restitution = n.scheme
    stage, project, bounce = k < 3.5, (k > 3.5) & (k < 4.5), k > 4.5
    n.t = n.begin + h * (n.steps + _of_stage(k, TIMES, 1.0))  # no sum of steps: it would not be exact
    n.aim = stack(
        where(stage, 1.0, 0.0),
        where(stage, 1.0, 0.0),
        where(stage, 1.0, 0.0),
        where(stage, 2.0 * b, where(bounce, 1.0, 0.0)),
        where(stage, c * c, where(project, 1.0, 0.0)),
        where(stage, c * c, where(project, 1.0, 0.0)),
        where(bounce, restitution, 0.0),
        where(project, BELOW, TOUCHING),
        where(stage, TOUCHING, HUGE),
        where(project, 1.0, 0.0),
    )
    early, last = k < 2.5, (k > 2.5) & stage
    onward = h * where(k < 1.5, 0.5, where(early, 1.0, 0.0))
    n.update = stack(
        where((k < 0.5) | (k > 3.5), 1.0, 0.0),  # the base is here
        _of_stage(k, WEIGHTS, 0.0),
        where(project, 1.0, onward),  # step
        where(stage, 1.0, 0.0),  # cruise
        where(project, 1.0, 0.0),  # drift
        where(bounce, 1.0, onward),  # kick
        where(last, h / 6.0, 0.0),  # share
        where(last | project, 1.0, 0.0),  # coordinates are brought back to what they may be
    )
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
    here, weight, step, cruise, drift, kick, share, back = n.update
    q, v = n.q, n.v
    q_rate, v_rate = part.velocity_map(q) @ (cruise * v + drift * n.z), n.z
    q_base, v_base = _where(here, q, n.q_base), _where(here, v, n.v_base)
    q_total = _where(here, weight * q_rate, n.q_total + weight * q_rate)
    v_total = _where(here, weight * v_rate, n.v_total + weight * v_rate)
    moved = q_base + step * q_rate + share * q_total
    normalised = part.normalised(moved)
    n.q = moved if normalised is moved else _where(back, normalised, moved)
    n.v = v_base + kick * v_rate + share * v_total
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
        "update": Field("work", "global", vector(8)),
    }
    memory = {name: Field("state", name[0], of="part") for name in MEMORY}
    steps = [each(tick, on="clock"), *sweeps(e, eliminate_and_remember, watch), each(advance, on="part")]
    return Algorithm(f"assembly_step_{e}", {**state_fields("state"), **clock, **memory, **fields(e, "state")}, {"run": steps})
