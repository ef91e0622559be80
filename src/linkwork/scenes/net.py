"""A net of springs and point masses between two arms that it pulls down, with a weight in the middle."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw

from .scene import Scene

ROWS, COLUMNS = 7, 11
WIDTH, LENGTH = 1.2, 2.0  # m, of the net: across and along x
HEIGHT, ARM = 2.0, 0.6  # m: of the hinges, and from there to the net
RADIUS = 0.015  # m, of a node


def net() -> tuple[lw.Model, lw.State]:
    """Arms hinged about y at both sides, held up by joint springs; the first and the last column of the net move with them."""
    b = lw.ModelBuilder()
    outside = 0.5 * LENGTH + ARM
    for name, side in (("left", 1.0), ("right", -1.0)):
        arm = lw.Inertia.cuboid(mass=2.0, size=(ARM, WIDTH, 0.05), com=(0.5 * side * ARM, 0, 0))
        place = lw.SE3(p=(-side * outside, 0, HEIGHT))
        b.body(name, joint=lw.Revolute((0, side, 0)), placement=place, inertia=arm, damping=0.3)
        b.add(lw.JointSpring(name, stiffness=25.0))
    b.add(made := _net())
    model = b.build()
    return model, lw.State(q=made.placed(model), v=np.zeros(model.nv))


def _net() -> lw.MassSpringNet:
    y = np.linspace(-0.5 * WIDTH, 0.5 * WIDTH, ROWS)
    attached: dict[Any, Any] = {(i, 0): ("left", (ARM, y[i], 0)) for i in range(ROWS)}
    attached |= {(i, -1): ("right", (-ARM, y[i], 0)) for i in range(ROWS)}
    mass = np.full(ROWS * COLUMNS, 0.01)
    mass[ROWS * COLUMNS // 2] = 0.5
    return lw.MassSpringNet(
        "net",
        (-0.5 * LENGTH, -0.5 * WIDTH, HEIGHT),
        (LENGTH, 0, 0),
        (0, WIDTH, 0),
        shape=(ROWS, COLUMNS),
        mass=mass,
        stiffness=30.0,
        damping=0.02,
        attached=attached,
        radius=RADIUS,
    )


NET = Scene("net", "a net of springs between two arms, with a weight in its middle", net, duration=3.0, dt=1e-3)
