"""A shoulder whose ball glides in its socket as the arm is raised: a joint of three coordinates with a coupled translation."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw

from .scene import Scene

HEIGHT = 1.4  # m, of the socket
UPPER_ARM = 0.3  # m
RISE, FORWARD = 0.012, 0.006  # m: how far the ball rises when the arm points away, and goes forward when it does
TIMES = (0.0, 0.3, 1.2, 2.0, 3.0)  # s
HEAD = 0.024  # m, radius
MUSCLES: dict[str, tuple[Any, Any, float, float, float, tuple[float, ...]]] = {
    # on the shoulder blade, on the arm (m), N, optimal length, tendon (m), activation at the times
    "deltoid": ((0.0, 0.035, 0.035), (0.0, 0.015, -0.13), 1100.0, 0.12, 0.05, (0.05, 0.05, 0.55, 0.55, 0.1)),
    "pectoralis": ((0.10, -0.10, -0.02), (0.012, 0.0, -0.06), 700.0, 0.13, 0.03, (0.02, 0.02, 0.02, 0.25, 0.05)),
    "latissimus": ((-0.08, -0.12, -0.2), (-0.010, -0.005, -0.05), 500.0, 0.2, 0.03, (0.02, 0.02, 0.02, 0.02, 0.05)),
}


def gliding(q: Any, rise: Any, forward: Any) -> lw.SE3:
    """Turn about x to the side, about y to the front, about z along the arm; the ball moves with the direction of the arm.

    The arm hangs along -z. It points away from the body by 1 - cos(side) cos(front) of its length.
    """
    away = 1.0 - np.cos(q[0]) * np.cos(q[1])
    shift = lw.SE3(p=(-forward * np.sin(q[1]), 0.0, rise * away))
    return shift @ lw.SE3.rot_x(q[0]) @ lw.SE3.rot_y(q[1]) @ lw.SE3.rot_z(q[2])


def shoulder() -> tuple[lw.Model, lw.State]:
    """The arm hangs beside a shoulder blade that is still; x is forward, y to the side, z up."""
    lock = np.pi / 2 - 0.05  # where the turns about x and z would be one
    joint = lw.joint(
        gliding,
        3,
        "shoulder",
        parameters={"rise": RISE, "forward": FORWARD},
        domain=[(-np.pi, np.pi), (-lock, lock), (-np.pi, np.pi)],
    )
    b = lw.ModelBuilder()
    blade = lw.Box((0.02, 0.05, 0.1), lw.SE3(p=(-0.01, -0.05, -0.02)), mass=1.0, group=0, mask=0)
    bone = lw.Capsule(0.03, UPPER_ARM, lw.SE3(p=(0, 0, -UPPER_ARM / 2)), mass=2.2, group=0, mask=0)
    ball = lw.Sphere(HEAD, group=0, mask=0)
    b.body("scapula", joint=lw.Fixed(), placement=lw.SE3(p=(0, 0, HEIGHT)), shapes=[blade])
    b.body("humerus", parent="scapula", joint=joint, shapes=[bone, ball], damping=0.3)
    for name, (origin, end, force, fibre, tendon, activation) in MUSCLES.items():
        path = [("scapula", origin), ("humerus", end)]
        b.add(lw.Muscle(path, force, fibre, tendon, activation=lw.Schedule(TIMES, activation), name=name))
    model = b.build()
    return model, lw.State(np.array([0.1, 0.0, 0.0]), np.zeros(model.nv))


SHOULDER = Scene("shoulder", "a shoulder whose ball glides as muscles raise the arm", shoulder, duration=3.0, dt=1e-3)
