"""Forces as the nodes of a tree of their own, that look at the bodies they act on: what compiled sets of them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kernel.plan import Plan, variant
from ..kernel.sweep import MATRIX, Algorithm, Field, NodeClass, Tree, pattern, vector
from ..model.arrays import lanes_for
from ..model.model import Model
from .force import WORLD, Force

PLACED = {"poses": Field("input", "body", MATRIX), "twists": Field("input", "body", vector(6))}


def force_at(n: Any, bodies: tuple[Any, ...]) -> tuple[Any, list[Any], list[Any]]:
    """The force of a node with its parameters, and the poses and twists of its bodies."""
    force = n.force.at_node(n)
    mine = bodies[: len(force.bodies)]
    return force, [b.poses for b in mine], [b.twists for b in mine]


class BodyTree:
    """A list of forces on a model: one class of nodes for all forces that compute the same.

    sides    the bodies of every force by number; the world is one more body
    most     bodies of one force
    tree     the forces as nodes; roles b0, b1, ... point to their bodies
    """

    def __init__(self, model: Model, forces: Sequence[Force], sizes: Callable[[Force], dict[str, int]]) -> None:
        self.model = model
        index = {b.name: i for i, b in enumerate(model.bodies)} | {WORLD: model.nb}
        self.sides = [[index[b] for b in f.bodies] for f in forces]
        self.most = max(map(len, self.sides))
        padded = np.array([s + [model.nb] * (self.most - len(s)) for s in self.sides])
        classes: dict[Any, NodeClass] = {}
        known: dict[Any, Any] = {}
        nodes, parameters = [], []
        for f in forces:
            given = {f"own_{name}": x for name, x in f.parameters().items()}
            patterns = {name: pattern(x, False) for name, x in given.items()}
            code = (len(f.bodies), f.same, tuple(patterns.items()))
            if code not in known:
                known[code] = (f.signature, code[2])
            signature = known[code]
            nodes.append(classes.setdefault(signature, NodeClass(signature, {"force": f}, patterns, sizes(f))))
            parameters.append(given)
        roles = {f"b{i}": padded[:, i] for i in range(self.most)}
        self.tree = Tree(np.full(len(nodes), -1), nodes, parameters, roles, {"body": model.nb + 1})
        self.target = np.concatenate([np.array(s) for s in self.sides])
        self._plans: dict[Any, Plan] = {}

    def run(
        self, algorithm: Algorithm, names: Sequence[str], poses: Any, twists: Any, given: dict[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """Some outputs (..., size) at poses (..., bodies, 4, 4) and twists (..., bodies, 6).

        given   further inputs: (size,), or (..., size) with the same leading axes
        """
        nb, lead = self.model.nb, np.shape(poses)[:-3]
        batch = int(np.prod(lead))
        world = np.broadcast_to(np.eye(4).reshape(-1), (batch, 16)), np.zeros((batch, 6))
        inputs = {name: np.ascontiguousarray(x if x.ndim == 1 else x.reshape(batch, -1)) for name, x in given.items()}
        inputs["poses"] = np.concatenate([np.reshape(poses, (batch, 16 * nb)), world[0]], axis=1)
        inputs["twists"] = np.concatenate([np.reshape(twists, (batch, 6 * nb)), world[1]], axis=1)
        key = algorithm.name, lanes_for(batch, np.float64)
        if key not in self._plans:
            self._plans[key] = Plan(algorithm, self.tree, variant(key[1], ("run",)))
        plan = self._plans[key]
        out = {name: np.empty((batch, plan.sizes[name])) for name in names}
        plan.run(inputs, out, batch)
        return {name: x.reshape(*lead, -1) for name, x in out.items()}
