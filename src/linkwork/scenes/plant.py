"""A plant: branches fork again and again, joints as stiff as the branches are thick, in gusts of wind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import linkwork as lw

from ..forces.custom import force
from .links import whole
from .scene import Scene

TRUNK, THINNER, SHORTER = 0.5, 0.72, 0.8  # m; thickness and length from one generation to the next
RADIUS, DENSITY, YOUNG = 0.02, 700.0, 4e8  # m, kg/m^3, Pa
LEAN, FORK = 0.45, 2.4  # rad: how far branches lean away, and the turn about the stem from one to the next
DAMPED = 0.02  # s
WIND = 2.0  # N on a branch of the thickness of the stem


def plant(generations: int = 6) -> tuple[lw.Model, lw.State]:
    """A stem from the ground; every branch bears two, leaning to either side.

    generations   of branches: 2^generations - 1 bodies
    """
    whole("the plant", "generations", generations)
    b = lw.ModelBuilder()
    tips: list[tuple[str, float]] = [("world", 0.0)]
    for g in range(generations):
        radius, length = RADIUS * THINNER**g, TRUNK * SHORTER**g
        k = YOUNG * np.pi * radius**4 / 4 / length
        size = (2 * radius, 2 * radius, length)
        branch = lw.Inertia.cuboid(mass=DENSITY * np.pi * radius**2 * length, size=size, com=(0, 0, length / 2))
        grown = []
        for parent, above in tips:
            for side in (1.0,) if g == 0 else (1.0, -1.0):
                name = f"branch{g}_{len(grown) + 1}"
                placement = lw.SE3(p=(0, 0, above)) @ lw.SE3.rot_z(FORK) @ lw.SE3.rot_x(side * LEAN if g else 0.0)
                b.body(name, parent=parent, joint=lw.Spherical(), placement=placement, inertia=branch)
                b.add(lw.JointSpring(name, stiffness=k, damping=DAMPED * k))
                wind = {"length": length, "strength": WIND * radius / RADIUS}
                b.add(force(name, wrenches=gust, parameters=wind))
                grown.append((name, length))
        tips = grown
    model = b.build()
    return model, lw.State(q=model.neutral(), v=np.zeros(model.nv))


def gust(E: Sequence[lw.SE3], phi: Any, t: Any, length: Any, strength: Any) -> list[Any]:
    """A push along x at the end of a branch that comes and goes, later where x is larger."""
    tip = E[0].R[:, 2] * length
    push = strength * np.sin(1.7 * t - 0.5 * E[0].p[0]) ** 2
    f = E[0].unrotate(np.array([push, 0.0, 0.0]))
    return [np.concatenate([lw.math.cross(E[0].unrotate(tip), f), f])]


PLANT = Scene(
    "plant",
    "a plant of stiff branches in the wind (option: generations)",
    plant,
    duration=4.0,
    dt=1 / 60,
    methods=("maximal-implicit",),
)
