"""Forces against the motion of one body: viscous damping, drag [Sueda 1.9.1]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..spatial.gate import ORIGIN, numbers, point, shape_of
from ..spatial.scalar import Scalar, Vector
from ..spatial.se3 import SE3, rigid_parts
from .force import Force, length_of


class BodyDamping(Force):
    """A viscous wrench -d phi on a body, phi the twist of a frame that it carries.

    damping           d for all six components, N m s/rad and N s/m
    angular, linear   coefficients of their own for turning and for moving: a number, or one per axis of the frame
    frame             its pose in the body; the body's own by default

    >>> damped = model.add(lw.BodyDamping("lower", damping=0.2))
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("coefficients", "frame_R", "frame_p")

    def __init__(
        self,
        body: str,
        damping: float = 0.0,
        *,
        angular: Any = None,
        linear: Any = None,
        frame: SE3 | None = None,
        name: str = "",
    ) -> None:
        owner = self.between(body, name=name)
        both = numbers(owner, "damping", damping, 6, 0.0, spread=True)
        parts = [
            both[3 * k : 3 * k + 3] if x is None else numbers(owner, what, x, 3, 0.0, spread=True)
            for k, (what, x) in enumerate((("angular", angular), ("linear", linear)))
        ]
        self.coefficients = np.concatenate(parts)
        self.frame_R, self.frame_p = rigid_parts(owner, "frame", frame)

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        F = SE3(R=self.frame_R, p=self.frame_p)
        return [-F.move_wrench(self.coefficients * F.pull_twist(twists[0]))]


class Drag(Force):
    """Resistance of a medium: force -(a + b |v|) v axis by axis, v the velocity of a point through the medium.

    linear, quadratic   a (N s/m) and b (N s^2/m^2): a number, three (one per axis of the frame), or six: then the first three
                        are those of a moment -(a + b |w|) w against turning
    frame               its origin is the point, its axes are those of the coefficients; the body's own by default
    flow                velocity of the medium, in world axes

    >>> wet = model.add(lw.Drag("lower", linear=0.5, quadratic=1.0))
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("linear", "quadratic", "frame_R", "frame_p", "flow")

    def __init__(
        self,
        body: str,
        linear: Any = 0.0,
        quadratic: Any = 0.0,
        *,
        frame: SE3 | None = None,
        flow: Any = ORIGIN,
        name: str = "",
    ) -> None:
        owner = self.between(body, name=name)
        self.linear, self.quadratic = _six(owner, "linear", linear), _six(owner, "quadratic", quadratic)
        self.frame_R, self.frame_p = rigid_parts(owner, "frame", frame)
        self.flow = point(owner, "flow", flow)

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        F = SE3(R=self.frame_R, p=self.frame_p)
        phi = F.pull_twist(twists[0])
        w, v = phi[:3], phi[3:] - F.unrotate(poses[0].unrotate(self.flow))
        moment = (self.linear[:3] + self.quadratic[:3] * length_of(w)) * w
        force = (self.linear[3:] + self.quadratic[3:] * length_of(v)) * v
        return [-F.move_wrench(np.concatenate([moment, force]))]


def _six(owner: str, what: str, x: Any) -> np.ndarray:
    """Coefficients (angular, linear); a number or three are linear."""
    if shape_of(x) == (6,):
        return numbers(owner, what, x, 6, 0.0)
    return np.concatenate([np.zeros(3), numbers(owner, what, x, 3, 0.0, spread=True)])
