"""A shoulder blade that glides on the rib cage, an ellipsoid: a joint of a point on a surface, pulled by three muscles."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw

from .scene import Scene

THORAX = (0.14, 0.11, 0.20)  # m, half axes: to the side, to the back, up
HEIGHT = 1.3  # m, of its middle
REST = np.array([0.9, 0.45, 0.0])  # rad: round the thorax from the side towards the back, up, and turned about the normal
TISSUE = np.array([15.0, 15.0, 4.0])  # N m/rad: what holds the blade in its place
TIMES = (0.0, 0.4, 1.2, 2.0, 3.0)  # s
MUSCLES: dict[str, tuple[Any, Any, float, float, float, tuple[float, ...]]] = {
    # on the thorax, on the blade (m), N, optimal length, tendon (m), activation at the times
    "trapezius": ((0.0, 0.09, 0.26), (0.05, 0.05, 0.02), 900.0, 0.085, 0.015, (0.05, 0.05, 0.7, 0.7, 0.05)),
    "rhomboid": ((0.0, 0.115, 0.08), (-0.05, -0.05, 0.01), 400.0, 0.12, 0.02, (0.05, 0.05, 0.05, 0.3, 0.3)),
    "serratus": ((0.12, -0.06, -0.02), (-0.05, -0.08, 0.0), 700.0, 0.12, 0.02, (0.05, 0.05, 0.6, 0.6, 0.05)),
}


def scapula() -> tuple[lw.Model, lw.State]:
    """Two coordinates on the ellipsoid and one about its normal; x of the blade is level at rest, y up, z outward."""
    b = lw.ModelBuilder()
    ribs = lw.Ellipsoid(THORAX, mass=20.0, group=0, mask=0)
    plate = lw.Box((0.11, 0.15, 0.012), lw.SE3(p=(0, 0, 0.006)), mass=0.8, group=0, mask=0)
    arm = lw.Sphere(0.03, (0.06, 0.05, 0.02), mass=1.5, group=0, mask=0)  # part of the weight of the arm, at the socket
    b.body("thorax", joint=lw.Fixed(), placement=lw.SE3(p=(0, 0, HEIGHT)), shapes=[ribs])
    b.body("scapula", parent="thorax", joint=lw.SurfacePoint(ribs, turning="spin"), shapes=[plate, arm], damping=0.3)
    b.add(lw.JointSpring("scapula", stiffness=TISSUE, rest=REST))
    for name, (origin, end, force, fibre, tendon, activation) in MUSCLES.items():
        path = [("thorax", origin), ("scapula", end)]
        b.add(lw.Muscle(path, force, fibre, tendon, activation=lw.Schedule(TIMES, activation), name=name))
    model = b.build()
    return model, lw.State(REST.copy(), np.zeros(model.nv))


SCAPULA = Scene("scapula", "a shoulder blade glides on an ellipsoid, pulled by three muscles", scapula, duration=3.0, dt=1e-3)
