"""A ball thrown onto the floor: a free body and a contact that only pushes."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import Scene

RADIUS = 0.15  # m


def ball() -> tuple[lw.Model, lw.State]:
    """The ball starts 1 m up, moving sideways and spinning about y; the floor is the plane z = 0."""
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.Free(), inertia=lw.Inertia.sphere(mass=0.5, radius=RADIUS))
    b.add(lw.Contact("ball", lw.Sphere(RADIUS), "world", lw.Plane()))
    model = b.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[:3] = (-0.6, 0.0, 1.0)
    v[:] = (0.0, 4.0, 0.0, 1.0, 0.0, 0.0)
    return model, lw.State(q=q, v=v)


BALL = Scene("ball", "a spinning ball dropped on a frictionless floor it does not bounce from", ball, duration=1.5, dt=1e-3)
