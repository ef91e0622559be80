"""Fixed: no freedom."""

from __future__ import annotations

from ..spatial.scalar import Vector
from ..spatial.se3 import SE3
from .base import Joint


class Fixed(Joint):
    """Q = 1; the body is part of its parent [Sueda, 2.4.1].

    >>> lw.Fixed().nv
    0
    """

    nq = nv = 0
    is_group = True

    def transform(self, q: Vector) -> SE3:
        return SE3()
