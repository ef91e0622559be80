"""Ports: what a law looks at and acts on. A law on any mixture of them is derived in one way.

A port yields a value (the pose of a body, the coordinates of a joint), its velocity (twist, joint velocities), and knows how the
value moves with a displacement and along the motion. What a law computes from displaced values carries its derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..joints import Joint
from ..spatial.dual import Dual, Gradient, Rate
from ..spatial.dual import displaced as displaced_pose
from ..spatial.jet import Jet
from ..spatial.scalar import Scalar, Vector, array, stack, zeros
from ..spatial.se3 import SE3
from ..spatial.stage import skew


@dataclass(frozen=True)
class BodyPort:
    """The body of a name; the world too."""

    name: str


@dataclass(frozen=True)
class JointPort:
    """The joint of a name (or of its body's)."""

    name: str


Port = BodyPort | JointPort


@dataclass(frozen=True, eq=False)
class BodyAt:
    """A body where it is: its pose in the world and its twist (angular, linear; body axes)."""

    value: SE3
    velocity: Vector

    @property
    def size(self) -> int:
        return 6

    def displaced(self, count: int, first: int, kind: type[Dual]) -> SE3:
        """The pose E exp(xi) at xi = 0, whose six entries are variables `first`, ... of `count`."""
        return displaced_pose(self.value, count, first, kind)

    def flowing(self, velocity: Vector | None = None) -> SE3:
        """E exp(s phi) as a function of s at s = 0, along the twist or another one."""
        phi = self.velocity if velocity is None else velocity
        R, p = self.value.R, self.value.p
        return SE3(R=_following(R, R @ skew(phi[:3])), p=_following(p, R @ phi[3:]))

    def flowing_twice(self, velocity: Vector) -> SE3:
        """E exp((s + r) phi) as a gradient with respect to r, whose entry is a function of s."""
        E = self.flowing(velocity)
        R, p = E.R, E.p
        return SE3(R=_following(R, R @ skew(velocity[:3]), Gradient), p=_following(p, R @ velocity[3:], Gradient))

    def moving(self, count: int, first: int) -> SE3:
        """The pose as a gradient with respect to displacements, whose entries are functions of s."""
        return displaced_pose(self.flowing(), count, first, Gradient)


@dataclass(frozen=True, eq=False)
class JointAt:
    """A joint where it is: coordinates and velocities."""

    joint: Joint
    value: Vector
    velocity: Vector

    @property
    def size(self) -> int:
        return self.joint.nv

    def displaced(self, count: int, first: int, kind: type[Dual]) -> Vector:
        """The coordinates integrate(q, dv) at dv = 0, whose entries are variables `first`, ... of `count`."""
        jets = self.joint.jets(self.value, zeros(self.size))
        return stack(*(kind(x.x, _padded(x.grad, count, first)) if isinstance(x, Jet) else x for x in jets))

    def flowing(self, velocity: Vector | None = None) -> Vector:
        """integrate(q, s v) as a function of s at s = 0."""
        jets = self.joint.jets(self.value, self.velocity if velocity is None else velocity)
        return stack(*(Rate(x.x, (x.rate,)) if isinstance(x, Jet) else x for x in jets))

    def flowing_twice(self, velocity: Vector) -> Vector:
        """integrate(q, (s + r) v) as a gradient with respect to r, whose entry is a function of s."""
        jets = self.joint.jets(self.value, velocity)
        return stack(*(Gradient(Rate(x.x, (x.rate,)), (Rate(x.rate, (x.bias,)),)) if isinstance(x, Jet) else x for x in jets))

    def moving(self, count: int, first: int) -> Vector:
        """The coordinates as gradients with respect to displacements, whose entries are functions of s."""
        return stack(*(_moving(x, count, first) if isinstance(x, Jet) else x for x in self.joint.jets(self.value, self.velocity)))


At = BodyAt | JointAt


def _padded(grad: Sequence[Any], count: int, first: int) -> tuple[Any, ...]:
    return (0.0,) * first + tuple(grad) + (0.0,) * (count - first - len(grad))


def _moving(x: Jet, count: int, first: int) -> Gradient:
    own = [Rate(g, (r,)) for g, r in zip(x.grad, x.grad_rate, strict=True)]
    return Gradient(Rate(x.x, (x.rate,)), _padded(own, count, first))


def _following(x: np.ndarray, x_dot: np.ndarray, kind: type[Dual] = Rate) -> np.ndarray:
    """The array x + s x_dot as a function of s at s = 0."""
    pairs = zip(np.asarray(x, dtype=object).flat, np.asarray(x_dot, dtype=object).flat, strict=True)
    return array([kind(a, (b,)) for a, b in pairs]).reshape(np.shape(x))


def starts(at: Sequence[At]) -> list[int]:
    """Where the displacement of each port begins among those of all; the last entry is their number."""
    return np.cumsum([0, *(a.size for a in at)]).tolist()


def values(at: Sequence[At]) -> list[Any]:
    """The poses and coordinates."""
    return [a.value for a in at]


def velocities(at: Sequence[At]) -> list[Vector]:
    """The twists and joint velocities."""
    return [a.velocity for a in at]


def still(at: Sequence[At]) -> list[Vector]:
    """No velocity at any port."""
    return [zeros(a.size) for a in at]


def joined(parts: Sequence[Vector]) -> Vector:
    """One vector of all parts."""
    return np.concatenate([np.asarray(p, dtype=object) for p in parts]) if parts else zeros(0)


def time_at(count: int, t: Scalar) -> Gradient:
    """The time that passes with s, as one more variable after `count`."""
    return Gradient(Rate(t, (1.0,)), (0.0,) * count + (1.0,))
