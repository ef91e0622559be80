"""The inertias of bodies out of those of links. What is checked is what moves as one: a body with all that is fixed to it."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ModelError
from ...spatial.inertia import Inertia
from ...spatial.se3 import SE3
from ..inertias import Part, note_still, settled, welded
from .bodies import Carrier, Weld
from .joints import Note
from .records import Link
from .values import composed


def inertias(bodies: Sequence[Carrier], welds: Sequence[Weld], policy: str, note: Note) -> dict[Carrier, Inertia]:
    """The inertia of every body, by the policy "strict", "repair" or "accept".

    welds   links that are part of bodies, or of the world
    """
    for weld in welds:
        if weld.body is None:
            note_still(_part(weld.link), note)
    groups: dict[Carrier | None, list[Carrier]] = {}
    for b in bodies:
        groups.setdefault(b.rigid_root, []).append(b)
    out: dict[Carrier, Inertia] = {}
    for root, members in groups.items():
        out |= _still(members, note) if root is None else _moving(root, members, policy, note)
    return out


def _still(members: Sequence[Carrier], note: Note) -> dict[Carrier, Inertia]:
    """Bodies fixed to the world."""
    for b in members:
        note_still(_part(b.link), note)
    return {b: welded(b.link.name, [(_part(link), pose) for link, pose in b.parts]) for b in members}


def _moving(root: Carrier, members: Sequence[Carrier], policy: str, note: Note) -> dict[Carrier, Inertia]:
    """Bodies fixed to each other. A change of their common tensor, which has no place, goes to the one that carries the rest."""
    places = {root: SE3()}
    for b in members:
        if b.parent is not None and b is not root:
            places[b] = composed(places[b.parent], b.placement)
    whole = [(_part(link), composed(places[b], pose)) for b in members for link, pose in b.parts]
    try:
        parts, change = settled(root.link.name, whole, policy, note)
        left = iter(parts)
        out = {b: welded(b.link.name, [(next(left), pose) for _, pose in b.parts]) for b in members}
    except ModelError as error:
        raise root.link.element.error(str(error)) from None
    own = out[root]
    return out | {root: Inertia.unchecked(own.mass, own.com, own.tensor + change)}


def _part(link: Link) -> Part:
    return Part(link.name, link.mass, link.com, link.tensor)
