"""Couplings of joint coordinates: mimic joints, gears."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..errors import ModelError
from ..joints import Joint
from ..spatial.gate import number, word
from ..spatial.scalar import Vector, stack
from .on_joints import JointConstraint


class Coupling(JointConstraint):
    """q_follower = ratio * q_leader + offset, for two joints of one degree of freedom each.

    follower, leader   names of joints (or of their bodies)

    >>> coupled = model.add(lw.Coupling("lower", "upper", ratio=-0.5))
    """

    size = 1
    parameter_names: ClassVar[tuple[str, ...]] = ("ratio", "offset")

    def __init__(self, follower: str, leader: str, ratio: float = 1.0, offset: float = 0.0, *, name: str = "") -> None:
        self.called(name)
        self.joints = (follower, leader)
        word("Coupling", "the follower", follower)
        word("Coupling", "the leader", leader)
        owner = f"Coupling of {follower!r} to {leader!r}"
        self.ratio, self.offset = number(owner, "ratio", ratio), number(owner, "offset", offset)
        if follower == leader:
            raise ModelError(f"Coupling: {follower!r} cannot follow itself")

    @property
    def follower(self) -> str:
        return self.joints[0]

    @property
    def leader(self) -> str:
        return self.joints[1]

    def given_coordinates(self) -> list[tuple[str, str, float]]:
        """The follower and its offset."""
        return [(self.follower, "offset", self.offset)]

    def residual(self, q: Vector) -> Vector:
        return stack(q[0] - self.ratio * q[1] - self.offset)

    def fitted(self, joints: Sequence[Joint]) -> None:
        for name, joint in zip(self.joints, joints, strict=True):
            if joint.nq != 1 or joint.nv != 1:
                raise ModelError(
                    f"Coupling: joint {name!r} has {joint.nv} degrees of freedom; only joints with one can be coupled"
                )

    def __repr__(self) -> str:
        return f"Coupling({self.follower!r}, {self.leader!r}, ratio={self.ratio:g}, offset={self.offset:g})"
