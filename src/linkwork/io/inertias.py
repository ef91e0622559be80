"""Inertias as files give them: several welded into the one that moves, which is checked, repaired or accepted.

A tensor is possible if it belongs to second moments of mass that are not negative: with those along the principal axes x, y, z
the principal moments are y + z, x + z and x + y, so each is at most the sum of the other two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import ModelError
from ..spatial.checks import check_tensor
from ..spatial.inertia import Inertia
from ..spatial.se3 import SE3

LIGHT = 1e-6  # what a body without mass gets in a repair, as a part of the whole robot's mass
RADIUS = 0.01  # m, of the ball that it is made, where its file gives no moments either
ROUNDING = 1e-15  # m^2: the square of a radius of gyration, 3e-8 m, that no link has
Note = Callable[[str], object]
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


def settled(name: str, parts: Sequence[tuple[Part, SE3]], policy: str, note: Note) -> tuple[list[Part], np.ndarray]:
    """The parts of one rigid body by the policy "strict", "repair" or "accept", and what to add to the body's tensor (3, 3).

    What moves is the whole: parts that no body has alone (a sensor with a negative moment) do no harm where their sum is
    possible, and are noted.

    parts   with the poses of their axes in the body's
    """
    who = _called(name, [part.name for part, _ in parts])
    parts = _with_masses(who, parts, policy, note)
    found, whole = [part for part, _ in parts], welded(name, parts)
    problem = _problem(whole.tensor)
    if problem is None:
        for part in found:
            alone = _problem(part.tensor)
            if alone is not None:
                note(f"link {part.name!r}: {alone}; kept, as {who} is possible")
        return found, np.zeros((3, 3))
    if policy == "accept":
        note(f"{who}: {problem}; accepted as it is")
        return found, np.zeros((3, 3))
    if np.abs(whole.tensor).max() <= ROUNDING * whole.mass:
        note(f"{who}: {problem}; it is a zero with rounding errors, and taken as zero")
        return found, -whole.tensor
    if policy == "strict":
        raise ModelError(f"{who}: {problem}; {ADVICE}")
    tensor = nearest_possible(whole.tensor)
    before, after = (np.array2string(np.linalg.eigvalsh(t), precision=6) for t in (whole.tensor, tensor))
    note(f"{who}: {problem}; repaired: principal moments {before} became {after}")
    return found, tensor - whole.tensor


def note_still(part: Part, note: Note) -> None:
    """A line for a part of the world that no body has."""
    problem = f"its mass {part.mass:g} is negative" if part.mass < 0 else _problem(part.tensor)
    if problem is not None:
        note(f"link {part.name!r}: {problem}; kept, as it is part of the world and does not move")


def _called(name: str, links: Sequence[str]) -> str:
    if len(links) == 1:
        return f"link {name!r}"
    return f"body {name!r} (links {', '.join(map(repr, links))} welded together)"


def _problem(tensor: np.ndarray) -> str | None:
    """Why no body has the tensor, or None."""
    try:
        check_tensor(tensor)
    except ModelError as problem:
        return str(problem).removeprefix("inertia: ")
    return None


def _with_masses(who: str, parts: Sequence[tuple[Part, SE3]], policy: str, note: Note) -> Sequence[tuple[Part, SE3]]:
    """The parts with masses by the policy. A body without any is left to `with_mass`."""
    for part, _ in parts:
        if part.mass == 0 and part.tensor.any():
            note(f"link {part.name!r} has moments of inertia but no mass; they are kept")
    mass, negative = sum(part.mass for part, _ in parts), [part for part, _ in parts if part.mass < 0]
    if mass < 0 and policy == "strict":
        raise ModelError(f"{who} has the negative mass {mass:g}; {ADVICE}")
    repaired = mass <= 0 and policy == "repair"
    done = "repaired: it is taken as zero" if repaired else f"kept, as {who} has {mass:g} kg" if mass > 0 else "accepted as it is"
    for part in negative:
        note(f"link {part.name!r} has the negative mass {part.mass:g}; {done}")
    return [(replace(part, mass=max(part.mass, 0.0)), pose) for part, pose in parts] if repaired else parts


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


def with_mass(name: str, inertia: Inertia, robot_mass: float, policy: str, note: Note) -> Inertia:
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
