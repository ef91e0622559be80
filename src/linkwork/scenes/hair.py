"""A strand of hair: many short links with stiff joints, from the scalp sideways, falling under its weight."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .links import chain_of, whole
from .scene import Scene

LENGTH, RADIUS, DENSITY = 0.2, 0.5e-3, 1300.0  # m, m, kg/m^3: a lock rather than a single hair
YOUNG = 2e7  # Pa; bending stiffness of a joint is E I / (length of a link)
DAMPED = 0.02  # s


def hair(links: int = 60) -> tuple[lw.Model, lw.State]:
    """A straight lock along x with a ball joint between its links, clamped at the scalp by the stiffness of the first."""
    whole("the lock", "links", links)
    step, area = LENGTH / links, np.pi * RADIUS**2
    k = YOUNG * np.pi * RADIUS**4 / 4 / step
    link = lw.Inertia.cuboid(mass=DENSITY * area * step, size=(step, 2 * RADIUS, 2 * RADIUS), com=(step / 2, 0, 0))
    lock = lw.Capsule(0.0025, step, lw.SE3(p=(step / 2, 0, 0)) @ lw.SE3.rot_y(np.pi / 2), color=(0.36, 0.2, 0.1))
    b = chain_of(links, lw.Spherical(), link, (0, 0, 1.2 * LENGTH), (step, 0, 0), [lock])
    b.scenery(lw.Sphere(0.05, (-0.05, 0, 1.2 * LENGTH), color=(0.87, 0.7, 0.6)))
    for i in range(links):
        b.add(lw.JointSpring(f"link{i + 1}", stiffness=k, damping=DAMPED * k))
    model = b.build()
    return model, lw.State(q=model.neutral(), v=np.zeros(model.nv))


HAIR = Scene(
    "hair",
    "a lock of hair with stiff joints falls from horizontal (option: links)",
    hair,
    duration=2.0,
    dt=1 / 120,
    methods=("maximal-implicit",),
)
