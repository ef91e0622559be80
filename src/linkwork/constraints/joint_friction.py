"""Friction inside joints and loops, under what they carry.

With w the wrench that a joint (or the rows of a loop) carries without work, and the pressures alpha = P w of its `bearing`,

    T phi_rel = 0    with a force    |beta_t| <= mu sum over groups g of share_tg |alpha_g|:

it sticks, or slips against the full force. The bounds depend on the motion, as w does: steps find both together
(`rows.pressing`). Tangents of balls and surfaces stand along the slip as a step begins, and across it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..elements.law import RowLaw
from ..errors import ModelError
from ..joints import Joint, Prismatic, Revolute, Spherical, SphericalEuler, SphericalExp
from ..model.model import WORLD, Model
from ..spatial.dual import held
from ..spatial.gate import number, numbers
from ..spatial.scalar import Scalar, Vector, cross
from ..spatial.se3 import SE3, Ad
from .bearings import TANGENTS, Bearing, largest, pin, slide, socket, surfaces
from .closure import Closure
from .constraint import Constraint
from .on_joints import moving_joint

BALLS = (Spherical, SphericalExp, SphericalEuler)
LIFTED = 1e-9  # m/s, rad/s of a unit motion of a joint: so fast it may leave a surface
SEEDS = range(3)  # of the positions where that is looked at


class JointFriction(Constraint):
    """Coulomb friction inside a joint, under the forces that it carries.

    joint      name of a joint (or of its body); or a constraint of the model between two bodies, which closes a loop, or its name
    mu         coefficient
    radius     of a pin (revolute) or a ball (spherical), m
    length     of a pin or a guide (prismatic), m: its ends carry what would tilt it; 0: tilting does not press
    points     where surfaces touch, in the axes of the joint (k, 3), with `normals`: for any joint, instead of the above
    axis       of the pin of a loop, in the axes of its first body; None: that of the joint that closes it, or a ball
    at         where a loop closes on its first body, to which `points` refer; its own point if not given

    >>> rubbing = model.add(lw.JointFriction("upper", mu=0.2, radius=0.02))
    """

    holonomic, bounded, by_reaction = False, True, True
    parameter_names: ClassVar[tuple[str, ...]] = ()
    bodies: tuple[str, ...] = ()

    def __init__(
        self,
        joint: str | Constraint,
        mu: float,
        *,
        radius: float | None = None,
        length: float = 0.0,
        points: Any = None,
        normals: Any = None,
        axis: Any = None,
        at: Any = None,
        name: str = "",
    ) -> None:
        self.called(name)
        self.joint = joint
        if isinstance(joint, str):
            self.bodies = (joint,)
        elif isinstance(joint, Constraint) and not joint.bounded:
            self.bodies = joint.bodies[:2]
        else:
            raise ModelError(f"JointFriction: {joint!r} is neither the name of a joint nor a constraint between two bodies")
        self.mu = number(repr(self), "mu", mu, 0.0)
        self.radius = None if radius is None else number(repr(self), "radius", radius, 0.0)
        self.length = number(repr(self), "length", length, 0.0)
        if (points is None) != (normals is None):
            raise ModelError(f"{self!r}: points need normals, and normals points")
        self.points = None if points is None else _vectors(self, "points", points)
        self.normals = None if normals is None else _units(self, "normals", normals)
        if self.points is not None and self.normals is not None and len(self.points) != len(self.normals):
            raise ModelError(f"{self!r}: there are {len(self.points)} points and {len(self.normals)} normals")
        self.axis = None if axis is None else _units(self, "axis", [axis])[0]
        self.at = None if at is None else _vectors(self, "at", [at])[0]

    def __repr__(self) -> str:
        return f"JointFriction({self.joint!r})"

    # --- on a model -----------------------------------------------------------------------------------------------------------
    def check(self, model: Any) -> None:
        self.fitted_to(model)

    def fitted_to(self, model: Model) -> JointFriction:
        """The same with its bodies, its rows and what finds its bounds."""
        loop, place = self.closure(model), np.zeros(3)
        if loop is None:
            i = model.body_index(str(self.joint))
            first = model.bodies[i]
            parent = int(model.parents[i])
            bodies = (first.name, WORLD if parent < 0 else model.bodies[parent].name)
        else:
            bodies, place = loop.bodies, self.closes_at(loop)
        bearing = self.bearing(model)
        P, groups, share = bearing.pressing
        found = {"origin": place, "P": P, "limit": self.mu * share, **bearing.numbers}
        structure = {"bodies": bodies, "size": len(share), "pressed_groups": groups, "kind": bearing.kind}
        structure["closes"] = loop is not None
        return self.bound({**found, **structure, "given": tuple(bearing.numbers), "parameter_names": tuple(found)})

    def closure(self, model: Model) -> Constraint | None:
        """The constraint of the model that closes the loop; None where the joint is one of the tree."""
        if isinstance(self.joint, str) and self.joint in model.names:
            moving_joint(model, self, self.joint)
            return None
        named = [e for e in model.elements_of(RowLaw) if self.joint in (repr(e), getattr(e, "name", None) or None)]
        found = named if isinstance(self.joint, str) else [e for e in model.elements if e is self.joint]
        if len(found) != 1 or not isinstance(found[0], Constraint):
            what = f"no joint or constraint {self.joint!r}" if not found else f"{len(found)} constraints {self.joint!r}"
            raise ModelError(f"{self!r}: there {'is' if len(found) < 2 else 'are'} {what} in the model")
        return found[0]

    def closes_at(self, loop: Constraint) -> np.ndarray:
        """Where a loop closes, on its first body."""
        if len(loop.bodies) != 2 or loop.bodies[0] == WORLD:
            raise ModelError(f"{self!r}: a loop that rubs joins two bodies, and the first must not be the world")
        own = getattr(loop, "point_a", getattr(loop, "p_a", getattr(loop, "point", None)))
        if self.at is None and own is None:
            raise ModelError(f"{self!r}: it needs `at`, where the loop closes on its first body")
        return np.asarray(own if self.at is None else self.at, float)

    # --- its surfaces ---------------------------------------------------------------------------------------------------------
    def bearing(self, model: Model, q: np.ndarray | None = None) -> Bearing:
        """What presses and rubs, in the axes of the joint; of a loop, in those of its first body, about its place.

        q   where the wrench to be parted holds forces along the freedoms of the joint, too: its configuration
        """
        loop = self.closure(model)
        if loop is None:
            i = model.body_index(str(self.joint))
            kind, X, free = model.bodies[i].joint, np.eye(6), _freedoms(model, i, model.neutral() if q is None else q)
            axis = free[0][:3, 0] + free[0][3:, 0]
        else:
            i, axis = model.body_index(loop.bodies[0]), self.axis
            closing = loop.joint if isinstance(loop, Closure) else None
            if closing is not None and axis is None and hasattr(closing, "axis"):
                axis = loop.R_a @ np.asarray(closing.axis, float)  # type: ignore[attr-defined]
            kind = closing or (Spherical() if axis is None else Revolute(tuple(axis)))
            X, free = np.asarray(Ad(SE3(p=self.closes_at(loop))), float), []
        if self.points is None or self.normals is None:
            return self._usual(kind, axis)
        self._check_surfaces(free)
        M = X.T @ np.asarray(model.bodies[i].inertia.matrix, float) @ X
        return surfaces(self.points, self.normals, free[0] if q is not None and free else np.zeros((6, 0)), M)

    def _usual(self, joint: Joint, axis: np.ndarray | None) -> Bearing:
        if isinstance(joint, Revolute) and axis is not None:
            return pin(axis / np.linalg.norm(axis), self._radius(), self.length)
        if isinstance(joint, Prismatic) and axis is not None:
            return slide(axis / np.linalg.norm(axis), self.length)
        if isinstance(joint, BALLS):
            return socket(self._radius())
        raise ModelError(f"{self!r}: a joint of this kind ({joint!r}) needs points and normals")

    def _radius(self) -> float:
        if self.radius is None:
            raise ModelError(f"{self!r}: it needs the radius of its pin or ball")
        return self.radius

    def _check_surfaces(self, S: Sequence[np.ndarray]) -> None:
        """Raise where a joint by its own motion leaves a surface, or enters it."""
        assert self.points is not None
        assert self.normals is not None
        for k, (x, n) in enumerate(zip(self.points, self.normals, strict=True)):
            row = np.concatenate([np.cross(x, n), n])
            if any(np.abs(row @ s).max(initial=0.0) > LIFTED * max(1.0, float(np.linalg.norm(x))) for s in S):
                raise ModelError(
                    f"{self!r}: the joint's own motion leads point {k} off its surface; normals must be across all slips"
                )

    # --- the law --------------------------------------------------------------------------------------------------------------
    kind: str
    origin: np.ndarray
    closes: bool
    P: np.ndarray
    limit: np.ndarray
    pressed_groups: tuple[int, ...]
    given: tuple[str, ...]

    @property
    def groups(self) -> tuple[int, ...]:
        return (0,) * self.size

    @property
    def variant(self) -> tuple[Any, ...]:
        return (self.kind, self.pressed_groups, self.size, self.closes)

    def slip(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar) -> Vector:
        E_ba = poses[1].inverse() @ poses[0]
        relative = twists[0] - E_ba.pull_twist(twists[1])
        at_place = np.concatenate([relative[:3], relative[3:] + cross(relative[:3], self.origin)])
        T = TANGENTS[self.kind]({name: getattr(self, name) for name in self.given}, held(at_place))
        return T @ at_place

    def bounds(self) -> tuple[Vector, Vector]:
        """None yet: they follow from what is carried."""
        return np.zeros(self.size), np.zeros(self.size)

    def largest(self, wrench: Vector) -> Vector:
        """The largest force of every row under a wrench on the first body, about its origin in its axes."""
        m, f = wrench[:3], wrench[3:]
        return largest(self.limit, self.P, self.pressed_groups, np.concatenate([m - cross(self.origin, f), f]))


def _freedoms(model: Model, i: int, q: np.ndarray) -> list[np.ndarray]:
    """S of a joint at a configuration, and elsewhere."""
    joint, name = model.bodies[i].joint, model.bodies[i].name
    positions = [q, *(model.random_configuration(seed) for seed in SEEDS)]
    return [np.asarray(joint.motion(q[model.q_index(name)], np.zeros(joint.nv)).tangent.S, float) for q in positions]


def _vectors(owner: object, what: str, x: Any) -> np.ndarray:
    a = np.asarray(x, float)
    if a.ndim != 2 or a.shape[1] != 3 or not len(a):
        raise ModelError(f"{owner!r}: {what} must be vectors of three numbers")
    return numbers(repr(owner), what, a.reshape(-1), a.size).reshape(a.shape)


def _units(owner: object, what: str, x: Any) -> np.ndarray:
    a = _vectors(owner, what, x)
    size = np.linalg.norm(a, axis=1, keepdims=True)
    if not np.all(size > 0.0):
        raise ModelError(f"{owner!r}: {what} must not be zero")
    return a / size
