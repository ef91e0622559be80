"""Loop closures by a joint: two frames on two bodies move against each other as the joint allows.

With E_ab the pose of frame b in frame a, a joint with transform Q(q) is closed where E_ab = Q(q) for some q. Rows stand in frame
a, and G^T lam acts on the body of frame b (on that of a the opposite): a row of the position carries a force along an axis of
frame a, a row of the orientation a moment about one.

Nine kinds have conditions on points and directions alone. Directions of frame a are u, v, w (w along the joint's axis; x, y, z
where it has none or lies along z), of frame b likewise; d leads from the origin of a to that of b:

    point        d = 0, along x, y, z of a                    parallel    -v_a . w_b = u_a . w_b = 0: turns about u, v
    line, plane  d . u_a = d . v_a = 0, or d . w_a = 0        oriented    w_a . v_b = u_a . w_b = v_a . u_b = 0: about u, v, w

All other joints have their coordinates q as unknowns: with the error e of E_ab Q(q)^-1 (turn, shift; frame a), and the motion
subspace S(q) moved to frame a,

    S^T e = 0  determines q,      T^T e = 0  are the rows,      T = complement(S), orthonormal, (moment, force) in frame a.

S and T are held while these are differentiated: their derivatives meet e and e_dot only, which vanish where the loop is closed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..joints import (
    Composite,
    Cylindrical,
    Fixed,
    Free,
    Free2D,
    FreeExp,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    SphericalEuler,
    SphericalExp,
    Translational,
    Universal,
)
from ..joints.complement import complement
from ..joints.derived_transform import derived_transform
from ..joints.fit import coordinates_at
from ..model.model import WORLD
from ..spatial.dual import held
from ..spatial.scalar import Scalar, Vector, dot, stack
from ..spatial.se3 import SE3, Ad, rigid_parts
from .constraint import Constraint

Direction = Callable[[int], Vector]


def _along(d: Vector, a: Direction, axes: Sequence[int]) -> list[Scalar]:
    return [dot(d, a(k)) for k in axes]


def _parallel(a: Direction, b: Direction) -> list[Scalar]:
    """The third axes."""
    return [-dot(a(1), b(2)), dot(a(0), b(2))]


def _oriented(a: Direction, b: Direction) -> list[Scalar]:
    """All axes are parallel."""
    return [dot(a(2), b(1)), dot(a(0), b(2)), dot(a(1), b(0))]


# For every kind of joint the axes of its position (None: x, y, z of frame a), and its conditions on directions.
Turns = Callable[[Direction, Direction], list[Scalar]]
CONDITIONS: dict[type[Joint], tuple[tuple[int, ...] | None, Turns]] = {
    Fixed: (None, _oriented),
    Revolute: (None, _parallel),
    Prismatic: ((0, 1), _oriented),
    Cylindrical: ((0, 1), _parallel),
    Spherical: (None, lambda a, b: []),
    SphericalExp: (None, lambda a, b: []),
    SphericalEuler: (None, lambda a, b: []),
    Universal: (None, lambda a, b: [-dot(a(0), b(1))]),
    Planar: ((2,), _oriented),
    Free2D: ((2,), _parallel),
    Translational: ((), _oriented),
}


class Closure(Constraint):
    """A loop closed by a joint between a frame on one body and a frame on another.

    joint              any that holds something
    body_a, body_b     names of the bodies; either may be "world"
    frame_a, frame_b   poses of the frames in their bodies; they coincide at the joint's zero

    Rows that other joints of the loop imply already need not be removed: redundant rows share their force. Rows and
    multipliers stand in frame a, as said above.

    >>> pin = lw.Closure(lw.Revolute((0, 1, 0)), "lower", "world", lw.SE3(p=(1, 0, 0)), lw.SE3(p=(1.5, 0, 0)))
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("R_a", "p_a", "R_b", "p_b", "turn")

    def __init__(
        self,
        joint: Joint,
        body_a: str,
        body_b: str = WORLD,
        frame_a: SE3 | None = None,
        frame_b: SE3 | None = None,
        *,
        name: str = "",
    ) -> None:
        self.called(name)
        if not isinstance(joint, Joint) or joint.nv > 5:
            raise ModelError(f"Closure: {joint!r} cannot close a loop; it must be a joint that leaves less than six freedoms")
        self.joint, self.bodies, self.size = joint, (body_a, body_b), 6 - joint.nv
        self.R_a, self.p_a = rigid_parts(f"Closure({body_a!r}, {body_b!r})", "frame_a", frame_a)
        self.R_b, self.p_b = rigid_parts(f"Closure({body_a!r}, {body_b!r})", "frame_b", frame_b)
        self.direct = type(joint) in CONDITIONS
        self.pair = joint if self.direct else added(joint)
        self.unknowns = 0 if self.direct else joint.nv
        self.turn = axis_frame(getattr(joint, "axis", None)) if self.direct else np.eye(3)

    @property
    def groups(self) -> tuple[int, ...]:
        if not self.direct:
            return tuple(range(self.size))
        axes, _ = CONDITIONS[type(self.joint)]
        places = 3 if axes is None else len(axes)
        return (0,) * places + (1,) * (self.size - places)

    @property
    def variant(self) -> tuple[Any, ...]:
        return ("direct", type(self.joint).__name__) if self.direct else ("fitted", self.pair.signature)

    def parameters(self) -> dict[str, Any]:
        own = {} if self.direct else {f"joint_{name}": x for name, x in self.pair.parameters().items()}
        return super().parameters() | own

    def bound(self, values: dict[str, Any]) -> Any:
        own = {name: x for name, x in values.items() if not name.startswith("joint_")}
        numbers = {name.removeprefix("joint_"): x for name, x in values.items() if name.startswith("joint_")}
        return super().bound(own | ({"pair": self.pair.bound(numbers)} if numbers else {}))

    def _frames(self, poses: Sequence[SE3]) -> tuple[SE3, SE3]:
        """Both frames in the world."""
        return poses[0] @ SE3(R=self.R_a, p=self.p_a), poses[1] @ SE3(R=self.R_b, p=self.p_b)

    def gap(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Vector:
        A, B = self._frames(poses)
        if self.direct:
            return self._directions(A, B)
        return complement(self._subspace(u)).T @ self._error(A.inverse() @ B, u)

    def conditions(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Vector:
        A, B = self._frames(poses)
        return self._subspace(u).T @ self._error(A.inverse() @ B, u)

    def guess(self, poses: Sequence[np.ndarray]) -> np.ndarray:
        A, B = self._frames([SE3(R=E[:3, :3], p=E[:3, 3]) for E in poses])
        return coordinates_at(self.pair, (A.inverse() @ B).collapsed())

    def _error(self, E_ab: SE3, q: Vector) -> Vector:
        """The turn and the shift that are left at coordinates q, in frame a."""
        X = (E_ab @ derived_transform(self.pair, q).inverse()).collapsed()
        turn = stack(X.R[2, 1] - X.R[1, 2], X.R[0, 2] - X.R[2, 0], X.R[1, 0] - X.R[0, 1])
        return np.concatenate([0.5 * turn, X.p])

    def _subspace(self, q: Vector) -> np.ndarray:
        """The joint's subspace in frame a, without its derivatives."""
        moving = self.pair.motion(held(q), np.zeros(self.pair.nv))
        return Ad(moving.with_tangent(None)) @ moving.tangent.S

    def _directions(self, A: SE3, B: SE3) -> Vector:
        axes, turns = CONDITIONS[type(self.joint)]

        def a(k: int) -> Vector:
            return A.rotate(self.turn[:, k])

        def b(k: int) -> Vector:
            return B.rotate(self.turn[:, k])

        d = B.p - A.p
        return stack(*(list(A.unrotate(d)) if axes is None else _along(d, a, axes)), *turns(a, b))

    def __repr__(self) -> str:
        return f"Closure({self.joint!r}, {self.bodies[0]!r}, {self.bodies[1]!r})"


def axis_frame(axis: Any) -> np.ndarray:
    """A turn whose third axis is the one given; a cyclic change of x, y, z where it is one of these."""
    if axis is None:
        return np.eye(3)
    w = np.asarray(axis, float)
    k = int(np.argmax(np.abs(w)))
    u = np.cross(np.eye(3)[(k + 2) % 3], w)
    u = u / np.linalg.norm(u)
    return np.stack([u, np.cross(w, u), w], axis=1)


def added(joint: Joint) -> Joint:
    """A joint of the same poses whose coordinates add: quaternions and Euler angles are replaced by rotation vectors."""
    if isinstance(joint, (Spherical, SphericalEuler)):
        return SphericalExp()
    if isinstance(joint, Free):
        return FreeExp()
    if isinstance(joint, Composite):
        return Composite(added(joint.first), added(joint.second), joint.between)
    if joint.nq != joint.nv:
        raise ModelError(f"Closure: {joint!r} cannot close a loop, as its velocities are not the rates of its coordinates")
    return joint
