"""Small pictures for the page: curves, and a run at some moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .item import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..trajectory import Trajectory

SIZE = (5.0, 2.7)  # inches
MOST_NAMES = 6  # of bodies in a legend


def curves(
    lines: Mapping[str, tuple[Any, Any]], x: str, y: str, *, points: Mapping[str, tuple[Any, Any]] | None = None, log: str = ""
) -> Picture:
    """Lines and points by their names over a common x; `log` names the logarithmic axes: "", "x", "y", "xy"."""

    def draw() -> Figure:
        from matplotlib.figure import Figure

        figure = Figure(figsize=SIZE, layout="constrained")
        ax = figure.subplots()
        for name, (a, b) in lines.items():
            ax.plot(a, b, lw=1.3, label=name)
        for k, (name, (a, b)) in enumerate((points or {}).items()):
            ax.plot(a, b, "ox+s"[k % 4], ms=4, color="0.2", label=name)
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        if "x" in log:
            ax.set_xscale("log")
        if "y" in log:
            ax.set_yscale("log")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=7)
        return figure

    return draw


def moments(run: Trajectory, plane: str = "xz", frames: int = 8) -> Picture:
    """A run at some moments, seen along an axis."""

    def draw() -> Figure:
        from ..view.strobe import strobe

        figure = strobe(run, plane=plane, frames=frames)
        legend = figure.axes[0].get_legend()
        if legend is not None and run.model.nb > MOST_NAMES:
            legend.remove()
        return figure

    return draw


def histogram(errors: Sequence[float], what: str) -> Picture:
    """How many errors have which size."""

    def draw() -> Figure:
        import numpy as np
        from matplotlib.figure import Figure

        figure = Figure(figsize=SIZE, layout="constrained")
        ax = figure.subplots()
        ax.hist(np.log10(np.maximum(errors, 1e-17)), bins=40)
        ax.set_xlabel(f"log10 of the {what}")
        ax.set_ylabel("models")
        return figure

    return draw
