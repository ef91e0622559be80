"""The recording of a run: when bodies were where, and what else changes with time, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..constraints.rows import constraint_set
from ..contact import Contact
from ..errors import InputError
from ..forces import Muscle
from ..forces.set import force_set
from ..spatial.se3 import SE3
from .handles import handles
from .labels import coordinate_labels
from .packed import packed
from .paths import path_forces, path_line, runs_around
from .runs import spread
from .solids import quaternion_rows
from .touches import acting_contacts, contact_pushes, pose_of

if TYPE_CHECKING:
    from ..forces.muscle_path import AlongPath
    from ..trajectory import Trajectory

FRAMES = 900  # of one page
RATE = 60.0  # frames per second of simulated time, at most
POSES = 100_000  # frames times bodies, so that pages of large models stay loadable
FEW = 30  # frames that even the largest model gets
COORDINATES = 80  # whose curves are kept
LINES = 20_000  # frames times paths around obstacles
TOUCHES = 1500  # frames times contacts
ROWS = 4_000_000  # records times constraint rows: more forces are not looked at


def recording(run: Trajectory, usable: int) -> dict[str, Any]:
    """The frames of a single run, of which so many records can be used."""
    k = chosen(run.t[:usable], run.model.nb)
    poses, e = run.poses[k], run.energy
    rows = quaternion_rows(poses[..., :3, :3].reshape(-1, 3, 3), poses[..., :3, 3].reshape(-1, 3))
    lengths, levels, lines = _paths(run, k)
    return {
        "t": packed(run.t[k]),
        "poses": packed(rows.reshape(len(k), run.model.nb, 7)),
        "energy": [
            {"name": name, "unit": "J", "values": packed(x[k])}
            for name, x in (("kinetic", e.kinetic), ("potential", e.potential), ("total", e.total))
        ],
        "curves": _coordinates(run, k) + lengths,
        "levels": levels,
        "lines": lines,
        "contacts": _contacts(run, k),
        "handles": handles(run, k),
    }


def chosen(t: np.ndarray, nb: int) -> np.ndarray:
    """The records that become frames: evenly spread, at most `RATE` per second and `FRAMES` in all."""
    per_second = int(RATE * (t[-1] - t[0]) + 1e-9) + 1
    affordable = max(FEW, POSES // nb)
    return spread(len(t), max(2, min(FRAMES, affordable, per_second)))


def _coordinates(run: Trajectory, k: np.ndarray) -> list[dict[str, Any]]:
    labels = coordinate_labels(run.model)[:COORDINATES]
    q = run.q[k]
    return [{"name": label.name, "unit": label.unit, "values": packed(q[:, i])} for i, label in enumerate(labels)]


def _paths(run: Trajectory, k: np.ndarray) -> tuple[list[Any], list[Any], list[Any]]:
    """Of muscles and cables: curves to plot, levels from 0 to 1 that colour them, and lines around obstacles (or None)."""
    forces = path_forces(run.model)
    few = max(2, LINES // max(1, len(forces)))
    some = k[spread(len(k), few)]
    index = {b.name: i for i, b in enumerate(run.model.bodies)}
    inputs = force_set(run.model) if forces else None
    curves, levels, lines = [], [], []
    for force in forces:
        places = [[pose_of(run.poses[r, index[name]]) if name in index else SE3() for name in force.path.bodies] for r in some]
        level, name = _level(force, run, some, places, inputs)
        at_all = np.interp(run.t[k], run.t[some], level)
        curves.append({"name": f"{force.name or type(force).__name__} {name}", "unit": "", "values": packed(at_all)})
        levels.append(packed(np.clip(at_all, 0.0, 1.0)))
        lines.append(_lines(force, places, run.t[some], run.t[k]))
    return curves, levels, lines


def _level(force: AlongPath, run: Trajectory, some: np.ndarray, places: list[Any], inputs: Any) -> tuple[np.ndarray, str]:
    """The activation of a muscle; the tension of a cable, over the largest of the run."""
    u = np.zeros((len(some), 0))
    if force.inputs and inputs is not None:
        own = inputs.input_index(force.name) if force.name else None
        given = np.tile(inputs.initial_inputs, (len(some), 1)) if run.inputs is None else run.inputs[some]
        u = given[:, own] if own is not None else np.tile(force.initial_inputs(), (len(some), 1))
    if isinstance(force, Muscle):
        return np.array([float(force.activation_at(run.t[r], u[n])) for n, r in enumerate(some)]), "activation"
    length = np.array([float(force.length(at)) for at in places])
    rate = np.gradient(length, run.t[some]) if len(some) > 1 else np.zeros(1)
    pull = np.array(
        [float(force.tension(x, v, run.t[r], u[n])) for n, (x, v, r) in enumerate(zip(length, rate, some, strict=True))]
    )
    return pull / max(float(np.abs(pull).max()), 1e-12), "tension, of the largest"


def _lines(force: AlongPath, places: list[Any], some: np.ndarray, t: np.ndarray) -> dict[str, Any] | None:
    """Where a path runs (frames, n, 3), if it goes around obstacles."""
    if not runs_around(force.path):
        return None
    line = np.array([path_line(force.path, at) for at in places])
    flat = line.reshape(len(line), -1)
    filled = np.stack([np.interp(t, some, column) for column in flat.T], axis=1)
    return packed(filled.reshape(len(t), *line.shape[1:]))


def _contacts(run: Trajectory, k: np.ndarray) -> dict[str, Any] | None:
    """Points and forces of contacts: of frame i those from `start[i]` to `start[i + 1]`; frames between some repeat them."""
    laws = constraint_set(run.model).sizes()
    if not any(isinstance(law, Contact) for law, _ in laws) or run.rows is None or len(run) * sum(n for _, n in laws) > ROWS:
        return None
    forces = run.forces
    assert forces is not None
    acting = acting_contacts(laws, forces[k])
    if not acting.any():
        return None
    stride = 1 + int(acting.sum()) // TOUCHES
    start, points, pushes = [0], [], []
    found: list[tuple[np.ndarray, np.ndarray]] = []
    for i, r in enumerate(k):
        if i % stride == 0:
            found = contact_pushes(run.model, laws, acting[i], run.poses[r], forces[r])
        points += [x for x, _ in found]
        pushes += [f for _, f in found]
        start.append(len(points))
    return {
        "start": packed(start, "u4"),
        "points": packed(np.reshape(points, (-1, 3))),
        "forces": packed(np.reshape(pushes, (-1, 3))),
    }


def require_finite(usable: int) -> None:
    """Raise where there is nothing to show."""
    if not usable:
        raise InputError("there is nothing to show: the first state of the run is not finite")
