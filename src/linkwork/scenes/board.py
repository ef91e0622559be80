"""A board with a rider that slides on a Bezier surface of 25 points, always tangent to it [Si & Guenter, Fig. 4]."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import Scene
from .scenery import sheet

SIZE = 2.4  # m, of the surface
BOARD = (0.5, 0.16, 0.03)  # m
LEG, ARM = 0.3, 0.22  # m


def bowl() -> lw.ParametricSurface:
    """A bowl with a bump: five by five points."""
    x = np.linspace(-SIZE / 2, SIZE / 2, 5)
    rim = np.array([1.0, 0.2, 0.0, 0.2, 1.0])
    heights = 0.2 + rim[:, None] + rim[None, :] + 0.25 * np.outer([0, 1, -1, 1, 0], [0, -1, 1, 1, 0])
    return lw.bezier_surface([[(x[i], x[j], heights[i, j]) for j in range(5)] for i in range(5)])


def board() -> tuple[lw.Model, lw.State]:
    """Three coordinates of the board (two on the surface, one about its normal), a post on it that leans, and two arms."""
    surface = bowl()
    b = lw.ModelBuilder()
    b.world(sheet(surface))
    deck = lw.Box(BOARD, lw.SE3(p=(0, 0, BOARD[2] / 2)), mass=3.0, group=0, mask=0)
    post = lw.Capsule(0.05, LEG, lw.SE3(p=(0, 0, LEG / 2)), mass=4.0, group=0, mask=0)
    b.body("board", joint=lw.SurfacePoint(surface, turning="spin"), shapes=[deck])
    top = lw.SE3(p=(0, 0, BOARD[2]))
    b.body("post", parent="board", joint=lw.Universal(), placement=top, shapes=[post])
    b.add(lw.JointSpring("post", stiffness=60.0))
    for side, name in ((1.0, "left"), (-1.0, "right")):
        limb = lw.Capsule(0.03, ARM, lw.SE3(p=(0, 0, -ARM / 2)), mass=0.8, group=0, mask=0)
        shoulder = lw.SE3(p=(0, 0.08 * side, LEG))
        b.body(name, parent="post", joint=lw.Spherical(), placement=shoulder, shapes=[limb])
    model = b.build()
    q = model.neutral()
    q[:3] = (0.2, 0.35, 0.3)
    for side, name in ((1.0, "left"), (-1.0, "right")):
        q[model.q_index(name)] = (np.cos(0.4), np.sin(0.4) * side, 0.0, 0.0)  # arms out
    return model, lw.State(q, np.zeros(model.nv))


BOARD_SCENE = Scene("board", "a board with a rider slides on a Bezier surface", board, duration=4.0, dt=1e-3)
