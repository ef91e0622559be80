"""Backward differentiation formulas: implicit steps of order 1 and 2, solved by Newton's method (see `implicit`).

Their stages have s = 1/h for BDF1 (implicit Euler) and 3/(2h) for BDF2, which starts with a step of "sdirk2".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernel.loops import Ints, Lane, loops, where
from ..model import State
from ..model.rules import joint_of
from .implicit import ImplicitStepper, Reached, Stage
from .implicit_program import Scheme, either, in_live, move
from .sdirk2 import REST, C, sdirk_step, stage_terms


@loops
def begin_euler(
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
    """The numbers of the one stage of BDF1."""
    span[0] = h[0]
    s[0] = 1.0 / h[0]
    stage_t[0] = t[0] + h[0]
    on_rates[0] = 0.0
    weight[0] = 1.0
    live[0] = 1.0
    more[0] = 0.0


def prepare_euler(n: Any) -> None:
    """v' = u / h, a' = (v' - v) / h."""
    n.v_c, n.a_c, n.u_move = 0.0 * n.v, -n.s * n.v, n.h * n.v


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
    """The numbers of the one stage of BDF2; in lanes without a state before, of the two stages of SDIRK."""
    new = fresh[0] > 0.0
    span[0] = where(new, C * h[0], h[0] / 1.5)
    s[0] = 1.0 / span[0]
    if stage[0] == 0:
        stage_t[0] = t[0] + where(new, span[0], h[0])
        on_rates[0] = fresh[0]
        weight[0] = where(new, REST, 1.0)
        live[0] = 1.0
        more[0] = fresh[0]
    else:
        stage_t[0] = t[0] + h[0]
        on_rates[0] = 0.0
        weight[0] = C
        live[0] = fresh[0]
        more[0] = 0.0
    stage[0] += 1


def prepare(n: Any) -> None:
    """The terms of a stage."""
    v_c, a_c, first = stage_terms(n)
    moved = joint_of(n).difference(n.q_before, n.q)
    n.v_c = either(n.fresh, v_c, -moved / (2.0 * n.h))
    n.a_c = either(n.fresh, a_c, (-3.0 * moved / n.h - 8.0 * n.v + 2.0 * n.v_before) / (4.0 * n.h))
    n.u_move = in_live(n, either(n.fresh, first, n.h * n.v), n.u_move)


def finish(n: Any) -> None:
    """The state after the step, and the one before it."""
    n.q_before, n.v_before = n.q, n.v
    move(n)


EULER = Scheme("bdf1", 1, begin_euler, prepare_euler)
SCHEME = Scheme("bdf2", 2, begin_stage, prepare, finish, (("q_before", "q"), ("v_before", "v")))


@dataclass(frozen=True)
class BDF1(ImplicitStepper):
    """v' = (q' - q) / h, a' = (v' - v) / h."""

    name = "bdf1"
    order = 1
    scheme = EULER

    def taken(self, stage: Stage, state: State, before: State | None, h: float) -> Reached:
        return stage.solved(1.0 / h, np.zeros(stage.model.nv), -state.v / h, h * state.v, state.t + h)


@dataclass(frozen=True)
class BDF2(ImplicitStepper):
    """v' = (3 q' - 4 q + q_before) / 2h, a' likewise; the first step is one of SDIRK."""

    name = "bdf2"
    order = 2
    scheme = SCHEME

    def taken(self, stage: Stage, state: State, before: State | None, h: float) -> Reached:
        if before is None:
            return sdirk_step(stage, state, h)
        moved = stage.model.difference(before.q, state.q)
        a_c = (-3.0 * moved / h - 8.0 * state.v + 2.0 * before.v) / (4.0 * h)
        return stage.solved(1.5 / h, -moved / (2.0 * h), a_c, h * state.v, state.t + h)
