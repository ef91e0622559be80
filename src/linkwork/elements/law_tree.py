"""Laws as the nodes of a tree of their own: those that compute the same are one class and share a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..kernel.sweep import MATRIX, Field, NodeClass, Tree, pattern, vector
from ..model.model import WORLD, Model
from .law import Law

PLACED = {"poses": Field("input", "body", MATRIX), "twists": Field("input", "body", vector(6))}


@dataclass(frozen=True, eq=False)
class Entry:
    """A law, and what its node has besides: the attribute `law` is the law itself, and its parameters are the node's.

    sizes        of the fields that differ from law to law
    same         entries of which this is equal have one signature, which is then asked for once
    signature    what identifies the machine code, besides these sizes and the shapes of the parameters
    attributes   further ones
    parameters   further ones
    """

    law: Law
    sizes: dict[str, int]
    same: tuple[Any, ...]
    signature: Callable[[], tuple[Any, ...]]
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    parameters: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])


def law_tree(entries: Iterable[Entry], roles: dict[str, np.ndarray] | None = None, counts: dict[str, int] | None = None) -> Tree:
    """Laws as nodes without parents; roles and counts as in `Tree`."""
    classes: dict[Any, NodeClass] = {}
    known: dict[Any, Any] = {}
    nodes, parameters = [], []
    for e in entries:
        given = {f"own_{name}": x for name, x in e.law.parameters().items()} | e.parameters
        patterns = {name: pattern(x, False) for name, x in given.items()}
        structure = (tuple(e.sizes.items()), tuple(patterns.items()))
        code = (e.same, structure)
        if code not in known:
            known[code] = (e.signature(), *structure)
        signature = known[code]
        attributes = {"law": e.law, **e.attributes}
        nodes.append(classes.setdefault(signature, NodeClass(signature, attributes, patterns, e.sizes)))
        parameters.append(given)
    return Tree(np.full(len(nodes), -1), nodes, parameters, roles or {}, counts or {})


class BodyTree:
    """Laws on the bodies of a model.

    sides    the bodies of every law by number; the world is one more body
    roles    b0, b1, ... of the nodes, which point to them: two or more, the world where a law has fewer bodies
    """

    def __init__(self, model: Model, laws: Sequence[Any], sizes: Callable[[Any], dict[str, int]]) -> None:
        index = {b.name: i for i, b in enumerate(model.bodies)} | {WORLD: model.nb}
        self.sides = [[index[b] for b in law.bodies] for law in laws]
        most = max(2, *map(len, self.sides))
        padded = np.array([s + [model.nb] * (most - len(s)) for s in self.sides])
        self.roles = tuple(f"b{i}" for i in range(most))
        roles = dict(zip(self.roles, padded.T, strict=True))
        self.tree = law_tree((_entry(law, sizes(law)) for law in laws), roles, {"body": model.nb + 1})


def _entry(law: Any, sizes: dict[str, int]) -> Entry:
    return Entry(law, sizes, (len(law.bodies), law.same), lambda: law.signature)


def law_at(n: Any, bodies: tuple[Any, ...]) -> tuple[Any, list[Any], list[Any]]:
    """In a rule, the law of a node with its parameters, and the poses and twists of its bodies."""
    law = n.law.at_node(n)
    mine = bodies[: len(law.bodies)]
    return law, [b.poses for b in mine], [b.twists for b in mine]
