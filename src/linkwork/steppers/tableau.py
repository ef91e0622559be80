"""Tableaux of explicit Runge-Kutta methods, and what a program needs of them.

For y_dot = F(t, y), stages and result of a step h are

    y_i = y + h sum over j < i of a_ij k_j,     k_i = F(t + c_i h, y_i),     y' = y + h sum of b_i k_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class Tableau:
    """A method by its coefficients.

    rows      a_ij for every stage (one after the other, as many as there are stages before it)
    weights   b_i
    order     of the method, for smooth equations
    """

    rows: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    order: int

    @property
    def stages(self) -> int:
        return len(self.weights)

    @cached_property
    def nodes(self) -> np.ndarray:
        """c_i, the sum of a_ij: when the stages take place, in steps; and 1, when the step ends."""
        return np.array([*(sum(row) for row in self.rows), 1.0])

    @cached_property
    def matrix(self) -> np.ndarray:
        """a_ij, and b_i as a last row: the end of a step is placed like a stage."""
        found = np.zeros((self.stages + 1, self.stages))
        for i, row in enumerate((*self.rows, self.weights)):
            found[i, : len(row)] = row
        return found


KUTTA = Tableau(((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6), 4)
"""The classical method [Hairer, Norsett & Wanner, Solving ODEs I, Table II.1.2]."""
