"""Plots of muscles: their curves, and their moment arms and fibre lengths over the range of a joint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..forces.muscle import Muscle
from ..model import Model
from ..reduced.muscle_states import muscle_states
from ..store.files import whole_file
from .labels import coordinate_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 241
PANELS = (  # curve, title, argument, range
    ("active", "active force-length", "fibre length / optimal length", (0.2, 2.0)),
    ("passive", "passive force-length", "fibre length / optimal length", (0.8, 1.8)),
    ("velocity", "force-velocity", "fibre velocity / greatest velocity", (-1.2, 1.2)),
    ("tendon", "tendon", "tendon length / slack length", (0.98, 1.08)),
)


def plot_muscle_curves(muscle: Muscle) -> Figure:
    """A figure of the curves of a muscle: forces over the greatest isometric force, with slopes dashed."""
    from matplotlib.figure import Figure

    panels = [p for p in PANELS if p[0] in muscle.curve_names]
    figure = Figure(figsize=(3.6 * len(panels), 3.2), layout="constrained")
    for ax, (name, title, argument, (low, high)) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        x, curve = np.linspace(low, high, POINTS), getattr(muscle, name)
        ax.plot(x, [curve(e) for e in x], lw=1.6)
        slope = ax.twinx()
        slope.plot(x, [curve.slope(e) for e in x], lw=1.0, ls="--", color="tab:orange")
        slope.tick_params(labelsize=7, colors="tab:orange")
        slope.spines[["top", "left"]].set_visible(False)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel(argument, fontsize=9)
        _plain(ax)
    figure.axes[0].set_ylabel("force / greatest force", fontsize=9)
    figure.axes[-1].set_ylabel("slope", fontsize=9, color="tab:orange")
    return figure


def plot_moment_arms(model: Model, joint: str, q: Any = None, span: Any = None) -> Figure:
    """A figure of moment arms and fibre lengths of all muscles that cross a joint of one coordinate, over its range.

    q      where the other joints are; neutral by default
    span   (lower, upper) of the joint's coordinate; its limits by default
    """
    from matplotlib.figure import Figure

    values, states = over_joint(model, joint, q, span)
    arms = states.moment_arms[..., model.v_index(joint).start]
    crossing = [k for k in range(len(states.names)) if np.abs(arms[:, k]).max() > 1e-9]
    if not crossing:
        raise InputError(f"no muscle crosses the joint {joint!r}")
    optimal = np.array([m.optimal_length for m in model.elements_of(Muscle)])
    figure = Figure(figsize=(9.6, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    axis = coordinate_labels(model)[model.q_index(joint).start]
    for k in crossing:
        name = states.names[k] or f"muscle {k}"
        left.plot(values, 1e3 * arms[:, k], lw=1.4, label=name)
        right.plot(values, states.fibre_length[:, k] / optimal[k], lw=1.4, label=name)
    left.set_ylabel("moment arm (mm)", fontsize=9)
    right.set_ylabel("fibre length / optimal length", fontsize=9)
    for ax in (left, right):
        ax.set_xlabel(f"{axis.name} ({axis.unit})" if axis.unit else axis.name, fontsize=9)
        _plain(ax)
    right.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.03))
    return figure


def over_joint(model: Model, joint: str, q: Any = None, span: Any = None) -> tuple[np.ndarray, Any]:
    """Values of a joint's coordinate over its range, and the `MuscleStates` there."""
    place = model.q_index(joint)
    if place.stop - place.start != 1:
        raise InputError(f"the joint {joint!r} has {place.stop - place.start} coordinates; moment arms are drawn over one")
    limits = model.bodies[model.body_index(joint)].properties
    low, high = (limits.lower[0], limits.upper[0]) if span is None else span
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InputError(f"the joint {joint!r} has no finite limits; give span=(lower, upper)")
    values = np.linspace(low, high, POINTS)
    many = np.tile(model.neutral() if q is None else np.asarray(q, float), (POINTS, 1))
    many[:, place.start] = values
    return values, muscle_states(model, many)


def write_figure(figure: Figure, path: str | Path) -> Path:
    """Write a figure as a picture, its kind by the suffix."""
    path = Path(path)
    with whole_file(path) as part:
        figure.savefig(part, format=path.suffix[1:].lower() or None, dpi=150)
    return path


def _plain(ax: Axes) -> None:
    ax.grid(alpha=0.25, lw=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)
    ax.margins(x=0.01)
