"""Hands that hold bodies: what the mouse of a page does to a model that runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...forces import Grip
from ...forces.set import force_set
from ...model import Model
from ..firmness import firmness


@dataclass
class Hold:
    """A point of a body (3,), in its axes, and where the hand is (3,)."""

    body: int
    point: np.ndarray
    target: np.ndarray


class Hands:
    """A grip on every body of a model, and who holds which.

    model   with the grips
    """

    def __init__(self, model: Model, dt: float, stiff: bool) -> None:
        self.grips = tuple(Grip(b.name, name=f"hand on {b.name}") for b in model.bodies)
        self.held: dict[int, Hold] = {}  # by client
        self._firm = [firmness(model, b.name, dt, stiff) for b in model.bodies]
        forces = force_set(model.add(*self.grips))
        self._places = [forces.input_index(grip.name) for grip in self.grips]
        self.count = len(forces.initial_inputs)
        own = np.zeros(self.count, bool)
        for place in self._places:
            own[place] = True
        self._others = ~own

    def inputs(self, others: np.ndarray) -> np.ndarray:
        """The inputs of all forces: those of the model as it was given, and the hands'."""
        u = np.zeros(self.count)
        u[self._others] = others
        for hold in tuple(self.held.values()):
            stiffness, damping = self._firm[hold.body]
            held = self.grips[hold.body].holding(hold.point, hold.target, stiffness=stiffness, damping=damping)
            u[self._places[hold.body]] = held
        return u

    def pull(self, model: Model, state: Any, u: np.ndarray) -> tuple[str, float] | None:
        """Which body the first hand pulls, and how strongly (N)."""
        hold = next(iter(self.held.values()), None)
        if hold is None:
            return None
        grip = self.grips[hold.body]
        force = grip.reaction(model, state, u[self._places[hold.body]])
        return grip.bodies[0], float(np.linalg.norm(force))

    def arrow(self, poses: np.ndarray) -> np.ndarray | None:
        """From the point that the first hand holds to where it is (2, 3)."""
        hold = next(iter(self.held.values()), None)
        if hold is None:
            return None
        E = poses[hold.body]
        return np.array([E[:3, :3] @ hold.point + E[:3, 3], hold.target])
