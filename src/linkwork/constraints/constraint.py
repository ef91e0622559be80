"""The constraint contract: a constraint is its residual on the poses of two bodies; its rows and bias are derived.

`residual(E_a, E_b)` is written once, in terms of transforms and points. Run on poses that carry their tangents, it returns
jets: the rows G (their gradient with respect to the body twists), the rate G phi, and the bias G_dot phi.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..kernel.symbol import traced_digest
from ..spatial.scalar import Vector
from ..spatial.se3 import SE3

WORLD = "world"


class Constraint:
    """Base of all constraints between two bodies (one may be the world).

    size         number of rows
    unilateral   False: residual = 0.  True: residual >= 0, with forces that only push
    """

    size: int
    unilateral: ClassVar[bool] = False
    parameter_names: ClassVar[tuple[str, ...]] = ()
    bodies: tuple[str, str]

    def residual(self, E_a: SE3, E_b: SE3) -> Vector:
        """What must vanish (or stay non-negative)."""
        raise TypeError(f"{type(self).__name__} must define residual(E_a, E_b)")

    @property
    def signature(self) -> tuple[Any, ...]:
        """What identifies the constraint's machine code: its name, and for classes of users what the residual computes."""
        if type(self).__module__.startswith("linkwork."):
            return (type(self).__name__,)
        given = self.parameters()

        def residual(a: Vector, b: Vector, *values: Vector) -> Vector:
            shaped = {k: x.reshape(p.shape) if p.ndim else x[0] for (k, p), x in zip(given.items(), values, strict=True)}
            E_a, E_b = (SE3(R=x[:9].reshape(3, 3), p=x[9:]) for x in (a, b))
            return self.bound(shaped).residual(E_a, E_b)

        return (type(self).__qualname__, traced_digest(residual, 12, 12, *(x.size for x in given.values())))

    def parameters(self) -> dict[str, np.ndarray]:
        """The run-time data by name."""
        return {name: np.asarray(getattr(self, name), float) for name in self.parameter_names}

    def bound(self, values: dict[str, Any]) -> Constraint:
        """The same constraint with other parameters."""
        other = copy.copy(self)
        other.__dict__.update(values)
        return other

    def check(self, model: Any) -> None:
        """Raise if the model lacks a body that this constraint names."""
        names = {b.name for b in model.bodies} | {WORLD}
        for body in self.bodies:
            if body not in names:
                raise ModelError(f"{type(self).__name__} between {self.bodies}: there is no body {body!r}")
        if self.bodies[0] == self.bodies[1]:
            raise ModelError(f"{type(self).__name__}: it connects {self.bodies[0]!r} with itself")


def anchor(owner: str, what: str, x: Any) -> np.ndarray:
    """A point of a constraint, checked."""
    a = np.asarray(x, dtype=float)
    if a.shape != (3,) or not np.all(np.isfinite(a)):
        raise ModelError(f"{owner}: {what} must be three finite numbers, not {x!r}")
    return a
