"""Boxes on top of one another."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import whole
from .scene import CONTACT_METHODS, Scene

SIZE = (0.2, 0.2, 0.1)  # m


def stack(boxes: int = 10, gap: float = 0.005, friction: float = 0.6) -> tuple[lw.Model, lw.State]:
    """Boxes of 1 kg above the ground, each `gap` (m) above the one below; with none they stand, else they fall to a stack."""
    whole("the stack", "boxes", boxes)
    b, q = lw.ModelBuilder().ground(friction=friction), []
    for k in range(boxes):
        b.body(f"box{k}", joint=lw.Free(), shapes=[lw.Box(SIZE, mass=1.0, friction=friction)])
        q += [0.0, 0.0, SIZE[2] * (k + 0.5) + gap * (k + 1), 1.0, 0.0, 0.0, 0.0]
    model = b.build()
    return model, lw.State(np.array(q), np.zeros(model.nv))


STACK = Scene("stack", "boxes fall onto one another and stand", stack, duration=2.0, dt=5e-3, methods=CONTACT_METHODS)
