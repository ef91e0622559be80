"""A chain of tori, each hooked into the one before: TC10 and TC20 of [Si & Guenter, Table 1 and Fig. 1]."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import whole
from .scene import Scene

RING, TUBE = 0.1, 0.02  # m
MASS = 0.2  # kg
INNER = np.pi  # where a torus faces its own hole


def torus() -> lw.Torus:
    """A link of the chain; others pass through it but for the one that it hangs on."""
    return lw.Torus(RING, TUBE, mass=MASS, group=0, mask=0)


def hooked() -> lw.SurfaceSurface:
    """Two tori that touch, their tubes across each other: four coordinates, along and round each tube."""
    return lw.SurfaceSurface(torus(), torus(), angle=np.pi / 2)


def torus_chain(links: int = 10) -> tuple[lw.Model, lw.State]:
    """The first torus rests on a point of the world with two coordinates, each further one on the torus before with four.

    Coordinates of a pair: where it is along the tube of the upper torus, round that tube, and the same of the lower one. The
    chain starts aside and turned, every torus a little farther than the one before.
    """
    whole("the torus chain", "links", links)
    b = lw.ModelBuilder()
    height = lw.SE3(p=(0, 0, 2 * (RING - TUBE) * (links + 1))) @ lw.SE3.rot_x(np.pi)  # normals of the first torus point down
    b.body("torus1", joint=lw.SurfacePoint((0, 0, 0), torus()), placement=height, shapes=[torus()])
    for k in range(1, links):
        b.body(f"torus{k + 1}", parent=f"torus{k}", joint=hooked(), shapes=[torus()])
    model = b.build()
    pair = np.array([np.pi + 0.25, INNER + 0.15, 0.1, INNER + 0.1])
    q = np.concatenate([[0.3, INNER + 0.2], *([pair] * (links - 1))])
    return model, lw.State(q, np.zeros(model.nv))


TORUS_CHAIN = Scene(
    "torus_chain", "tori hooked into each other, joints of surface on surface (option: links)", torus_chain, duration=3.0, dt=1e-3
)
