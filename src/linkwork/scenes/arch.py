"""A round arch of stones, without mortar: it stands by friction alone, or does not."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import whole
from .scene import CONTACT_METHODS, Scene

INNER, OUTER, DEPTH = 1.0, 1.3, 0.4  # m: radii of the arch, and its extent along y
DENSITY = 2400.0  # kg/m^3


def arch(stones: int = 7, friction: float = 0.6) -> tuple[lw.Model, lw.State]:
    """Half a circle in the plane x z, its first and last stone on the ground. All contacts have the same friction."""
    whole("the arch", "stones", stones, 2)
    b, q = lw.ModelBuilder().ground(friction=friction), []
    middles = (np.arange(stones) + 0.5) * np.pi / stones
    for k, angle in enumerate(middles):
        points = stone(np.pi / stones)
        centre = lw.Convex(points, density=DENSITY).com
        shape = lw.Convex(points - centre, density=DENSITY, friction=friction)
        b.body(f"stone{k + 1}", joint=lw.Free(), shapes=[shape])
        half = -0.5 * (angle - 0.5 * np.pi)
        q += [*(lw.SE3.rot_y(2.0 * half) @ centre), np.cos(half), 0.0, np.sin(half), 0.0]
    for i in range(stones):
        for k in range(i + 2, stones):
            b.exclude(f"stone{i + 1}", f"stone{k + 1}")
    model = b.build()
    return model, lw.State(np.array(q), np.zeros(model.nv))


def stone(opening: float) -> np.ndarray:
    """Corners (8, 3) of the stone at the top of the arch, whose sides enclose an angle."""
    sides = np.pi / 2 + 0.5 * opening * np.array([-1.0, 1.0])
    return np.array(
        [(r * np.cos(a), y, r * np.sin(a)) for r in (INNER, OUTER) for a in sides for y in (-0.5 * DEPTH, 0.5 * DEPTH)]
    )


ARCH = Scene("arch", "a round arch of stones that stands by friction", arch, duration=2.0, dt=5e-3, methods=CONTACT_METHODS)
