"""A humanoid that falls as a ragdoll."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw

from .scene import CONTACT_METHODS, Scene

DENSITY = 1000.0  # kg/m^3
SIDES = (("left", 1.0), ("right", -1.0))


def ragdoll(height: float = 0.3, friction: float = 0.7) -> tuple[lw.Model, lw.State]:
    """14 bones of round shapes on ball joints, hinges at knees and elbows; its feet start `height` (m) above the ground.

    Damping of the joints stands for what flesh takes. It begins to fall forward, along x, and to turn.
    """
    b = lw.ModelBuilder().ground(friction=friction)
    made = _Bones(b, friction)
    made.bone("pelvis", "world", lw.Free(), (0, 0, 0), 0.11, (0, 0.16, 0))
    made.bone("chest", "pelvis", lw.Spherical(), (0, 0, 0.12), 0.12, (0, 0.16, 0), middle=(0, 0, 0.18))
    made.bone("head", "chest", lw.Spherical(), (0, 0, 0.33), 0.1, (0, 0, 0.04), middle=(0, 0, 0.12))
    for name, y in SIDES:
        made.bone(f"{name} arm", "chest", lw.Spherical(), (0, 0.22 * y, 0.25), 0.045, (0, 0, -0.24))
        made.bone(f"{name} forearm", f"{name} arm", lw.Revolute((0, 1, 0)), (0, 0, -0.28), 0.04, (0, 0, -0.22), (-2.3, 0.0))
        made.bone(f"{name} hand", f"{name} forearm", lw.Spherical(), (0, 0, -0.25), 0.045, (0, 0, -0.06))
        made.bone(f"{name} thigh", "pelvis", lw.Spherical(), (0, 0.1 * y, -0.06), 0.07, (0, 0, -0.34))
        made.bone(f"{name} shank", f"{name} thigh", lw.Revolute((0, 1, 0)), (0, 0, -0.41), 0.05, (0, 0, -0.34), (0.0, 2.4))
        made.bone(f"{name} foot", f"{name} shank", lw.Spherical(), (0, 0, -0.4), 0.04, (0.16, 0, 0), middle=(0.05, 0, -0.02))
    for name, _ in SIDES:
        b.exclude("chest", f"{name} thigh")
        b.exclude("pelvis", f"{name} arm")
    b.exclude("left thigh", "right thigh")
    model = b.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[2] = height + 0.93
    v[:6] = (0.3, 1.0, 0.4, 0.5, 0.0, 0.0)
    return model, lw.State(q, v)


class _Bones:
    """Adds bones as capsules with damped joints."""

    def __init__(self, b: lw.ModelBuilder, friction: float) -> None:
        self._b, self._friction = b, friction

    def bone(
        self,
        name: str,
        parent: str,
        joint: lw.Joint,
        at: tuple[float, float, float],
        radius: float,
        along: tuple[float, float, float],
        limits: tuple[float, float] | None = None,
        *,
        middle: tuple[float, float, float] | None = None,
    ) -> None:
        """A capsule whose axis has the length and direction `along`, from the joint, or about a given middle."""
        axis = np.array(along, float)
        length = float(np.linalg.norm(axis))
        turned = lw.SE3.rot_y(np.pi / 2) if axis[0] else lw.SE3.rot_x(np.pi / 2) if axis[1] else lw.SE3()
        centre = (0.5 * axis if parent != "world" else np.zeros(3)) if middle is None else np.array(middle, float)
        shape = lw.Capsule(radius, length, lw.SE3(p=centre) @ turned, density=DENSITY, friction=self._friction)
        given: dict[str, Any] = {} if limits is None else {"limits": limits}
        self._b.body(name, parent=parent, joint=joint, placement=lw.SE3(p=np.array(at)), shapes=[shape], **given)
        if parent != "world":
            self._b.add(lw.JointDamping(name, 0.3))


RAGDOLL = Scene("ragdoll", "a humanoid falls as a ragdoll", ragdoll, duration=2.0, dt=2e-3, methods=CONTACT_METHODS)
