"""A hand of 16 bones and 15 joints that follows a motion: Figures 1 and 5 of [Hernandez et al. 2011].

Springs pull the palm to its tracked pose and every joint to its tracked angles; stiff springs keep the joints within their
limits, also where the motion asks for more. A finger's base joint bends and spreads (two angles), the others bend.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

import linkwork as lw

from .scene import Scene

# By finger: where it starts on the palm (mm), its direction in the plane of the palm (degrees from +x), its bones (mm).
FINGERS = {
    "thumb": ((25, 35, 0), 55, (45, 32, 27)),
    "index": ((90, 25, 0), 6, (42, 25, 20)),
    "middle": ((94, 4, 0), 0, (46, 29, 21)),
    "ring": ((88, -16, 0), -6, (42, 27, 21)),
    "little": ((78, -34, 0), -14, (34, 20, 18)),
}
BONES = ("base", "middle", "tip")
PALM = (90.0, 80.0, 25.0)  # mm
WIDTH = 14.0  # mm, of a finger
DENSITY = 1100.0  # kg/m^3
SKIN = (0.88, 0.68, 0.56)
BEND = (-0.3, 1.7)  # rad: limits of bending, and of spreading
SPREAD = (-0.35, 0.35)
TRACKED, JOINT, LIMIT = (200.0, 1e3), 0.5, 50.0  # stiffnesses: of the palm's pose (N m/rad, N/m), of the joints, of the limits
# Bending of the base joint, the middle and the tip joint, and spreading, of each finger in the order of FINGERS.
OPEN = ((0.2, 0.1, 0.1, 0.2), (0.0, 0.05, 0.05, 0.15), (0.0, 0.05, 0.05, 0.0), (0.0, 0.05, 0.05, -0.1), (0.0, 0.05, 0.05, -0.3))
FIST = ((0.7, 0.7, 0.9, 0.0), (1.5, 1.6, 1.2, 0.0), (1.5, 1.6, 1.2, 0.0), (1.5, 1.6, 1.2, 0.0), (1.5, 1.6, 1.2, 0.0))
POINT = ((0.7, 0.7, 0.9, 0.0), (0.0, 0.0, 0.0, 0.0), (1.5, 1.6, 1.2, 0.0), (1.5, 1.6, 1.2, 0.0), (1.5, 1.6, 1.2, 0.0))
PINCH = ((0.6, 0.5, 0.5, 0.1), (0.9, 1.0, 0.6, 0.0), (0.2, 0.2, 0.1, 0.0), (0.1, 0.1, 0.1, -0.1), (0.1, 0.1, 0.1, -0.3))
WIDE = ((0.0, 0.0, 0.0, 0.5), (-0.4, 0.0, 0.0, 0.5), (-0.4, 0.0, 0.0, 0.0), (-0.4, 0.0, 0.0, -0.4), (-0.4, 0.0, 0.0, -0.5))
TIMES = (0.0, 0.8, 1.4, 2.0, 2.6, 3.2, 3.8, 4.4, 5.0)  # s; the wide hand asks for more than the limits allow
POSTURES = (OPEN, FIST, FIST, POINT, POINT, PINCH, PINCH, WIDE, OPEN)


def hand() -> tuple[lw.Model, lw.State]:
    """The palm in the plane z = 0.3 m, fingers along x; positive angles bend them down."""
    b = lw.ModelBuilder()
    palm = np.array(PALM) / 1e3
    block = lw.Inertia.cuboid(mass=DENSITY * palm.prod(), size=palm, com=(palm[0] / 2, 0, 0))
    flesh = lw.Box(palm, lw.SE3(p=(palm[0] / 2, 0, 0)), color=SKIN)
    b.body("palm", joint=lw.Free(), inertia=block, visuals=[flesh])
    b.add(lw.PoseHandle("palm", target=_palm_pose(0.0), stiffness=_six(*TRACKED), damping=_six(0.5, 10.0), name="wrist"))
    for finger, (start, direction, lengths) in FINGERS.items():
        parent, angle = "palm", np.radians(direction)
        placement = _placed(angle, start)
        for bone, millimetres in zip(BONES, lengths, strict=True):
            name, length, width = f"{finger}_{bone}", millimetres / 1e3, WIDTH / 1e3
            size = (length, width, width)
            inertia = lw.Inertia.cuboid(mass=float(DENSITY * np.prod(size)), size=size, com=(length / 2, 0, 0))
            spreads = bone == "base"
            joint = lw.Composite(lw.Revolute((0, 0, 1)), lw.Revolute((0, 1, 0))) if spreads else lw.Revolute((0, 1, 0))
            limits = np.array([SPREAD, BEND] if spreads else [BEND]).T
            seen = lw.Capsule(width / 2, length - width / 4, lw.SE3(p=(length / 2, 0, 0)) @ lw.SE3.rot_y(np.pi / 2), color=SKIN)
            given = {"placement": placement, "inertia": inertia, "limits": tuple(limits), "visuals": [seen]}
            b.body(name, parent=parent, joint=joint, **given)
            b.add(lw.PDController(name, kp=JOINT, kd=0.01, name=f"{name}_follows"))
            b.add(lw.LimitSpring(name, stiffness=LIMIT, damping=0.02))
            parent, placement = name, lw.SE3(p=(length, 0, 0))
    model = b.build()
    q = np.concatenate([_palm_coordinates(0.0), *(angles for angles in tracked(0.0)[0])])
    return model, lw.State(q=q, v=np.zeros(model.nv))


def motion(model: lw.Model) -> Any:
    """The targets of all springs as a function of time: what a tracker would send."""
    forces = lw.force_set(model)
    joints = [f"{finger}_{bone}" for finger in FINGERS for bone in BONES]
    wrist = next(f for f in model.elements_of(lw.PoseHandle))

    def inputs(t: float) -> np.ndarray:
        u = forces.initial_inputs.copy()
        u[forces.input_index("wrist")] = wrist.toward(_palm_pose(t))
        for name, angles, rates in zip(joints, *tracked(t), strict=True):
            u[forces.input_index(f"{name}_follows")] = np.concatenate([angles, rates])
        return u

    return inputs


_WAY = PchipInterpolator(TIMES, np.array(POSTURES).reshape(len(TIMES), -1))
_RATES = _WAY.derivative()


def tracked(t: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The angles of all joints at a time, and their rates; the last posture stays."""
    at = min(t, TIMES[-1])
    return _by_joint(_WAY(at)), _by_joint(_RATES(at) * (t < TIMES[-1]))


def _by_joint(values: np.ndarray) -> list[np.ndarray]:
    """(spreading, bending) for the base of a finger, bending for the rest."""
    return [part for f in values.reshape(len(FINGERS), 4) for part in (f[[3, 0]], f[[1]], f[[2]])]


def _palm_pose(t: float) -> lw.SE3:
    """Up and down, and a slow turn of the wrist."""
    return _placed_at((0, 0, 0.3 + 0.03 * np.sin(2.0 * t)), 0.4 * np.sin(1.3 * t))


def _placed_at(p: Any, angle: float) -> lw.SE3:
    return lw.SE3(p=p) @ lw.SE3.rot_x(angle)


def _palm_coordinates(t: float) -> np.ndarray:
    E = _palm_pose(t)
    half = 0.2 * np.sin(1.3 * t)
    return np.concatenate([np.asarray(E.p, float), [np.cos(half), np.sin(half), 0, 0]])


def _placed(angle: float, millimetres: Any) -> lw.SE3:
    return lw.SE3(p=np.array(millimetres) / 1e3) @ lw.SE3.rot_z(angle)


def _six(angular: float, linear: float) -> np.ndarray:
    return np.repeat([angular, linear], 3)


HAND = Scene(
    "hand",
    "a hand of 16 bones follows a tracked motion, with stiff limits",
    hand,
    duration=5.0,
    dt=1 / 60,
    methods=("maximal-implicit",),
    inputs=motion,
)
