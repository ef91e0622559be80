"""Spheres and boxes that fall onto one another."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import whole
from .scene import Scene

BALL, BRICK = 0.06, (0.1, 0.12, 0.08)  # m: a radius, and edges
DENSITY = 500.0  # kg/m^3
APART, ABOVE = 0.17, 0.14  # m: between neighbours, and between layers
SIDE = 3  # bodies along a side of a layer


def pile(count: int = 100, friction: float = 0.6, seed: int = 11) -> tuple[lw.Model, lw.State]:
    """Boxes and spheres by turns, in layers that are not quite straight, some millimetres above the ground."""
    whole("the pile", "count", count)
    rng, b, q = np.random.default_rng(seed), lw.ModelBuilder().ground(friction=friction), []
    for k in range(count):
        kind = lw.Sphere(BALL, density=DENSITY, friction=friction) if k % 2 else lw.Box(BRICK, density=DENSITY, friction=friction)
        b.body(f"body{k + 1}", joint=lw.Free(), shapes=[kind])
        layer, place = divmod(k, SIDE * SIDE)
        shift = rng.uniform(-0.01, 0.01, 2)
        q += [APART * (place % SIDE) + shift[0], APART * (place // SIDE) + shift[1], 0.07 + ABOVE * layer, 1.0, 0.0, 0.0, 0.0]
    model = b.build()
    return model, lw.State(np.array(q), np.zeros(model.nv))


PILE = Scene("pile", "a hundred spheres and boxes fall onto one another", pile, duration=1.0, dt=2e-3, methods=("reduced",))
