"""Points and forces of contacts at a moment, in the world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..contact import Contact
from ..elements.touch import directions
from ..model import Model
from ..spatial.se3 import SE3

Laws = Sequence[tuple[Any, int]]  # constraints with their numbers of rows


def acting_contacts(laws: Laws, forces: np.ndarray) -> np.ndarray:
    """Which laws are contacts that push (frames, laws), by the forces of all rows (frames, rows)."""
    ends = np.cumsum([0, *(n for _, n in laws)])
    found = np.zeros((len(forces), len(laws)), dtype=bool)
    for j, (law, n) in enumerate(laws):
        if isinstance(law, Contact) and n:
            found[:, j] = np.any(forces[:, ends[j] : ends[j + 1]] > 0.0, axis=1)
    return found


def contact_pushes(
    model: Model, laws: Laws, acting: np.ndarray, poses: np.ndarray, forces: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Points, and forces on the first body, of every contact that acts.

    acting   (laws,), as `acting_contacts` says
    poses    of the bodies (bodies, 4, 4)
    forces   of all rows (rows,)
    """
    ends = np.cumsum([0, *(n for _, n in laws)])
    index = {b.name: i for i, b in enumerate(model.bodies)}
    found = []
    for j in np.flatnonzero(acting).tolist():
        law = laws[j][0]
        at = [pose_of(poses[index[name]]) if name in index else SE3() for name in law.bodies]
        own = forces[ends[j] : ends[j + 1]].reshape(-1, law.per_point)
        for touch, f in zip(law.touch(at), own, strict=False):
            if f[0] > 0.0:
                ways = np.array([np.asarray(x, float) for x in directions(law, touch.normal)])
                found.append((np.asarray(touch.point, float), f[: len(ways)] @ ways))
    return found


def pose_of(E: np.ndarray) -> SE3:
    """A matrix (4, 4) as a pose."""
    return SE3(R=E[:3, :3], p=E[:3, 3])
