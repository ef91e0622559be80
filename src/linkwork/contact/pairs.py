"""Pairs of shapes whose points of contact are known: `(a, E_a, b, E_b) -> touches`, as many for a pair of kinds always."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from ..elements.law import Touch
from ..geometry import Box, Plane, Sphere
from ..spatial.scalar import dot, stack
from ..spatial.se3 import SE3


def sphere_plane(a: Any, E_a: SE3, b: Any, E_b: SE3) -> Sequence[Touch]:
    """The point of the sphere that is deepest."""
    normal, centre = E_b.rotate(b.normal), E_a @ a.center
    gap = dot(normal, centre - E_b @ b.point) - a.radius
    return [Touch(centre - a.radius * normal, normal, gap)]


def box_plane(a: Any, E_a: SE3, b: Any, E_b: SE3) -> Sequence[Touch]:
    """All corners of the box."""
    normal, base, found = E_b.rotate(b.normal), E_b @ b.point, []
    for signs in product((-0.5, 0.5), repeat=3):
        corner = E_a @ (a.p + a.R @ stack(*(s * x for s, x in zip(signs, a.size, strict=True))))
        found.append(Touch(corner, normal, dot(normal, corner - base)))
    return found


Pair = Callable[[Any, SE3, Any, SE3], Sequence[Touch]]
PAIRS: dict[tuple[type, type], tuple[Pair, int]] = {(Sphere, Plane): (sphere_plane, 1), (Box, Plane): (box_plane, 8)}
