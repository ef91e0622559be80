"""Couplings of joint coordinates: gears, mimic joints."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError


class Coupling:
    """q_follower = ratio * q_leader + offset, for two joints of one degree of freedom each.

    follower, leader   names of joints (or of their bodies)
    """

    def __init__(self, follower: str, leader: str, ratio: float = 1.0, offset: float = 0.0) -> None:
        self.follower, self.leader = follower, leader
        self.ratio, self.offset = float(ratio), float(offset)
        if not (np.isfinite(self.ratio) and np.isfinite(self.offset)):
            raise ModelError(f"Coupling of {follower!r} to {leader!r}: ratio {ratio!r} and offset {offset!r} must be finite")
        if follower == leader:
            raise ModelError(f"Coupling: {follower!r} cannot follow itself")

    def check(self, model: Any) -> None:
        """Raise if a joint is missing or has more than one coordinate."""
        for name in (self.follower, self.leader):
            if name not in model.names:
                raise ModelError(f"{self!r}: there is no joint {name!r}")
            joint = model.bodies[model.body_index(name)].joint
            if joint.nq != 1 or joint.nv != 1:
                raise ModelError(
                    f"Coupling: joint {name!r} has {joint.nv} degrees of freedom; only joints with one can be coupled"
                )

    def __repr__(self) -> str:
        return f"Coupling({self.follower!r}, {self.leader!r}, ratio={self.ratio:g}, offset={self.offset:g})"
