"""Springs and dampers between points of bodies [Sueda 1.9.3, 1.9.6; errata 004-5]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..model.model import WORLD
from ..spatial.gate import ORIGIN, number, point, positive
from ..spatial.scalar import Scalar, Vector, dot
from ..spatial.se3 import SE3
from .force import Force, Line, distance


class PointSpring(Force):
    """A spring of no length between two points: energy k |x_a - x_b|^2 / 2.

    body_a, body_b     names of the bodies; either may be "world"
    point_a, point_b   its ends, in the axes of their bodies
    stiffness          k, N/m

    >>> tied = model.add(lw.PointSpring("lower", "world", (1, 0, 0), (1.5, 0, 0), stiffness=100.0))
    """

    pairs = True
    parameter_names: ClassVar[tuple[str, ...]] = ("point_a", "point_b", "stiffness")

    def __init__(
        self,
        body_a: str,
        body_b: str = WORLD,
        point_a: Any = ORIGIN,
        point_b: Any = ORIGIN,
        *,
        stiffness: float,
        name: str = "",
    ) -> None:
        owner = self.between(body_a, body_b, name=name)
        self.point_a, self.point_b = point(owner, "point_a", point_a), point(owner, "point_b", point_b)
        self.stiffness = number(owner, "stiffness", stiffness, 0.0)

    def energy(self, poses: Sequence[SE3]) -> Scalar:
        d = poses[0] @ self.point_a - poses[1] @ self.point_b
        return 0.5 * self.stiffness * dot(d, d)


class SpringDamper(Line):
    """A spring and damper with a rest length L: tension (k (l - L) + d l_dot) / L, energy k (l - L)^2 / (2 L).

    Stiffness and damping are per relative stretch (N, N s), as for a rod of any length made of the same stuff. Where its ends
    meet it has no direction: no force, and no derivatives.

    body_a, body_b       names of the bodies; either may be "world"
    point_a, point_b     its ends, in the axes of their bodies
    stiffness, damping   k and d
    rest_length          L > 0

    >>> sprung = model.add(lw.SpringDamper("lower", "world", (1, 0, 0), (1, 0, 1), stiffness=50.0, rest_length=0.8, damping=1.0))
    """

    pairs = True
    parameter_names: ClassVar[tuple[str, ...]] = ("point_a", "point_b", "stiffness", "damping", "rest_length")

    def __init__(
        self,
        body_a: str,
        body_b: str = WORLD,
        point_a: Any = ORIGIN,
        point_b: Any = ORIGIN,
        *,
        stiffness: float,
        rest_length: float,
        damping: float = 0.0,
        name: str = "",
    ) -> None:
        owner = self.between(body_a, body_b, name=name)
        self.point_a, self.point_b = point(owner, "point_a", point_a), point(owner, "point_b", point_b)
        self.stiffness, self.damping = number(owner, "stiffness", stiffness, 0.0), number(owner, "damping", damping, 0.0)
        self.rest_length = positive(owner, "rest_length", rest_length)

    def length(self, poses: Sequence[SE3]) -> Scalar:
        return distance(poses[0] @ self.point_a, poses[1] @ self.point_b)

    def tension(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> Scalar:
        return (self.stiffness * (length - self.rest_length) + self.damping * rate) / self.rest_length

    def stored(self, length: Scalar) -> Scalar:
        return 0.5 * self.stiffness * (length - self.rest_length) ** 2 / self.rest_length
