"""Prismatic: one translation along a fixed axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..spatial.scalar import Vector
from ..spatial.se3 import SE3
from .axis import unit_axis
from .base import Joint


class Prismatic(Joint):
    """Q(q) = shift by q along `axis` [Sueda, 2.4.2].

    >>> lift = lw.Prismatic((0, 0, 1))
    """

    nq = nv = 1
    is_group = True
    directions = ("axis",)
    parameter_names: ClassVar[tuple[str, ...]] = ("axis",)

    def __init__(self, axis: Any = (0.0, 0.0, 1.0)) -> None:
        self.axis = unit_axis(axis, "Prismatic")

    def transform(self, q: Vector) -> SE3:
        return SE3(p=self.axis * q[0])

    def numbers(self) -> dict[str, Any]:
        return {"axis": self.axis}

    def _made_with(self, known: Mapping[str, Any], values: Mapping[str, Any]) -> Joint:
        return Prismatic(**{**known, **values})
