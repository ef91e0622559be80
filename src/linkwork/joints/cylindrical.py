"""Cylindrical: turn about an axis and slide along it, independently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..spatial.scalar import Vector
from ..spatial.se3 import SE3
from .axis import unit_axis
from .base import Joint


class Cylindrical(Joint):
    """Q(q) = turn about `axis` by q1, shift along it by q2.

    >>> lw.Cylindrical((0, 0, 1)).nv
    2
    """

    nq = nv = 2
    is_group = True
    directions = ("axis",)
    parameter_names: ClassVar[tuple[str, ...]] = ("axis",)

    def __init__(self, axis: Any = (0.0, 0.0, 1.0)) -> None:
        self.axis = unit_axis(axis, "Cylindrical")

    def transform(self, q: Vector) -> SE3:
        return SE3.rot_axis(self.axis, q[0]) @ SE3(p=self.axis * q[1])

    def numbers(self) -> dict[str, Any]:
        return {"axis": self.axis}

    def _made_with(self, known: Mapping[str, Any], values: Mapping[str, Any]) -> Joint:
        return Cylindrical(**{**known, **values})
