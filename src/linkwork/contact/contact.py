"""Contact of two shapes with Coulomb friction and restitution: gaps that may not become negative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..constraints.constraint import WORLD, Constraint
from ..elements.law import EXACT, FRICTION_MODELS, SINGLE_QP
from ..elements.touch import gaps
from ..errors import ModelError
from ..geometry import Plane, Shape
from ..geometry.contact_point import ContactPoint
from ..spatial.gate import meant, number, word
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, Vector, array, where
from ..spatial.se3 import SE3
from .broad import closing_bound, near, speed_bound
from .candidates import pair_friction, pair_restitution
from .pairs import bound_shapes, pair_function, shape_parameters, slot_count


class Contact(Constraint):
    """Shapes of two bodies that do not pass through one another. At every point where they may touch, along its normal,

        gap >= 0,   force >= 0,   one of them zero;      |friction| <= mu force, against the slip, of any direction where none is,
        |torque about the normal| <= spinning force,     |torque about each tangent| <= rolling force, against the turn.

    body_a, shape_a   a body with a shape in its axes
    body_b, shape_b   another one, "world" with a plane by default
    friction          mu; by default sqrt(mu_a mu_b) of the shapes, 0 where neither says anything
    restitution       e in [0, 1]: how fast shapes part that met at a speed of 1; by default the larger of the shapes'
    name              its own, for messages and reactions; need not be given
    spinning, rolling m: torques that resist turning about the normal and about the two tangents, each within its own bound, per
                      force; 0 by default. They need friction
    friction_model    "exact": Coulomb's law;  "pyramid": |friction| <= mu force along each of two tangents;  "staggered": the
                      same, found by contact and friction in turn. One that is staggered makes all of the model so;
                      "single_qp": both as one quadratic program, and so is then all friction of the model

    >>> touching = model.add(lw.Contact("lower", lw.Sphere(0.1, (1, 0, 0)), "world", lw.Plane((0, 0, -1)), friction=0.5))
    """

    unilateral = touches = True

    @explained
    def __init__(
        self,
        body_a: str,
        shape_a: Shape,
        body_b: str = WORLD,
        shape_b: Shape | None = None,
        friction: float | None = None,
        restitution: float | None = None,
        name: str = "",
        friction_model: str = EXACT,
        spinning: float = 0.0,
        rolling: float = 0.0,
    ) -> None:
        shape_b = Plane() if shape_b is None else shape_b
        self.bodies, self.name, self.shapes = (body_a, body_b), word("Contact", "name", name, empty=True), (shape_a, shape_b)
        for shape in self.shapes:
            if not isinstance(shape, Shape):
                raise ModelError(f"{self!r}: {shape!r} is no shape")
        self.friction = pair_friction(shape_a, shape_b) if friction is None else friction
        self.friction = number(repr(self), "friction", self.friction, 0.0)
        self.restitution = pair_restitution(shape_a, shape_b) if restitution is None else restitution
        self.restitution = number(repr(self), "restitution", self.restitution, 0.0)
        if self.restitution > 1.0:
            raise ModelError(f"{self!r}: restitution must be at most 1, not {restitution!r}")
        if friction_model not in FRICTION_MODELS:
            known = ", ".join(map(repr, FRICTION_MODELS))
            raise ModelError(
                f"{self!r}: friction_model must be one of {known}, not {friction_model!r}{meant(friction_model, FRICTION_MODELS)}"
            )
        self.friction_model, self.cones = friction_model, self.friction > 0.0
        self.spinning = number(repr(self), "spinning", spinning, 0.0)
        self.rolling = number(repr(self), "rolling", rolling, 0.0)
        self.spins, self.rolls = self.spinning > 0.0, self.rolling > 0.0
        if (self.spins or self.rolls) and not self.cones:
            raise ModelError(f"{self!r}: spinning and rolling friction act beside friction; give that too")
        if (self.spins or self.rolls) and friction_model == SINGLE_QP:
            raise ModelError(
                f"{self!r}: spinning and rolling friction are no part of one quadratic program; leave them out, or use {EXACT!r}"
            )
        self.size = self._slots() * self.per_point

    def _slots(self) -> int:
        return slot_count(*self.shapes)

    @property
    def curved(self) -> bool:  # type: ignore[override]
        kinds = {shape.kind for shape in self.shapes}
        return bool(kinds & {"sphere", "capsule"}) and "plane" not in kinds

    @property
    def lies_along(self) -> bool:  # type: ignore[override]
        kinds = {shape.kind for shape in self.shapes}
        return bool(kinds & {"cylinder", "ellipsoid"}) or not kinds & {"sphere", "plane"}  # on a plane their lowest points run

    @property
    def on_plane(self) -> bool:  # type: ignore[override]
        return self.shapes[1].kind == "plane"

    def radii(self) -> Sequence[Scalar]:
        return [0.0 if shape.kind == "plane" else shape.bounding_sphere()[1] for shape in self.shapes]

    @property
    def usual(self) -> int:
        along = all(shape.kind == "capsule" for shape in self.shapes)
        return 1 if along else super().usual

    @property
    def swept(self) -> tuple[Shape, ...]:
        return () if any(isinstance(shape, Plane) for shape in self.shapes) else self.shapes

    @property
    def variant(self) -> tuple[Any, ...]:
        return (
            *(type(s).__name__ for s in self.shapes),
            self.cones,
            self.spins,
            self.rolls,
            self.friction_model,
            self.restitution > 0.0,
        )

    def parameters(self) -> dict[str, Any]:
        return self._own_parameters() | shape_parameters(self.shapes)

    def _own_parameters(self) -> dict[str, Any]:
        own = {"friction": self.friction} if self.cones else {}
        own |= {"restitution": self.restitution} if self.restitution > 0.0 else {}
        own |= {"spinning": self.spinning} if self.spins else {}
        own |= {"rolling": self.rolling} if self.rolls else {}
        return {name: np.asarray(x, float) for name, x in own.items()}

    def bound(self, values: dict[str, Any]) -> Contact:
        own = {name: values[name] for name in ("friction", "restitution", "spinning", "rolling") if name in values}
        return super().bound(own | {"shapes": bound_shapes(self.shapes, values)})

    def without_friction(self) -> Contact:
        """The same that only pushes."""
        return self._made_anew({"friction": 0.0, "spinning": 0.0, "rolling": 0.0})

    def solved_as(self, friction_model: str) -> Contact:
        """The same with friction by another model."""
        return self._made_anew({"friction_model": friction_model})

    def touch(self, x: Sequence[Any]) -> Sequence[ContactPoint]:
        (a, b), (E_a, E_b) = self.shapes, x
        return pair_function(a, b)(a, E_a, b, E_b)

    def near(self, x: Sequence[Any], speeds: Sequence[Vector], time: Scalar) -> Scalar:
        (a, b), (E_a, E_b) = self.shapes, x
        return where(near(a, E_a, b, E_b, time * (speed_bound(a, speeds[0]) + speed_bound(b, speeds[1]))), 1.0, 0.0)

    def closing_bound(self, x: Sequence[Any], motion: Sequence[Vector]) -> Scalar:
        return closing_bound(self.shapes, x, motion)

    def grip(self) -> tuple[Scalar, Scalar]:
        return self.friction, self.restitution

    def row_friction(self) -> Vector:
        point = [0.0, self.friction, self.friction]
        point += [self.spinning] * self.spins + [self.rolling] * (2 * self.rolls)
        return array(point * (self.size // self.per_point))

    def residual(self, E_a: SE3, E_b: SE3) -> Vector:
        return gaps(self, self.touch((E_a, E_b)))
