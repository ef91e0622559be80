"""A bead that slides down a helix: a joint made from nothing but its transform."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import Scene

RADIUS = 0.5  # m
DESCENT = 0.1  # m per radian
HEIGHT = 2.0  # m, of the start


def helix() -> tuple[lw.Model, lw.State]:
    """Turn about z, then go out by the radius and down with the angle; the subspace and its rate are derived."""
    slide = lw.joint(lambda q: lw.SE3.rot_z(q[0]) @ lw.SE3(p=(RADIUS, 0, -DESCENT * q[0])), nv=1, name="helix")
    b = lw.ModelBuilder()
    bead = lw.Inertia.cuboid(mass=1.0, size=(0.12, 0.24, 0.08))
    b.body("bead", joint=slide, placement=lw.SE3(p=(0, 0, HEIGHT)), inertia=bead)
    model = b.build()
    return model, lw.State(q=model.neutral(), v=np.zeros(model.nv))


HELIX = Scene("helix", "a bead sliding down a helix, a custom joint given by its transform", helix, duration=3.0, dt=1e-3)
