"""Contact of two shapes that Coal alone finds: before every step Python asks where they touch, and tells the law.

A slot of the law is told, of either body, the point p where it touches, the direction d in which it does (outward, unit) and how
that point moves as the direction turns, p(d) = p + H (d - d_0): H is the slope of the support point (`rounding`), r for a ball, 0
for a corner. One of the bodies holds the normal: that whose feature is a face, else the one that turns less. During the step,
with n fixed in the axes of that body,

    gap = n . (p_a - p_b),    contact point: that of the other body, which rolls over the plane that is held.

For faces, corners, balls and capsules this is what compiled pairs have; of others it is right to second order in h.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..constraints.targets import REACH
from ..geometry import Shape
from ..geometry.contact_point import ContactPoint
from ..spatial.scalar import Scalar, Vector, dot, stack, where
from ..spatial.se3 import SE3
from .broad import near, speed_bound
from .coal_pairs import SLOTS, CoalPair, is_flat
from .contact import Contact
from .rounding import rolling

SIDE = 15  # numbers of a side of a slot: p, d, H
SLOT = 2 * SIDE + 2  # both sides, whether b holds the normal, whether the slot is on
NEARBY = 0.01  # of the size of the smaller shape: gaps that are looked at in any case


@lru_cache(1024)
def coal_pair(a: Shape, b: Shape) -> CoalPair:
    """What asks Coal about two shapes, kept: to prepare a mesh takes long."""
    return CoalPair(a, b)


class AskedContact(Contact):
    """A `Contact` of shapes for which there is no compiled function; arguments as there."""

    looks = True
    curved = False  # type: ignore[assignment]
    lies_along = True  # type: ignore[assignment]
    inputs = SLOTS * SLOT
    told: Vector

    def _slots(self) -> int:
        coal_pair(*self.shapes)  # raises where these cannot touch, or Coal is missing
        return SLOTS

    @property
    def swept(self) -> tuple[Shape, ...]:
        return ()

    @property
    def variant(self) -> tuple[Any, ...]:
        return super().variant[2:]

    def parameters(self) -> dict[str, Any]:
        return self._own_parameters() | {"sizes": np.asarray(super().radii(), float)}

    def radii(self) -> Sequence[Scalar]:
        return vars(self).get("sizes", super().radii())

    def inputs_at(self, t: float) -> np.ndarray:
        return np.tile(NOWHERE, SLOTS)

    def with_inputs(self, told: Vector) -> Any:
        return self.bound({"told": told})

    def bound(self, values: dict[str, Any]) -> Any:
        if "told" in values:
            return self.with_parts(told=values["told"], _made_with=None)
        return super().bound(values).with_parts(sizes=values["sizes"], _made_with=None)

    def asker(self) -> Callable[[Sequence[SE3], Sequence[Vector], float], np.ndarray]:
        (a, b), pair = self.shapes, coal_pair(*self.shapes)

        def ask(poses: Sequence[SE3], speeds: Sequence[Vector], time: float) -> np.ndarray:
            E_a, E_b = poses
            way = REACH * time * float(speed_bound(a, speeds[0]) + speed_bound(b, speeds[1]))
            margin = way + NEARBY * pair.size
            if not near(a, E_a, b, E_b, margin):
                return self.inputs_at(0.0)
            calmer = bool(speeds[1][1] <= speeds[0][1])
            return told_numbers(pair, pair(E_a, E_b, margin), poses, calmer)

        return ask

    def touch(self, x: Sequence[Any]) -> Sequence[ContactPoint]:
        told = vars(self).get("told")
        if told is None:  # outside steps
            told = self.asker()(x, [np.zeros(2)] * 2, 0.0)
        return [_slot(told[k : k + SLOT], x) for k in range(0, SLOTS * SLOT, SLOT)]

    def near(self, x: Sequence[Any], speeds: Sequence[Vector], time: Scalar) -> Scalar:
        found: Scalar = 0.0
        for k in range(SLOT - 1, SLOTS * SLOT, SLOT):
            found = where(self.told[k] > 0.5, 1.0, found)
        return found


def _slot(told: Vector, poses: Sequence[Any]) -> ContactPoint:
    """Where a slot is at some poses."""
    (E_a, E_b), by_b, on = poses, told[-2] > 0.5, told[-1]
    one, other = (told[k * SIDE : (k + 1) * SIDE] for k in (0, 1))
    from_a, from_b = E_a.rotate(one[3:6]), E_b.rotate(other[3:6])
    n = stack(*(where(by_b, y, -x) for x, y in zip(from_a, from_b, strict=True)))
    p_a, p_b = _point(one, E_a, -n), _point(other, E_b, n)
    gap = dot(n, p_a - p_b)
    point = stack(*(where(by_b, x - 0.5 * gap * d, y + 0.5 * gap * d) for x, y, d in zip(p_a, p_b, n, strict=True)))
    return ContactPoint(point, n, gap, on)


def _point(side: Vector, E: Any, d: Vector) -> Vector:
    """The point of a body that is farthest along a direction of the world near the one that was told."""
    turned = E.unrotate(d) - side[3:6]
    return E @ (side[:3] + side[6:].reshape(3, 3) @ turned)


def told_numbers(pair: CoalPair, points: Sequence[ContactPoint], poses: Sequence[SE3], calmer: bool) -> np.ndarray:
    """What all slots are told of points at some poses.

    calmer   whether b turns less than a: it holds the normal where neither has a face there
    """
    found, frames = [], [(np.asarray(E.R, float), np.asarray(E.p, float)) for E in poses]
    known: dict[int, tuple[Any, ...]] = {}  # by normals, which the points of a face share
    for at in points:
        if not at.on:
            found.append(NOWHERE)
            continue
        key = id(at.normal)
        if key not in known:
            known[key] = _along(pair, at.normal, frames, calmer)
        (d_a, H_a), (d_b, H_b), by_b = known[key]
        half = 0.5 * at.gap * at.normal
        p_a, p_b = ((at.point + s * half - p) @ R for s, (R, p) in zip((1.0, -1.0), frames, strict=True))
        found.append(np.concatenate([p_a, d_a, H_a, p_b, d_b, H_b, [by_b, 1.0]]))
    return np.concatenate(found)


def _along(pair: CoalPair, n: np.ndarray, frames: Sequence[Any], calmer: bool) -> tuple[Any, ...]:
    """Of both sides direction and slope in the axes of their bodies, and whether b holds the normal."""
    sides, flat = [], []
    for shape, d in zip((pair.a, pair.b), (-n @ frames[0][0], n @ frames[1][0]), strict=True):
        sides.append((d, rolling(shape, d).reshape(-1)))
        flat.append(is_flat(shape, d))
    return (*sides, float(flat[1] if flat[0] != flat[1] else calmer))


def _nowhere() -> np.ndarray:
    up = np.array([0.0, 0.0, 1.0])
    side = np.concatenate([np.zeros(3), up, np.zeros(9)])
    return np.concatenate([side, side, [1.0, 0.0]])


NOWHERE = _nowhere()  # what a slot is told that is off: its numbers mean nothing, but lead nowhere astray
