"""Handles: a body is pulled toward a target that moves at run time, and the pull can be felt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from ..model.kinematics import kinematics
from ..model.model import Model
from ..model.state import MaximalState, State
from ..spatial.gate import ORIGIN, number, point, semidefinite
from ..spatial.scalar import Scalar, Vector, dot
from ..spatial.se3 import SE3, rigid_parts
from .bushing import pose_energy, pose_wrench
from .force import Force, point_velocity, push_at

TWIST = slice(12, 18)


class Handle(Force):
    """A point x of a body is pulled to a target y: force k (y - x) + d (y_dot - x_dot), energy k |y - x|^2 / 2.

    Its six inputs are y and y_dot in world axes; `toward` makes them, `reaction` is what the hand at the target feels.

    target               y until the inputs say otherwise
    point                of the body, in its axes
    stiffness, damping   k (N/m) and d (N s/m)

    >>> held = model.add(lw.Handle("lower", (1, 0, 0), target=(1, 0, 0.5), stiffness=200.0, damping=10.0))
    """

    inputs = 6
    parameter_names: ClassVar[tuple[str, ...]] = ("point", "stiffness", "damping")

    def __init__(
        self, body: str, point: Any = ORIGIN, *, target: Any, stiffness: float, damping: float = 0.0, name: str = ""
    ) -> None:
        owner = self.between(body, name=name)
        self.point, self.target = _point(owner, "point", point), _point(owner, "target", target)
        self.stiffness, self.damping = number(owner, "stiffness", stiffness, 0.0), number(owner, "damping", damping, 0.0)

    def initial_inputs(self) -> np.ndarray:
        return self.toward(self.target)

    def toward(self, target: Any, velocity: Any = ORIGIN) -> np.ndarray:
        """The inputs of a target and its velocity, in world axes."""
        return np.concatenate([_point(repr(self), "target", target), _point(repr(self), "velocity", velocity)])

    def potential(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Scalar:
        d = poses[0] @ self.point - u[:3]
        return 0.5 * self.stiffness * dot(d, d)

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        return [push_at(self.point, poses[0].unrotate(self._pull(poses[0], twists[0], u)))]

    def _pull(self, E: SE3, phi: Vector, u: Vector) -> Vector:
        x_dot = E.rotate(point_velocity(phi, self.point))
        return self.stiffness * (u[:3] - E @ self.point) + self.damping * (u[3:] - x_dot)

    def reaction(self, model: Model, state: State | MaximalState, u: Any = None) -> np.ndarray:
        """The force on the hand (3,), in world axes, at a state and under the handle's own inputs u."""
        return -np.asarray(self._pull(*_body_at(self, model, state), _inputs(self, u)), float)


class Grip(Force):
    """A hand that takes hold of any point of a body, and lets go of it: as a `Handle`, with all its numbers as inputs.

    Its eleven inputs are the point x in the body's axes, the target y and y_dot in world axes, stiffness k and damping d.
    `holding` makes them; zeros, which it begins with, let go.

    >>> grip = lw.Grip("lower", name="hand")
    >>> u = grip.holding((1, 0, 0), target=(1, 0, 0.5), stiffness=200.0, damping=10.0)
    """

    inputs = 11

    def __init__(self, body: str, *, name: str = "") -> None:
        self.between(body, name=name)

    def holding(self, point: Any, target: Any, velocity: Any = ORIGIN, *, stiffness: float, damping: float = 0.0) -> np.ndarray:
        """The inputs of a hand that holds a point of the body and is at a target, which moves with a velocity."""
        owner = repr(self)
        places = [_point(owner, what, x) for what, x in (("point", point), ("target", target), ("velocity", velocity))]
        firm = [number(owner, what, x, 0.0) for what, x in (("stiffness", stiffness), ("damping", damping))]
        return np.concatenate([*places, firm])

    def potential(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Scalar:
        d = poses[0] @ u[:3] - u[3:6]
        return 0.5 * u[9] * dot(d, d)

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        return [push_at(u[:3], poses[0].unrotate(self._pull(poses[0], twists[0], u)))]

    def _pull(self, E: SE3, phi: Vector, u: Vector) -> Vector:
        x_dot = E.rotate(point_velocity(phi, u[:3]))
        return u[9] * (u[3:6] - E @ u[:3]) + u[10] * (u[6:9] - x_dot)

    def reaction(self, model: Model, state: State | MaximalState, u: Any) -> np.ndarray:
        """The force on the hand (3,), in world axes, at a state and under the grip's own inputs u."""
        return -np.asarray(self._pull(*_body_at(self, model, state), _inputs(self, u)), float)


class PoseHandle(Force):
    """A frame b of a body is pulled to a target frame a as by a `Bushing`: energy xi^T K xi / 2, and -D times the relative twist.

    Its eighteen inputs are the target's R row by row, p, and twist (angular, linear; in its own axes); `toward` makes them,
    `reaction` is what the hand at the target feels.

    target               its pose in the world until the inputs say otherwise
    frame                of the body, its pose in it; the body's own by default
    stiffness, damping   K and D: a number, six (angular, linear) or a symmetric 6x6 matrix without negative eigenvalues

    >>> led = model.add(lw.PoseHandle("lower", target=lw.SE3(p=(1, 0, 0.5)), stiffness=[10, 10, 10, 200, 200, 200]))
    """

    inputs = 18
    parameter_names: ClassVar[tuple[str, ...]] = ("frame_R", "frame_p", "K", "D")

    def __init__(
        self, body: str, frame: SE3 | None = None, *, target: SE3, stiffness: Any, damping: Any = 0.0, name: str = ""
    ) -> None:
        owner = self.between(body, name=name)
        self.frame_R, self.frame_p = rigid_parts(owner, "frame", frame)
        self.K, self.D = semidefinite(owner, "stiffness", stiffness), semidefinite(owner, "damping", damping)
        self.target = SE3(*rigid_parts(owner, "target", target))

    def initial_inputs(self) -> np.ndarray:
        return self.toward(self.target)

    def toward(self, target: SE3, twist: Any = (0.0,) * 6) -> np.ndarray:
        """The inputs of a target and its twist (angular, linear) in its own axes."""
        R, p = rigid_parts(repr(self), "target", target)
        phi = np.asarray(twist, float)
        if phi.shape != (6,):
            raise InputError(f"{self!r}: a twist has six numbers, not shape {phi.shape}")
        return np.concatenate([R.reshape(-1), p, phi])

    def _wrench(self, E: SE3, phi: Vector, u: Vector) -> tuple[SE3, SE3, Vector]:
        """The body's frame, its pose in the target, and the wrench on it."""
        F = SE3(R=self.frame_R, p=self.frame_p)
        E_ab = _target(u).inverse() @ E @ F
        return F, E_ab, pose_wrench(E_ab, u[TWIST], F.pull_twist(phi), self.K, self.D)

    def potential(self, poses: Sequence[SE3], t: Scalar, u: Vector) -> Scalar:
        return pose_energy(_target(u).inverse() @ poses[0] @ SE3(R=self.frame_R, p=self.frame_p), self.K)

    def wrenches(self, poses: Sequence[SE3], twists: Sequence[Vector], t: Scalar, u: Vector) -> Sequence[Vector]:
        F, _, wrench = self._wrench(poses[0], twists[0], u)
        return [F.move_wrench(wrench)]

    def reaction(self, model: Model, state: State | MaximalState, u: Any = None) -> np.ndarray:
        """The wrench on the hand (6,), about the target's origin in its axes, at a state and under the handle's own inputs u."""
        _, E_ab, wrench = self._wrench(*_body_at(self, model, state), _inputs(self, u))
        return -np.asarray(E_ab.move_wrench(wrench), float)


_point = point  # the constructor's argument has the same name


def _target(u: Vector) -> SE3:
    return SE3(R=u[:9].reshape(3, 3), p=u[9:12])


def _inputs(force: Force, u: Any) -> np.ndarray:
    given = force.initial_inputs() if u is None else np.asarray(u, float)
    if given.shape != (force.inputs,):
        raise InputError(f"{force!r}: its inputs have shape {given.shape}; expected ({force.inputs},)")
    return given


def _body_at(force: Force, model: Model, state: State | MaximalState) -> tuple[SE3, np.ndarray]:
    """Pose and twist of the handle's body at one state."""
    at = kinematics(model, state.q, state.v) if isinstance(state, State) else state
    i = model.body_index(force.bodies[0])
    if np.ndim(at.twists) != 2:
        raise InputError(f"{force!r}: the reaction is that of one state, not of a batch")
    E = at.poses[i]
    return SE3(R=E[:3, :3], p=E[:3, 3]), at.twists[i]
