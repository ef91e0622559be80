"""Helical: a screw."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..spatial.scalar import Vector
from ..spatial.se3 import SE3
from .axis import unit_axis
from .base import Joint


class Helical(Joint):
    """Q(q) = turn about `axis` by q, shift along it by pitch q; `pitch` is in metres per radian."""

    nq = nv = 1
    parameter_names: ClassVar[tuple[str, ...]] = ("axis", "pitch")

    def __init__(self, axis: Any = (0.0, 0.0, 1.0), pitch: float = 0.0) -> None:
        self.axis = unit_axis(axis, "Helical")
        self.pitch = float(pitch)
        if not np.isfinite(self.pitch):
            raise ModelError(f"Helical: the pitch {pitch!r} is not finite")

    def transform(self, q: Vector) -> SE3:
        return SE3.rot_axis(self.axis, q[0]) @ SE3(p=self.axis * (self.pitch * q[0]))
