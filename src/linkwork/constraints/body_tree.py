"""Constraints as the nodes of a tree of their own, that look at the bodies they act on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernel.sweep import MATRIX, SCALAR, Field, Tree, vector
from ..model.model import Model
from .classes import Entry, node_classes
from .constraint import WORLD, Constraint

GIVEN = {
    "poses": Field("input", "body", MATRIX),
    "twists": Field("input", "body", vector(6)),
    "t": Field("input", "global", SCALAR),
    "u": Field("input", "unknowns"),
}


class BodyTree:
    """A list of constraints on a model.

    sides   the bodies of every constraint by number; the world is one more body
    roles   b0, b1, ... of the tree, which point to them
    """

    def __init__(self, model: Model, constraints: Sequence[Constraint]) -> None:
        index = {b.name: i for i, b in enumerate(model.bodies)} | {WORLD: model.nb}
        self.sides = [[index[b] for b in c.bodies] for c in constraints]
        most = max(2, *map(len, self.sides))
        padded = np.array([s + [model.nb] * (most - len(s)) for s in self.sides])
        self.roles = tuple(f"b{i}" for i in range(most))
        nodes, parameters = node_classes(map(_entry, constraints))
        roles = dict(zip(self.roles, padded.T, strict=True))
        self.tree = Tree(np.full(len(nodes), -1), nodes, parameters, roles, {"body": model.nb + 1})


def _entry(c: Constraint) -> Entry:
    k = len(c.bodies)
    sizes = {"rows": c.size, "G": 6 * k * c.size, "unknowns": c.unknowns, "squares": c.unknowns**2}
    return Entry(c, {}, sizes, (k, c.same), lambda: c.signature)


def constraint_at(n: Any, bodies: tuple[Any, ...]) -> tuple[Constraint, list[Any], list[Any]]:
    """In a rule, the constraint of a node with its parameters, and the poses and twists of its bodies."""
    c = n.constraint.at_node(n)
    mine = bodies[: len(c.bodies)]
    return c, [b.poses for b in mine], [b.twists for b in mine]
