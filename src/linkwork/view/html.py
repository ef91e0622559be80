"""The run as one page for a browser: an animation, energies and health, in a file that needs nothing else."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .files import whole_file
from .runs import batch_size, counted, finite_records, first_run, spread, summary
from .solids import bodies, grounds, pins, scenery, springs

if TYPE_CHECKING:
    from ..trajectory import Trajectory

FRAMES = 300  # of one page
RATE = 60.0  # frames per second of simulated time, at most
POSES = 100_000  # frames times bodies, so that pages of large models stay loadable
FEW = 30  # frames that even the largest model gets
SCRIPTS = ("viewer_math.js", "viewer_draw.js", "viewer_scene.js", "viewer_energy.js", "viewer_player.js")
MEANINGS = {
    "energy_drift": "change of total energy not explained by the work of forces, relative to the energy that moved; "
    "impacts count too",
    "joint_gap": "largest distance (m or rad) between the two sides of a joint",
    "constraint_residual": "largest violation of an equality constraint (m)",
    "penetration": "largest depth of a contact (m)",
    "complementarity": "largest error that the solver left in the laws of contact and friction (m/s)",
}


def page(trajectory: Trajectory, title: str = "run") -> str:
    """The text of the page; of a batch, the first run."""
    parts = {
        "title": escape(title),
        "style": _part("viewer.css"),
        "data": script_json(content(trajectory, title)),
        "script": "\n".join(_part(name) for name in SCRIPTS),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m[1]], _part("viewer.html"))


def write_page(trajectory: Trajectory, path: Path) -> None:
    """Write `page`, titled after the file."""
    with whole_file(path) as part:
        part.write_text(page(trajectory, path.stem), encoding="utf-8")


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element: no character that could end it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ASCII only
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def content(trajectory: Trajectory, title: str) -> dict[str, Any]:
    """What the page shows, as plain values."""
    run = first_run(trajectory)
    usable = finite_records(run)
    if not usable:
        raise InputError("there is nothing to show: the first state of the run is not finite")
    k = chosen(run.t[:usable], trajectory.model.nb)
    e = run.energy
    return {
        "title": title,
        "summary": summary(trajectory),
        "notes": _notes(trajectory, usable, len(k)),
        "health": _health(trajectory),
        "bodies": bodies(trajectory.model),
        "grounds": grounds(trajectory.model),
        "scenery": scenery(trajectory.model),
        "pins": pins(trajectory.model),
        "springs": springs(trajectory.model),
        "t": rounded(run.t[k]),
        "poses": rounded(frames(run.poses[k])),
        "kinetic": rounded(e.kinetic[k]),
        "potential": rounded(e.potential[k]),
    }


def chosen(t: np.ndarray, nb: int) -> np.ndarray:
    """The records that become frames: evenly spread, at most `RATE` per second and `FRAMES` in all."""
    per_second = int(RATE * (t[-1] - t[0]) + 1e-9) + 1
    affordable = max(FEW, POSES // nb)
    return spread(len(t), max(2, min(FRAMES, affordable, per_second)))


def frames(poses: np.ndarray) -> np.ndarray:
    """Position and quaternion (w, x, y, z) of every body, in one row per frame: (frames, 7 bodies)."""
    from scipy.spatial.transform import Rotation

    quat = Rotation.from_matrix(poses[..., :3, :3].reshape(-1, 3, 3)).as_quat()[:, [3, 0, 1, 2]]
    return np.concatenate([poses[..., :3, 3].reshape(-1, 3), quat], axis=1).reshape(len(poses), -1)


def rounded(a: np.ndarray) -> list[Any]:
    """As lists, to six digits of the largest entry."""
    largest = float(np.abs(a).max(initial=0.0))
    decimals = 5 - int(np.floor(np.log10(largest))) if largest > 0 else 0
    return (np.round(a, decimals) + 0.0).tolist()


def _health(trajectory: Trajectory) -> list[dict[str, str]]:
    health = trajectory.health
    rows = [
        {"name": name.replace("_", " "), "value": f"{value:.3g}", "meaning": MEANINGS.get(name, "")}
        for name, value in vars(health).items()
        if isinstance(value, float)
    ]
    finite = "every number of the run is finite" if health.finite else "the run broke down: it holds infinities or NaN"
    return [*rows, {"name": "finite", "value": "yes" if health.finite else "no", "meaning": finite}]


def _notes(trajectory: Trajectory, usable: int, shown: int) -> list[str]:
    runs, total = batch_size(trajectory), len(trajectory)
    notes = []
    if runs is not None:
        notes.append(f"The first run of {runs} is shown; the health is the worst of all.")
    if usable < total:
        notes.append(f"The run is not finite after t = {trajectory.t[usable - 1]:.6g} s; it is shown until then.")
    if shown < usable:
        notes.append(f"{counted(shown, 'frame')} of {usable} records are kept here; the motion between them is interpolated.")
    if not all(body.shapes for body in trajectory.model.bodies):
        notes.append("A body without shapes is drawn as the uniform cuboid with its mass, centre of mass and inertia.")
    return notes


def _part(name: str) -> str:
    return (files("linkwork.view") / name).read_text(encoding="utf-8")
