"""A quadruped that lands on its feet and stands."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import CONTACT_METHODS, Scene

BODY, SHANK, FOOT = (0.5, 0.25, 0.12), 0.22, 0.025  # m: trunk, length of thigh and shank, radius of the feet
HIP, KNEE = 0.7, -1.4  # rad: how it stands


def quadruped(height: float = 0.3, friction: float = 0.8) -> tuple[lw.Model, lw.State]:
    """Four legs of three joints (out, hip, knee) held by PD drives; the feet start `height` (m) above the ground."""
    b = lw.ModelBuilder().ground(friction=friction)
    b.body("trunk", joint=lw.Free(), shapes=[lw.Box(BODY, mass=8.0, friction=friction)])
    thigh = lw.Capsule(0.03, SHANK - 0.06, lw.SE3(p=(0, 0, -0.5 * SHANK)), mass=0.8, friction=friction)
    shank = lw.Capsule(0.02, SHANK - 0.04, lw.SE3(p=(0, 0, -0.5 * SHANK)), mass=0.3, friction=friction)
    foot = lw.Sphere(FOOT, center=(0, 0, -SHANK), mass=0.05, friction=friction)
    q = [0.0, 0.0, height + 2.0 * SHANK * np.cos(HIP) + FOOT, 1.0, 0.0, 0.0, 0.0]
    for name, x, y in (("fl", 1, 1), ("fr", 1, -1), ("bl", -1, 1), ("br", -1, -1)):
        at = lw.SE3(p=(0.4 * x * BODY[0], 0.5 * y * BODY[1] + 0.04 * y, 0.0))
        b.body(f"{name}_hip", parent="trunk", joint=lw.Revolute((1, 0, 0)), placement=at, inertia=lw.Inertia.sphere(0.4, 0.04))
        b.body(f"{name}_thigh", parent=f"{name}_hip", joint=lw.Revolute((0, 1, 0)), shapes=[thigh])
        knee = lw.SE3(p=(0, 0, -SHANK))
        b.body(f"{name}_shank", parent=f"{name}_thigh", joint=lw.Revolute((0, 1, 0)), placement=knee, shapes=[shank, foot])
        for joint, angle in (("hip", 0.0), ("thigh", HIP), ("shank", KNEE)):
            b.add(lw.PDController(f"{name}_{joint}", kp=120.0, kd=3.0, target=angle, effort=40.0))
            q.append(angle)
        b.exclude("trunk", f"{name}_thigh")
    model = b.build()
    return model, lw.State(np.array(q), np.zeros(model.nv))


QUADRUPED = Scene("quadruped", "a quadruped lands and stands under PD", quadruped, duration=2.0, dt=2e-3, methods=CONTACT_METHODS)
