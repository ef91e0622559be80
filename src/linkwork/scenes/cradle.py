"""Newton's cradle: balls in a row that hand on an impact."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import whole
from .scene import Scene

RADIUS, LENGTH, GAP = 0.025, 0.3, 2e-4  # m: of a ball, of its string, and between two balls


def cradle(balls: int = 5, raised: int = 1, restitution: float = 1.0) -> tuple[lw.Model, lw.State]:
    """Balls on strings that swing in the plane x z; the first ones are raised by half a radian.

    Between balls is a gap, through which an impact takes longer than a step: it goes from ball to ball. Of balls that touch,
    Newton's law alone does not tell who takes it.
    """
    whole("the cradle", "balls", balls)
    whole("the cradle", "raised balls", raised)
    b = lw.ModelBuilder()
    for k in range(balls):
        ball = lw.Sphere(RADIUS, center=(0.0, 0.0, -LENGTH), mass=0.1, restitution=restitution)
        string = lw.Cylinder(0.001, LENGTH, lw.SE3(p=(0.0, 0.0, -0.5 * LENGTH)), group=0, mask=0)
        hangs = lw.SE3(p=((2.0 * RADIUS + GAP) * k, 0.0, 0.5))
        b.body(f"ball{k + 1}", joint=lw.Revolute((0, 1, 0)), placement=hangs, shapes=[string, ball])
    model = b.build()
    q = np.where(np.arange(balls) < raised, 0.5, 0.0)
    return model, lw.State(q, np.zeros(balls))


CRADLE = Scene("cradle", "Newton's cradle: the last ball leaves as the first one came", cradle, duration=3.0, dt=1e-4)
