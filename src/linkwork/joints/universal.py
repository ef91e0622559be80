"""Universal: bending about x, then y; no twist."""

from __future__ import annotations

from ..spatial.scalar import Vector
from ..spatial.se3 import SE3
from .base import Joint


class Universal(Joint):
    """Q(q) = turn about x by q1, then about y by q2 [Sueda, 2.4.6].

    >>> lw.Universal().nv
    2
    """

    nq = nv = 2

    def transform(self, q: Vector) -> SE3:
        return SE3.rot_x(q[0]) @ SE3.rot_y(q[1])
