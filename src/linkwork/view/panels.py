"""The panels of plots of a run, by name: what they show over time, or over each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..constraints.rows import constraint_set
from ..errors import InputError
from .labels import Label, coordinate_labels, force_labels, velocity_labels

if TYPE_CHECKING:
    from ..trajectory import Trajectory

USUAL = ("coordinates", "velocities", "energy", "forces")


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves with a label each.

    x       (records,), or (records, curves) where each curve has its own
    across  what x is; the time if empty
    log     whether the values are sizes over many decades
    """

    title: str
    x: np.ndarray
    values: np.ndarray
    labels: Sequence[Label]
    across: str = ""
    log: bool = False


def panels_of(run: Trajectory, what: Sequence[str], joints: Sequence[str]) -> list[Panel]:
    """The panels of some names; without joints, of all of them."""
    for name in what:
        if name not in PANELS:
            raise InputError(f"there is no plot {name!r}; there are {', '.join(PANELS)}")
    found = [panel for name in what for panel in PANELS[name](run, joints)]
    if not found:
        raise InputError(f"this run has nothing to plot of {', '.join(what)}: no constraints, or no joints")
    return found


def _columns(run: Trajectory, joints: Sequence[str], index: Callable[[str], slice], count: int) -> np.ndarray:
    if not joints:
        return np.arange(count)
    return np.concatenate([np.arange(count)[index(name)] for name in joints])


def _coordinates(run: Trajectory, joints: Sequence[str]) -> list[Panel]:
    model, labels = run.model, coordinate_labels(run.model)
    k = _columns(run, joints, model.q_index, model.nq)
    return [Panel("joint coordinates", run.t, run.q[:, k], [labels[i] for i in k])]


def _velocities(run: Trajectory, joints: Sequence[str]) -> list[Panel]:
    model, labels = run.model, velocity_labels(run.model)
    k = _columns(run, joints, model.v_index, model.nv)
    return [Panel("joint velocities", run.t, run.v[:, k], [labels[i] for i in k])]


def _energy(run: Trajectory, joints: Sequence[str]) -> list[Panel]:
    e = run.energy
    names, values = ["kinetic", "potential", "total"], [e.kinetic, e.potential, e.total]
    if run.work_of:
        names, values = [*names, "work of all that acts"], [*values, e.total[0] + run.work]
    return [Panel("energy", run.t, np.stack(values, axis=-1), [Label(name, "J") for name in names])]


def _forces(run: Trajectory, joints: Sequence[str]) -> list[Panel]:
    if run.forces is None or not run.forces.size:
        return []
    acted = np.vstack([np.full((1, run.forces.shape[1]), np.nan), run.forces[1:]])  # no step ends at the first record
    return [Panel("constraint forces", run.t, acted, force_labels(run.model))]


def _residuals(run: Trajectory, joints: Sequence[str]) -> list[Panel]:
    """The sizes of all that should be zero."""
    e = run.energy
    found = [(Label("energy without work", "J"), np.abs(e.total - e.total[0] - run.work))]
    if run.kind == "maximal":
        found.append((Label("joint gaps", "m"), run.joint_gaps))
    rows = constraint_set(run.model)
    if rows.count:
        s = run.residuals
        if (~rows.unilateral).any():
            found.append((Label("constraints", "m"), np.abs(s[:, ~rows.unilateral]).max(axis=1)))
        if rows.unilateral.any():
            found.append((Label("penetration", "m"), np.maximum(0.0, -s[:, rows.unilateral]).max(axis=1)))
    values = np.stack([x for _, x in found], axis=-1)
    return [Panel("errors", run.t, np.where(values > 0, values, np.nan), [label for label, _ in found], log=True)]


def _reactions(run: Trajectory, joints: Sequence[str]) -> list[Panel]:
    """What joints carry: sizes of force and moment."""
    names = list(joints) or [b.joint_name for b in run.model.bodies if b.joint.nv < 6]
    if not names:
        return []
    wrenches = np.stack([run.reactions(name) for name in names], axis=1)
    force, moment = (np.linalg.norm(wrenches[..., part], axis=-1) for part in (slice(3, 6), slice(0, 3)))
    return [
        Panel("forces in joints", run.t, force, [Label(name, "N") for name in names]),
        Panel("moments in joints", run.t, moment, [Label(name, "N m") for name in names]),
    ]


def _phase(run: Trajectory, joints: Sequence[str]) -> list[Panel]:
    """Velocities over coordinates, of joints that have as many of both."""
    model = run.model
    some = [b for b in model.bodies if b.joint.nv and b.joint.nq == b.joint.nv and (not joints or b.joint_name in joints)]
    if not some:
        return []
    names = [b.name for b in some]
    q, v = _columns(run, names, model.q_index, model.nq), _columns(run, names, model.v_index, model.nv)
    labels = coordinate_labels(model)
    return [Panel("joint velocities", run.q[:, q], run.v[:, v], [labels[i] for i in q], across="joint coordinates")]


PANELS: dict[str, Callable[[Trajectory, Sequence[str]], list[Panel]]] = {
    "coordinates": _coordinates,
    "velocities": _velocities,
    "energy": _energy,
    "forces": _forces,
    "residuals": _residuals,
    "reactions": _reactions,
    "phase": _phase,
}
