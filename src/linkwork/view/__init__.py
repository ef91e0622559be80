"""Pictures and numbers of a run: the page for a browser, plots, and files of arrays; and runs that are looked at as they go.

`WRITERS` maps the suffix of a file to the function that writes it; `Trajectory.save` looks there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..look import Camera, Look
from .assemblies import assembly_page, write_assembly
from .description import describe
from .film import write_film, write_gif
from .gltf import write_glb
from .html import page, write_page
from .numbers import write_numbers
from .painter import write_picture
from .plots import plot, write_plot
from .spreadsheet import write_table

if TYPE_CHECKING:
    from .session import Session, live

WRITERS: dict[str, Callable[..., None]] = {
    ".npz": write_numbers,
    ".csv": write_table,
    ".html": write_page,
    ".glb": write_glb,
    ".mp4": write_film,
    ".gif": write_gif,
    ".strobe.png": write_picture,
    ".png": write_plot,
    ".svg": write_plot,
    ".pdf": write_plot,
}


def writer_of(path: Path) -> Callable[..., None]:
    """What writes a file of this suffix."""
    found = WRITERS.get("".join(path.suffixes[-2:]).lower()) or WRITERS.get(path.suffix.lower())
    if found is None:
        raise InputError(f"cannot save a trajectory as {path.suffix or 'a file without suffix'!r}; use {', '.join(WRITERS)}")
    return found


def __getattr__(name: str) -> Any:
    """What brings a server along is imported when somebody asks for it."""
    if name not in ("Session", "live"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import session

    return getattr(session, name)


__all__ = ["WRITERS", "Camera", "Look", "Session", "assembly_page", "describe", "live", "page", "plot", "write_assembly"]
