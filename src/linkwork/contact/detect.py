"""All contacts of a model in one state, compiled pairs and those of Coal alike: what a step finds, as a list to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.model import WORLD, Model
from ..spatial.se3 import SE3
from .broad import near
from .candidates import Candidate, candidates
from .coal_pairs import CoalPair
from .pairs import contact_points
from .point import ContactPoint


@dataclass(frozen=True, eq=False)
class Detected:
    """A point where two shapes touch, or come nearer than the margin.

    pair   number of the candidate in `candidates(model)`; with the slot it tells the point from all others, now and later
    slot   number of the slot of that pair
    """

    pair: int
    slot: int
    candidate: Candidate
    at: ContactPoint


def detect(model: Model, poses: Any, margin: float = 0.0) -> tuple[Detected, ...]:
    """All points whose gap is not above the margin, by pairs and slots, for the poses (bodies, 4, 4) of one state."""
    frames = {b.name: SE3(E[:3, :3], E[:3, 3]) for b, E in zip(model.bodies, np.asarray(poses, float), strict=True)}
    frames[WORLD] = SE3()
    found = []
    for number, pair in enumerate(model.keep_as("contact candidates", lambda: candidates(model))):
        a, E_a, b, E_b = pair.shape_a, frames[pair.body_a], pair.shape_b, frames[pair.body_b]
        if pair.compiled:
            points = contact_points(a, E_a, b, E_b) if near(a, E_a, b, E_b, margin) else ()
        else:
            function: CoalPair = model.keep_as(("coal pair", number, margin), lambda a=a, b=b: CoalPair(a, b, margin))
            points = function(E_a, E_b)
        found += [Detected(number, slot, pair, p) for slot, p in enumerate(points) if p.on > 0.5 and p.gap <= margin]
    return tuple(found)
