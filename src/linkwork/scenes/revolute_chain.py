"""A chain of links on hinges that point in turn along two axes: RC20, RC50 and RC100 of [Si & Guenter, Table 1]."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import whole
from .scene import Scene

LENGTH, THICK = 0.2, 0.05  # m


def revolute_chain(links: int = 20) -> tuple[lw.Model, lw.State]:
    """Links along x, hinged about y and z in turn; the chain starts straight and falls."""
    whole("the revolute chain", "links", links)
    rod = lw.Inertia.cuboid(mass=1.0, size=(LENGTH, THICK, THICK), com=(LENGTH / 2, 0, 0))
    b = lw.ModelBuilder()
    parent, placement = "world", lw.SE3(p=(0, 0, links * LENGTH))
    for k in range(links):
        axis = (0.0, 1.0, 0.0) if k % 2 == 0 else (0.0, 0.0, 1.0)
        b.body(f"link{k + 1}", parent=parent, joint=lw.Revolute(axis), placement=placement, inertia=rod)
        parent, placement = f"link{k + 1}", lw.SE3(p=(LENGTH, 0, 0))
    model = b.build()
    return model, lw.State(model.neutral(), np.zeros(model.nv))


REVOLUTE_CHAIN = Scene(
    "revolute_chain", "a chain on hinges along two axes in turn falls (option: links)", revolute_chain, duration=3.0, dt=1e-3
)
