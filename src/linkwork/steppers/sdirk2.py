"""The singly diagonally implicit Runge-Kutta method of order 2 with two stages, L-stable [Alexander 1977].

For y = (q, v) and y' = F(y), with c = 1 - 1/sqrt(2),

    y1 = y + c h F(y1),     y' = y + h ((1 - c) F(y1) + c F(y')),

two stages (`implicit_stage`) with s = 1/(c h). A single step needs no state before it: it starts "bdf2".

Constraints hold as positions at y', but as velocities at y1: as positions there, they would leave errors of order h in the
velocities across them, and of order 1 in their forces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .implicit_program import ImplicitStepper
from .implicit_stage import Stage

C = float(1.0 - np.sqrt(0.5))
REST = 1.0 - C
SDIRK = (
    Stage(C, node=C, weight=REST, rates=1.0, first=C),
    Stage(C, weight=C, v_w=-REST / C, a_v=1.0 / C - 2.0, a_w=-2.0 * REST / C),
)


@dataclass(frozen=True)
class SDIRK2(ImplicitStepper):
    """See the module's text."""

    name = "sdirk2"
    order = 2
    first = later = SDIRK
