"""Gears: the speeds of two wheels about their axes are in a fixed ratio."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..joints import Joint
from ..model.model import WORLD
from ..spatial.gate import point, real, shown, word
from ..spatial.scalar import Scalar, Vector, dot, stack
from ..spatial.se3 import SE3
from .constraint import Constraint

STILL = 1e-9  # rad of a turn per unit of a coordinate: less is none


class Gear(Constraint):
    """omega_b . axis_b = ratio omega_a . axis_a, both relative to the body that carries the wheels: one row on velocities.

    wheel_a, wheel_b   names of the wheels; one may be the world (a ring that stands still, seen from a carrier that turns)
    ratio              speed of b over that of a: minus the ratio of their teeth for wheels that mesh outside, plus inside
    carrier            the body that carries their bearings
    axis_a, axis_b     unit vectors in the axes of the wheels

    >>> geared = model.add(lw.Gear("upper", "lower", ratio=-2.0, axis_a=(0, 1, 0), axis_b=(0, 1, 0)))
    """

    size, holonomic = 1, False
    parameter_names: ClassVar[tuple[str, ...]] = ("ratio", "axis_a", "axis_b")
    directions: ClassVar[tuple[str, ...]] = ("axis_a", "axis_b")

    def __init__(
        self,
        wheel_a: str,
        wheel_b: str,
        ratio: float,
        carrier: str = WORLD,
        axis_a: Any = (0.0, 0.0, 1.0),
        axis_b: Any = (0.0, 0.0, 1.0),
        *,
        name: str = "",
    ) -> None:
        self.called(name)
        word("Gear", "the carrier", carrier)
        self.bodies = (wheel_a, wheel_b) if carrier == WORLD else (wheel_a, wheel_b, carrier)
        try:
            self.ratio = real(ratio)
        except ValueError:
            self.ratio = np.nan
        if not np.isfinite(self.ratio) or self.ratio == 0.0:
            raise ModelError(f"Gear({wheel_a!r}, {wheel_b!r}): the ratio {shown(ratio)} must be finite, and not 0")
        self.axis_a, self.axis_b = (_axis(what, x) for what, x in (("axis_a", axis_a), ("axis_b", axis_b)))

    def check(self, model: Any) -> None:
        super().check(model)
        carrier = self.bodies[2] if len(self.bodies) > 2 else WORLD
        for name, axis, what in zip(self.bodies, (self.axis_a, self.axis_b), ("axis_a", "axis_b"), strict=False):
            if name == WORLD:
                continue
            body = model.bodies[model.body_index(name)]
            parent = WORLD if body.parent < 0 else model.bodies[body.parent].name
            if parent == carrier and not _turns(body.joint, axis):
                raise ModelError(
                    f"{self!r}: {name!r} does not turn about {what} = {axis.tolist()} in {carrier!r}, so nothing is geared; "
                    f"its joint is {body.joint!r}"
                )

    def slip(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar) -> Vector:
        def speed(k: int, axis: Vector) -> Scalar:
            own = dot(axis, twists[k][:3])
            if len(poses) == 2:
                return own
            return own - dot(poses[k].rotate(axis), poses[2].rotate(twists[2][:3]))

        return stack(speed(1, self.axis_b) - self.ratio * speed(0, self.axis_a))


def _turns(joint: Joint, axis: np.ndarray) -> bool:
    """Whether a joint turns its body about an axis of it at some position."""
    rng = np.random.default_rng(0)
    places = (joint.neutral(), joint.random(rng), joint.random(rng))
    return any(np.abs(axis @ joint.motion(q, np.zeros(joint.nv)).tangent.S[:3]).max(initial=0.0) > STILL for q in places)


def _axis(what: str, x: Any) -> np.ndarray:
    a = point("Gear", what, x)
    length = float(np.linalg.norm(a))
    if abs(length - 1.0) > 1e-6:
        raise ModelError(f"Gear: {what} = {a.tolist()} has length {length:.6g}; give a unit vector")
    return a / length
