"""A four-bar linkage: three hinged links, the last one closed to the world by a constraint."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import Scene

CRANK, COUPLER, ROCKER, BASE = 0.4, 1.2, 0.9, 1.0  # m; the crank can turn fully (Grashof: 0.4 + 1.2 < 0.9 + 1.0)
HEIGHT = 1.0  # m, of both fixed pivots
HINGE = (0.0, 1.0, 0.0)
START = 2.6  # rad, the crank above horizontal


def four_bar() -> tuple[lw.Model, lw.State]:
    """Crank, coupler and rocker in the plane y = 0, at rest with the crank raised."""
    b = lw.ModelBuilder()
    parent, placement = "world", lw.SE3(p=(0, 0, HEIGHT))
    for name, length in (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER)):
        bar = lw.Inertia.cuboid(mass=2.0 * length, size=(length, 0.06, 0.06), com=(length / 2, 0, 0))
        b.body(name, parent=parent, joint=lw.Revolute(HINGE), placement=placement, inertia=bar)
        parent, placement = name, lw.SE3(p=(length, 0, 0))
    b.add(lw.Loop("rocker", "world", point_a=(ROCKER, 0, 0), point_b=(BASE, 0, HEIGHT)))
    model = b.build()
    return model, lw.State(q=closed(START), v=np.zeros(model.nv))


def closed(angle: float) -> np.ndarray:
    """Joint angles (3,) that close the loop, for the crank at an angle above horizontal.

    The pin between coupler and rocker is where two circles meet: by the law of cosines in the triangle of coupler, rocker and
    the line from the crank's end to the fixed pivot. Angles are measured upwards; a hinge about y turns downwards.
    """
    end = CRANK * np.array([np.cos(angle), np.sin(angle)])
    x, z = np.array([BASE, 0.0]) - end
    span = np.hypot(x, z)
    inner = np.arccos((COUPLER**2 + span**2 - ROCKER**2) / (2 * COUPLER * span))
    coupler = np.arctan2(z, x) + inner
    pin = end + COUPLER * np.array([np.cos(coupler), np.sin(coupler)])
    rocker = np.arctan2(-pin[1], BASE - pin[0])
    return -np.array([angle, coupler - angle, rocker - coupler])


LOOP = Scene("loop", "a four-bar linkage closed by a loop constraint, falling from rest", four_bar, duration=2.0, dt=2e-3)
