"""Plots of a run: coordinates, velocities, energies and constraint forces over time.

Figures are made without pyplot, so nothing global changes and no window is opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .files import whole_file
from .labels import Label, coordinate_labels, force_labels, velocity_labels
from .runs import batch_size, first_run, spread, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..trajectory import Trajectory

CURVES = 10  # of one panel
NO_DATE = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}  # the same run gives the same file


def plot(trajectory: Trajectory) -> Figure:
    """A figure of the run, its health in the title; of a batch, the first run."""
    from matplotlib.figure import Figure

    run, model = first_run(trajectory), trajectory.model
    panels = [
        ("joint coordinates", run.q, coordinate_labels(model)),
        ("joint velocities", run.v, velocity_labels(model)),
        ("energy", _energies(run), [Label(name, "J") for name in ("kinetic", "potential", "total")]),
    ]
    if run.forces is not None and run.forces.size:
        acted = np.vstack([np.full((1, run.forces.shape[1]), np.nan), run.forces[1:]])  # no step ends at the first record
        panels.append(("constraint forces", acted, force_labels(model)))
    figure = Figure(figsize=(9.6, 1.0 + 2.3 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for ax, (title, values, labels) in zip(axes, panels, strict=True):
        _panel(ax, title, run.t, values, labels)
    figure.align_ylabels(axes)
    axes[-1].set_xlabel("time (s)")
    figure.suptitle(_title(trajectory), fontsize=10, x=0.01, ha="left")
    return figure


def write_plot(trajectory: Trajectory, path: Path) -> None:
    """Write `plot` as a picture, its kind by the suffix."""
    suffix = path.suffix.lower()
    with whole_file(path) as part:
        plot(trajectory).savefig(part, format=suffix[1:], dpi=150, metadata=NO_DATE.get(suffix))


def _energies(run: Trajectory) -> np.ndarray:
    e = run.energy
    return np.stack([e.kinetic, e.potential, e.total], axis=-1)


def _title(trajectory: Trajectory) -> str:
    runs = batch_size(trajectory)
    lines = [summary(trajectory)]
    if runs is not None:
        lines.append(f"first run of {runs} shown; the health is the worst of all")
    return "\n".join([*lines, repr(trajectory.health)])


def _panel(ax: Axes, title: str, t: np.ndarray, values: np.ndarray, labels: list[Label]) -> None:
    shown = spread(len(labels), CURVES)
    units = sorted({labels[k].unit for k in shown} - {""})
    mixed = len({labels[k].unit for k in shown}) > 1
    lines: list[Any] = []
    names: list[str] = []
    for k in shown:
        lines += ax.plot(t, values[:, k], lw=1.2, alpha=0.9)
        names.append(f"{labels[k].name} ({labels[k].unit})" if mixed and labels[k].unit else labels[k].name)
    ax.set_ylabel(f"{title} ({', '.join(units)})" if units else title)
    ax.grid(alpha=0.25, lw=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.01)
    note = f"{len(shown)} of {len(labels)} shown" if len(shown) < len(labels) else None
    _legend(ax, lines, names, note)


def _legend(ax: Axes, lines: list[Any], names: list[str], note: str | None) -> None:
    """Beside the panel; names are shown as they are: no formulas in them, and none hidden for its first letter."""
    cut = [name if len(name) <= 28 else name[:25] + "..." for name in names]
    blank = [str(k) for k in range(len(cut))]
    legend = ax.legend(
        lines, blank, loc="upper left", bbox_to_anchor=(1.0, 1.03), fontsize=8, frameon=False, title=note, title_fontsize=8
    )
    for text, name in zip(legend.get_texts(), cut, strict=True):
        text.set_parse_math(False)
        text.set_text(name)
