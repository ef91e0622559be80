"""The numbers of a run as a NumPy archive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..store.files import whole_file

if TYPE_CHECKING:
    from ..trajectory import Trajectory


def columns(trajectory: Trajectory) -> dict[str, np.ndarray]:
    """Everything recorded, by name; `np.load` gives the same back without pickles.

    t, kind                  times (T,), and "reduced" or "maximal"
    q, v                     reduced runs: coordinates (..., T, nq) and velocities (..., T, nv)
    poses, twists, q_fit     maximal runs: (..., T, bodies, 4, 4), (..., T, bodies, 6), (..., T, nq)
    tau, forces              joint forces and constraint forces; absent if there were none
    kinetic, potential       energies (..., T)
    body_names, joint_names  in the order of the arrays
    """
    bodies, e = trajectory.model.bodies, trajectory.energy
    found = {"t": trajectory.t, "kind": np.array(trajectory.kind), **trajectory.arrays}
    found |= {name: a for name in ("tau", "forces") if (a := getattr(trajectory, name)) is not None}
    found |= {"kinetic": e.kinetic, "potential": e.potential}
    found |= {"body_names": np.array([b.name for b in bodies]), "joint_names": np.array([b.joint_name for b in bodies])}
    return found


def write_numbers(trajectory: Trajectory, path: Path) -> None:
    """Write `columns` as `.npz`."""
    with whole_file(path) as part, part.open("wb") as file:
        np.savez(file, **columns(trajectory))  # pyright: ignore[reportArgumentType]
