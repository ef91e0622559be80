"""A structure that assembles itself: six rods become a tetrahedron, pulled together by conditions whose gaps close in time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

import linkwork as lw

from .baraff import pointing
from .scene import Scene

EDGE, WIDTH, DENSITY = 1.0, 0.05, 0.8  # m, m, kg/m
CLOSED = 2.0  # s, after which all gaps are closed
APART, TURNED = 2.2, 0.9  # in the beginning: how much farther from the centre rods are, and by which angle they are turned
TOP = 2.6  # m, of the uppermost corner
TURNING, MOVING = 0.02, 0.2  # N m s/rad and N s/m: damping by the air


def corners() -> np.ndarray:
    """The corners (4, 3) of the finished tetrahedron, the first one on top."""
    angles = 2.0 * np.pi * np.arange(3) / 3.0
    low, wide = EDGE * np.sqrt(2.0 / 3.0), EDGE / np.sqrt(3.0)
    ring = np.column_stack([wide * np.cos(angles), wide * np.sin(angles), np.full(3, TOP - low)])
    return np.concatenate([[[0.0, 0.0, TOP]], ring])


def assembling() -> tuple[lw.Model, lw.State]:
    """Rods for all pairs of corners, free in space; where they should meet, the gap between them is a function of time."""
    b, found = lw.ModelBuilder(), corners()
    rod = lw.Inertia.cuboid(mass=DENSITY * EDGE, size=(EDGE, WIDTH, WIDTH))
    seen = lw.Capsule(0.5 * WIDTH, EDGE - WIDTH, lw.SE3.rot_y(np.pi / 2))
    centre, poses = found.mean(axis=0), {}
    for i, j in combinations(range(4), 2):
        R = np.asarray(lw.SE3.rot_z(TURNED).R, float) @ pointing((found[j] - found[i]) / EDGE)
        poses[i, j] = lw.SE3(R=R, p=centre + APART * (0.5 * (found[i] + found[j]) - centre))
        b.body(_name(i, j), joint=lw.Free(), placement=poses[i, j], inertia=rod, visuals=[seen])
        b.add(lw.BodyDamping(_name(i, j), angular=TURNING, linear=MOVING))
    for corner in range(4):
        rods = [(pair, (-0.5 if pair[0] == corner else 0.5) * EDGE) for pair in poses if corner in pair]
        ends = [poses[pair] @ np.array([x, 0.0, 0.0]) for pair, x in rods]
        for (a, x), (c, y), p, q in zip(rods[:-1], rods[1:], ends[:-1], ends[1:], strict=True):
            given = {"at": x, "other": y, "gap": p - q}
            b.add(lw.constraint([_name(*a), _name(*c)], meeting, parameters=given, name=f"corner {corner}: {_name(*c)}"))
        if corner == 0:
            held = {"at": rods[0][1], "place": found[0], "gap": ends[0] - found[0]}
            b.add(lw.constraint(_name(*rods[0][0]), hanging, parameters=held, name="top"))
    model = b.build()
    return model, lw.State(q=model.neutral(), v=np.zeros(model.nv))


def _name(i: int, j: int) -> str:
    return f"rod{i + 1}{j + 1}"


def left(t: Any) -> Any:
    """How much of a gap is left: from 1 to 0, with a smooth beginning and end."""
    s = lw.math.clip(t / CLOSED, 0.0, 1.0)
    return 1.0 - s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


def end(E: lw.SE3, at: Any) -> Any:
    """Where the point at this place along a rod is."""
    return E.p + E.R[:, 0] * at


def meeting(E: Sequence[lw.SE3], t: Any, at: Any, other: Any, gap: Any) -> Any:
    """Two ends, less the gap that is left."""
    return end(E[0], at) - end(E[1], other) - left(t) * gap


def hanging(E: Sequence[lw.SE3], t: Any, at: Any, place: Any, gap: Any) -> Any:
    """An end and a point of the world, less the gap that is left."""
    return end(E[0], at) - place - left(t) * gap


ASSEMBLING = Scene("assembling", "six rods that join themselves to a hanging tetrahedron", assembling, duration=4.0, dt=2e-3)
