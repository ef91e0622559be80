"""The four links of Liu and Jain's Figure 1: a universal joint, a ball joint, two hinges."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import Scene


def tutorial() -> tuple[lw.Model, lw.State]:
    """Link 1 hangs on a universal joint, link 2 on a ball joint (exponential coordinates), links 3 and 4 on hinges of link 2."""
    b = lw.ModelBuilder()
    down = lw.SE3(p=(0, 0, -0.5))
    upper = lw.Inertia.cuboid(mass=2.0, size=(0.12, 0.1, 0.5), com=(0, 0, -0.25))
    middle = lw.Inertia.cuboid(mass=3.0, size=(0.4, 0.1, 0.5), com=(0, 0.01, -0.25))
    arm = lw.Inertia.cuboid(mass=1.0, size=(0.08, 0.06, 0.4), com=(0.01, 0, -0.2))
    b.body("link1", joint=lw.Universal(), placement=lw.SE3(p=(0, 0, 2)), inertia=upper)
    b.body("link2", parent="link1", joint=lw.SphericalExp(), placement=down, inertia=middle)
    b.body("link3", parent="link2", joint=lw.Revolute((0, 1, 0)), placement=lw.SE3(p=(-0.2, 0, -0.5)), inertia=arm)
    b.body("link4", parent="link2", joint=lw.Revolute((1, 0, 0)), placement=lw.SE3(p=(0.2, 0, -0.5)), inertia=arm)
    model = b.build()
    return model, lw.State(q=np.array([0.4, 0.3, 0.2, -0.5, 0.3, 0.8, -0.6]), v=np.array([0.5, -1.0, 0.3, 0.8, -0.4, 1.5, -2.0]))


TUTORIAL = Scene("tutorial", "the four links of Liu and Jain's tutorial: universal, ball and two hinges", tutorial, 4.0, 1e-3)
