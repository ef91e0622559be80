"""A finger that curls: one flexor runs through pulleys on all its bones, an extensor over the backs of its joints."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw

from .scene import Scene

BONES = {"proximal": 0.045, "middle": 0.028, "distal": 0.02}  # m
RADIUS = {"proximal": 0.009, "middle": 0.007, "distal": 0.005}  # m, of the joint at which the bone begins
FLEXION = (0.0, 1.0, 0.0)  # hinge: positive angles bend the finger, which points to +x, downwards
HEIGHT = 0.1  # m
TIMES = (0.0, 0.2, 0.7, 1.2, 1.5, 2.0)  # s
FLEXOR = (0.02, 0.02, 0.5, 0.5, 0.02, 0.02)
EXTENSOR = (0.25, 0.25, 0.1, 0.1, 0.4, 0.4)


def finger() -> tuple[lw.Model, lw.State]:
    """Three bones along x, hinged about y on a hand that stays still; the flexor is below them, the extensor above."""
    b = lw.ModelBuilder()
    parent, placement = "world", lw.SE3(p=(0, 0, HEIGHT))
    for name, length in BONES.items():
        size = (length, 1.6 * RADIUS[name], 1.6 * RADIUS[name])
        bone = lw.Inertia.cuboid(mass=8000.0 * length * RADIUS[name] ** 2, size=size, com=(length / 2, 0, 0))
        properties = {"damping": 2e-3, "armature": 1e-5, "limits": (-0.1, 1.4)}
        b.body(name, parent=parent, joint=lw.Revolute(FLEXION), placement=placement, inertia=bone, **properties)
        b.add(lw.JointSpring(name, stiffness=0.05, rest=[0.2]))
        b.add(lw.LimitSpring(name, stiffness=2.0, damping=0.01))
        parent, placement = name, lw.SE3(p=(length, 0, 0))
    b.add(lw.Muscle(below(), 30.0, 0.08, 0.12, activation=lw.Schedule(TIMES, FLEXOR), name="flexor"))
    b.add(lw.Muscle(above(), 15.0, 0.08, 0.135, activation=lw.Schedule(TIMES, EXTENSOR), name="extensor"))
    model = b.build()
    return model, lw.State(q=np.full(3, 0.2), v=np.zeros(model.nv))


def below() -> list[Any]:
    """The flexor: from the arm through pulleys at both ends of the bones to the last one."""
    path: list[Any] = [("world", (-0.12, 0, HEIGHT - 0.015)), ("world", (-0.01, 0, HEIGHT - 0.012))]
    for name in ("proximal", "middle"):
        depth = RADIUS[name]
        path += [(name, (0.25 * BONES[name], 0, -depth)), (name, (0.75 * BONES[name], 0, -depth))]
    return [*path, ("distal", (0.006, 0, -RADIUS["distal"]))]


def above() -> list[Any]:
    """The extensor: over a cylinder at every joint."""
    path: list[Any] = [("world", (-0.12, 0, HEIGHT + 0.012))]
    for name in BONES:
        path += [
            lw.WrapCylinder(name, axis=FLEXION, radius=RADIUS[name], turn=1),
            (name, (0.3 * BONES[name], 0, RADIUS[name] + 1e-3)),
        ]
    return path


FINGER = Scene("finger", "a finger curled by a flexor that runs through pulleys on its bones", finger, duration=2.0, dt=5e-4)
