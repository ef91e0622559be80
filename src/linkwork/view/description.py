"""The scene description: what there is to draw of a model, as plain values, for any renderer. docs/view.md tells its fields."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contact import Contact
from ..errors import InputError
from ..geometry import Capsule, Plane, Sphere
from ..joints import Free, Translational
from ..look import Look
from ..model import Model
from ..model.model import WORLD
from .bones import bones
from .marks import frames, guides, joints, loops, planes
from .paths import path_forces, paths
from .solids import Solids

VERSION = 1
PALETTE = ((78, 140, 205), (226, 139, 67), (94, 170, 116), (190, 103, 160), (214, 178, 74), (112, 178, 190))
FEW = 12  # bodies that each get a colour of their own
LEAVES = 8  # trails
MOST_PINS = 80  # joints whose axes are shown at first, where bodies are bones
MOST_ARROWS = 40  # contacts whose forces are shown at first


def describe(model: Model, title: str = "scene", look: Look | None = None) -> dict[str, Any]:
    """The description of a model."""
    look = look or Look()
    solids = Solids()
    for shape in (*model.world_visuals, *model.world_shapes):
        if not isinstance(shape, Plane):
            hidden = bool(model.world_visuals) and shape in model.world_shapes and not (shape.group or shape.mask)
            solids.add(-1, shape, "collision" if hidden else "visual")
    hung = _hung(model)
    spheres = _contact_spheres(model)
    run_along = {model.body_index(name) for f in path_forces(model) for name in f.path.bodies if name != WORLD}
    drawn_bones: dict[int, float] = {}
    for i, body in enumerate(model.bodies):
        shapes = [s for s in body.shapes if not isinstance(s, Plane)]
        for shape in body.visuals or shapes or spheres.get(body.name, []):
            solids.add(i, shape)
        for shape in shapes if body.visuals else ():
            solids.add(i, shape, "collision")
        if not body.visuals and not shapes and not _is_ball(body, spheres.get(body.name, [])):
            made = bones(body, hung[i], i in run_along)
            drawn_bones[i] = min((s.radius for s in made if isinstance(s, Capsule)), default=0.0)
            for shape in made:
                solids.add(i, shape)
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
        "joints": [j | ({"thick": t} if (t := drawn_bones.get(j["body"], 0.0)) else {}) for j in joints(model)],
        "loops": loops(model),
        "frames": frames(model),
        "guides": guides(model),
        "trails": _trails(model, look),
        "camera": look.camera.values(),
        "layers": _layers(model, look, len(drawn_bones)),
        "theme": look.theme,
        "gravity": model.gravity.tolist(),
        "notes": solids.notes + _bone_note(len(drawn_bones), model),
    }


def colors(count: int) -> list[list[float]]:
    """The palette in turn; for many bodies, one passage through it from the first to the last."""
    table = np.array(PALETTE) / 255.0
    at = np.arange(count) % len(table) if count <= FEW else np.arange(count) / (count - 1) * (len(table) - 1)
    below = np.minimum(at.astype(int), len(table) - 1)
    above = np.minimum(below + 1, len(table) - 1)
    mixed = table[below] + (at - below)[:, None] * (table[above] - table[below])
    return mixed.round(3).tolist()


def _hung(model: Model) -> list[list[np.ndarray]]:
    """For every body, the points in its frame where others hang on it or loops are closed."""
    found: list[list[np.ndarray]] = [[] for _ in model.bodies]
    for body in model.bodies:
        if body.parent >= 0 and not isinstance(body.joint, (Free, Translational)):
            found[body.parent].append(np.asarray(body.placement.p, float))
    for loop in loops(model):
        for i, x in zip(loop["bodies"], loop["points"], strict=True):
            if i >= 0:
                found[i].append(np.array(x, float))
    return [_distinct(points) for points in found]


def _distinct(points: list[np.ndarray]) -> list[np.ndarray]:
    kept: list[np.ndarray] = []
    for x in points:
        if not any(np.allclose(x, y, atol=1e-9) for y in kept):
            kept.append(x)
    return kept


def _contact_spheres(model: Model) -> dict[str, list[Sphere]]:
    """The balls of contacts between bodies that have no shapes."""
    found: dict[str, list[Sphere]] = {}
    for contact in model.elements_of(Contact):
        for body, shape in zip(contact.bodies, contact.shapes, strict=True):
            if isinstance(shape, Sphere) and shape not in found.setdefault(body, []):
                found[body].append(shape)
    return found


def _is_ball(body: Any, spheres: list[Sphere]) -> bool:
    """Whether a ball of a contact is all that the body is."""
    moments = np.linalg.eigvalsh(body.inertia.tensor)
    return np.ptp(moments) <= 1e-6 * moments.max() and any(np.allclose(s.center, body.inertia.com) for s in spheres)


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


def _bone_note(count: int, model: Model) -> list[str]:
    if not count:
        return []
    who = "Bodies" if count == model.nb else f"{count} of {model.nb} bodies"
    return [f"{who} without shapes are drawn as capsules from joint to joint, or as the ellipsoid with their inertia."]
