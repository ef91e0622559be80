"""Constraints as the nodes of a tree of their own: those that compute the same are one class and share a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernel.sweep import NodeClass, pattern
from ..model.law import Law

RESULTS = ("residual", "rate", "bias", "given")


@dataclass(frozen=True, eq=False)
class Entry:
    """A constraint, what its class has besides, and what identifies its machine code (asked once for all that are the same)."""

    law: Law
    attributes: dict[str, Any]
    sizes: dict[str, int]
    same: tuple[Any, ...]
    signature: Callable[[], tuple[Any, ...]]


def node_classes(entries: Iterable[Entry]) -> tuple[list[NodeClass], list[dict[str, np.ndarray]]]:
    """The class of every constraint, and its parameters."""
    classes: dict[Any, NodeClass] = {}
    known: dict[Any, Any] = {}
    nodes, parameters = [], []
    for e in entries:
        given = {f"own_{name}": x for name, x in e.law.parameters().items()}
        patterns = {name: pattern(x, False) for name, x in given.items()}
        structure = (tuple(e.sizes.items()), tuple(patterns.items()))
        code = (e.same, structure)
        if code not in known:
            known[code] = (e.signature(), *structure)
        signature = known[code]
        attributes = {"constraint": e.law, **e.attributes}
        nodes.append(classes.setdefault(signature, NodeClass(signature, attributes, patterns, e.sizes)))
        parameters.append(given)
    return nodes, parameters
