"""Dry friction of joints: it holds a joint still with forces up to a largest one."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..model.model import Model
from ..spatial.gate import numbers, size_of
from ..spatial.scalar import Scalar, Vector
from .on_joints import JointConstraint, moving_joint


class DryFriction(JointConstraint):
    """v = 0 for every velocity of a joint, with a force in [-friction, friction]: it sticks, or slips against the full force.

    joint      name of the joint (or of its body)
    friction   largest force: a number, or one per velocity (N m for angles, N for lengths). What the joint declares if not given.

    >>> stiff = model.add(lw.DryFriction("upper", friction=2.0))
    """

    holonomic, bounded = False, True
    parameter_names: ClassVar[tuple[str, ...]] = ("friction",)

    def __init__(self, joint: str, friction: Any = None, *, name: str = "") -> None:
        self.called(name)
        self.joints, self.friction = (joint,), friction
        if friction is not None:
            self.friction = numbers(repr(self), "friction", friction, max(1, size_of(friction)), 0.0, spread=True)

    @property
    def joint(self) -> str:
        return self.joints[0]

    def fitted_to(self, model: Model) -> DryFriction:
        moving_joint(model, self, self.joint)
        body = model.bodies[model.body_index(self.joint)]
        if self.friction is None and not body.properties.friction.any():
            raise ModelError(f"{self!r}: joint {self.joint!r} declares no friction; give one of them a number")
        n, given = body.joint.nv, body.properties.friction if self.friction is None else self.friction
        if len(given) not in (1, n):
            raise ModelError(f"{self!r}: joint {self.joint!r} has {n} velocities, and there are {len(given)} numbers")
        return self.bound({"friction": np.array(np.broadcast_to(given, (n,))), "size": n})

    def check(self, model: Any) -> None:
        self.fitted_to(model)

    def slip(self, q: Vector, v: Vector, t: Scalar) -> Vector:
        return v

    def bounds(self) -> tuple[Vector, Vector]:
        return -self.friction, self.friction
