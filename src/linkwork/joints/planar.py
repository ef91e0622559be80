"""Planar: translation in the x-y plane; Free2D: planar with a turn; Translational: any translation."""

from __future__ import annotations

from ..spatial.scalar import Vector, stack
from ..spatial.se3 import SE3
from .base import Joint


class Planar(Joint):
    """Q(q) = shift by (q1, q2, 0) [Sueda, 2.4.3]. Two degrees of freedom; URDF's "planar" is `Free2D`.

    >>> lw.Planar().nv
    2
    """

    nq = nv = 2
    is_group = True

    def transform(self, q: Vector) -> SE3:
        return SE3(p=stack(q[0], q[1], 0.0))


class Free2D(Joint):
    """Q(q) = shift by (q1, q2, 0), turn about z by q3: completely free in the plane [Sueda, 2.4.10; errata 004-20].

    >>> lw.Free2D().nv
    3
    """

    nq = nv = 3
    is_group = True

    def transform(self, q: Vector) -> SE3:
        return SE3(p=stack(q[0], q[1], 0.0)) @ SE3.rot_z(q[2])


class Translational(Joint):
    """Q(q) = shift by q [Sueda, 2.4.4].

    >>> lw.Translational().nv
    3
    """

    nq = nv = 3
    is_group = True

    def transform(self, q: Vector) -> SE3:
        return SE3(p=q)
