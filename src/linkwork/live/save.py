"""One file in which a model runs: the page, and everything it needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..model import MaximalState, Model, State
from ..redmax import HyperReduced
from ..spatial.gate import given_path, known_keywords
from ..store.files import whole_file
from ..view.bundle import assembled, script_of
from ..view.description import describe
from ..view.packed import as_json
from .paths import live_paths
from .program import LiveProgram, live_program
from .start import Start, start_of

if TYPE_CHECKING:
    from ..look import Look

MODULES = ("live", "simulation", "controls", "grip", "hand", "clock", "transforms", "wraps")
SCRIPTS = "script-src 'unsafe-inline' 'wasm-unsafe-eval'"


@known_keywords
def save_live(
    model: Model | HyperReduced,
    state: State | MaximalState,
    path: str | os.PathLike[str],
    dt: float = 1e-3,
    method: str = "reduced",
    *,
    stepper: str | None = None,
    tau: Any = None,
    inputs: Any = None,
    sliders: Mapping[str, tuple[float, float]] | None = None,
    title: str | None = None,
    look: Look | None = None,
    open_loops: str = "refuse",
    limit_model: str = "hard",
    contact: str = "exact",
    **options: Any,
) -> Path:
    """Write a page in which the model runs, and can be taken hold of: one file, without server or network.

    >>> page = lw.save_live(model, state, "live.html", sliders={"lower.mass": (0.1, 2.0)})

    The steps are those of `simulate`, compiled to WebAssembly; they agree with it to rounding. What Python is asked for at every
    step cannot go into a page, see docs/live.md.

    model, state, dt, method, stepper, open_loops, limit_model, contact, options   as in `simulate`; one state, fixed steps
    tau        constant joint forces (nv,), which a switch of the page turns off
    inputs     of forces (activations, targets) at the start, an array; their own if None
    sliders    further numbers that can be changed, with their ranges: {"law.number": (lowest, highest)}, of laws by their
               name, of bodies ("link.mass") and joints; gravity, stiffness, damping, friction, activations and numbers of laws
               that users wrote have sliders anyway
    title      of the page; the name of the file by default
    look       how it is looked at, see `linkwork.view.Look`
    """
    target = given_path("save_live: path", path)
    if target.suffix != ".html":
        raise InputError(f"a live page is written to a file that ends in .html, not {target.name!r}")
    start = start_of(model, state, dt, method, stepper, tau, inputs, open_loops, limit_model, contact, options)
    text = live_page(start, live_program(start, sliders), title or target.stem, look)
    with whole_file(target) as part:
        part.write_text(text, encoding="utf-8")
    return target


def live_page(start: Start, live: LiveProgram, title: str, look: Look | None = None) -> str:
    """The text of the page."""
    scene = describe(start.given, title, look)
    manifest = live.manifest | {"paths": live_paths(start.given, live.manifest["laws"])}
    words = {"summary": _summary(start), "notes": [*_notes(start), *start.notes, *scene["notes"]]}
    data: dict[str, str | bytes] = {"scene": as_json(scene), "manifest": as_json(manifest), "words": as_json(words)}
    data |= {"module": live.module, "image": live.image}
    own = {name: page_source(f"{name}.js") for name in MODULES}
    return assembled(title, script_of("live", own), data, SCRIPTS, [page_source("live.css")])


@cache
def page_source(name: str) -> str:
    """A file of the page."""
    return (files("linkwork.live") / "page" / name).read_text(encoding="utf-8")


def _summary(start: Start) -> str:
    model = start.given
    return f"{model.nb} bodies, {model.nv} degrees of freedom, steps of {1e3 * start.dt:g} ms: press on a body, and pull"


def _notes(start: Start) -> list[str]:
    return [
        "The steps run in this page, compiled to WebAssembly: nothing is loaded, and nothing leaves it.",
        "Press on a body to take hold of it; press beside it to turn the view, with shift to shift it; the wheel zooms.",
    ]
