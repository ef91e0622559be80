"""Limits of joint coordinates: hard stops that only push back."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..model.model import Model
from ..spatial.gate import reals, shown
from ..spatial.scalar import Vector, read_only, stack
from .on_joints import JointConstraint, plain_joint


class Limit(JointConstraint):
    """lower <= q <= upper for every coordinate of a joint: residuals q - lower >= 0, then upper - q >= 0, where they are finite.

    joint          name of the joint (or of its body)
    lower, upper   numbers, or one per coordinate; infinite where there is no stop. What the joint declares if neither is given.

    >>> stopped = model.add(lw.Limit("lower", -1.0, 1.0))
    """

    unilateral = True
    parameter_names: ClassVar[tuple[str, ...]] = ("stops",)
    stops: np.ndarray
    sides: tuple[tuple[int, float], ...] = ()  # of every stop the coordinate, and 1 below, -1 above

    def __init__(self, joint: str, lower: Any = None, upper: Any = None, *, name: str = "") -> None:
        self.called(name)
        self.joints, self.declared = (joint,), lower is None and upper is None
        low, high = -np.inf if lower is None else lower, np.inf if upper is None else upper
        try:
            self.lower, self.upper = np.atleast_1d(reals(low)), np.atleast_1d(reals(high))
        except ValueError as error:
            raise ModelError(f"Limit({joint!r}): limits must be numbers, not {shown(low)} and {shown(high)} ({error})") from None
        if self.lower.ndim > 1 or self.upper.ndim > 1 or len({1, len(self.lower), len(self.upper)}) > 2:
            raise ModelError(f"Limit({joint!r}): its limits must be as many, not {shown(low)} and {shown(high)}")
        if np.any(np.isnan(self.lower)) or np.any(np.isnan(self.upper)) or np.any(self.lower > self.upper):
            raise ModelError(f"{self!r}: the lower limit must not lie above the upper one")

    @property
    def joint(self) -> str:
        return self.joints[0]

    @property
    def variant(self) -> tuple[Any, ...]:
        return self.sides

    def given_coordinates(self) -> list[tuple[str, str, Any]]:
        """The joint and its stops; those that the joint declares are its own."""
        if self.declared:
            return []
        return [(self.joint, "a stop", bound) for bound in (self.lower, self.upper)]

    def fitted_to(self, model: Model) -> Limit:
        plain_joint(model, self, self.joint)
        body = model.bodies[model.body_index(self.joint)]
        if not body.joint.coordinates_add:
            raise ModelError(
                f"{self!r}: the coordinates of joint {self.joint!r} ({body.joint!r}) change charts, where a stop would jump; "
                "limit its rotation with SwingTwistLimit"
            )
        n, given = body.joint.nv, body.properties
        low, high = (given.lower, given.upper) if self.declared else (self.lower, self.upper)
        for bound in (low, high):
            if bound.shape not in ((1,), (n,)):
                raise ModelError(f"{self!r}: joint {self.joint!r} has {n} coordinates")
        bounds = np.concatenate([np.broadcast_to(low, (n,)), np.broadcast_to(high, (n,))])
        sides = [(i, side) for side in (1.0, -1.0) for i in range(n)]
        keep = np.isfinite(bounds)
        if not keep.any():
            todo = "declares no limits; give it some, or numbers here" if self.declared else "has no stop"
            raise ModelError(f"{self!r}: joint {self.joint!r} {todo}")
        kept = tuple(s for s, k in zip(sides, keep, strict=True) if k)
        stops = {"stops": read_only(bounds[keep]), "sides": kept, "size": len(kept)}
        return self.with_parts(lower=low, upper=high, declared=False, **stops)

    def check(self, model: Any) -> None:
        self.fitted_to(model)

    def residual(self, q: Vector) -> Vector:
        return stack(*(side * (q[i] - stop) for (i, side), stop in zip(self.sides, self.stops, strict=True)))

    def __repr__(self) -> str:
        bounds = "" if self.declared else f", {self.lower.tolist()}, {self.upper.tolist()}"
        return f"Limit({self.joint!r}{bounds})"
