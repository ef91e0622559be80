"""A leg that stands up from a squat: six muscles on shank, thigh and trunk, driven by activations given over time."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import Scene

SHANK, THIGH, TRUNK = 0.43, 0.43, 0.6  # m
FORWARD, BACKWARD = (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)  # hinges that tilt the upper body to +x, to -x
ANKLE = 0.08  # m, above the ground
SQUAT = (0.55, 1.75, 1.55)  # rad: flexion of ankle, knee and hip


def skeleton() -> lw.ModelBuilder:
    """Shank, thigh and trunk of half a body, on a foot that stays where it is; z is up along straight bones."""
    b = lw.ModelBuilder()
    shank = lw.Inertia.cuboid(mass=3.5, size=(0.09, 0.09, SHANK), com=(0, 0, 0.57 * SHANK))
    thigh = lw.Inertia.cuboid(mass=8.0, size=(0.13, 0.13, THIGH), com=(0, 0, 0.57 * THIGH))
    trunk = lw.Inertia.cuboid(mass=22.0, size=(0.2, 0.15, TRUNK), com=(0, 0, 0.4 * TRUNK))
    b.body("shank", parent="world", joint=lw.Revolute(FORWARD), placement=lw.SE3(p=(0, 0, ANKLE)), inertia=shank, damping=1.0)
    b.body("thigh", parent="shank", joint=lw.Revolute(BACKWARD), placement=lw.SE3(p=(0, 0, SHANK)), inertia=thigh, damping=1.0)
    b.body("trunk", parent="thigh", joint=lw.Revolute(FORWARD), placement=lw.SE3(p=(0, 0, THIGH)), inertia=trunk, damping=1.0)
    return b


def muscles() -> dict[str, dict]:
    kneecap = lw.WrapCylinder("thigh", axis=(0, 1, 0), radius=0.04, turn=1)
    buttock = lw.WrapSphere("trunk", radius=0.06)
    return {
        "soleus": dict(path=[("world", (-0.05, 0, 0.03)), ("shank", (-0.03, 0, 0.3))], max_force=4000, optimal_length=0.07, tendon_length=0.25),
        "tibialis": dict(path=[("world", (0.07, 0, 0.03)), ("shank", (0.03, 0, 0.3))], max_force=1200, optimal_length=0.09, tendon_length=0.25),
        "vasti": dict(path=[("thigh", (0.03, 0, 0.3)), kneecap, ("shank", (0.035, 0, SHANK - 0.06))], max_force=6000, optimal_length=0.11, tendon_length=0.25),
        "hamstrings": dict(path=[("trunk", (-0.055, 0, -0.04)), ("shank", (-0.03, 0, SHANK - 0.05))], max_force=3000, optimal_length=0.12, tendon_length=0.3),
        "gluteus": dict(path=[("trunk", (-0.08, 0, 0.08)), buttock, ("thigh", (-0.025, 0, THIGH - 0.12))], max_force=3000, optimal_length=0.16, tendon_length=0.08),
        "iliopsoas": dict(path=[("trunk", (0.05, 0, 0.1)), ("thigh", (0.02, 0, THIGH - 0.06))], max_force=2000, optimal_length=0.11, tendon_length=0.06),
    }
