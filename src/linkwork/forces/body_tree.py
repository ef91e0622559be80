"""Forces as the nodes of a tree of their own, that look at the bodies they act on: what compiled sets of them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..elements.law_tree import BodyTree
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm
from ..model.arrays import run_batch
from ..model.model import Model
from .force import Force


class ForceNodes(BodyTree):
    """A list of forces on a model, run on batches; `target` are the bodies of all of them, one after the other."""

    def __init__(self, model: Model, forces: Sequence[Force], sizes: Callable[[Any], dict[str, int]]) -> None:
        super().__init__(model, forces, sizes)
        self.model = model
        self.target = np.concatenate([np.array(s) for s in self.sides])
        self._plans = Plans(self.tree)

    def run(
        self, algorithm: Algorithm, names: Sequence[str], poses: Any, twists: Any, given: dict[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Some outputs (..., size) at poses (..., bodies, 4, 4) and twists (..., bodies, 6).

        given   further inputs: (size,), or (..., size) with the same leading axes
        """
        nb, lead = self.model.nb, np.shape(poses)[:-3]
        batch = int(np.prod(lead))
        world = np.broadcast_to(np.eye(4).reshape(-1), (batch, 16)), np.zeros((batch, 6))
        placed = {
            "poses": np.concatenate([np.reshape(poses, (batch, 16 * nb)), world[0]], axis=1),
            "twists": np.concatenate([np.reshape(twists, (batch, 6 * nb)), world[1]], axis=1),
        }
        return run_batch(self._plans, algorithm, given | placed, names, lead)
