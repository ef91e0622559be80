"""A four-bar linkage whose four pins rub under what they carry."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .loop import BASE, COUPLER, CRANK, HEIGHT, HINGE, ROCKER, START, closed
from .scene import CONTACT_METHODS, Scene

PIN = 0.03  # m, the radius of every pin


def pins(friction: float = 0.3) -> tuple[lw.Model, lw.State]:
    """The linkage of the scene `loop`, with friction in its hinges and in the pin that closes it: it comes to rest."""
    b = lw.ModelBuilder()
    parent, placement = "world", lw.SE3(p=(0, 0, HEIGHT))
    for name, length in (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER)):
        bar = lw.Box((length, 0.06, 0.06), lw.SE3(p=(length / 2, 0, 0)), mass=2.0 * length, group=0, mask=0)
        b.body(name, parent=parent, joint=lw.Revolute(HINGE), placement=placement, shapes=[bar])
        b.add(lw.JointFriction(name, friction, radius=PIN))
        parent, placement = name, lw.SE3(p=(length, 0, 0))
    closing = lw.Loop("rocker", "world", point_a=(ROCKER, 0, 0), point_b=(BASE, 0, HEIGHT))
    b.add(closing).add(lw.JointFriction(closing, friction, radius=PIN, axis=HINGE))
    model = b.build()
    return model, lw.State(q=closed(START), v=np.zeros(model.nv))


PINS = Scene(
    "pins", "a four-bar linkage comes to rest by friction in its pins", pins, duration=6.0, dt=2e-3, methods=CONTACT_METHODS
)
