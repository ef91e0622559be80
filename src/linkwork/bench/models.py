"""The mechanisms of the benchmarks and their random states."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import InputError
from ..io import load
from ..joints import Revolute
from ..model import Body, Model
from ..spatial import SE3, Inertia
from .quantities import States

GRAVITY = (0.0, 0.0, -9.81)
ROBOTS_PACKAGE = "example-robot-data"
ROBOTS = {  # file in the package, floating base
    "panda": ("panda_description/urdf/panda.urdf", False),
    "solo12": ("solo_description/robots/solo12.urdf", True),
    "anymal": ("anymal_b_simple_description/robots/anymal.urdf", True),
    "talos": ("talos_data/robots/talos_reduced.urdf", True),
}


def chain(n: int, seed: int = 2) -> Model:
    """n links of 0.2 m along x, hinged about y and z in turn, of nearly equal inertias."""
    rng = np.random.default_rng(seed)
    hinges = (Revolute(axis=(0.0, 1.0, 0.0)), Revolute(axis=(0.0, 0.0, 1.0)))
    bodies = []
    for i in range(n):
        placement = SE3(p=(0.2, 0.0, 0.0)) if i else SE3()
        mass, size = rng.uniform(0.9, 1.1), np.array([0.2, 0.05, 0.05]) * rng.uniform(0.9, 1.1, 3)
        com = np.array([0.1, 0.0, 0.0]) + rng.uniform(-0.01, 0.01, 3)
        R = rotation(rng.uniform(-0.1, 0.1, 3))
        tensor = R @ Inertia.cuboid(mass, size).tensor @ R.T
        bodies.append(Body(f"link{i}", i - 1, hinges[i % 2], f"joint{i}", placement, Inertia(mass, com, (tensor + tensor.T) / 2)))
    return Model(tuple(bodies), np.array(GRAVITY))


def arm7(seed: int = 1) -> Model:
    """Seven joints about z with the modified Denavit-Hartenberg geometry of the Panda arm, and full inertia tensors."""
    rng = np.random.default_rng(seed)
    twist = (0, -1, 1, 1, -1, 1, 1)  # quarter turns about x
    a = (0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088)
    d = (0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0)
    bodies = []
    for i in range(7):
        s, c = float(twist[i]), float(twist[i] == 0)
        R = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]) + 0.0  # no negative zeros
        placement = SE3(R=R, p=(a[i], -s * d[i] + 0.0, c * d[i]))
        mass = rng.uniform(1.0, 4.0)
        inertia = Inertia(mass, rng.uniform(-0.1, 0.1, 3), random_tensor(rng, mass, 0.1))
        bodies.append(Body(f"link{i + 1}", i - 1, Revolute(), f"joint{i + 1}", placement, inertia))
    return Model(tuple(bodies), np.array(GRAVITY))


def robots_folder() -> Path | None:
    """Where the files of the robots are, or None if their package is not installed."""
    try:
        package = importlib.metadata.distribution(ROBOTS_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return None
    return Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots")))


def robot(name: str) -> Model:
    """A robot from its file, its followers free and its joints without damping, which Pinocchio does not apply."""
    folder, (file, floating) = robots_folder(), ROBOTS[name]
    if folder is None:
        raise InputError(f"the file of {name!r} is in the package {ROBOTS_PACKAGE}, which is not installed")
    model = load(folder / file, floating=floating, inertia="accept", mimic="independent", gravity=GRAVITY)
    damped = [b.name for b in model.bodies if b.properties.damping.any()]
    return model.with_parameters({body: {"damping": 0.0} for body in damped})


def random_tensor(rng: np.random.Generator, mass: float, size: float) -> np.ndarray:
    """A possible inertia tensor without symmetries: tr(C) 1 - C of a random covariance C."""
    A = rng.normal(size=(3, 3))
    C = mass * size**2 * (A @ A.T + np.eye(3)) / 6.0
    return np.trace(C) * np.eye(3) - C


def rotation(w: np.ndarray) -> np.ndarray:
    """The rotation by a vector."""
    return Rotation.from_rotvec(w).as_matrix()


def random_states(model: Model, batch: int, seed: int = 0) -> States:
    """A batch of configurations of any angles, and of velocities, forces and accelerations around 1."""
    rng = np.random.default_rng(seed)
    q = np.array([model.random_configuration(rng) for _ in range(batch)])
    return {"q": q, **{name: rng.normal(size=(batch, model.nv)) for name in ("v", "tau", "a")}}
