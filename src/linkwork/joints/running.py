"""Frames that run over a curve or a surface: of the inboard body, or of the body itself.

Only the moving parts of the frames are here; the constant ones stand between the joints (`higher_pair.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..geometry.charts import Chart
from ..spatial.scalar import Vector
from ..spatial.se3 import SE3
from .base import Joint
from .formula import FormulaJoint

NEAR_POLE = 0.05  # of an interval: random positions stay away from both of its ends by this much


class Running(FormulaJoint):
    """Q(q) = F(q), the moving frame of a chart of the inboard body: it runs over a curve (one coordinate) or a surface (two)."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.nq = self.nv = chart.size
        domain = [(c.low, c.high) if c.ends else None for c in chart.coordinates]
        self._take_region(chart.what, domain, [c.high - c.low if c.around else None for c in chart.coordinates])

    @property
    def parameter_names(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self.parameters())

    @property
    def signature(self) -> tuple[Any, ...]:
        return (type(self).__name__, self.chart.kind, self.cyclic)

    def parameters(self) -> dict[str, Any]:
        return {name: np.asarray(x, float) for name, x in self.chart.values.items()} | self._period()

    def bound(self, values: dict[str, Any]) -> Joint:
        chart = self.chart.bound({name: x for name, x in values.items() if name != "period"})
        return self.with_parts(chart=chart, period=values.get("period", self.period))

    def transform(self, q: Vector) -> SE3:
        return self.chart.moving(q)

    def one_chart(self) -> Joint:
        return self if self.chart.single is None else self.with_parts(chart=self.chart.single.bound(self.chart.values))

    def random(self, rng: np.random.Generator) -> np.ndarray:
        margins = [(0.0 if c.around else NEAR_POLE) * (c.high - c.low) for c in self.chart.coordinates]
        return np.array([rng.uniform(c.low + m, c.high - m) for c, m in zip(self.chart.coordinates, margins, strict=True)])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.chart.what})"


class Carrying(Running):
    """Q(q) = F(q)^-1: the body carries the curve or the surface, and its frame at q stays where the inboard frame is."""

    def transform(self, q: Vector) -> SE3:
        return self.chart.moving(q).inverse()
