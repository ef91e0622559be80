"""Which shapes are drawn of a model: visuals, else the shapes it touches with, else balls of contacts, else bones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..contact import Contact
from ..geometry import Capsule, Plane, Shape, Sphere
from ..joints import Free, Translational
from ..model import Model
from ..model.model import WORLD
from .bones import bones
from .marks import loops
from .paths import path_forces


class Drawn(NamedTuple):
    """Shapes with their bodies (-1 is the world) and layers, "visual" or "collision"; and of bodies that are bones, how thick."""

    shapes: list[tuple[int, Shape, str]]
    bones: dict[int, float]


def drawn(model: Model) -> Drawn:
    """All shapes that are drawn of a model; planes are drawn otherwise."""
    found: list[tuple[int, Shape, str]] = []
    for shape in (*model.world_visuals, *model.world_shapes):
        if not isinstance(shape, Plane):
            hidden = bool(model.world_visuals) and shape in model.world_shapes and not (shape.group or shape.mask)
            found.append((-1, shape, "collision" if hidden else "visual"))
    hung, spheres = _hung(model), _contact_spheres(model)
    run_along = {model.body_index(name) for f in path_forces(model) for name in f.path.bodies if name != WORLD}
    thick: dict[int, float] = {}
    for i, body in enumerate(model.bodies):
        shapes = [s for s in body.shapes if not isinstance(s, Plane)]
        found += [(i, shape, "visual") for shape in body.visuals or shapes or spheres.get(body.name, [])]
        found += [(i, shape, "collision") for shape in (shapes if body.visuals else ())]
        if not body.visuals and not shapes and not _is_ball(body, spheres.get(body.name, [])):
            made = bones(body, hung[i], i in run_along)
            thick[i] = min((s.radius for s in made if isinstance(s, Capsule)), default=0.0)
            found += [(i, shape, "visual") for shape in made]
    return Drawn(found, thick)


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
