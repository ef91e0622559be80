"""Helical: a screw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..spatial.scalar import Vector
from ..spatial.se3 import SE3
from .axis import number, unit_axis
from .base import Joint


class Helical(Joint):
    """Q(q) = turn about `axis` by q, shift along it by pitch q; `pitch` is in metres per radian.

    >>> screw = lw.Helical((0, 0, 1), pitch=0.002)
    """

    nq = nv = 1
    is_group = True
    directions = ("axis",)
    parameter_names: ClassVar[tuple[str, ...]] = ("axis", "pitch")

    def __init__(self, axis: Any = (0.0, 0.0, 1.0), pitch: float = 0.0) -> None:
        self.axis = unit_axis(axis, "Helical")
        self.pitch = number(pitch, "Helical", "pitch")

    def transform(self, q: Vector) -> SE3:
        return SE3.rot_axis(self.axis, q[0]) @ SE3(p=self.axis * (self.pitch * q[0]))

    def numbers(self) -> dict[str, Any]:
        return {"axis": self.axis, "pitch": self.pitch}

    def _made_with(self, known: Mapping[str, Any], values: Mapping[str, Any]) -> Joint:
        return Helical(**{**known, **values})
