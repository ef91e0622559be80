"""A run in one picture: the bodies at some moments, seen along an axis, later ones darker, and the paths of their last points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..model import Model
from ..spatial.gate import meant
from ..store.files import whole_file
from .runs import first_run, spread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..trajectory import Trajectory

PLANES = {"xz": [0, 2], "xy": [0, 1], "yz": [1, 2]}


def outline_of(model: Model, body: int) -> np.ndarray:
    """A line through the joints that a body carries; at the end of a chain, to twice its centre of mass."""
    placed = [np.asarray(b.placement.p, float) for b in model.bodies if b.parent == body]
    ends = placed or [2.0 * model.bodies[body].inertia.com]
    return np.array([x for end in ends for x in (np.zeros(3), end)])


def strobe(
    trajectory: Trajectory,
    outlines: Mapping[str, Any] | None = None,
    scenery: Sequence[Any] = (),
    plane: str = "xz",
    frames: int = 8,
) -> Figure:
    """The picture.

    outlines   lines (n, 3) in the axes of bodies, by their names; others are drawn from joint to joint
    scenery    lines (n, 3) in the world that do not move
    plane      the two axes of the picture: "xz", "xy" or "yz"
    """
    from matplotlib.figure import Figure

    if plane not in PLANES:
        raise InputError(f"strobe: plane must be one of {', '.join(PLANES)}, not {plane!r}{meant(plane, PLANES)}")
    run, axes = first_run(trajectory), PLANES[plane]
    model, moments = run.model, spread(len(run), frames)
    figure = Figure(figsize=(5.6, 4.2), layout="constrained")
    ax = figure.subplots()
    for line in scenery:
        ax.plot(*np.asarray(line, float)[:, axes].T, color="0.55", lw=1.2)
    for i, body in enumerate(model.bodies):
        line = np.asarray((outlines or {}).get(body.name, outline_of(model, i)), float)
        color = f"C{i % 10}"
        for k, m in enumerate(moments):
            E = run.poses[m, i]
            seen = (line @ E[:3, :3].T + E[:3, 3])[:, axes]
            strength = 0.15 + 0.85 * (k + 1) / len(moments)
            ax.plot(*seen.T, color=color, lw=2.0, alpha=strength, label=body.name if m == moments[-1] else None)
            ax.plot(*seen[-1], "o", color=color, ms=4.0, alpha=strength)
        path = run.poses[:, i, :3, :3] @ line[-1] + run.poses[:, i, :3, 3]
        ax.plot(*path[:, axes].T, color=color, lw=0.7, alpha=0.6)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel(f"{plane[0]} (m)")
    ax.set_ylabel(f"{plane[1]} (m)")
    ax.grid(alpha=0.25, lw=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=8, frameon=False)
    return figure


def write_strobe(
    trajectory: Trajectory,
    path: str | Path,
    outlines: Mapping[str, Any] | None = None,
    scenery: Sequence[Any] = (),
    plane: str = "xz",
    frames: int = 8,
) -> None:
    """Write `strobe` as a PNG."""
    with whole_file(Path(path)) as part:
        strobe(trajectory, outlines, scenery, plane, frames).savefig(part, format="png", dpi=80)
