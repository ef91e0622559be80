"""A chain that swings and curls with two coordinates, however many links it has: hyper-reduced coordinates."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import chain_of, whole
from .scene import Scene

LENGTH = 0.2  # m, of a link
HINGE = (0.0, 1.0, 0.0)


def hyper_chain(links: int = 20) -> tuple[lw.HyperReduced, lw.State]:
    """The first hinge turns by r[0], all others by r[1]; springs in the hinges uncurl the chain. It starts level and curled."""
    whole("the hyper-reduced chain", "links", links, 2)
    link = lw.Inertia.cuboid(mass=0.2, size=(LENGTH, 0.05, 0.05), com=(LENGTH / 2, 0, 0))
    b = chain_of(links, lw.Revolute(HINGE), link, (0, 0, (links + 1) * LENGTH), (LENGTH, 0, 0))
    for k in range(1, links):
        b.add(lw.JointSpring(f"link{k + 1}", stiffness=60.0))
    model = b.build()
    chain = lw.HyperReduced(model, lambda r: [r[0]] + [r[1]] * (links - 1), nr=2)
    return chain, lw.State(q=np.array([0.0, -0.2]), v=np.zeros(2))


HYPER_CHAIN = Scene(
    "hyper_chain",
    "a chain that swings and curls with two coordinates in all (option: links)",
    hyper_chain,
    duration=5.0,
    dt=2e-3,
    methods=("reduced", "redmax"),
)
