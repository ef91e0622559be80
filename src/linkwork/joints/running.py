"""Frames that run over a point, a curve or a surface: of the inboard body, or of the body itself.

Only the moving parts of the frames are here; the constant ones stand between the joints (`higher_pair.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..geometry.charts import Chart
from ..spatial.scalar import Vector
from ..spatial.se3 import SE3
from .base import Joint

NEAR_POLE = 0.05  # of an interval: random positions stay away from both of its ends by this much


class Running(Joint):
    """Q(q) = F(q), the moving frame of a chart of the inboard body: it runs over a curve (one coordinate) or a surface (two)."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.nq = self.nv = chart.size

    @property
    def parameter_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.chart.values)

    @property
    def signature(self) -> tuple[Any, ...]:
        return (type(self).__name__, self.chart.kind)

    def parameters(self) -> dict[str, np.ndarray]:
        return {name: np.asarray(x, float) for name, x in self.chart.values.items()}

    def bound(self, values: dict[str, Any]) -> Joint:
        return type(self)(self.chart.bound(values))

    def transform(self, q: Vector) -> SE3:
        return self.chart.moving(q)

    def neutral(self) -> np.ndarray:
        low, high = np.array(self.chart.domain).reshape(-1, 2).T
        return np.clip(np.zeros(self.nq), low, high)

    def random(self, rng: np.random.Generator) -> np.ndarray:
        low, high = np.array(self.chart.domain).reshape(-1, 2).T
        margin = np.where(self.chart.periodic, 0.0, NEAR_POLE * (high - low))
        return rng.uniform(low + margin, high - margin)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.chart.what})"


class Carrying(Running):
    """Q(q) = F(q)^-1: the body carries the curve or the surface, and its frame at q stays where the inboard frame is."""

    def transform(self, q: Vector) -> SE3:
        return self.chart.moving(q).inverse()
