"""Shapes of a model as geoms, what may touch as their groups, pairs and exclusions; what MuJoCo has not is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ...contact import Contact
from ...contact.candidates import candidates, welds
from ...elements.law import EXACT
from ...geometry import Box, Capsule, Convex, Cylinder, Ellipsoid, HeightField, Plane, Shape, Sphere
from ...model.ground import can_touch
from ...model.model import WORLD
from ...spatial.se3 import SE3
from .draft import Draft, placed_at, text

LARGEST_BITS = 2**31 - 1  # of contype and conaffinity
SEEN, HIDDEN = 2, 3  # groups of geoms: MuJoCo's viewer shows those below 3
FLAT_TOP = 1.0  # m: the height that scales the data of a height field that is flat
SOFT = "contacts are soft in MuJoCo (solref, solimp): bodies sink in by what carries them, here they do not"
STATIC = (Plane, HeightField)  # what MuJoCo has on bodies that do not move only


class Geoms:
    """Writes the shapes of a model into a draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft, self._names = draft, dict[int, str]()
        self._unseen = 0
        model = draft.model
        still = [weld < 0 for weld in welds(model)]
        self._still = {WORLD: True} | {body.name: x for body, x in zip(model.bodies, still, strict=True)}
        for shape in model.world_shapes:
            self._add(WORLD, shape, SEEN)
        for shape in model.world_visuals:
            self._look(WORLD, shape)
        for body in model.bodies:
            for shape in body.shapes:
                self._add(body.name, shape, HIDDEN if body.visuals else SEEN)
            for shape in body.visuals:
                self._look(body.name, shape)
        self._contacts()
        if self._unseen:
            draft.refusals.note(f"{self._unseen} shapes that are only looked at are left out: meshes, tori")

    @property
    def touch(self) -> bool:
        """Whether anything may touch."""
        return bool(self._pairs or self.draft.model.elements_of(Contact))

    def _look(self, body: str, shape: Shape) -> None:
        """A shape that is looked at only, whatever its groups."""
        self._add(body, shape.with_parts(group=0, mask=0), SEEN)

    def _add(self, body: str, shape: Shape, shown: int) -> str | None:
        """A geom for a shape; None if MuJoCo has none. Those that can touch nothing are left out with a note."""
        refuse, solid = self.draft.refusals.refuse, can_touch(shape)
        who = f"shape {shape.name!r} of {body!r}" + ("" if shape.name == type(shape).__name__ else f", {type(shape).__name__}")
        write = WRITERS.get(type(shape))
        if write is None or (isinstance(shape, STATIC) and not self._still[body]):
            if solid:
                refuse("shapes", who if write is None else f"{who}, on a body that moves")
            self._unseen += not solid
            return None
        if max(shape.group, shape.mask) > LARGEST_BITS:
            refuse("shapes", f"{who}, whose groups have more than 31 bits")
            return None
        if solid and shape.restitution:
            refuse("restitution", f"the restitution of {who}")
        name = self.draft.new(shape.name)
        rubs = shape.friction or 0.0
        words = f'contype="{shape.group}" conaffinity="{shape.mask}" condim="{3 if rubs else 1}" friction="{text([rubs])}"'
        color = "" if shape.color is None else f' rgba="{text([*shape.color, 1.0][:4])}"'
        self.draft.on_body.setdefault(body, []).append(
            f'<geom name={quoteattr(name)} group="{shown}" {words}{color} {write(self.draft, shape)}/>'
        )
        self._names.setdefault(id(shape), name)
        return name

    # --- contacts -----------------------------------------------------------------------------------------------------------
    def _contacts(self) -> None:
        model, draft = self.draft.model, self.draft
        own = {frozenset(map(id, c.shapes)) for c in model.elements_of(Contact)}
        self._pairs = [c for c in candidates(model) if id(c.shape_a) in self._names and id(c.shape_b) in self._names]
        for c in self._pairs:
            wanted = max(c.shape_a.friction or 0.0, c.shape_b.friction or 0.0)
            if frozenset((id(c.shape_a), id(c.shape_b))) not in own and not np.isclose(c.friction, wanted, rtol=1e-12, atol=0.0):
                self._pair(c.shape_a, c.shape_b, c.friction)
        for contact in model.elements_of(Contact):
            if type(contact) is Contact:
                self._listed(contact)
            else:
                draft.refusals.refuse("contacts", repr(contact))
        for pair in sorted(map(sorted, model.excluded)):
            first, second = (quoteattr(name) for name in (pair if len(pair) == 2 else pair * 2))
            draft.add("contact", f"<exclude body1={first} body2={second}/>")
        if self.touch:
            draft.refusals.note(SOFT)

    def _listed(self, contact: Contact) -> None:
        """A contact that is an element of the model; its shapes may stand on no body."""
        refusals = self.draft.refusals
        for body, shape in zip(contact.bodies, contact.shapes, strict=True):
            if id(shape) not in self._names:
                name = WORLD if body == WORLD else self.draft.body(body).name
                if type(shape) not in WRITERS or (isinstance(shape, STATIC) and not self._still[name]):
                    refusals.refuse("contacts", repr(contact))
                    return
                self._add(name, plain := shape.with_parts(group=0, mask=0), SEEN)
                self._names[id(shape)] = self._names[id(plain)]
        if contact.restitution:
            refusals.refuse("restitution", f"the restitution of {contact!r}")
        if contact.friction_model != EXACT:
            refusals.note(f"MuJoCo has its own friction law, not the {contact.friction_model!r} of {contact!r}")
        self._pair(*contact.shapes, contact.friction, contact.spinning, contact.rolling)

    def _pair(self, a: Shape, b: Shape, friction: float, spinning: float = 0.0, rolling: float = 0.0) -> None:
        """A pair of geoms that touch with their own friction."""
        first, second = (quoteattr(self._names[id(shape)]) for shape in (a, b))
        condim = 6 if rolling else 4 if spinning else 3 if friction else 1
        numbers = text([friction, friction, spinning, rolling, rolling])
        self.draft.add("contact", f'<pair geom1={first} geom2={second} condim="{condim}" friction="{numbers}"/>')


# --- attributes of geoms -------------------------------------------------------------------------------------------------------
def _plane(draft: Draft, shape: Plane) -> str:
    return f'type="plane" size="0 0 1" pos="{text(shape.point)}" zaxis="{text(shape.normal)}"'


def _sphere(draft: Draft, shape: Sphere) -> str:
    return f'type="sphere" size="{text([shape.radius])}" pos="{text(shape.center)}"'


def _capsule(draft: Draft, shape: Capsule) -> str:
    if not shape.length:
        return f'type="sphere" size="{text([shape.radius])}" pos="{text(shape.p)}"'
    return f'type="capsule" size="{text([shape.radius, 0.5 * shape.length])}" {placed_at(shape.pose)}'


def _cylinder(draft: Draft, shape: Cylinder) -> str:
    return f'type="cylinder" size="{text([shape.radius, 0.5 * shape.length])}" {placed_at(shape.pose)}'


def _ellipsoid(draft: Draft, shape: Ellipsoid) -> str:
    return f'type="ellipsoid" size="{text(shape.radii)}" {placed_at(shape.pose)}'


def _box(draft: Draft, shape: Box) -> str:
    return f'type="box" size="{text(0.5 * shape.size)}" {placed_at(shape.pose)}'


def _convex(draft: Draft, shape: Convex) -> str:
    name = quoteattr(draft.new(f"{shape.name} mesh"))
    draft.add("asset", f'<mesh name={name} vertex="{text(shape.vertices)}"/>')
    return f'type="mesh" mesh={name}'


def _height_field(draft: Draft, shape: HeightField) -> str:
    name, (rows, columns) = quoteattr(draft.new(f"{shape.name} heights")), shape.heights.shape
    low, high = float(shape.heights.min()), float(shape.heights.max())
    top = high - low or FLAT_TOP
    size = text([*(0.5 * shape.size), top, shape.base])
    data = text((shape.heights[::-1] - low) / top)
    draft.add("asset", f'<hfield name={name} nrow="{rows}" ncol="{columns}" size="{size}" elevation="{data}"/>')
    return f'type="hfield" hfield={name} {placed_at(shape.pose @ SE3(p=(0.0, 0.0, low)))}'


WRITERS: dict[type, Callable[[Draft, Any], str]] = {
    Plane: _plane,
    Sphere: _sphere,
    Capsule: _capsule,
    Cylinder: _cylinder,
    Ellipsoid: _ellipsoid,
    Box: _box,
    Convex: _convex,
    HeightField: _height_field,
}
"""Kinds of shapes with their geoms."""

__all__ = ["WRITERS", "Geoms"]
