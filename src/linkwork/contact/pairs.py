"""Which function says where two shapes touch: one table, in either order.

A function takes shape a and the pose of its body, shape b and that of its body, numbers or symbols, and returns a fixed number of
slots (`ContactPoint`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..errors import ModelError
from ..geometry import Convex, Plane, Shape
from ..spatial.scalar import Scalar, where
from ..spatial.se3 import SE3
from .box_box import box_box
from .box_pairs import capsule_box, sphere_box
from .hull_pairs import (
    MOST_CORNERS,
    MOST_DIRECTIONS,
    MOST_FACES,
    MOST_VERTICES,
    convex_plane,
    has_few_corners,
    hull_hull,
    hull_slots,
    is_small,
)
from .plane_pairs import box_plane, capsule_plane, cylinder_plane, ellipsoid_plane, sphere_plane
from .point import ContactPoint
from .round_pairs import capsule_capsule, sphere_capsule, sphere_sphere

PairFunction = Callable[[Any, SE3, Any, SE3], tuple[ContactPoint, ...]]

# kinds of a and b: the function, and its number of slots, or the function of both shapes that says it
PAIRS: dict[tuple[str, str], tuple[PairFunction, int | Callable[[Any, Any], int]]] = {
    ("sphere", "plane"): (sphere_plane, 1),
    ("capsule", "plane"): (capsule_plane, 2),
    ("box", "plane"): (box_plane, 8),
    ("cylinder", "plane"): (cylinder_plane, 14),
    ("ellipsoid", "plane"): (ellipsoid_plane, 1),
    ("sphere", "sphere"): (sphere_sphere, 1),
    ("sphere", "capsule"): (sphere_capsule, 1),
    ("sphere", "box"): (sphere_box, 1),
    ("capsule", "capsule"): (capsule_capsule, 3),
    ("capsule", "box"): (capsule_box, 3),
    ("box", "box"): (box_box, 12),
    ("convex", "plane"): (convex_plane, lambda a, b: len(a.vertices)),
    ("convex", "box"): (hull_hull, hull_slots),
    ("convex", "convex"): (hull_hull, hull_slots),
}
NO_CONTACT = 1e30  # the separation of a pair none of whose slots is on


def is_compiled(a: Shape, b: Shape) -> bool:
    """Whether there is a function of straight-line code for two shapes, in this order or the other."""
    known, flat = (a.kind, b.kind) in PAIRS or (b.kind, a.kind) in PAIRS, any(isinstance(s, Plane) for s in (a, b))
    return known and all(has_few_corners(s) if flat else is_small(s) for s in (a, b) if isinstance(s, Convex))


def pair_function(a: Shape, b: Shape) -> PairFunction:
    """The function of two shapes in this order; its normals point from b to a."""
    if is_compiled(a, b):
        return _function(a.kind, b.kind)
    if (a.kind, b.kind) in PAIRS or (b.kind, a.kind) in PAIRS:
        most = f"{MOST_VERTICES} vertices, {MOST_FACES} faces and {MOST_DIRECTIONS} directions of edges"
        most = f"{MOST_CORNERS} vertices" if any(isinstance(s, Plane) for s in (a, b)) else most
        raise ModelError(f"contact of {a.kind} and {b.kind} is not compiled: hulls have at most {most} there; give fewer points")
    known = ", ".join(f"{x}-{y}" for x, y in PAIRS)
    raise ModelError(
        f"contact of {a.kind} and {b.kind} is not compiled (these are: {known}); as shapes of bodies, without a "
        "Contact of their own, they are found by Coal: see `contact.coal_pairs`"
    )


def slot_count(a: Shape, b: Shape) -> int:
    """How many slots that function returns."""
    pair_function(a, b)
    straight = PAIRS.get((a.kind, b.kind))
    count = (straight or PAIRS[b.kind, a.kind])[1]
    return count if isinstance(count, int) else count(a, b) if straight else count(b, a)


def contact_points(a: Shape, E_a: SE3, b: Shape, E_b: SE3) -> tuple[ContactPoint, ...]:
    """Where two shapes touch, or would; E_a and E_b are the poses of their bodies."""
    return pair_function(a, b)(a, E_a, b, E_b)


def separation(points: Sequence[ContactPoint]) -> Scalar:
    """The least gap of the slots that are on: the distance of shapes that do not touch, `NO_CONTACT` if no slot is on."""
    least: Scalar = NO_CONTACT
    for x in points:
        least = where((x.on > 0.5) & (x.gap < least), x.gap, least)
    return least


@cache
def _function(a: str, b: str) -> PairFunction:
    if (a, b) in PAIRS:
        return PAIRS[a, b][0]
    function = PAIRS[b, a][0]

    def swapped(a: Any, E_a: SE3, b: Any, E_b: SE3) -> tuple[ContactPoint, ...]:
        return tuple(x._replace(normal=-x.normal) for x in function(b, E_b, a, E_a))

    return swapped


# --- the shapes of a law -----------------------------------------------------------------------------------------------------
def shape_parameters(shapes: Sequence[Shape]) -> dict[str, np.ndarray]:
    """The numbers of the two shapes of a law, by names of their own."""
    return {f"{side}_{name}": x for side, shape in zip("ab", shapes, strict=True) for name, x in shape.parameters().items()}


def bound_shapes(shapes: Sequence[Shape], values: Mapping[str, Any]) -> tuple[Shape, ...]:
    """The same shapes with other numbers, as far as `values` has them."""
    found = []
    for side, shape in zip("ab", shapes, strict=True):
        names = [name for name in shape.parameter_names if f"{side}_{name}" in values]
        found.append(shape.bound({name: values[f"{side}_{name}"] for name in names}))
    return tuple(found)
