"""Handles of a run: from which point of a body to which target each pulled, in every frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..elements.collection import collection
from ..forces import Grip, Handle, PoseHandle
from .packed import packed

if TYPE_CHECKING:
    from ..trajectory import Trajectory

MOST = 24  # that are drawn


def handles(run: Trajectory, k: np.ndarray) -> list[dict[str, Any]]:
    """Of every handle its name, and from where to where it pulls in frames k (frames, 3); not a number where it does not."""
    laws, first, found = collection(run.model), 0, []
    inputs = np.tile(laws.initial_inputs, (len(k), 1)) if run.inputs is None else run.inputs[k]
    for force in laws.forces:
        u = inputs[:, first : first + force.inputs]
        first += force.inputs
        if isinstance(force, Handle | PoseHandle | Grip):
            E = run.poses[k, run.model.body_index(force.bodies[0])]
            point, target = _ends(force, u)
            start = np.einsum("fij,fj->fi", E[:, :3, :3], point) + E[:, :3, 3]
            if np.isfinite(target).any():
                found.append({"name": force.name or force.bodies[0], "from": packed(start), "to": packed(target)})
    return found[:MOST]


def _ends(force: Any, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The point in the body's axes and the target in the world (frames, 3)."""
    if isinstance(force, Grip):
        return u[:, :3], np.where(u[:, 9:10] > 0.0, u[:, 3:6], np.nan)
    if isinstance(force, PoseHandle):
        return np.tile(force.frame_p, (len(u), 1)), u[:, 9:12]
    return np.tile(force.point, (len(u), 1)), u[:, :3]
