"""Limits of joint coordinates: hard stops that only push back."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..model.model import Model
from .direct import Direct, DirectConstraint, Situation, joint_rows, plain_joint


class Limit(DirectConstraint):
    """lower <= q <= upper for every coordinate of a joint: residuals q - lower >= 0, then upper - q >= 0.

    joint          name of the joint (or of its body)
    lower, upper   numbers, or one per coordinate; infinite where there is no stop
    """

    unilateral: ClassVar[bool] = True

    def __init__(self, joint: str, lower: Any = -np.inf, upper: Any = np.inf) -> None:
        self.joint = joint
        self.lower, self.upper = np.atleast_1d(np.asarray(lower, float)), np.atleast_1d(np.asarray(upper, float))
        if np.any(np.isnan(self.lower)) or np.any(np.isnan(self.upper)) or np.any(self.lower > self.upper):
            raise ModelError(f"{self!r}: the lower limit must not lie above the upper one")

    def check(self, model: Any) -> None:
        plain_joint(model, self, self.joint)
        n = self._size(model)
        for bound in (self.lower, self.upper):
            if bound.shape not in ((1,), (n,)):
                raise ModelError(f"{self!r}: joint {self.joint!r} has {n} coordinates")

    def _stops(self, model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every finite stop: which coordinate of the joint, on which side (1 below, -1 above), and where."""
        n = self._size(model)
        bounds = np.concatenate([np.broadcast_to(self.lower, (n,)), np.broadcast_to(self.upper, (n,))])
        keep = np.isfinite(bounds)
        return np.tile(np.arange(n), 2)[keep], np.repeat([1.0, -1.0], n)[keep], bounds[keep]

    def _size(self, model: Model) -> int:
        return model.bodies[model.body_index(self.joint)].joint.nv

    def count(self, model: Model) -> int:
        return len(self._stops(model)[0])

    def at(self, model: Model, now: Situation) -> Direct:
        which, side, bound = self._stops(model)
        q, span = now.q[model.q_index(self.joint)], model.v_index(self.joint)
        none = np.zeros(len(which))
        rows = joint_rows(span.start + which, side)
        return Direct(rows, side * (q[which] - bound), side * now.v[span][which], none, none)

    def __repr__(self) -> str:
        return f"Limit({self.joint!r}, {self.lower.tolist()}, {self.upper.tolist()})"
