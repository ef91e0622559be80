"""How far runs stray from their constraints, over time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..steppers.rows_at import rows_at
from ..store.files import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..trajectory import Trajectory

FLOOR = 1e-17  # what a logarithmic axis shows of zero


def constraint_errors(run: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """The largest residual and the largest rate of the equality constraints, (T,) each, of a single run."""
    rows = [rows_at(run.model, run[k], run.t[k]) for k in range(len(run))]
    residual, rate = (
        np.array([np.abs(getattr(c, x)[~c.unilateral]).max(initial=0.0) for c in rows]) for x in ("residual", "rate")
    )
    return residual, rate


def drift_plot(runs: Mapping[str, Trajectory]) -> Figure:
    """Residuals and rates of some runs by name, on logarithmic axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 6.0), layout="constrained")
    axes = figure.subplots(2, 1, sharex=True)
    for name, run in runs.items():
        for ax, error in zip(axes, constraint_errors(run), strict=True):
            ax.semilogy(run.t[1:], np.maximum(error[1:], FLOOR), lw=1.2, label=name)
    for ax, label in zip(axes, ("residual (m)", "rate (m/s)"), strict=True):
        ax.set_ylabel(label)
        ax.grid(alpha=0.25, lw=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel("time (s)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=8, frameon=False)
    return figure


def write_drift_plot(runs: Mapping[str, Trajectory], path: Path) -> None:
    """Write `drift_plot` as a PNG."""
    with whole_file(path) as part:
        drift_plot(runs).savefig(part, format="png", dpi=110)
