"""A structure of rods that slides down a slope, after the articulated objects with contacts of [Baraff 1996]."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import CONTACT_METHODS, Scene

LEG, FOOT, SPREAD = 0.6, 0.05, 0.6  # m: length of a leg, radius of its foot; rad: how far legs stand out


def slide(slope: float = 20.0, friction: float = 0.2) -> tuple[lw.Model, lw.State]:
    """A tripod on a slope (degrees): legs on ball joints below a hub, feet tied to each other by rods, whose loops are closed by
    constraints. It stands where friction is above tan(slope)."""
    angle = np.radians(slope)
    b = lw.ModelBuilder().world(lw.Plane((0, 0, 0), (np.sin(angle), 0, np.cos(angle)), friction=friction))
    b.body("hub", joint=lw.Free(), shapes=[lw.Sphere(0.08, mass=1.0)])
    leg = lw.Cylinder(0.02, LEG, lw.SE3(p=(0, 0, -0.5 * LEG)), mass=0.5, group=0, mask=0)  # touches nothing
    out, tie = LEG * np.sin(SPREAD), LEG * np.sin(SPREAD) * np.sqrt(3.0)
    directions = 2.0 * np.pi / 3.0 * np.arange(3)
    for k, a in enumerate(directions):
        lean = lw.SE3.rot_z(a) @ lw.SE3.rot_y(-SPREAD)
        foot = lw.Sphere(FOOT, center=(0, 0, -LEG), mass=0.1, friction=friction)
        b.body(f"leg{k + 1}", parent="hub", joint=lw.Spherical(), placement=lean, shapes=[leg, foot])
    rod = lw.Box((tie, 0.02, 0.02), lw.SE3(p=(0.5 * tie, 0, 0)), mass=0.2, group=0, mask=0)
    feet = [np.array([out * np.cos(a), out * np.sin(a), -LEG * np.cos(SPREAD)]) for a in directions]
    for k in range(3):
        lean = lw.SE3.rot_z(directions[k]) @ lw.SE3.rot_y(-SPREAD)
        to = feet[(k + 1) % 3] - feet[k]
        turn = lean.inverse() @ lw.SE3.rot_z(np.arctan2(to[1], to[0]))
        at = lw.SE3(R=turn.R, p=(0, 0, -LEG))
        b.body(f"tie{k + 1}", parent=f"leg{k + 1}", joint=lw.Universal(), placement=at, shapes=[rod])
        b.add(lw.Loop(f"tie{k + 1}", f"leg{(k + 1) % 3 + 1}", (tie, 0, 0), (0, 0, -LEG)))
    model = b.build()
    q = model.neutral()
    up = FOOT + LEG * np.cos(SPREAD)
    q[:7] = [up * np.sin(angle), 0.0, up * np.cos(angle), np.cos(0.5 * angle), 0.0, np.sin(0.5 * angle), 0.0]
    return model, lw.State(q, np.zeros(model.nv))


SLIDE = Scene("slide", "a tripod of rods slides down a slope", slide, duration=1.5, dt=2e-3, methods=CONTACT_METHODS)
