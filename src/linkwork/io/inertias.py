"""Inertias as files give them: checked, repaired or accepted; and several welded into one.

A tensor is possible if it belongs to second moments of mass that are not negative: with those along the principal axes x, y, z
the principal moments are y + z, x + z and x + y, so each is at most the sum of the other two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ModelError
from ..spatial.inertia import Inertia
from ..spatial.se3 import SE3

LIGHT = 1e-6  # what a body without mass gets in a repair, as a part of the whole robot's mass
RADIUS = 0.01  # m, of the ball that it is made, where its file gives no moments either
ROUNDING = 1e-15  # m^2: the square of a radius of gyration, 3e-8 m, that no link has
ADVICE = "correct the file, or load it with inertia='repair' or inertia='accept'"


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid part as a file gives it: mass, centre of mass, tensor about it, in axes of its own."""

    name: str
    mass: float
    com: np.ndarray
    tensor: np.ndarray


def nearest_possible(tensor: np.ndarray) -> np.ndarray:
    """The possible tensor with the least distance (root of the sum of squared entries) to a symmetric one.

    The possible ones are a convex set that turns into itself under rotations, so the nearest shares the principal axes, and
    its second moments s >= 0 minimise |A s - moments|.
    """
    from scipy.optimize import nnls

    moments, R = np.linalg.eigh(tensor)
    A = 1.0 - np.eye(3)
    seconds, _ = nnls(A, moments)
    out = R @ np.diag(A @ seconds) @ R.T
    return (out + out.T) / 2.0


def settled(part: Part, policy: str, error: Callable[[str], ModelError], note: Callable[[str], object]) -> Part:
    """The part by the policy "strict", "repair" or "accept"."""
    part = _settled_mass(part, policy, error, note)
    try:
        Inertia(1.0, tensor=part.tensor)
        return part
    except ModelError as problem:
        what = f"link {part.name!r}: {str(problem).removeprefix('inertia: ')}"
    if policy == "accept":
        note(f"{what}; accepted as it is")
        return part
    if np.abs(part.tensor).max() <= ROUNDING * part.mass:
        note(f"{what}; it is a zero with rounding errors, and taken as zero")
        return Part(part.name, part.mass, part.com, np.zeros((3, 3)))
    if policy == "strict":
        raise error(f"{what}; {ADVICE}")
    tensor = nearest_possible(part.tensor)
    before, after = (np.array2string(np.linalg.eigvalsh(t), precision=6) for t in (part.tensor, tensor))
    note(f"{what}; repaired: principal moments {before} became {after}")
    return Part(part.name, part.mass, part.com, tensor)


def _settled_mass(part: Part, policy: str, error: Callable[[str], ModelError], note: Callable[[str], object]) -> Part:
    if part.mass > 0:
        return part
    if part.mass == 0:
        if part.tensor.any():
            note(f"link {part.name!r} has moments of inertia but no mass; they are kept")
        return part
    what = f"link {part.name!r} has the negative mass {part.mass:g}"
    if policy == "strict":
        raise error(f"{what}; {ADVICE}")
    note(f"{what}; {'accepted as it is' if policy == 'accept' else 'repaired: it is taken as zero'}")
    return part if policy == "accept" else Part(part.name, 0.0, part.com, part.tensor)


def welded(name: str, parts: Sequence[tuple[Part, SE3]]) -> Inertia:
    """Parts with the poses of their axes in the body's, as one inertia: tensors about the common centre of mass, added."""
    rotations = [np.asarray(pose.R, float) for _, pose in parts]
    masses = np.array([part.mass for part, _ in parts])
    centres = np.array([R @ part.com + np.asarray(pose.p, float) for R, (part, pose) in zip(rotations, parts, strict=True)])
    mass = float(masses.sum())
    if mass == 0 and masses.any():
        raise ModelError(f"body {name!r}: its positive and negative masses cancel, so that it has no centre of mass")
    com = centres[0] if len(parts) == 1 else masses @ centres / mass if mass else np.zeros(3)
    tensor = np.zeros((3, 3))
    for R, m, d, (part, _) in zip(rotations, masses, centres - com, parts, strict=True):
        tensor += R @ part.tensor @ R.T + m * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertia.unchecked(mass, com, (tensor + tensor.T) / 2.0)


def with_mass(name: str, inertia: Inertia, robot_mass: float, policy: str, note: Callable[[str], object]) -> Inertia:
    """The inertia of a body that moves, which needs a mass. (A negative one has passed `settled`.)"""
    if inertia.mass != 0:
        return inertia
    if policy == "strict":
        raise ModelError(f"body {name!r} moves and has no mass; {ADVICE}")
    if policy == "accept":
        note(f"body {name!r} moves and has no mass; accepted as it is")
        return inertia
    mass = LIGHT * robot_mass if robot_mass > 0 else LIGHT
    tensor = inertia.tensor if inertia.tensor.any() else Inertia.sphere(mass, RADIUS).tensor
    note(f"body {name!r} moves and has no mass; repaired: it is given {mass:.3g} kg")
    return Inertia(mass, inertia.com, tensor)
