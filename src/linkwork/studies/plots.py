"""Pictures of a study: every measure against every column that was varied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from .study import Study

MOST = 6  # of the columns and measures that are shown
SIZE = 2.6  # inches, of one picture


def plotted(study: Study, measures: Sequence[str]) -> Any:
    """The figure; columns of single numbers that differ between runs, and measures of single numbers."""
    from matplotlib.figure import Figure

    across = [name for name in study.design if study[name].ndim == 1 and np.ptp(study[name]) > 0][:MOST]
    for name in measures:
        study[name]  # a wrong name is refused
    up = [name for name in measures if study[name].ndim == 1][:MOST]
    if not across or not up:
        raise InputError(
            f"there is nothing to plot: it needs a varied column ({', '.join(across) or 'none'}) "
            f"and a measure that is one number ({', '.join(up) or 'none'}); see study.columns"
        )
    figure = Figure(figsize=(SIZE * len(across) + 1, SIZE * len(up) + 0.6), layout="constrained")
    axes = figure.subplots(len(up), len(across), sharex="col", sharey="row", squeeze=False)
    for row, y in zip(axes, up, strict=True):
        for ax, x in zip(row, across, strict=True):
            ax.plot(study[x], study[y], ".", markersize=3, alpha=0.6)
            if _logarithmic(study[x]):
                ax.set_xscale("log")
            ax.grid(alpha=0.3)
        row[0].set_ylabel(y)
    for ax, x in zip(axes[-1], across, strict=True):
        ax.set_xlabel(x)
    failed = f", {len(study.failed)} failed" if len(study.failed) else ""
    figure.suptitle(f"{len(study)} runs{failed}", fontsize="medium")
    return figure


def _logarithmic(x: np.ndarray) -> bool:
    """Whether values span orders of magnitude."""
    return bool((x > 0).all() and x.max() > 100 * x.min())
