"""A hand with padded fingers that holds a capsule."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import CONTACT_METHODS, Scene

RADIUS, LENGTH = 0.03, 0.12  # m, of the capsule
BONE, PAD = 0.07, (0.008, 0.02, 0.03)  # m: length of a finger's bone, size of its pad
ACROSS = (-0.04, 0.0, 0.04)  # m: where fingers stand along y; the thumb stands in the middle


def grasp(friction: float = 0.8, squeeze: float = 0.12) -> tuple[lw.Model, lw.State]:
    """Three fingers and a thumb hang from a palm that is fixed, two bones each, and press with flat pads on a capsule that lies
    between them along y. `squeeze` (rad) is how far the drives of the fingers would go on without it."""
    b = lw.ModelBuilder()
    b.body("capsule", joint=lw.Free(), shapes=[lw.Capsule(RADIUS, LENGTH, lw.SE3.rot_x(np.pi / 2), mass=0.3, friction=friction)])
    bone = lw.Box((0.012, 0.012, BONE), lw.SE3(p=(0, 0, -0.5 * BONE)), mass=0.05, group=0, mask=0)  # pads alone touch
    q = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    for name, side, y in [("thumb", -1.0, 0.0), *((f"finger{k + 1}", 1.0, y) for k, y in enumerate(ACROSS))]:
        at = lw.SE3(p=(side * (RADIUS + 0.5 * PAD[0] + BONE * np.sin(0.5)), y, BONE * (1.0 + np.cos(0.5))))
        pad = lw.Box(PAD, lw.SE3(p=(0, 0, -BONE)), mass=0.005, friction=friction)
        b.body(f"{name}_base", parent="world", joint=lw.Revolute((0, 1, 0)), placement=at, shapes=[bone], armature=2e-4)
        b.body(
            f"{name}_tip",
            parent=f"{name}_base",
            joint=lw.Revolute((0, 1, 0)),
            placement=lw.SE3(p=(0, 0, -BONE)),
            shapes=[bone, pad],
            armature=2e-4,
        )
        b.add(lw.PDController(f"{name}_base", kp=20.0, kd=0.2, target=side * (0.5 + squeeze)))
        b.add(lw.PDController(f"{name}_tip", kp=20.0, kd=0.2, target=-side * 0.5))
        q += [side * 0.5, -side * 0.5]
    high = BONE * (1.0 + np.cos(0.5))
    b.scenery(lw.Box((0.13, 0.11, 0.02), lw.SE3(p=(0, 0, high + 0.01)), color=(0.4, 0.43, 0.48)))  # the palm
    model = b.build()
    return model, lw.State(np.array(q), np.zeros(model.nv))


GRASP = Scene("grasp", "padded fingers hold a capsule", grasp, duration=2.0, dt=2e-3, methods=CONTACT_METHODS)
