"""Springs and dampers in joints."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..joints import Joint
from ..model.model import Body
from ..spatial.gate import numbers, size_of
from ..spatial.scalar import Scalar, Vector, dot
from .joint import JointForce, along, offset


class JointSpring(JointForce):
    """Energy sum k_i d_i^2 / 2 of the offset d from rest, and -damping v.

    The offset is q - rest, coordinate by coordinate; log(Q_rest^-1 Q) for joints that turn on a group or change charts:
    `Spherical`, `SphericalExp`, `SphericalEuler` with an alternate, and as a twist `Free`.

    stiffness, damping   a number, or one for each of the joint's nv velocities
    rest                 coordinates (nq,); the neutral position by default

    >>> sprung = model.add(lw.JointSpring("lower", stiffness=20.0, rest=0.5, damping=0.1))
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("stiffness", "rest", "damping")

    def __init__(self, joint: str, stiffness: Any, rest: Any = None, damping: Any = 0.0, *, name: str = "") -> None:
        self.on(joint, name)
        self.stiffness, self.rest, self.damping = stiffness, rest, damping
        for what, x in (("stiffness", stiffness), ("damping", damping)):
            numbers(repr(self), what, x, max(1, size_of(x)), 0.0, spread=True)

    def given_coordinates(self) -> list[tuple[str, str, Any]]:
        """The joint and its coordinates at rest."""
        return [] if self.rest is None else [(self.joint, "rest", self.rest)]

    def fitted(self, body: Body) -> Any:
        joint = body.joint
        return self.bound(
            {
                "stiffness": numbers(repr(self), "stiffness", self.stiffness, joint.nv, 0.0, spread=True),
                "damping": numbers(repr(self), "damping", self.damping, joint.nv, 0.0, spread=True),
                "rest": position(repr(self), "rest", self.rest, joint),
            }
        )

    def energy(self, joint: Joint, q: Vector) -> Scalar:
        return spring_energy(joint, self.stiffness, self.rest, q)

    def force(self, joint: Joint, q: Vector, v: Vector, t: Scalar, u: Vector) -> Vector:
        return spring_force(joint, self.stiffness, self.rest, q) - self.damping * v


class JointDamping(JointForce):
    """A force -damping v.

    damping   a number, or one for each of the joint's nv velocities

    >>> damped = model.add(lw.JointDamping("lower", 0.3))
    """

    any_chart = True
    parameter_names: ClassVar[tuple[str, ...]] = ("damping",)

    def __init__(self, joint: str, damping: Any, *, name: str = "") -> None:
        self.damping = numbers(self.on(joint, name), "damping", damping, max(1, size_of(damping)), 0.0, spread=True)

    def fitted(self, body: Body) -> Any:
        given = self.damping[0] if len(self.damping) == 1 else self.damping
        return self.bound({"damping": numbers(repr(self), "damping", given, body.joint.nv, 0.0, spread=True)})

    def force(self, joint: Joint, q: Vector, v: Vector, t: Scalar, u: Vector) -> Vector:
        return -(self.damping * v)


def spring_energy(joint: Joint, k: Vector, rest: Vector, q: Vector) -> Scalar:
    """sum k_i d_i^2 / 2 of the offset d of q from rest."""
    d = offset(joint, rest, q)
    return 0.5 * dot(k * d, d)


def spring_force(joint: Joint, k: Vector, rest: Vector, q: Vector) -> Vector:
    """Minus the gradient of `spring_energy`."""
    return along(joint, lambda moved: spring_energy(joint, k, rest, moved), q)


def position(owner: str, what: str, x: Any, joint: Joint) -> np.ndarray:
    """Coordinates of a joint; None is its neutral position, and one number stands for a joint's one coordinate."""
    if x is None:
        return joint.neutral()
    q = numbers(owner, what, x, joint.nq, spread=joint.nq == 1)
    problem = joint.checked(q[None])
    if problem:
        raise ModelError(f"{owner}: {what} = {x!r}: {problem}")
    return q
