"""Prescribed motion: a joint or a body that moves as a function of time says, whatever it takes [Sueda, 2.9]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError, ModelError
from ..model.model import Model
from ..model.state import Rows
from ..spatial.se3 import SE3, Ad
from .direct import Direct, DirectConstraint, Situation, joint_rows, plain_joint

JointMotion = Callable[[float], tuple[Any, Any, Any]]
BodyMotion = Callable[[float], tuple[Any, Any, Any, Any]]


class PrescribedJoint(DirectConstraint):
    """q = q_p(t) for all coordinates of a joint.

    joint    name of the joint (or of its body)
    motion   t -> (q, its first and second time derivative), numbers or one per coordinate
    """

    def __init__(self, joint: str, motion: JointMotion) -> None:
        self.joint, self.motion = joint, motion
        if not callable(motion):
            raise ModelError(f"{self!r}: motion must be a function of time, not {type(motion).__name__}")

    def check(self, model: Any) -> None:
        plain_joint(model, self, self.joint)

    def count(self, model: Model) -> int:
        span = model.v_index(self.joint)
        return span.stop - span.start

    def asked(self, t: float, size: int) -> np.ndarray:
        """Position, rate and acceleration (3, size) at a time."""
        wanted = np.array([np.broadcast_to(np.asarray(x, float), (size,)) for x in self.motion(t)])
        if wanted.shape != (3, size) or not np.all(np.isfinite(wanted)):
            raise InputError(f"{self!r}: motion must return three finite values of {size} at t = {t:g}")
        return wanted

    def at(self, model: Model, now: Situation) -> Direct:
        q, span = now.q[model.q_index(self.joint)], model.v_index(self.joint)
        position, rate, acceleration = self.asked(now.time(self), len(q))
        return Direct(joint_rows(np.arange(span.start, span.stop)), q - position, now.v[span] - rate, -acceleration, rate)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.joint!r})"


class PrescribedTwist(DirectConstraint):
    """Some components of the twist of a frame on a body: its angular velocity in its own axes, its origin's velocity in the
    world's. Positions are not part of it: what is prescribed need not be the rate of anything.

    body     name of the body
    motion   t -> (omega, v_world, their time derivatives), three numbers each
    rows     which of the six components (angular, linear; axes of the frame) are prescribed, 0 to 5
    frame    pose of the frame in the body
    """

    holonomic: ClassVar[bool] = False

    def __init__(self, body: str, motion: BodyMotion, rows: Sequence[int] = range(6), frame: SE3 | None = None) -> None:
        self.body, self.motion, self.rows = body, motion, np.array(rows, int)
        self.frame = SE3() if frame is None else frame
        if not callable(motion):
            raise ModelError(f"{self!r}: motion must be a function of time, not {type(motion).__name__}")
        if (
            self.rows.ndim != 1
            or not len(self.rows)
            or len(set(self.rows)) < len(self.rows)
            or not set(self.rows) <= set(range(6))
        ):
            raise ModelError(f"{self!r}: rows must be different numbers from 0 to 5, not {rows!r}")

    def check(self, model: Any) -> None:
        if self.body not in {b.name for b in model.bodies}:
            raise ModelError(f"{self!r}: there is no body {self.body!r}")

    def count(self, model: Model) -> int:
        return len(self.rows)

    def asked(self, t: float, R: np.ndarray, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The prescribed twist and the rates of its components, for a frame with rotation R that turns with omega."""
        w, v, w_dot, v_dot = (np.asarray(x, float) for x in self.motion(t))
        v_body = R.T @ v
        phi = np.concatenate([w, v_body])
        return phi, np.concatenate([w_dot, R.T @ v_dot - np.cross(omega, v_body)])

    def at(self, model: Model, now: Situation) -> Direct:
        i, k = model.body_index(self.body), len(self.rows)
        G = np.asarray(Ad(self.frame.inverse()), float)[self.rows]
        phi = np.asarray(self.frame.pull_twist(now.twists[i]), float)
        wanted, wanted_dot = self.asked(now.time(self), now.poses[i, :3, :3] @ np.asarray(self.frame.R, float), phi[:3])
        rows = Rows(k, np.arange(k), np.full(k, i), G)
        given = wanted[self.rows]
        return Direct(rows, np.zeros(k), phi[self.rows] - given, -wanted_dot[self.rows], given)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.body!r}, rows={self.rows.tolist()})"
