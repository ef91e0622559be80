"""Revolute: one angle about a fixed axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..spatial.scalar import Vector
from ..spatial.se3 import SE3
from .axis import unit_axis
from .base import Joint


class Revolute(Joint):
    """Q(q) = turn about `axis` by q [Sueda, 2.4.1].

    >>> hinge = lw.Revolute((0, 1, 0))
    >>> hinge.nq, hinge.nv
    (1, 1)
    """

    nq = nv = 1
    is_group = True
    directions = ("axis",)
    parameter_names: ClassVar[tuple[str, ...]] = ("axis",)

    def __init__(self, axis: Any = (0.0, 0.0, 1.0)) -> None:
        self.axis = unit_axis(axis, "Revolute")

    def transform(self, q: Vector) -> SE3:
        return SE3.rot_axis(self.axis, q[0])

    def numbers(self) -> dict[str, Any]:
        return {"axis": self.axis}

    def _made_with(self, known: Mapping[str, Any], values: Mapping[str, Any]) -> Joint:
        return Revolute(**{**known, **values})
