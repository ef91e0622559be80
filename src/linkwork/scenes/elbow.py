"""An elbow: biceps and triceps lift a weight held in the hand, and put it down again."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .scene import Scene

SHOULDER = 1.4  # m, above the ground
UPPER, FOREARM = 0.3, 0.33  # m, lengths
FLEXION = (0.0, -1.0, 0.0)  # hinge: positive angles lift the hanging forearm to +x
TIMES = (0.0, 0.2, 0.8, 1.6, 2.6, 3.0)  # s
BICEPS = (0.03, 0.03, 0.5, 0.5, 0.12, 0.05)
TRICEPS = (0.03, 0.03, 0.06, 0.08, 0.08, 0.08)


def elbow(weight: float = 3.0) -> tuple[lw.Model, lw.State]:
    """The upper arm hangs still; at zero the forearm hangs too, z is up along the bones. The weight is in kg."""
    if not (isinstance(weight, (int, float)) and np.isfinite(weight) and weight > 0):
        raise lw.InputError(f"the weight must be above 0 kg, not {weight!r}")
    b = lw.ModelBuilder()
    humerus = lw.Inertia.cuboid(mass=2.0, size=(0.06, 0.06, UPPER), com=(0, 0, -UPPER / 2))
    forearm = lw.Inertia.cuboid(mass=1.5, size=(0.05, 0.05, FOREARM), com=(0, 0, -FOREARM / 2))
    ball = lw.Inertia.sphere(mass=float(weight), radius=0.06)
    held = {"damping": 0.2, "limits": (0.0, 2.5)}
    b.body("humerus", joint=lw.Fixed(), placement=lw.SE3(p=(0, 0, SHOULDER)), inertia=humerus)
    b.body("forearm", parent="humerus", joint=lw.Revolute(FLEXION), placement=lw.SE3(p=(0, 0, -UPPER)), inertia=forearm, **held)
    b.body("weight", parent="forearm", joint=lw.Fixed(), placement=lw.SE3(p=(0, 0, -FOREARM)), inertia=ball)
    b.add(lw.LimitSpring("forearm", stiffness=200.0, damping=5.0))
    joint = (0.0, 0.0, -UPPER)
    front = lw.WrapCylinder("humerus", joint, axis=(0, 1, 0), radius=0.015, turn=1)
    back = lw.WrapCylinder("humerus", joint, axis=(0, 1, 0), radius=0.022, turn=-1)
    biceps = [("humerus", (0.025, 0, -0.02)), front, ("forearm", (0.01, 0, -0.05))]
    triceps = [("humerus", (-0.025, 0, -0.08)), back, ("forearm", (-0.024, 0, -0.015))]
    b.add(lw.Muscle(biceps, 900.0, 0.14, 0.18, activation=lw.Schedule(TIMES, BICEPS), name="biceps"))
    b.add(lw.Muscle(triceps, 1200.0, 0.12, 0.135, pennation=0.2, activation=lw.Schedule(TIMES, TRICEPS), name="triceps"))
    model = b.build()
    return model, lw.State(q=np.array([0.1]), v=np.zeros(model.nv))


ELBOW = Scene("elbow", "an elbow whose biceps and triceps lift a weight (option: weight)", elbow, duration=3.0, dt=1e-3)
