"""Energies that the code of the notes prints for its scenes (github.com/sueda/redmax), a dozen of them kept here as data."""

from __future__ import annotations

import json
from functools import partial
from importlib.resources import files
from typing import Any

from ..io.redmax import RedmaxScene
from ..studies.verify_redmax import energy_change, run
from .item import Family, Item, Outcome

REDMAX = Family(
    "redmax",
    "Energies of RedMax",
    "Changes of energy at the end of runs that the code of the notes prints, in erg; the tolerance is that of its author. "
    "`linkwork verify redmax FOLDER` compares all files of a folder, with and without slips of the original.",
)


def energies(data: dict[str, Any], quick: bool) -> Outcome:
    """The largest difference of the integrators of a scene."""
    scene = RedmaxScene(data, data["key"])
    found = {w.integrator: (w, energy_change(scene, w, run(scene, w))) for w in scene.runs if w.expected is not None}
    errors = {name: abs(energy - float(w.expected or 0.0)) for name, (w, energy) in found.items()}
    note = ", ".join(f"{name} {energy:.6f} (published {w.expected:.6f})" for name, (w, energy) in found.items())
    return Outcome(max(errors.values()), min(w.tolerance for w, _ in found.values()), f"erg; {note}")


def _items() -> list[Item]:
    scenes = json.loads(files("linkwork.verify").joinpath("redmax_scenes.json").read_text())
    source = "github.com/sueda/redmax, commit {commit:.8}, {file}, case {case}; {license}"
    return [
        Item(
            f"redmax.{x['key']}", f"{x['name']}: energies of every integrator", source.format(**x["source"]), partial(energies, x)
        )
        for x in scenes
    ]


REDMAX.items.extend(_items())
