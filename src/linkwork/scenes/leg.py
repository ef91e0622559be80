"""A leg that stands up from a squat: six muscles on shank, thigh and trunk, driven by activations given over time."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw

from .scene import Scene

ANKLE, SHANK, THIGH = 0.08, 0.43, 0.43  # m: height above the ground, lengths
FORWARD, BACKWARD = (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)  # hinges: positive angles tilt what is above to +x, to -x
SQUAT = (0.6, 1.8, 1.95)  # rad: flexion of ankle, knee and hip
EVERY = 0.1  # s, between activations
BONE = (0.9, 0.87, 0.78)
# Found by least squares so that the leg follows a smooth way from the squat to straight joints; then they hold it there.
ACTIVATION = {
    "soleus": (0.02, 0.02, 0.02, 0.02, 0.02, 0.03, 0.03, 0.1, 0.06, 0.18, 0.34, 0.47, 0.53, 0.42, 0.46, 0.46, 0.45),
    "tibialis": (0.98, 0.98, 0.98, 0.98, 0.98, 0.98, 0.82, 0.55, 0.38, 0.22, 0.1, 0.04, 0.15, 0.16, 0.17, 0.18, 0.2),
    "vasti": (0.08, 0.02, 0.03, 0.15, 0.21, 0.38, 0.32, 0.33, 0.3, 0.23, 0.14, 0.07, 0.02, 0.12, 0.16, 0.13, 0.14),
    "hamstrings": (0.02, 0.02, 0.02, 0.02, 0.04, 0.02, 0.03, 0.11, 0.13, 0.16, 0.16, 0.15, 0.15, 0.17, 0.23, 0.17, 0.16),
    "gluteus": (0.02, 0.02, 0.02, 0.02, 0.02, 0.1, 0.07, 0.24, 0.21, 0.18, 0.14, 0.1, 0.05, 0.11, 0.07, 0.11, 0.12),
    "iliopsoas": (0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.15, 0.2, 0.19, 0.22, 0.26, 0.28, 0.34, 0.3, 0.31, 0.3, 0.3),
}


def leg() -> tuple[lw.Model, lw.State]:
    """Half a body on a foot that stays where it is: hinges about y, z up along straight bones, muscles in the plane y = 0."""
    b = lw.ModelBuilder()
    shank = lw.Inertia.cuboid(mass=3.5, size=(0.09, 0.09, SHANK), com=(0, 0, 0.57 * SHANK))
    thigh = lw.Inertia.cuboid(mass=8.0, size=(0.13, 0.13, THIGH), com=(0, 0, 0.57 * THIGH))
    trunk = lw.Inertia.cuboid(mass=15.0, size=(0.2, 0.15, 0.5), com=(0, 0, 0.2))
    b.scenery(lw.Box((0.24, 0.09, 0.05), lw.SE3(p=(0.05, 0, 0.025)), color=BONE), lw.Sphere(0.035, (0, 0, ANKLE), color=BONE))
    b.body("shank", joint=lw.Revolute(FORWARD), placement=_above(ANKLE), inertia=shank, damping=1.0, visuals=_bone(SHANK))
    limits = {"damping": 1.0, "limits": (0.0, 2.5), "visuals": _bone(THIGH)}
    b.body("thigh", parent="shank", joint=lw.Revolute(BACKWARD), placement=_above(SHANK), inertia=thigh, **limits)
    hips = [lw.Box((0.14, 0.2, 0.14), lw.SE3(p=(0, 0, 0.05)), color=BONE), lw.Capsule(0.05, 0.3, _above(0.3), color=BONE)]
    limits = {"damping": 1.0, "limits": (-0.1, 2.5), "visuals": hips}
    b.body("trunk", parent="thigh", joint=lw.Revolute(FORWARD), placement=_above(THIGH), inertia=trunk, **limits)
    b.add(lw.JointSpring("shank", stiffness=300.0, rest=[0.25]))
    for name in ("thigh", "trunk"):
        b.add(lw.LimitSpring(name, stiffness=800.0, damping=20.0))
    for name, (path, *numbers) in paths().items():
        times = EVERY * np.arange(len(ACTIVATION[name]))
        b.add(lw.Muscle(path, *numbers, max_velocity=8.0, activation=lw.Schedule(times, ACTIVATION[name]), name=name))
    model = b.build()
    return model, lw.State(q=np.array(SQUAT), v=np.zeros(model.nv))


def paths() -> dict[str, tuple[Any, ...]]:
    """By muscle: the path, max_force (N), optimal_length and tendon_length (m)."""
    kneecap = lw.WrapCylinder("thigh", axis=(0, 1, 0), radius=0.045, turn=1)
    buttock = lw.WrapCylinder("trunk", axis=(0, 1, 0), radius=0.06, turn=-1)
    quadriceps = [("thigh", (0.03, 0, 0.3)), kneecap, ("shank", (0.035, 0, SHANK - 0.06))]
    back = [("trunk", (-0.08, 0, 0.08)), buttock, ("thigh", (-0.025, 0, THIGH - 0.12))]
    return {
        "soleus": ([("world", (-0.06, 0, 0.02)), ("shank", (-0.05, 0, 0.25))], 4000.0, 0.08, 0.225),
        "tibialis": ([("world", (0.06, 0, 0.03)), ("shank", (0.035, 0, 0.28))], 1500.0, 0.08, 0.22),
        "vasti": (quadriceps, 6000.0, 0.15, 0.24),
        "hamstrings": ([("trunk", (-0.06, 0, -0.03)), ("shank", (-0.035, 0, SHANK - 0.05))], 2500.0, 0.12, 0.33),
        "gluteus": (back, 3000.0, 0.23, 0.03),
        "iliopsoas": ([("trunk", (0.06, 0, 0.14)), ("thigh", (0.025, 0, THIGH - 0.08))], 2000.0, 0.15, 0.05),
    }


def _bone(length: float) -> list[lw.Shape]:
    """A shaft with a thick end at either joint."""
    ends = [lw.Sphere(0.032, (0, 0, z), color=BONE) for z in (0, length)]
    return [lw.Capsule(0.018, length, _above(0.5 * length), color=BONE), *ends]


def _above(z: float) -> lw.SE3:
    return lw.SE3(p=(0, 0, z))


LEG = Scene("leg", "a leg with six muscles that stands up from a squat", leg, duration=3.0, dt=1e-3)
