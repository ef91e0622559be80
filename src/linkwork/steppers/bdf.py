"""Backward differentiation formulas: implicit steps of order 1 and 2, solved by Newton's method (see `implicit`).

Their stages have s = 1/h for BDF1 (implicit Euler) and 3/(2h) for BDF2, which starts with a step of "sdirk2".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model import State
from .implicit import ImplicitStepper, Reached, Stage
from .sdirk2 import sdirk_step


@dataclass(frozen=True)
class BDF1(ImplicitStepper):
    """v' = (q' - q) / h, a' = (v' - v) / h."""

    name = "bdf1"
    order = 1

    def taken(self, stage: Stage, state: State, before: State | None, h: float) -> Reached:
        return stage.solved(1.0 / h, np.zeros(stage.model.nv), -state.v / h, h * state.v, state.t + h)


@dataclass(frozen=True)
class BDF2(ImplicitStepper):
    """v' = (3 q' - 4 q + q_before) / 2h, a' likewise; the first step is one of SDIRK."""

    name = "bdf2"
    order = 2

    def taken(self, stage: Stage, state: State, before: State | None, h: float) -> Reached:
        if before is None:
            return sdirk_step(stage, state, h)
        moved = stage.model.difference(before.q, state.q)
        a_c = (-3.0 * moved / h - 8.0 * state.v + 2.0 * before.v) / (4.0 * h)
        return stage.solved(1.5 / h, -moved / (2.0 * h), a_c, h * state.v, state.t + h)
