"""Random models: a free or a fixed base, and a tree of up to a dozen bodies on joints of the kinds that other engines know.

Kernels belong to a joint and to the kind of its placement. Every kind of joint has one kind of placement here, so a thousand
models share the same few dozen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .. import (
    SE3,
    Cylindrical,
    Fixed,
    Free,
    Free2D,
    Helical,
    Inertia,
    Joint,
    Loop,
    Model,
    ModelBuilder,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    SphericalEuler,
    State,
    Translational,
    Universal,
    constraint_report,
    kinematics,
    project,
)

Rng = np.random.Generator


def unit(rng: Rng) -> np.ndarray:
    """A random direction."""
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def anywhere(rng: Rng) -> SE3:
    return SE3.exp(np.concatenate([rng.uniform(0.3, 2.8) * unit(rng), rng.uniform(-0.5, 0.5, 3)])).collapsed()


def shifted(rng: Rng) -> SE3:
    return SE3(p=rng.uniform(-0.5, 0.5, 3))


KINDS: dict[str, tuple[Callable[[Rng], Joint], Callable[[Rng], SE3]]] = {
    "revolute": (lambda rng: Revolute(unit(rng)), anywhere),
    "revolute y": (lambda rng: Revolute((0, 1, 0)), shifted),
    "prismatic": (lambda rng: Prismatic(unit(rng)), shifted),
    "cylindrical": (lambda rng: Cylindrical(unit(rng)), anywhere),
    "planar": (lambda rng: Planar(), anywhere),
    "free in the plane": (lambda rng: Free2D(), shifted),
    "translational": (lambda rng: Translational(), anywhere),
    "universal": (lambda rng: Universal(), shifted),
    "ball": (lambda rng: Spherical(), anywhere),
    "Euler angles": (lambda rng: SphericalEuler("zyx"), shifted),
    "fixed": (lambda rng: Fixed(), anywhere),
    "screw": (lambda rng: Helical(unit(rng), pitch=rng.uniform(-0.3, 0.3)), anywhere),
}
COMMON = tuple(name for name in KINDS if name != "screw")  # MuJoCo has no screws
WITHOUT_SLIDES = ("revolute", "revolute y", "universal", "ball")


def random_inertia(rng: Rng) -> Inertia:
    """Of a random cloud of mass."""
    mass, R = rng.uniform(0.5, 2.0), np.asarray(SE3.rot_exp(rng.uniform(0, 3) * unit(rng)).R, float)
    second = R @ np.diag(rng.uniform(0.1, 0.3, 3) ** 2) @ R.T * mass
    return Inertia(mass, rng.uniform(-0.2, 0.2, 3), np.trace(second) * np.eye(3) - second)


def random_model(seed: int, kinds: Sequence[str] = COMMON, most: int = 12) -> Model:
    """A model of 1 to `most` bodies besides its base, mostly chains with branches; joints have armature."""
    rng = np.random.default_rng([seed, 18])
    b = ModelBuilder(gravity=5.0 * rng.normal(size=3))
    floating = bool(rng.integers(2))
    if floating:
        b.body("base", joint=Free(), inertia=random_inertia(rng), joint_name="root")
    n = int(rng.integers(1, most + 1))
    for i in range(n):
        x = rng.uniform()
        parent = i - 1 if x < 0.6 else int(rng.integers(-1, i))
        above = f"b{parent}" if parent >= 0 else "base" if floating else "world"
        names = kinds if i or floating else [name for name in kinds if name != "fixed"]  # something moves
        make, place = KINDS[names[int(rng.integers(len(names)))]]
        joint = make(rng)
        armature = np.full(joint.nv, rng.uniform(0.1, 0.3))
        b.body(f"b{i}", parent=above, joint=joint, placement=place(rng), inertia=random_inertia(rng), armature=armature)
    return b.build()


def random_motion(model: Model, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """q, and v, accelerations and joint forces of order one."""
    rng = np.random.default_rng([seed, 19])
    q = model.random_configuration(rng)
    v, a, tau = rng.normal(size=(3, model.nv))
    return q, v, a, tau


def looped(model: Model, state: State, seed: int) -> tuple[Model, State] | None:
    """The model with a point of its last body pinned to one of another body, which it meets at this state.

    Velocities are the nearest that keep the loop closed. None where its rows depend on one another, or leave no motion.
    """
    rng = np.random.default_rng([seed, 20])
    bodies = [b.name for b in model.bodies if b.joint.nv]
    if len(bodies) < 3 or model.nv <= 3:
        return None
    a, b = bodies[-1], bodies[int(rng.integers(len(bodies) - 2))]
    poses = kinematics(model, state.q).poses
    E_a, E_b = (poses[model.body_index(name)] for name in (a, b))
    at = rng.uniform(-0.3, 0.3, 3)
    there = E_b[:3, :3].T @ (E_a[:3, :3] @ at + E_a[:3, 3] - E_b[:3, 3])
    closed = model.add(Loop(a, b, at, there))
    return (closed, project(closed, state)) if constraint_report(closed, state.q).rank == 3 else None
