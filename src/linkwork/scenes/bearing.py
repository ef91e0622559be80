"""A bearing: a flywheel on the end of a shaft spins down, as its journals rub under its weight."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import CONTACT_METHODS, Scene

MASS, RADIUS, WIDTH = 8.0, 0.2, 0.03  # kg, m: of the flywheel
JOURNAL, SPAN, OVERHANG = 0.015, 0.12, 0.16  # m: radius of the journals, their distance, and how far out the flywheel sits
HEIGHT = 0.4  # m


def bearing(spin: float = 15.0, friction: float = 0.15) -> tuple[lw.Model, lw.State]:
    """A shaft along y in two journals, with a flywheel beyond them, which spins (rad/s).

    Weight W at a distance d from the middle presses the journals, l apart, by W |1/2 + d/l| and W |1/2 - d/l|: the torque is
    mu r W times their sum, and the spin lasts I w / torque.
    """
    b = lw.ModelBuilder()
    wheel = lw.Cylinder(RADIUS, WIDTH, lw.SE3.rot_x(np.pi / 2) @ lw.SE3(p=(0, 0, -OVERHANG)), mass=MASS, group=0, mask=0)
    shaft = lw.Cylinder(JOURNAL, SPAN + OVERHANG, lw.SE3(p=(0, 0.5 * OVERHANG, 0)) @ lw.SE3.rot_x(np.pi / 2), mass=1e-3, group=0)
    spoke = lw.Box((1.8 * RADIUS, 1.1 * WIDTH, 0.02), lw.SE3(p=(0, OVERHANG, 0)), mass=1e-3, group=0, mask=0)
    b.body("wheel", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(0, 0, HEIGHT)), shapes=[wheel, shaft, spoke])
    for y in (-0.5 * SPAN, 0.5 * SPAN):
        b.world(lw.Box((0.05, 0.02, HEIGHT), lw.SE3(p=(0, y, 0.5 * HEIGHT)), group=0, mask=0))
    model = b.add(lw.JointFriction("wheel", friction, radius=JOURNAL, length=SPAN)).build()
    return model, lw.State(np.zeros(1), np.array([spin]))


BEARING = Scene("bearing", "a flywheel spins down in its bearing", bearing, duration=6.0, dt=2e-3, methods=CONTACT_METHODS)
