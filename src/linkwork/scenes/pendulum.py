"""A chain of equal links hung from one end and let go when horizontal."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import chain_of, whole
from .scene import Scene

LENGTH = 1.0  # m, of a link
HINGE = (0.0, 1.0, 0.0)


def pendulum(links: int = 3) -> tuple[lw.Model, lw.State]:
    """Links along x, hinged about y; the chain hangs high enough to clear z = 0."""
    whole("the pendulum", "links", links)
    link = lw.Inertia.cuboid(mass=1.0, size=(LENGTH, 0.1, 0.1), com=(LENGTH / 2, 0, 0))
    model = chain_of(links, lw.Revolute(HINGE), link, (0, 0, (links + 0.2) * LENGTH), (LENGTH, 0, 0)).build()
    return model, lw.State(q=model.neutral(), v=np.zeros(model.nv))


PENDULUM = Scene("pendulum", "a chain pendulum released from horizontal (option: links)", pendulum, duration=5.0, dt=1e-3)
