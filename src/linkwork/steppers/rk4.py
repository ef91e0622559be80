"""The classical Runge-Kutta method of order 4: see `runge_kutta`."""

from __future__ import annotations

from dataclasses import dataclass

from .runge_kutta import RungeKutta
from .tableau import KUTTA


@dataclass(frozen=True)
class RungeKutta4(RungeKutta):
    """Kutta's tableau."""

    name = "rk4"
    order = 4
    tableau = KUTTA
