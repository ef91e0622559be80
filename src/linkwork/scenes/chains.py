"""Two chains that swing into each other."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import whole
from .scene import CONTACT_METHODS, Scene

LENGTH, RADIUS = 0.2, 0.03  # m, of a link
APART = 0.9  # m, between the points from which they hang
LIFTED = 1.0  # rad


def chains(links: int = 5, friction: float = 0.4) -> tuple[lw.Model, lw.State]:
    """Round links on ball joints, hung side by side along x, lifted to both sides and let go; they also swing along y."""
    whole("each chain", "links", links)
    b, q = lw.ModelBuilder(), []
    link = lw.Capsule(RADIUS, LENGTH - 2.0 * RADIUS, lw.SE3(p=(0, 0, -0.5 * LENGTH)), density=1000.0, friction=friction)
    for name, side in (("left", -1.0), ("right", 1.0)):
        parent, placement = "world", lw.SE3(p=(0.5 * side * APART, 0.0, links * LENGTH + 0.3))
        for k in range(links):
            b.body(f"{name}{k + 1}", parent=parent, joint=lw.Spherical(), placement=placement, shapes=[link])
            parent, placement = f"{name}{k + 1}", lw.SE3(p=(0.0, 0.0, -LENGTH))
        half = -0.5 * side * LIFTED
        q += [np.cos(half), 0.0, np.sin(half), 0.0, *[1.0, 0.0, 0.0, 0.0] * (links - 1)]
    model = b.build()
    v = np.zeros(model.nv)
    v[0] = 0.6
    return model, lw.State(np.array(q), v)


CHAINS = Scene(
    "chains", "two chains of round links swing into each other", chains, duration=3.0, dt=2e-3, methods=CONTACT_METHODS
)
