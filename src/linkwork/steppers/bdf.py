"""Backward differentiation formulas: implicit steps of order 1 and 2, solved by Newton's method (see `implicit_program`).

Their stages have s = 1/h for BDF1 (implicit Euler) and 3/(2h) for BDF2, which starts with a step of "sdirk2".
"""

from __future__ import annotations

from dataclasses import dataclass

from .implicit_program import ImplicitStepper
from .implicit_stage import EULER, Stage
from .sdirk2 import SDIRK

TWO_STEPS = (Stage(2.0 / 3.0, v_m=-0.5, a_v=-4.0 / 3.0, a_m=-0.5, a_b=1.0 / 3.0),)


@dataclass(frozen=True)
class BDF1(ImplicitStepper):
    """v' = (q' - q) / h, a' = (v' - v) / h."""

    name = "bdf1"
    order = 1
    first = later = EULER


@dataclass(frozen=True)
class BDF2(ImplicitStepper):
    """v' = (3 q' - 4 q + q_before) / 2h, a' likewise; the first step is one of SDIRK."""

    name = "bdf2"
    order = 2
    first, later = SDIRK, TWO_STEPS
