"""Knees of three kinds with the muscles over them: a four-bar linkage, the same as a closed loop, and a rolling one by a spline.

The thigh is level and still; the shank hangs from it and is swung by quadriceps and hamstrings, flexion positive. x is forward
and z up along straight bones; the knee is the origin of thigh and shank where they are straight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw

from .scene import Scene

THIGH, SHANK = 0.42, 0.43  # m
HEIGHT = 0.6  # m, of the knee
FEMUR = ((-0.012, 0.020), (0.008, 0.010))  # m (x, z): where anterior and posterior cruciate ligament begin
TIBIA = ((0.014, -0.010), (-0.018, -0.014))  # and where they end
START = 1.4  # rad
BONE = (0.9, 0.87, 0.78)
TIMES = (0.0, 0.3, 0.9, 1.5, 2.1, 3.0)  # s
EXTENDING = (0.02, 0.16, 0.16, 0.02, 0.12, 0.02)
FLEXING = (0.02, 0.02, 0.02, 0.2, 0.02, 0.05)
STRAIGHT, BENT, STOP = 0.05, 2.2, 300.0  # rad, rad, N m/rad: where tissue begins to resist, and how much
# The way of the tibia's origin over flexion, in the manner of [Yamaguchi and Zajac 1989]: back as the condyles roll, then down.
ANGLES = np.radians([-10.0, 0.0, 10.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0, 140.0])
BACK = np.array([0.000, 0.000, -0.002, -0.004, -0.007, -0.009, -0.009, -0.007, -0.002, 0.004])  # m
UP = np.array([0.000, 0.000, 0.000, 0.001, 0.000, -0.002, -0.005, -0.010, -0.018, -0.028])  # m


def rolling() -> lw.Joint:
    """A hinge whose axis moves with the angle, along a smooth curve through samples."""

    def knee(q: Any, way: Any) -> lw.SE3:
        p = lw.interp(q[0], way)
        return lw.SE3(p=(p[0], 0.0, p[1])) @ lw.SE3.rot_y(q[0])

    way = lw.samples(ANGLES, np.stack([BACK, UP], axis=1), "cubic")
    return lw.joint(knee, 1, "rolling knee", parameters={"way": way}, domain=(float(ANGLES[0]), float(ANGLES[-1])))


def add_thigh(b: lw.ModelBuilder) -> None:
    """The thigh, level and still."""
    level = lw.SE3(p=(0, 0, HEIGHT)) @ lw.SE3.rot_y(-np.pi / 2)  # the thigh's z points backward, to the hip
    bone = lw.Capsule(0.06, THIGH, lw.SE3(p=(0, 0, THIGH / 2)), mass=8.0, group=0, mask=0)
    seen = [lw.Capsule(0.02, THIGH, lw.SE3(p=(0, 0, THIGH / 2)), color=BONE), lw.Ellipsoid((0.035, 0.045, 0.03), color=BONE)]
    b.body("thigh", joint=lw.Fixed(), placement=level, shapes=[bone], visuals=seen)


def add_muscles(b: lw.ModelBuilder) -> None:
    """From the thigh to the shank: vasti over the front of the thigh's end, hamstrings behind it."""
    kneecap = lw.WrapCylinder("thigh", axis=(0, 1, 0), radius=0.04, turn=1)
    front = [("thigh", (0.03, 0, 0.3)), kneecap, ("shank", (0.03, 0, -0.07))]
    behind = [("thigh", (-0.05, 0, 0.35)), ("shank", (-0.035, 0, -0.06))]
    b.add(lw.Muscle(front, 3000.0, 0.12, 0.28, activation=lw.Schedule(TIMES, EXTENDING), name="vasti"))
    b.add(lw.Muscle(behind, 1500.0, 0.14, 0.24, activation=lw.Schedule(TIMES, FLEXING), name="hamstrings"))


def add_stops(b: lw.ModelBuilder) -> None:
    """Ligaments of a straight knee, and flesh that meets flesh: springs on the flexion, the sum of the coordinates."""

    def energy(q: Any, straight: Any, bent: Any, stiffness: Any) -> Any:
        flexion = sum(q[1:], q[0])
        over = lw.math.maximum(flexion - bent, 0.0) + lw.math.maximum(straight - flexion, 0.0)
        return 0.5 * stiffness * over * over

    b.add(
        lw.joint_force("shank", energy=energy, parameters={"straight": STRAIGHT, "bent": BENT, "stiffness": STOP}, name="stops")
    )


def shank_looks() -> list[lw.Shape]:
    """A shin bone with its plateau, and a foot."""
    shaft = lw.Capsule(0.018, SHANK - 0.05, lw.SE3(p=(0, 0, -SHANK / 2)), color=BONE)
    plateau = lw.Ellipsoid((0.036, 0.042, 0.02), lw.SE3(p=(0, 0, -0.05)), color=BONE)
    return [shaft, plateau, lw.Box((0.2, 0.08, 0.04), lw.SE3(p=(0.05, 0, -SHANK)), color=BONE)]


def shank_shape() -> lw.Capsule:
    return lw.Capsule(0.045, SHANK, lw.SE3(p=(0, 0, -SHANK / 2)), mass=4.0, group=0, mask=0)


def four_bar_knee(kind: str = "joint", muscles: bool = True) -> tuple[lw.Model, lw.State]:
    """The shank held by both cruciate ligaments, crossed links without mass.

    kind   "joint": one coordinate, the flexion (`FourBar`); "loop": the anterior ligament is the joint, a hinge at each end (its
           angle, and that of the shank against it), and the posterior one a rod that closes the loop
    """
    if kind not in ("joint", "loop"):
        raise lw.InputError(f'the knee is a "joint" or a "loop", not {kind!r}')
    linkage = lw.FourBar(FEMUR, TIBIA)
    b = lw.ModelBuilder()
    add_thigh(b)
    if kind == "joint":
        b.body("shank", parent="thigh", joint=linkage, shapes=[shank_shape()], visuals=shank_looks())
        q = np.array([START])
    else:
        ligament, begin = anterior_ligament()
        b.body("shank", parent="thigh", joint=ligament, placement=begin, shapes=[shank_shape()], visuals=shank_looks())
        b.add(posterior_ligament())
        q = loop_coordinates(linkage, START)
    if muscles:
        add_muscles(b)
        add_stops(b)
    model = b.build()
    return model, lw.State(q, np.zeros(model.nv))


def anterior_ligament() -> tuple[lw.Joint, lw.SE3]:
    """A link without mass as a joint from the thigh to the shank's frame: a hinge at each end. And where it begins."""
    start, end = (np.array([x, 0.0, z]) for x, z in (FEMUR[0], TIBIA[0]))
    hinges = lw.Composite(lw.Revolute((0, 1, 0)), lw.Revolute((0, 1, 0)), lw.SE3(p=end - start))
    return lw.Composite(hinges, lw.Fixed(), lw.SE3(p=-end)), lw.SE3(p=start)


def posterior_ligament() -> lw.Constraint:
    """A rod without mass between a point of each body."""
    start, end = (np.array([x, 0.0, z]) for x, z in (FEMUR[1], TIBIA[1]))

    def stretch(E: Any, start: Any, end: Any, length: Any) -> Any:
        return lw.math.norm(E[0] @ start - E[1] @ end) - length

    given = {"start": start, "end": end, "length": float(np.linalg.norm(end - start))}
    return lw.constraint(["thigh", "shank"], stretch, parameters=given, name="posterior ligament")


def loop_coordinates(linkage: lw.FourBar, flexion: float) -> np.ndarray:
    """The angles of the anterior ligament's hinges where the shank is flexed by so much."""
    tip = np.asarray(linkage.transform(np.array([flexion])) @ np.array([TIBIA[0][0], 0.0, TIBIA[0][1]]), float)[[0, 2]]
    straight, now = np.array(TIBIA[0]) - FEMUR[0], tip - FEMUR[0]
    angle = float(np.arctan2(straight[1], straight[0]) - np.arctan2(now[1], now[0]))  # about y: from z to x
    return np.array([angle, flexion - angle])


def spline_knee() -> tuple[lw.Model, lw.State]:
    """The same leg on a knee whose axis moves with its angle."""
    b = lw.ModelBuilder()
    add_thigh(b)
    b.body("shank", parent="thigh", joint=rolling(), shapes=[shank_shape()], visuals=shank_looks())
    add_muscles(b)
    add_stops(b)
    model = b.build()
    return model, lw.State(np.array([START]), np.zeros(1))


FOUR_BAR_KNEE = Scene(
    "four_bar_knee",
    "a knee held by crossed ligaments, with muscles (options: kind, muscles)",
    four_bar_knee,
    duration=3.0,
    dt=1e-3,
)
SPLINE_KNEE = Scene("spline_knee", "a knee whose axis moves along a spline of its angle, with muscles", spline_knee, 3.0, 1e-3)
