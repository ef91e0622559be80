"""A tippe top: a ball whose centre of mass lies low turns over by the friction of its own slip, and spins on its stem."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import Scene

RADIUS, MASS, LOW = 0.02, 0.01, 0.15  # m, kg, and how low the centre of mass lies, as a part of the radius
STEM, UP = 0.006, 0.0256  # m: radius of the round end of the stem, and its distance from the centre of the ball
LEAN = 0.1  # rad


def tippe_top(spin: float = 250.0, friction: float = 0.2) -> tuple[lw.Model, lw.State]:
    """It spins (rad/s) about the vertical, its axis leans a little, and its centre of mass rests."""
    b = lw.ModelBuilder().ground(friction=friction)
    moment = 0.4 * MASS * RADIUS**2
    inertia = lw.Inertia(MASS, com=(0.0, 0.0, -LOW * RADIUS), tensor=moment * np.eye(3))
    top = [lw.Sphere(RADIUS, friction=friction), lw.Sphere(STEM, center=(0.0, 0.0, UP), friction=friction)]
    b.body("top", joint=lw.Free(), inertia=inertia, shapes=top)
    model = b.build()
    w = spin * np.array([0.0, np.sin(LEAN), np.cos(LEAN)])
    q = [0.0, 0.0, RADIUS, np.cos(0.5 * LEAN), np.sin(0.5 * LEAN), 0.0, 0.0]
    return model, lw.State(np.array(q), np.array([*w, *np.cross(w, -inertia.com)]))


TIPPE_TOP = Scene("tippe_top", "a tippe top turns over while it spins", tippe_top, duration=4.0, dt=5e-4)
