"""The singly diagonally implicit Runge-Kutta method of order 2 with two stages, L-stable [Alexander 1977].

For y = (q, v) and y' = F(y), with c = 1 - 1/sqrt(2),

    y1 = y + c h F(y1),     y' = y + h ((1 - c) F(y1) + c F(y')),

two stages of `implicit` with s = 1/(c h). A single step needs no state before it: it starts "bdf2".

Constraints hold as positions at y', but as velocities at y1: as positions there, they would leave errors of order h in the
velocities across them, and of order 1 in their forces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernel.loops import Ints, Lane, loops
from ..model import State
from .implicit import ImplicitStepper, Reached, Stage, velocities
from .implicit_program import Scheme, either

C = float(1.0 - np.sqrt(0.5))
REST = 1.0 - C


@loops
def begin_stage(
    stage: Ints,
    h: Lane,
    t: Lane,
    fresh: Lane,
    s: Lane,
    span: Lane,
    stage_t: Lane,
    on_rates: Lane,
    weight: Lane,
    live: Lane,
    more: Lane,
) -> None:
    """The numbers of the first stage, then of the second."""
    span[0] = C * h[0]
    s[0] = 1.0 / span[0]
    live[0] = 1.0
    if stage[0] == 0:
        stage_t[0] = t[0] + span[0]
        on_rates[0] = 1.0
        weight[0] = REST
        more[0] = 1.0
    else:
        stage_t[0] = t[0] + h[0]
        on_rates[0] = 0.0
        weight[0] = C
        more[0] = 0.0
    stage[0] += 1


def stage_terms(n: Any) -> tuple[Any, Any, Any]:
    """v_c, a_c and the first u of the first stage, or of the second."""
    first, w = n.on_rates, n.v_stage
    v_c = either(first, 0.0 * n.v, -(REST / C) * w)
    a_c = either(first, -n.s * n.v, -(2.0 * REST * w + (2.0 * C - 1.0) * n.v) * (n.h * n.s * n.s))
    return v_c, a_c, either(first, C * n.h * n.v, n.h * n.v)


def prepare(n: Any) -> None:
    """The terms of a stage."""
    n.v_c, n.a_c, n.u_move = stage_terms(n)


SCHEME = Scheme("sdirk2", 2, begin_stage, prepare)


@dataclass(frozen=True)
class SDIRK2(ImplicitStepper):
    """See the module's text."""

    name = "sdirk2"
    order = 2
    scheme = SCHEME

    def taken(self, stage: Stage, state: State, before: State | None, h: float) -> Reached:
        return sdirk_step(stage, state, h)


def sdirk_step(stage: Stage, state: State, h: float) -> Reached:
    """The end of one step."""
    s, nv = 1.0 / (C * h), stage.model.nv
    first = stage.solved(s, np.zeros(nv), -s * state.v, C * h * state.v, state.t + C * h, velocities)
    v = first.state.v
    a_c = -(2.0 * (1.0 - C) * v + (2.0 * C - 1.0) * state.v) * h * s * s
    end = stage.solved(s, -(1.0 - C) / C * v, a_c, h * state.v, state.t + h)
    return Reached(end.state, (1.0 - C) * first.forces + C * end.forces)
