"""A chain that swings and curls with two coordinates, however many links it has: hyper-reduced coordinates."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import Scene

LENGTH = 0.2  # m, of a link
HINGE = (0.0, 1.0, 0.0)


def hyper_chain(links: int = 20) -> tuple[lw.HyperReduced, lw.State]:
    """The first hinge turns by r[0], all others by r[1]; springs in the hinges uncurl the chain. It starts level and curled."""
    if isinstance(links, bool) or not isinstance(links, int) or links < 2:
        raise lw.InputError(f"the hyper-reduced chain needs a whole number of links, at least 2, not {links!r}")
    b = lw.ModelBuilder()
    link = lw.Inertia.cuboid(mass=0.2, size=(LENGTH, 0.05, 0.05), com=(LENGTH / 2, 0, 0))
    parent, placement = "world", lw.SE3(p=(0, 0, (links + 1) * LENGTH))
    for k in range(links):
        name = f"link{k + 1}"
        b.body(name, parent=parent, joint=lw.Revolute(HINGE), placement=placement, inertia=link)
        if k:
            b.add(lw.JointSpring(name, stiffness=60.0))
        parent, placement = name, lw.SE3(p=(LENGTH, 0, 0))
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
