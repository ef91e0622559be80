"""Joints that rub under what they carry: what a user says of them, and a step with it.

Steps are linearly implicit; friction inside joints, loops and contacts is found by `reduced_friction`, or by bilateral staggered
projections (`bisp`), densely, in Python: O(n^3) for every step. `steppers.rubbing` runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..constraints.constraint import Constraint
from ..constraints.rows import ConstraintRows, constraint_set
from ..constraints.targets import CORRECTION
from ..elements.law import RowLaw
from ..elements.ports import BodyPort
from ..errors import InputError, ModelError
from ..joints import Prismatic, Revolute, Spherical, SphericalExp
from ..model.checks import number, numbers
from ..model.model import WORLD, Model
from ..model.state import State
from ..solvers.problem import NORMAL
from ..spatial.se3 import SE3, Ad
from .bearings import Bearing, pin, slide, socket, surfaces
from .bisp import Rubbing, Sliding, StaggeredStep, Stop
from .reduced_friction import ReducedStep
from .system import Dynamics, dynamics

PROJECTIONS: dict[str, type[StaggeredStep]] = {"joints": ReducedStep, "bodies": StaggeredStep}
BALLS = (Spherical, SphericalExp)


class JointFriction:
    """Coulomb friction inside a joint, under the forces that it carries.

    joint      name of a joint (or of its body); or a constraint of the model between two bodies, which closes a loop
    mu         coefficient
    radius     of a pin (revolute) or a ball (spherical), m
    length     of a pin or a guide (prismatic), m: its ends carry what would tilt it; 0: tilting does not press
    points     where surfaces touch, in the axes of the joint (k, 3), with `normals`: for any joint, instead of the above
    axis       of the pin of a loop, in the axes of its first body; None: a ball
    at         where a loop closes on its first body; its own `point_a` if not given
    """

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
    ) -> None:
        self.joint = joint
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
        return f"{type(self).__name__}({self.joint!r})"

    def rubbing(self, now: Dynamics, rows: dict[int, tuple[int, ...]]) -> Rubbing:
        """Its contacts at a state; `rows` of the constraints, by their identity."""
        if isinstance(self.joint, str):
            return self._in_tree(now)
        if id(self.joint) not in rows:
            raise InputError(f"{self!r}: the model has no such constraint")
        a, b = (-1 if name == WORLD else now.model.body_index(name) for name in self.joint.bodies)
        if a < 0:
            raise InputError(f"{self!r}: the first body of a loop that rubs must not be the world")
        place = self.at if self.at is not None else getattr(self.joint, "point_a", None)
        if place is None:
            raise InputError(f"{self!r}: it needs `at`, where the loop closes on its first body")
        moved = np.asarray(Ad(SE3(p=place).inverse()), float)
        bearing = self._pin(self.axis) if self.axis is not None else socket(self._radius(), self._relative(now, a, b)[:3])
        return self._made(bearing, a, b, moved, rows[id(self.joint)])

    def _in_tree(self, now: Dynamics) -> Rubbing:
        model, name = now.model, str(self.joint)
        if name not in model.names:
            raise InputError(f"{self!r}: there is no joint {name!r}")
        i = model.body_index(name)
        joint, parent = model.bodies[i].joint, int(model.parents[i])
        S = now.J[6 * i : 6 * i + 6, model.v_index(model.bodies[i].name)]
        twist = S @ now.state.v[model.v_index(model.bodies[i].name)]
        if self.points is not None and self.normals is not None:
            bearing = surfaces(self.points, self.normals, S, twist)
        elif isinstance(joint, Revolute):
            bearing = self._pin(S[:3, 0] / np.linalg.norm(S[:3, 0]))
        elif isinstance(joint, Prismatic):
            bearing = slide(S[3:, 0] / np.linalg.norm(S[3:, 0]), self.length)
        elif isinstance(joint, BALLS):
            bearing = socket(self._radius(), twist[:3])
        else:
            raise InputError(f"{self!r}: a joint of this kind ({joint!r}) needs points and normals")
        return self._made(bearing, i, parent, np.eye(6), ())

    def _made(self, bearing: Bearing, body: int, other: int, moved: np.ndarray, rows: tuple[int, ...]) -> Rubbing:
        N, groups, T, share = bearing
        return Rubbing(body, other, N @ moved, T @ moved, self.mu * share, rows, groups)

    def _pin(self, axis: np.ndarray) -> Bearing:
        return pin(axis, self._radius(), self.length)

    def _radius(self) -> float:
        if self.radius is None:
            raise InputError(f"{self!r}: it needs the radius of its pin or ball")
        return self.radius

    def _relative(self, now: Dynamics, a: int, b: int) -> np.ndarray:
        """The twist of a body relative to another, in its axes."""
        E, twists = now.motion.poses, now.motion.twists
        if b < 0:
            return twists[a]
        E_ab = SE3(R=E[a][:3, :3], p=E[a][:3, 3]).inverse() @ SE3(R=E[b][:3, :3], p=E[b][:3, 3])
        return twists[a] - np.asarray(Ad(E_ab), float) @ twists[b]


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


# --- a step -------------------------------------------------------------------------------------------------------------------
def friction_step(
    model: Model,
    state: State,
    h: float,
    friction: Sequence[JointFriction],
    tau: Any = None,
    external: Any = None,
    projections: str = "joints",
    stop: Stop | None = None,
) -> StaggeredStep:
    """A step of a model from a state, to be projected.

    Equalities ask for v' as for every stepper; what pushes may close its gap and not cross it (nothing is pushed out).
    """
    if projections not in PROJECTIONS:
        raise InputError(f"there are no projections {projections!r}; choose one of {', '.join(PROJECTIONS)}")
    now, laws = dynamics(model, state, tau, external, t=state.t + h), constraint_set(model)
    if laws.of("bounded").any():
        raise InputError("rows with a largest force (DryFriction) do not go with friction of joints")
    every = laws.look(now.motion.poses, now.motion.twists, state.q, state.v, state.t + h)
    held = ~laws.tangent
    rows, index = every.restricted(held), np.cumsum(held) - 1
    pushing = -np.maximum(rows.residual, 0.0) / h
    target = rows.given + np.where(rows.unilateral, pushing, -CORRECTION / h * np.where(laws.holonomic[held], rows.residual, 0.0))
    places: dict[int, tuple[int, ...]] = {}
    sliding: list[Sliding] = []
    first = 0
    given = sorted(model.elements_of(RowLaw), key=lambda law: not isinstance(law.ports[0], BodyPort))  # as `collection` has them
    for element, law in zip(given, laws.laws, strict=True):
        places[id(element)] = tuple(int(index[k]) for k in range(first, first + law.size) if held[k])
        sliding += _contacts(every, law, first, index, model.nb)
        first += law.size
    rubbing = [f.rubbing(now, places) for f in friction]
    return PROJECTIONS[projections](now, h, rows, target, rubbing, sliding, stop or Stop())


def _contacts(every: ConstraintRows, law: RowLaw, first: int, index: np.ndarray, nb: int) -> list[Sliding]:
    """Friction beside the rows of a contact, along its two tangents: a pyramid."""
    if not law.cones:
        return []
    if law.spins or law.rolls:
        raise InputError(f"{law!r} resists spinning or rolling, which friction inside joints is not solved with")
    rows, T = every.rows, np.zeros((every.rows.count, nb, 6))
    np.add.at(T, (rows.body_row, rows.body_index), rows.body_block)
    T, mu = T.reshape(len(T), -1), float(law.grip()[0])
    normals = [first + k for k, kind in enumerate(law.row_kinds) if kind == NORMAL]
    return [Sliding(int(index[k]), T[k + 1 : k + 3], mu) for k in normals]
