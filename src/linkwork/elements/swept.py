"""The shapes of laws that sweep and prune looks at, as a set of nodes beside the bodies; and which pairs of them are laws."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..geometry.sweep_and_prune import partners
from ..kernel.sweep import Items, NodeClass, Tree, pattern
from .nodes import LawNodes


class SweptShapes:
    """The shapes of all laws that have two of bounded extent (`RowLaw.swept`), each once.

    shapes   (body, shape), -1 for the world's
    laws     numbers of the laws that are pairs of them; of two on the same pair the first alone
    pairs    (laws, 2) numbers of their shapes
    """

    def __init__(self, nodes: LawNodes) -> None:
        self.nodes = nodes
        self.shapes: list[tuple[int, Any]] = []
        known: dict[tuple[int, int], int] = {}
        of_pair: dict[tuple[int, int], int] = {}
        for number, (law, bodies) in enumerate(zip(nodes.laws, nodes.bodies, strict=True)):
            pair = []
            for body, shape in zip(bodies, law.swept, strict=False):
                key = (body, id(shape))
                if key not in known:
                    known[key] = len(self.shapes)
                    self.shapes.append((body, shape))
                pair.append(known[key])
            if pair and pair[0] != pair[1]:
                of_pair.setdefault((min(pair), max(pair)), number)
        self.pairs, self.laws = np.array(list(of_pair), np.int64).reshape(-1, 2), np.array(list(of_pair.values()), np.int64)

    def tree(self) -> Tree:
        """One node for every shape; p0 is its body."""
        classes: dict[Any, NodeClass] = {}
        nodes, parameters = [], []
        for body, shape in self.shapes:
            values = {f"own_{name}": x for name, x in shape.parameters().items()}
            patterns = {name: pattern(x, False) for name, x in values.items()}
            signature = ("swept shape", type(shape).__name__, body < 0, *patterns.items())
            if signature not in classes:
                classes[signature] = NodeClass(signature, {"shape": shape, "still": body < 0}, patterns)
            nodes.append(classes[signature])
            parameters.append(values)
        bodies = np.array([max(body, 0) for body, _ in self.shapes], np.int64)
        return Tree(np.full(len(nodes), -1), nodes, parameters, {"p0": bodies})

    def others(self, roles: dict[str, np.ndarray]) -> Items:
        """The laws that it does not tell of, with their roles: each must be looked at."""
        rest = np.setdiff1d(np.arange(len(self.nodes.laws)), self.laws)
        return Items(rest, {role: index[rest] for role, index in roles.items()})

    @cached_property
    def tables(self) -> dict[str, np.ndarray]:
        """Those of `geometry.sweep_and_prune`: partners of every shape, and the laws that they make."""
        starts, second, number = partners(len(self.shapes), self.pairs)
        laws = self.laws[number] if len(number) else self.laws
        return {"near_starts": starts, "near_second": second, "near_law": laws.astype(np.int32)}
