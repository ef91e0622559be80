"""Drives that follow a target."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..joints import Joint
from ..model.model import Body
from ..spatial.gate import numbers, reals, size_of
from ..spatial.scalar import Scalar, Vector, clip, stack
from .joint import JointForce
from .joint_springs import position, spring_force


class PDController(JointForce):
    """A drive kp (target - q) + kd (target_v - v), limited to +-effort, velocity by velocity.

    Its inputs are the target's coordinates (nq) and velocities (nv). The first term is that of a `JointSpring` whose rest is the
    target: for joints that turn on a group, minus the gradient of sum kp_i d_i^2 / 2 with d = log(Q_target^-1 Q).

    kp, kd   a number, or one for each of the joint's nv velocities
    target   coordinates until the inputs say otherwise; the neutral position by default
    effort   the largest force, or one for each velocity; none by default

    >>> led = model.add(lw.PDController("upper", kp=100.0, kd=10.0, target=0.5))
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("kp", "kd", "effort")

    def __init__(self, joint: str, kp: Any, kd: Any = 0.0, target: Any = None, *, effort: Any = np.inf, name: str = "") -> None:
        owner = self.on(joint, name)
        self.kp, self.kd, self.target, self.effort = kp, kd, target, effort
        for what, x in (("kp", kp), ("kd", kd)):
            numbers(owner, what, x, max(1, size_of(x)), 0.0, spread=True)
        _efforts(owner, effort, max(1, size_of(effort)))

    def given_coordinates(self) -> list[tuple[str, str, Any]]:
        """The joint and its target."""
        return [] if self.target is None else [(self.joint, "target", self.target)]

    def fitted(self, body: Body) -> Any:
        owner, joint = repr(self), body.joint
        gains = {what: numbers(owner, what, getattr(self, what), joint.nv, 0.0, spread=True) for what in ("kp", "kd")}
        target = position(owner, "target", self.target, joint)
        effort = _efforts(owner, self.effort, joint.nv)
        return self.bound({**gains, "effort": effort, "target": target, "inputs": joint.nq + joint.nv})

    def initial_inputs(self) -> np.ndarray:
        return np.concatenate([self.target, np.zeros(self.inputs - len(self.target))])

    def force(self, joint: Joint, q: Vector, v: Vector, t: Scalar, u: Vector) -> Vector:
        wanted = spring_force(joint, self.kp, u[: joint.nq], q) + self.kd * (u[joint.nq :] - v)
        return stack(*(clip(f, -e, e) for f, e in zip(wanted, self.effort, strict=True)))


def _efforts(owner: str, x: Any, size: int) -> np.ndarray:
    """Forces above zero, infinite ones too."""
    try:
        a = np.broadcast_to(reals(x), (size,)).copy()
    except (TypeError, ValueError):
        raise ModelError(f"{owner}: effort must be a number or {size}, not {x!r}") from None
    if not np.all(a > 0.0):
        raise ModelError(f"{owner}: effort must be above 0, not {x!r}")
    return a
