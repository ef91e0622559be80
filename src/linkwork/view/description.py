"""The scene description: what there is to draw of a model, as plain values, for any renderer. docs/view.md tells its fields."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contact import Contact
from ..errors import InputError
from ..geometry.mesh_file import LEFT_OUT, NOT_DRAWN
from ..joints import Translational
from ..look import Look
from ..model import Model
from .drawn import drawn
from .marks import frames, guides, joints, loops, planes
from .paths import paths
from .solids import Solids

VERSION = 1
PALETTE = ((78, 140, 205), (226, 139, 67), (94, 170, 116), (190, 103, 160), (214, 178, 74), (112, 178, 190))
FEW = 12  # bodies that each get a colour of their own
LEAVES = 8  # trails
MOST_PINS = 80  # joints whose axes are shown at first, where bodies are bones
MOST_ARROWS = 12  # contacts whose forces are shown at first


def describe(model: Model, title: str = "scene", look: Look | None = None) -> dict[str, Any]:
    """The description of a model."""
    look = look or Look()
    solids, seen = Solids(), drawn(model)
    for body, shape, layer in seen.shapes:
        solids.add(body, shape, layer)
    return {
        "version": VERSION,
        "title": title,
        "bodies": [
            {
                "name": b.name,
                "parent": b.parent,
                "com": b.inertia.com.round(9).tolist(),
                "color": color,
                "mass": float(b.inertia.mass),
            }
            for b, color in zip(model.bodies, colors(model.nb), strict=True)
        ],
        "shapes": solids.shapes,
        "meshes": solids.meshes(),
        "planes": planes(model),
        "paths": paths(model),
        "joints": [j | ({"thick": t} if (t := seen.bones.get(j["body"], 0.0)) else {}) for j in joints(model)],
        "loops": loops(model),
        "frames": frames(model),
        "guides": guides(model),
        "trails": _trails(model, look),
        "camera": look.camera.values(),
        "layers": _layers(model, look, len(seen.bones)),
        "theme": look.theme,
        "gravity": model.gravity.tolist(),
        "notes": [*dict.fromkeys((*_unseen(model), *solids.notes)), *_bone_note(len(seen.bones), model)],
    }


def colors(count: int) -> list[list[float]]:
    """The palette in turn; for many bodies, one passage through it from the first to the last."""
    table = np.array(PALETTE) / 255.0
    at = np.arange(count) % len(table) if count <= FEW else np.arange(count) / (count - 1) * (len(table) - 1)
    below = np.minimum(at.astype(int), len(table) - 1)
    above = np.minimum(below + 1, len(table) - 1)
    mixed = table[below] + (at - below)[:, None] * (table[above] - table[below])
    return mixed.round(3).tolist()


def _trails(model: Model, look: Look) -> list[int]:
    """Bodies that leave a line behind."""
    if look.trails is not None:
        return [model.body_index(name) for name in look.trails]
    parents = {b.parent for b in model.bodies}
    last = [i for i in range(model.nb) if i not in parents and not isinstance(model.bodies[i].joint, Translational)]
    return last if len(last) <= LEAVES else []


def _layers(model: Model, look: Look, bones: int) -> dict[str, bool]:
    """Which layers are shown at first."""
    first = {
        "shapes": True,
        "joints": 0 < bones <= MOST_PINS,
        "limits": False,
        "frames": False,
        "paths": True,
        "guides": True,
        "trails": True,
        "contacts": len(list(model.elements_of(Contact))) <= MOST_ARROWS,
        "collision": False,
    }
    for name in (*look.show, *look.hide):
        if name not in first:
            raise InputError(f"there is no layer {name!r}; there are {', '.join(first)}")
    return first | dict.fromkeys(look.show, True) | dict.fromkeys(look.hide, False)


def _unseen(model: Model) -> list[str]:
    """What the model's notes say of shapes that are not drawn."""
    lines = [line.replace(f"{LEFT_OUT}<visual>: ", NOT_DRAWN) for line in model.notes]
    return [line for line in lines if line.startswith(NOT_DRAWN)]


def _bone_note(count: int, model: Model) -> list[str]:
    if not count:
        return []
    who = "Bodies" if count == model.nb else f"{count} of {model.nb} bodies"
    return [f"{who} without shapes are drawn as capsules from joint to joint, or as the ellipsoid with their inertia."]
