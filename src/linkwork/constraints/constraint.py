"""The constraint contract: a constraint is its residual on the poses of some bodies; its rows and bias are derived.

`residual(E_a, E_b, ...)` is written once, in terms of transforms and points; `gap(poses, t, u)` where it depends on time or on
unknowns of its own; `slip(poses, twists, t)` where only velocities are constrained (rolling, clutches). Run on poses that know
how they move, either returns its rows G, its rate and its bias (see `derive`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..elements.law import RowLaw, known_bodies
from ..elements.ports import BodyPort, Port
from ..errors import ModelError
from ..joints import Joint
from ..kernel.symbol import traced_digest
from ..model.model import WORLD
from ..spatial.functions import shaped
from ..spatial.gate import meant, word
from ..spatial.scalar import Scalar, Vector
from ..spatial.se3 import SE3


class Constraint(RowLaw):
    """Base of all constraints between bodies (any number; some may be the world).

    bodies            their names
    size              number of rows
    unilateral        False: residual = 0.  True: residual >= 0, with forces that only push
    holonomic         True: it is the residual `gap`.  False: it is the rate `slip`, and has no residual
    timed             whether it depends on time
    unknowns          how many numbers u of its own it has, determined by `conditions` (where a point is nearest to a curve)
    parameter_names   attributes that are numbers or arrays: run-time data, shared kernels

    >>> isinstance(lw.Loop("lower", "world"), lw.Constraint)
    True
    """

    bodies: tuple[str, ...]

    @property
    def ports(self) -> tuple[Port, ...]:
        return tuple(map(BodyPort, self.bodies))

    def code(self, joints: Sequence[Joint]) -> tuple[Any, ...]:
        return self.signature

    def gap_of(self, x: Sequence[Any], t: Scalar, unknown: Vector) -> Vector:
        return self.gap(x, t, unknown)

    def slip_of(self, x: Sequence[Any], v: Sequence[Vector], t: Scalar) -> Vector:
        return self.slip(x, v, t)

    def conditions_of(self, x: Sequence[Any], t: Scalar, unknown: Vector) -> Vector:
        return self.conditions(x, t, unknown)

    def first_unknowns(self, poses: Sequence[np.ndarray]) -> np.ndarray:
        return self.guess(poses) if self.unknowns else np.zeros(0)

    def residual(self, *poses: SE3) -> Vector:
        """What must vanish (or stay non-negative)."""
        raise TypeError(f"{type(self).__name__} must define residual(E_a, E_b, ...)")

    def gap(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Vector:
        """The residual where it depends on time, or on unknowns."""
        return self.residual(*poses)

    def slip(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar) -> Vector:
        """What must vanish where only velocities are constrained: affine in the twists."""
        raise TypeError(f"{type(self).__name__} must define slip(poses, twists, t)")

    def conditions(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Vector:
        """As many equations as unknowns."""
        raise TypeError(f"{type(self).__name__} must define conditions(poses, t, u)")

    def guess(self, poses: Sequence[np.ndarray]) -> np.ndarray:
        """Where Newton's method for the unknowns begins; poses are matrices (4, 4)."""
        raise TypeError(f"{type(self).__name__} must define guess(poses)")

    @property
    def signature(self) -> tuple[Any, ...]:
        """What identifies the constraint's machine code: its name, and for classes of users what they compute."""
        own = (type(self).__qualname__, len(self.bodies), self.variant)
        return own if self.built_in else (*own, self.digest())

    def digest(self) -> str:
        """A digest of all that it computes, traced; parameters are symbols."""
        given, k = self.parameters(), len(self.bodies)

        def computed(E: Vector, phi: Vector, t: Vector, *values: Vector) -> list[Scalar]:
            c = self.bound(shaped(given, values))
            poses = [SE3(R=x[:9].reshape(3, 3), p=x[9:]) for x in E.reshape(k, 12)]
            if not c.holonomic:
                return list(c.slip(poses, list(phi.reshape(k, 6)), t[0]))
            own = c.conditions(poses, t[0], t[1:]) if c.unknowns else []
            rubs = c.rub_at(poses, t[0], t[1:]) if c.cones else []
            return [*c.gap(poses, t[0], t[1:]), *own, *rubs]

        return traced_digest(computed, 12 * k, 6 * k, 1 + self.unknowns, *(x.size for x in given.values()))

    def check(self, model: Any) -> None:
        """Raise if the model lacks a body that this constraint names."""
        names = known_bodies(model)
        for body in self.bodies:
            word(type(self).__name__, "a body", body)
            if body not in names:
                raise ModelError(
                    f"{type(self).__name__} between {self.bodies}: there is no body {body!r}{meant(body, model.names)}"
                )
        if len(set(self.bodies)) < len(self.bodies):
            twice = next(b for b in self.bodies if self.bodies.count(b) > 1)
            raise ModelError(f"{type(self).__name__}: it connects {twice!r} with itself")
        if set(self.bodies) == {WORLD}:
            raise ModelError(f"{type(self).__name__}: it holds no body of the model")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.bodies))})"
