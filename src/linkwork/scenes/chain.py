"""A hanging chain of up to 100000 links, pushed sideways: Figure 4 of [Hernandez et al. 2011]."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import chain_of, whole
from .scene import Scene

LENGTH = 0.1  # m, of a link
PUSH = 1.0  # m/s, at the free end


def chain(links: int = 100, joint: str = "ball") -> tuple[lw.Model, lw.State]:
    """A straight chain that hangs from a point; its parts move sideways, the faster the lower they are.

    joint   "ball" or "hinge" (about y)
    """
    kinds = {"ball": lw.Spherical(), "hinge": lw.Revolute((0, 1, 0))}
    if joint not in kinds:
        raise lw.InputError(f"the joints of a chain are {' or '.join(kinds)}, not {joint!r}")
    whole("the chain", "links", links)
    link = lw.Inertia.cuboid(mass=LENGTH, size=(LENGTH / 5, LENGTH / 5, LENGTH), com=(0, 0, -LENGTH / 2))  # 1 kg/m
    model = chain_of(links, kinds[joint], link, (0, 0, (links + 0.2) * LENGTH), (0, 0, -LENGTH)).build()
    v = np.zeros(model.nv)
    v[model.v_index("link1")] = PUSH / (links * LENGTH) * (np.array([0.0, 1.0, 0.3]) if joint == "ball" else 1.0)
    return model, lw.State(q=model.neutral(), v=v)


CHAIN = Scene(
    "chain",
    "a hanging chain, pushed sideways (options: links, joint)",
    chain,
    duration=5.0,
    dt=1 / 60,
    methods=("maximal-implicit",),
)
