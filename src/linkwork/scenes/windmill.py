"""A windmill of balls, ellipsoids and tori that roll and slide on each other: WM of [Si & Guenter, Table 1 and Fig. 2]."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import Scene

ARMS, HEIGHT, SPIN = 3, 1.6, 8.0  # m, rad/s
HUB = 0.15  # m
DENSITY = 500.0  # kg/m^3
Solid = lw.Sphere | lw.Ellipsoid | lw.Torus


def arm() -> list[Solid]:
    """Shapes from the hub outward; neighbours are all pairs of the paper."""
    plain = {"density": DENSITY, "group": 0, "mask": 0}
    return [
        lw.Sphere(0.08, **plain),  # sphere on sphere
        lw.Ellipsoid((0.12, 0.07, 0.09), **plain),  # sphere and ellipsoid
        lw.Torus(0.1, 0.03, **plain),  # torus and ellipsoid
        lw.Torus(0.08, 0.03, **plain),  # torus and torus
        lw.Sphere(0.06, **plain),  # sphere and torus
        lw.Ellipsoid((0.09, 0.05, 0.06), **plain),  # sphere and ellipsoid
    ]


def windmill() -> tuple[lw.Model, lw.State]:
    """The hub turns about a level axis, 1 coordinate; each of 18 bodies touches the one before it, 4 coordinates: 73 in all.

    Poles of all surfaces lie along the axis of the hub (z of the bodies), and arms start along x of the bodies, so that they
    swing about the equators.
    """
    b = lw.ModelBuilder()
    hub = lw.Sphere(HUB, density=DENSITY, group=0, mask=0)
    level = lw.SE3(p=(0, 0, HEIGHT)) @ lw.SE3.rot_x(-np.pi / 2)  # z of the hub along y of the world
    b.body("hub", joint=lw.Revolute((0, 0, 1)), placement=level, shapes=[hub])
    q, v = [0.0], [SPIN]
    for k in range(ARMS):
        parent, shape = "hub", hub
        for i, solid in enumerate(arm()):
            name = f"arm{k + 1}.{i + 1}"
            b.body(name, parent=parent, joint=lw.SurfaceSurface(shape, solid), shapes=[solid])
            q += [2.0 * np.pi * k / ARMS if i == 0 else 0.0, 0.03 * (k + 1), np.pi, 0.02]
            v += [0.0] * 4
            parent, shape = name, solid
    return b.build(), lw.State(np.array(q), np.array(v))


WINDMILL = Scene(
    "windmill", "a windmill of balls, ellipsoids and tori that roll and slide on each other", windmill, duration=3.0, dt=5e-4
)
