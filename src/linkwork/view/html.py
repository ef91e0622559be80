"""The run as one page for a browser: an animation, curves and health, in a file that needs nothing else."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..look import Look
from ..model import Model, State
from ..store.files import whole_file
from .bundle import assembled, script_of
from .description import describe
from .packed import as_json
from .recording import recording, require_finite
from .runs import batch_size, counted, finite_records, first_run, summary
from .words import flows, health_rows, story

if TYPE_CHECKING:
    from ..trajectory import Trajectory


def page(trajectory: Trajectory, title: str = "run", look: Look | None = None) -> str:
    """The text of the page; of a batch, the first run."""
    data = {name: as_json(value) for name, value in content(trajectory, title, look).items()}
    return assembled(title, script_of("recorded"), data)


def write_page(trajectory: Trajectory, path: Path, look: Look | None = None) -> None:
    """Write `page`, titled after the file."""
    with whole_file(path) as part:
        part.write_text(page(trajectory, path.stem, look), encoding="utf-8")


def content(trajectory: Trajectory, title: str, look: Look | None = None) -> dict[str, Any]:
    """What the page shows, as plain values: the scene, the recording, and words about the run."""
    run = first_run(trajectory)
    usable = finite_records(run)
    require_finite(usable)
    scene = describe(trajectory.model, title, look)
    recorded = recording(run, usable)
    frames = recorded["t"]["shape"][0]
    words = {
        "summary": summary(trajectory),
        "notes": [*_notes(trajectory, usable, frames), *scene["notes"]],
        **(_as_it_stands(trajectory) if len(trajectory) == 1 else _health(trajectory)),
        "strobe": (look or Look()).strobe,
    }
    return {"scene": scene, "recording": recorded, "words": words}


def _health(trajectory: Trajectory) -> dict[str, Any]:
    return {"story": story(trajectory), "flows": flows(trajectory), "health": health_rows(trajectory)}


def _as_it_stands(trajectory: Trajectory) -> dict[str, Any]:
    """Of a run of one record, in which nothing can go wrong: the tree of its model."""
    return {"tree": str(trajectory.model), "health": []}


def still(model: Model, q: Any = None) -> Trajectory:
    """A run of one record: a model in a configuration, the neutral one by default."""
    from ..trajectory import Trajectory

    state = State(model.neutral() if q is None else np.asarray(q, float), np.zeros(model.nv))
    return Trajectory(model, np.zeros(1), "reduced", {"q": state.q[None], "v": state.v[None]})


def framed(text: str, height: int = 480) -> str:
    """A page inside another, such as a notebook."""
    style = f"width:100%;height:{height}px;border:0;border-radius:8px"
    return f'<iframe srcdoc="{escape(text)}" sandbox="allow-scripts" style="{style}" title="linkwork"></iframe>'


def _notes(trajectory: Trajectory, usable: int, shown: int) -> list[str]:
    runs, total = batch_size(trajectory), len(trajectory)
    notes = []
    if runs is not None:
        notes.append(f"The first run of {runs} is shown; the health is the worst of all.")
    if usable < total:
        notes.append(f"The run is not finite after t = {trajectory.t[usable - 1]:.6g} s; it is shown until then.")
    if shown < usable:
        notes.append(f"{counted(shown, 'frame')} of {usable} records are kept here; the motion between them is interpolated.")
    return notes
