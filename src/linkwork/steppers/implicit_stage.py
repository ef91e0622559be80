"""What bdf1, bdf2 and sdirk2 are made of: the numbers of their stages.

With u the move of the coordinates in a step, a stage has v = s u + v_c and a = s^2 u + a_c. With w the velocity that the stage
before has found, v_b that of the step before, and m the move of that step by h,

    s = 1 / (span h),   v_c = v_w w + v_m m,   a_c = s (a_v v + a_w w + a_m m + a_b v_b),   u = first h v to begin with.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

STAGES = 2  # of a step, at most


@dataclass(frozen=True)
class Stage:
    """The numbers of one stage; see the module's text.

    node, weight   its time in steps, and the part that its forces have in the impulse of the step
    rates          1 where constraints hold as velocities there, 0: as positions
    """

    span: float
    node: float = 1.0
    weight: float = 1.0
    rates: float = 0.0
    first: float = 1.0
    v_w: float = 0.0
    v_m: float = 0.0
    a_v: float = -1.0
    a_w: float = 0.0
    a_m: float = 0.0
    a_b: float = 0.0

    def terms(
        self, h: float, v: np.ndarray, w: np.ndarray, m: np.ndarray, v_b: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """s, v_c and a_c of the module's text, in numbers."""
        s = 1.0 / (self.span * h)
        return s, self.v_w * w + self.v_m * m, s * (self.a_v * v + self.a_w * w + self.a_m * m + self.a_b * v_b)


EULER = (Stage(1.0),)  # v' = u / h, a' = (v' - v) / h
WIDTH = len(astuple(Stage(1.0))) + 1  # of a row of numbers: 1 where there is such a stage, then the stage
SPAN, NODE, WEIGHT, RATES, FIRST, V_W, V_M, A_V, A_W, A_M, A_B = range(1, WIDTH)


def table_of(*steps: tuple[Stage, ...]) -> np.ndarray:
    """The rows of some kinds of steps, each with room for all stages."""
    table = np.zeros((len(steps), STAGES, WIDTH))
    for rows, stages in zip(table, steps, strict=True):
        for row, stage in zip(rows, stages, strict=False):
            row[:] = 1.0, *astuple(stage)
    return table.reshape(-1)
