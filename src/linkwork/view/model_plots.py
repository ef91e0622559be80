"""Pictures of a model by itself: what it looks like, and its muscles over the range of a joint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import Model
from ..model.kinematics import kinematics
from .muscle_plots import plot_moment_arms, write_figure
from .painter import Painter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["model_picture", "plot_moment_arms", "write_figure"]


def model_picture(model: Model, q: Any = None, size: float = 5.0) -> Figure:
    """The model at one configuration, neutral by default."""
    from matplotlib.figure import Figure

    q = model.neutral() if q is None else np.asarray(q, float)
    painter = Painter(model, kinematics(model, q, np.zeros(model.nv)).poses[None])
    figure = Figure(figsize=(size, size))
    painter.paint(figure.add_axes((0.0, 0.0, 1.0, 1.0)), np.array([0]))
    return figure
