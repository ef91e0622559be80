"""Bodies of scene files: their names, inertias, and the frames in which the file speaks of them.

A body's frame in the file is at its centre of mass; here it is the joint's, so points, axes and twists are carried by E_ji.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import ModelError
from ...model.model import WORLD
from ...spatial.gate import meant
from ...spatial.inertia import Inertia
from ...spatial.se3 import SE3
from .record import Record


@dataclass(frozen=True, eq=False)
class Place:
    """A body (or the world) by its name in the model, the pose of the file's frame in its own, and its record."""

    name: str
    frame: SE3
    record: Record | None = None

    def point(self, x: np.ndarray) -> np.ndarray:
        """A point of the file's frame, in the model's."""
        return np.asarray(self.frame @ x, float)


class Places:
    """The bodies of a scene, by their own names and those of their joints."""

    def __init__(self, bodies: list[Record], joints: list[Record]) -> None:
        self.bodies = {b.text("name"): Place(b.text("name"), b.pose("E_ji"), b) for b in bodies}
        if len(self.bodies) < len(bodies):
            raise bodies[0].error("two bodies have the same name")
        self.joints = {j.text("name"): j for j in joints}
        if len(self.joints) < len(joints):
            raise joints[0].error("two joints have the same name")
        for j in joints:
            if j.text("body") not in self.bodies:
                raise j.error(f"'body': there is no body {j.text('body')!r}{meant(j.text('body'), self.bodies)}")
        self._carrier = {j.text("body"): j for j in joints}
        for name in self.bodies:
            if name not in self._carrier:
                raise self.bodies[name].record.error("no joint carries this body")  # pyright: ignore[reportOptionalMemberAccess]

    def body(self, record: Record, key: str) -> Place:
        """The body that a record names; null is the world."""
        name = record.get(key)
        if name is None:
            return Place(WORLD, SE3())
        if name not in self.bodies:
            raise record.error(f"{key!r}: there is no body {name!r}{meant(name, self.bodies)}")
        return self.bodies[name]

    def joint(self, record: Record, key: str) -> tuple[str, Record]:
        """The model's name of a joint that a record names (that of its body), and the joint's record."""
        name = record.get(key)
        if name not in self.joints:
            raise record.error(f"{key!r}: there is no joint {name!r}{meant(name, self.joints)}")
        return self.body(self.joints[name], "body").name, self.joints[name]

    def carrier(self, place: Place) -> Record:
        """The record of the joint that carries a body."""
        return self._carrier[place.name]


def inertia_of(record: Record) -> Inertia:
    """Mass and principal moments at the file's frame, in the joint's axes."""
    E = record.pose("E_ji")
    try:
        return Inertia.from_moments(record.number("mass"), E.p, record.vector("inertia_diag"), E.R)
    except ModelError as error:
        raise record.error(str(error)) from None
