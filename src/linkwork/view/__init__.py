"""Pictures and numbers of a run: the page for a browser, plots, and files of arrays.

`WRITERS` maps the suffix of a file to the function that writes it; `Trajectory.save` looks there.
"""

from __future__ import annotations

from collections.abc import Callable

from ..look import Camera, Look
from .description import describe
from .html import page, write_page
from .numbers import write_numbers
from .plots import plot, write_plot

WRITERS: dict[str, Callable[..., None]] = {
    ".npz": write_numbers,
    ".html": write_page,
    ".png": write_plot,
    ".svg": write_plot,
    ".pdf": write_plot,
}

__all__ = ["WRITERS", "Camera", "Look", "describe", "page", "plot"]
