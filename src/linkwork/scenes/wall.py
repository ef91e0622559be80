"""A wall of bricks that a ball hits."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import whole
from .scene import CONTACT_METHODS, Scene

BRICK = np.array([0.1, 0.24, 0.1])  # m: the wall stands along y
DENSITY = 1800.0  # kg/m^3
BALL, FAR = 0.08, 0.6  # m: radius, and distance from the wall


def wall(courses: int = 4, speed: float = 8.0, friction: float = 0.6) -> tuple[lw.Model, lw.State]:
    """Courses of two bricks and three by turns, and a ball of 10 kg that flies toward their middle along x."""
    whole("the wall", "courses", courses)
    b, q = lw.ModelBuilder().ground(friction=friction), []
    for course in range(courses):
        count = 3 - course % 2
        for k in range(count):
            b.body(f"brick{course + 1}_{k + 1}", joint=lw.Free(), shapes=[lw.Box(BRICK, density=DENSITY, friction=friction)])
            q += [0.0, BRICK[1] * (k - 0.5 * (count - 1)), BRICK[2] * (course + 0.5), 1.0, 0.0, 0.0, 0.0]
    b.body("ball", joint=lw.Free(), shapes=[lw.Sphere(BALL, mass=10.0, friction=friction)])
    q += [-FAR, 0.02, 0.55 * BRICK[2] * courses, 1.0, 0.0, 0.0, 0.0]
    model = b.build()
    v = np.zeros(model.nv)
    v[-3] = speed
    return model, lw.State(np.array(q), v)


WALL = Scene("wall", "a heavy ball breaks a wall of bricks", wall, duration=1.0, dt=4e-3, methods=CONTACT_METHODS)
