"""Where two shapes touch, or would."""

from __future__ import annotations

from typing import NamedTuple

from ..spatial.scalar import Scalar, Vector


class ContactPoint(NamedTuple):
    """One slot of a pair of shapes a, b.

    point    (3,), world: midway between the two surfaces; on a plane, if one of them is
    normal   (3,), world: unit, from b to a
    gap      distance of the surfaces along the normal; negative where they overlap
    on       1 where the slot is a candidate for contact, 0 where it says nothing (its other numbers are finite then, no more)
    """

    point: Vector
    normal: Vector
    gap: Scalar
    on: Scalar
