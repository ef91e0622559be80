"""Where the contacts of a model touch at given poses, of many states at once, in compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..elements.evaluate import Evaluation, of_laws
from ..elements.law import RowLaw
from ..elements.nodes import LawNodes, law_at
from ..elements.ports import values
from ..elements.telling import Telling
from ..elements.touch import frame_of
from ..kernel.sweep import Field
from ..model.model import Model
from ..spatial.scalar import stack
from .compliant import CompliantContact
from .contact import Contact
from .pairs import slot_count

SLOT = 14  # numbers of a slot: point, normal, both tangents, gap, whether it is on


def place(n: Any, *ports: Any) -> None:
    """The slots of one contact."""
    law, at = law_at(n, ports)
    law = law.with_inputs(n.told) if isinstance(law, RowLaw) else law
    numbers: list[Any] = []
    for touch in law.touch(values(at)):
        numbers += [*touch.point, *(x for axis in frame_of(touch.normal) for x in axis), touch.gap, touch.on]
    n.slots = stack(*numbers)


def place_fields() -> dict[str, Field]:
    return of_laws("input", told="told") | of_laws("output", slots="slots")


class ContactPlaces(Evaluation):
    """The contacts of a model: those that are rows, then those that are forces."""

    def __init__(self, model: Model, laws: Sequence[Contact | CompliantContact]) -> None:
        self.laws = list(laws)
        nodes = LawNodes(model, self.laws)
        self.slots = [law.size // law.per_point if isinstance(law, Contact) else slot_count(*law.shapes) for law in self.laws]
        told = [law.inputs if isinstance(law, RowLaw) else 0 for law in self.laws]
        super().__init__(nodes, [{"slots": SLOT * n, "told": k} for n, k in zip(self.slots, told, strict=True)])

    @cached_property
    def telling(self) -> Telling:
        """What tells those that Coal finds where their shapes touch."""
        rows = [(law, at) for law, at in zip(self.laws, self.nodes.bodies, strict=True) if isinstance(law, RowLaw)]
        return Telling([law for law, _ in rows], [at for _, at in rows])

    def at(self, poses: np.ndarray, told: np.ndarray) -> list[np.ndarray]:
        """Of every contact its slots (states, slots, SLOT), at poses (states, bodies, 4, 4).

        told   (states, inputs) of those that must be told
        """
        states, nb = poses.shape[:2]
        given = {"pose": poses.reshape(states, -1), "twist": np.zeros((states, 6 * nb)), "t": np.zeros((states, 1)), "told": told}
        found = self.run(self.algorithm(place, place_fields), ("slots",), given, (states,))["slots"]
        cuts = np.cumsum([SLOT * n for n in self.slots])[:-1]
        return [x.reshape(states, -1, SLOT) for x in np.split(found, cuts, axis=1)]
