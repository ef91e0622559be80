"""Dominoes that topple one another."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import whole
from .scene import CONTACT_METHODS, Scene

SIZE = (0.012, 0.05, 0.1)  # m
DISTANCE = 0.05  # m, from one to the next
PUSH = 3.0  # rad/s of the first, about its lower front edge


def dominoes(count: int = 8, friction: float = 0.3) -> tuple[lw.Model, lw.State]:
    """A row along x; the first one begins to topple over its front edge."""
    whole("the row", "dominoes", count)
    b, q = lw.ModelBuilder().ground(friction=0.6), []
    for k in range(count):
        b.body(f"domino{k + 1}", joint=lw.Free(), shapes=[lw.Box(SIZE, density=1200.0, friction=friction)])
        q += [DISTANCE * k, 0.0, 0.5 * SIZE[2], 1.0, 0.0, 0.0, 0.0]
        for other in range(k - 2):
            b.exclude(f"domino{k + 1}", f"domino{other + 1}")  # too far apart
    model = b.build()
    v = np.zeros(model.nv)
    v[1], v[3], v[5] = PUSH, 0.5 * PUSH * SIZE[2], 0.5 * PUSH * SIZE[0]
    return model, lw.State(np.array(q), v)


DOMINOES = Scene("dominoes", "dominoes topple one another", dominoes, duration=1.5, dt=2e-3, methods=CONTACT_METHODS)
