"""The force contract: a force is its energy, or its wrenches, as a function of the poses and twists of some bodies.

`energy(poses)` alone makes a conservative force: run on poses that know their displacements, it returns its gradient as well,
minus which is the wrench on every body. What is not conservative is written as `wrenches(poses, twists, t, u)`. Derivatives with
respect to displacements and twists of the bodies are derived from either (`elements.derive`), never written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..elements.derive import conservative, displaced, gradient_of
from ..elements.law import ForceLaw, known_bodies
from ..elements.ports import At, BodyAt, BodyPort, Port, values, velocities
from ..errors import ModelError
from ..joints import Joint
from ..kernel.symbol import traced_digest
from ..model.model import WORLD
from ..spatial.dual import Gradient
from ..spatial.functions import shaped
from ..spatial.gate import meant, word
from ..spatial.gate import number as number
from ..spatial.gate import point as point
from ..spatial.scalar import Scalar, Vector, cross, dot, where, zeros
from ..spatial.se3 import SE3


class Force(ForceLaw):
    """Base of all forces between bodies (any number; some may be the world).

    bodies            their names
    parameter_names   attributes that are numbers or arrays: run-time data, shared kernels
    inputs            what drives the force from outside at run time (activation, a target pose): as many numbers, 0 by default

    >>> isinstance(lw.Drag("lower", linear=0.5), lw.Force)
    True
    """

    bodies: tuple[str, ...]
    pairs: ClassVar[bool] = False  # whether it acts between two bodies alone, which must not be the same

    @property
    def ports(self) -> tuple[Port, ...]:
        return tuple(map(BodyPort, self.bodies))

    def code(self, joints: Sequence[Joint]) -> tuple[Any, ...]:
        return self.signature

    def loads(self, at: Sequence[At], t: Scalar, u: Vector) -> Sequence[Vector]:
        return self.wrenches(values(at), velocities(at), t, u)

    def stored_energy(self, at: Sequence[At], t: Scalar, u: Vector) -> Scalar:
        return self.potential(values(at), t, u)

    def energy(self, poses: Sequence[SE3]) -> Scalar:
        """The energy stored in the force."""
        return 0.0

    def potential(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Scalar:
        """The energy where it depends on time or inputs."""
        return self.energy(poses)

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        """The wrench (moment, force) on every body, about its origin in its axes; t is time, u are the inputs."""
        return conservative(lambda moved: self.potential(moved, t, u), placed(poses))

    @property
    def signature(self) -> tuple[Any, ...]:
        """What identifies the machine code: the class, and for classes of users what they compute."""
        own = (type(self).__qualname__, len(self.bodies), self.inputs, self.variant)
        return own if self.built_in else (*own, self.digest())

    def digest(self) -> str:
        """A digest of wrenches and energy, traced; parameters are symbols."""
        given, k = self.parameters(), len(self.bodies)

        def computed(E: Vector, phi: Vector, t: Vector, *values: Vector) -> list[Scalar]:
            force = self.bound(shaped(given, values))
            poses = [SE3(R=x[:9].reshape(3, 3), p=x[9:]) for x in E.reshape(k, 12)]
            wrenches = force.wrenches(poses, list(phi.reshape(k, 6)), t[0], t[1:])
            return [force.potential(poses, t[0], t[1:]), *(x for w in wrenches for x in w)]

        return traced_digest(computed, 12 * k, 6 * k, 1 + self.inputs, *(x.size for x in given.values()))

    def between(self, *bodies: Any, name: Any = "") -> str:
        """Take bodies and a name; what messages about the rest begin with."""
        owner = self.called(name)
        self.bodies = tuple(word(owner, "a body", body) for body in bodies)
        return owner

    def check(self, model: Any) -> None:
        """Raise if the model lacks a body that this force names."""
        names = known_bodies(model)
        for body in self.bodies:
            if body not in names:
                raise ModelError(f"{self!r}: there is no body {body!r}{meant(body, model.names)}")
        if self.pairs and len(self.bodies) == 2 and self.bodies[0] == self.bodies[1] != WORLD:
            raise ModelError(f"{self!r}: it connects {self.bodies[0]!r} with itself, and never moves it; name two bodies")
        if all(body == WORLD for body in self.bodies):
            raise ModelError(f"{self!r}: it acts on no body of the model")

    def __repr__(self) -> str:
        inside = [*map(repr, self.bodies), *([f"name={self.name!r}"] if self.name else [])]
        return f"{type(self).__name__}({', '.join(inside)})"


def placed(poses: Sequence[SE3]) -> list[At]:
    """Bodies that stand still at these poses."""
    return [BodyAt(E, zeros(6)) for E in poses]


class Line(Force):
    """A force along a length: tension pulls its ends together.

    length(poses)        the length, made of transforms and points
    tension(l, l_dot)    the pull, a function of length, its rate, time and inputs
    stored(l)            the energy at a length

    >>> isinstance(lw.SpringDamper("lower", "world", stiffness=10.0, rest_length=0.5), lw.Line)
    True
    """

    def length(self, poses: Sequence[SE3]) -> Scalar:
        raise TypeError(f"{type(self).__name__} must define length(poses)")

    def tension(self, length: Scalar, rate: Scalar, t: Scalar, u: Vector) -> Scalar:
        raise TypeError(f"{type(self).__name__} must define tension(length, rate, t, u)")

    def stored(self, length: Scalar) -> Scalar:
        return 0.0

    def energy(self, poses: Sequence[SE3]) -> Scalar:
        return self.stored(self.length(poses))

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        at = placed(poses)
        length = self.length(displaced(at))
        slopes = gradient_of(length, at)
        rate = sum(dot(g, phi) for g, phi in zip(slopes, twists, strict=True))
        pull = self.tension(length.x if isinstance(length, Gradient) else length, rate, t, u)
        return [-pull * g for g in slopes]


# --- points of bodies ------------------------------------------------------------------------------------------------------
def length_of(d: Vector) -> Scalar:
    """|d|; at zero it has no direction, and its derivatives are zero there by definition."""
    square = dot(d, d)
    apart = square > np.finfo(float).tiny
    return where(apart, np.sqrt(where(apart, square, 1.0)), 0.0)


def distance(a: Vector, b: Vector) -> Scalar:
    """|a - b|; see `length_of` for points that meet."""
    return length_of(a - b)


def point_velocity(phi: Vector, x: Vector) -> Vector:
    """The velocity v + w x x of a point x of a body with twist phi, in body axes."""
    return phi[3:] + cross(phi[:3], x)


def push_at(x: Vector, f: Vector) -> Vector:
    """The wrench (x x f, f) of a force f at a point x, in body axes."""
    return np.concatenate([cross(x, f), f])
