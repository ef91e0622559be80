"""How far the joints of runs in maximal coordinates are open, over time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..store.files import whole_file
from .drift import FLOOR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..trajectory import Trajectory

TOP = 1e3  # what is farther open has exploded


def gap_plot(runs: Mapping[str, Trajectory], length: float = 1.0) -> Figure:
    """The largest gap of any joint, for a length, of some runs by name, on a logarithmic axis."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.0), layout="constrained")
    ax = figure.subplots()
    for name, run in runs.items():
        ax.semilogy(run.t[1:], np.maximum(run.joint_gaps[1:] / length, FLOOR), lw=1.2, label=name)
    ax.set_ylim(FLOOR, TOP)
    ax.set_xlabel("time (s)")
    ax.set_ylabel("largest joint gap (m)" if length == 1.0 else f"largest joint gap / {length:g} m")
    ax.grid(alpha=0.25, lw=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=8, frameon=False)
    return figure


def write_gap_plot(runs: Mapping[str, Trajectory], path: Path, length: float = 1.0) -> None:
    """Write `gap_plot` as a PNG."""
    with whole_file(path) as part:
        gap_plot(runs, length).savefig(part, format="png", dpi=110)
