"""The shapes of laws that act only where two are near, as a set of nodes beside the bodies; and which pairs of them are laws."""

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
    laws     numbers of the laws that are pairs of them
    pairs    (laws, 2) numbers of their shapes
    """

    def __init__(self, nodes: LawNodes) -> None:
        self.nodes = nodes
        self.shapes: list[tuple[int, Any]] = []
        known: dict[tuple[int, int], int] = {}
        pairs, laws = [], []
        for number, (law, bodies) in enumerate(zip(nodes.laws, nodes.bodies, strict=True)):
            pair = []
            for body, shape in zip(bodies, law.swept, strict=False):
                key = (body, id(shape))
                if key not in known:
                    known[key] = len(self.shapes)
                    self.shapes.append((body, shape))
                pair.append(known[key])
            if pair:
                pairs.append(sorted(pair))
                laws.append(number)
        self.pairs, self.laws = np.array(pairs, np.int64).reshape(-1, 2), np.array(laws, np.int64)

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

    @cached_property
    def _told(self) -> np.ndarray:
        """Which of the laws sweep and prune tells of: two different shapes, and of several laws on them the first."""
        first = np.zeros(len(self.laws), bool)
        first[np.unique(self.pairs, axis=0, return_index=True)[1]] = True
        return np.flatnonzero(first & (self.pairs[:, 0] != self.pairs[:, 1]))

    def others(self, roles: dict[str, np.ndarray]) -> Items:
        """The laws that it does not tell of, with their roles: each must be looked at."""
        rest = np.setdiff1d(np.arange(len(self.nodes.laws)), self.laws[self._told])
        return Items(rest, {role: index[rest] for role, index in roles.items()})

    @cached_property
    def tables(self) -> dict[str, np.ndarray]:
        """Partners of every shape, and the laws that they make (`geometry.near_segments`)."""
        return self._tables(np.arange(len(self.laws)))

    @cached_property
    def swept_tables(self) -> dict[str, np.ndarray]:
        """The same for `geometry.sweep_and_prune`."""
        return self._tables(self._told)

    def _tables(self, some: np.ndarray) -> dict[str, np.ndarray]:
        starts, second, number = partners(len(self.shapes), self.pairs[some])
        return {"near_starts": starts, "near_second": second, "near_law": self.laws[some][number].astype(np.int32)}
