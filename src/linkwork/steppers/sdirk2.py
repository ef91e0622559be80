"""The singly diagonally implicit Runge-Kutta method of order 2 with two stages, L-stable [Alexander 1977].

For y = (q, v) and y' = F(y), with c = 1 - 1/sqrt(2),

    y1 = y + c h F(y1),     y' = y + h ((1 - c) F(y1) + c F(y')),

two stages of `implicit` with s = 1/(c h). A single step needs no state before it: it starts "bdf2".

Constraints hold as positions at y', but as velocities at y1: as positions there, they would leave errors of order h in the
velocities across them, and of order 1 in their forces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import State
from .implicit import ImplicitStepper, Reached, Stage, velocities

C = 1.0 - np.sqrt(0.5)


@dataclass(frozen=True)
class SDIRK2(ImplicitStepper):
    """See the module's text."""

    name = "sdirk2"
    order = 2

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
