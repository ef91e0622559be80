"""Plots of a run: coordinates, velocities, energies, constraint forces, errors, reactions, phase portraits.

Figures are made without pyplot, so nothing global changes and no window is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..store.files import whole_file
from .panels import USUAL, Panel, panels_of
from .runs import batch_size, first_run, spread, summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..trajectory import Trajectory

CURVES = 10  # of one panel
DPI = 120
PICTURES = (".png", ".svg", ".pdf")
NO_DATE = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}  # the same run gives the same file


def plot(trajectory: Trajectory, *what: str, joints: Sequence[str] = ()) -> Figure:
    """A figure of the run, its health in the title; of a batch, the first run.

    what     panels: "coordinates", "velocities", "energy", "forces" (of constraints; these four by default), "residuals",
             "reactions" (what joints carry), "phase" (velocities over coordinates)
    joints   names of those to show; all by default
    """
    from matplotlib.figure import Figure

    for name in joints:
        trajectory.model.body_index(name)
    panels = panels_of(first_run(trajectory), what or USUAL, joints)
    heights = [2.2 if not p.across else 4.4 for p in panels]  # inches
    tall = sum(heights) + 1.4
    figure = Figure(figsize=(9.6, tall))
    axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    figure.subplots_adjust(left=0.09, right=0.76, bottom=0.6 / tall, top=1.0 - 0.75 / tall, hspace=0.22)
    timed = [ax for ax, p in zip(axes, panels, strict=True) if not p.across]
    for ax, panel in zip(axes, panels, strict=True):
        if ax in timed[1:]:
            ax.sharex(timed[0])
        _panel(ax, panel)
        ax.set_xlabel(panel.across or ("time (s)" if ax is timed[-1] else ""))
    figure.align_ylabels(axes)
    figure.suptitle(_title(trajectory), fontsize=10, x=0.01, ha="left")
    return figure


def write_plot(trajectory: Trajectory, path: Path) -> None:
    """Write `plot` as a picture, its kind by the suffix."""
    write_figure(plot(trajectory), path)


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure as a picture, its kind by the suffix."""
    suffix = path.suffix.lower()
    if suffix not in PICTURES:
        raise InputError(f"cannot write a plot as {suffix or 'a file without suffix'!r}; use {', '.join(PICTURES)}")
    with whole_file(path) as part:
        figure.savefig(part, format=suffix[1:], dpi=DPI, metadata=NO_DATE.get(suffix))


def _title(trajectory: Trajectory) -> str:
    runs = batch_size(trajectory)
    lines = [summary(trajectory)]
    if runs is not None:
        lines.append(f"first run of {runs} shown; the health is the worst of all")
    return "\n".join([*lines, repr(trajectory.health)])


def _panel(ax: Axes, panel: Panel) -> None:
    title, labels = panel.title, panel.labels
    shown = spread(len(labels), CURVES)
    units = sorted({labels[k].unit for k in shown} - {""})
    mixed = len({labels[k].unit for k in shown}) > 1
    lines: list[Any] = []
    names: list[str] = []
    for k in shown:
        lines += ax.plot(panel.x if panel.x.ndim == 1 else panel.x[:, k], panel.values[:, k], lw=1.2, alpha=0.9)
        names.append(f"{labels[k].name} ({labels[k].unit})" if mixed and labels[k].unit else labels[k].name)
    if panel.log and np.nanmax(panel.values, initial=0.0) > 0:
        ax.set_yscale("log")
    units = [] if panel.across else units
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
