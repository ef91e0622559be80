"""A robot figure dragged by its left hand: Figure 3 of [Hernandez et al. 2011].

Shoulders, elbows, wrists, neck and hips are ball joints, knees and fingers hinges. With stiffness the figure keeps its posture
while it is pulled about; without, it dangles.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw

from .scene import Scene

HINGE = (0.0, 1.0, 0.0)
STIFFNESS = {"torso": 400.0, "head": 40.0, "thigh": 300.0, "shank": 200.0, "foot": 60.0}  # N m/rad, by part
STIFFNESS |= {"upper_arm": 150.0, "forearm": 100.0, "palm": 30.0, "finger": 2.0, "fingertip": 1.0}
HAND_STIFFNESS, HAND_DAMPING = 3000.0, 150.0  # N/m, N s/m
DAMPED = 0.05  # s: damping of a joint for its stiffness
STEEL = (0.55, 0.62, 0.72)
Part = tuple[str, str, lw.Joint, Any, tuple[float, float, float, float]]


def parts() -> list[Part]:
    """Name, parent, joint, where it is on the parent, and (mass, length, width, depth); bodies extend down from their joints."""
    ball, hinge = lw.Spherical(), lw.Revolute(HINGE)
    found: list[Part] = [
        ("torso", "pelvis", ball, (0, 0, 0.1), (25.0, -0.5, 0.34, 0.22)),
        ("head", "torso", ball, (0, 0, 0.55), (5.0, -0.24, 0.18, 0.2)),
    ]
    for side, y in (("left", 1.0), ("right", -1.0)):
        found += [
            (f"{side}_upper_arm", "torso", ball, (0, 0.22 * y, 0.45), (2.5, 0.3, 0.08, 0.08)),
            (f"{side}_forearm", f"{side}_upper_arm", ball, (0, 0, -0.3), (1.5, 0.26, 0.07, 0.07)),
            (f"{side}_palm", f"{side}_forearm", ball, (0, 0, -0.26), (0.4, 0.1, 0.08, 0.03)),
            (f"{side}_thigh", "pelvis", ball, (0, 0.1 * y, -0.1), (8.0, 0.43, 0.14, 0.14)),
            (f"{side}_shank", f"{side}_thigh", hinge, (0, 0, -0.43), (4.0, 0.42, 0.1, 0.1)),
            (f"{side}_foot", f"{side}_shank", hinge, (0, 0, -0.42), (1.0, 0.08, 0.09, 0.24)),
        ]
        for k in range(3):
            finger = f"{side}_finger{k + 1}"
            found += [
                (finger, f"{side}_palm", hinge, (0, 0.028 * (k - 1), -0.1), (0.03, 0.045, 0.018, 0.018)),
                (f"{side}_fingertip{k + 1}", finger, hinge, (0, 0, -0.045), (0.02, 0.035, 0.016, 0.016)),
            ]
    return found


def figure(stiff: bool = True) -> tuple[lw.Model, lw.State]:
    """The figure stands upright without ground, held by its left hand.

    stiff   whether its joints are stiff
    """
    b = lw.ModelBuilder()
    hips = lw.Box((0.2, 0.3, 0.18), color=STEEL)
    b.body("pelvis", joint=lw.Free(), inertia=lw.Inertia.cuboid(mass=10.0, size=(0.2, 0.3, 0.2)), visuals=[hips])
    for name, parent, joint, place, (mass, length, width, depth) in parts():
        inertia = lw.Inertia.cuboid(mass=mass, size=(depth, width, abs(length)), com=(0, 0, -length / 2))
        seen = lw.Box((depth, width, 0.94 * abs(length)), lw.SE3(p=(0, 0, -length / 2)), color=STEEL)
        b.body(name, parent=parent, joint=joint, placement=lw.SE3(p=place), inertia=inertia, visuals=[seen])
        k = STIFFNESS[name.removeprefix("left_").removeprefix("right_").rstrip("123")]
        b.add(lw.JointSpring(name, stiffness=k if stiff else 0.0, damping=DAMPED * k))
    b.add(lw.Handle("left_palm", (0, 0, -0.05), target=held(0.0)[0], stiffness=HAND_STIFFNESS, damping=HAND_DAMPING, name="hand"))
    model = b.build()
    q = model.neutral()
    q[:3] = (0, 0, HEIGHT)
    return model, lw.State(q=q, v=np.zeros(model.nv))


HEIGHT = 1.5  # m, of the pelvis at the start
START = np.array([0.0, 0.22, HEIGHT + 0.1 + 0.45 - 0.3 - 0.26 - 0.05])  # where the hand is then


def held(t: float) -> tuple[np.ndarray, np.ndarray]:
    """Where the hand is held, and its velocity: up, then round and round."""
    rise = 0.9 * (1 - np.exp(-t))
    turn = 1.5 * t
    position = START + np.array([0.5 * np.sin(turn), 0.5 * (1 - np.cos(turn)), rise])
    return position, np.array([0.75 * np.cos(turn), 0.75 * np.sin(turn), 0.9 * np.exp(-t)])


def motion(model: lw.Model) -> Any:
    """The handle's inputs as a function of time."""
    handle = next(f for f in model.elements_of(lw.Handle))
    return lambda t: handle.toward(*held(t))


DRAG = Scene(
    "drag",
    "a robot figure dragged by its left hand (option: stiff)",
    figure,
    duration=6.0,
    dt=1 / 60,
    methods=("maximal-implicit",),
    inputs=motion,
)
