"""The laws of a model for implicit steps: how the ports of every force stand to one another, and how the step is solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..elements.collection import Collection, collection
from ..elements.evaluate import port_size
from ..elements.nodes import STILL
from ..joints import Joint
from ..kernel.plans import Plans
from ..kernel.sweep import NodeClass, Tree
from ..model.model import Model

OWN, CHILD, PARENT, DISTANT, NONE = "own", "child", "parent", "distant", "none"  # how one port of a force stands to another
RECURSIVE, DENSE, GRADIENTS = range(3)  # ways to solve: on the tree, a dense matrix, conjugate gradients
LARGE = 200  # degrees of freedom from which on conjugate gradients are the cheaper way


class Softness(NamedTuple):
    """What the sweeps of an implicit step depend on.

    bodies     whether forces look at bodies
    pairs      whether some act between neighbours
    way        to the solution: RECURSIVE where no force couples distant ports
    definite   whether what destabilises is left out of the slopes of forces, see `definite`
    """

    bodies: bool
    pairs: bool
    way: int
    definite: bool = False

    @property
    def near(self) -> tuple[bool, bool]:
        """What the recursion takes of it."""
        return self.bodies, self.pairs


class StiffLaws:
    """The laws of a model for these sweeps."""

    def __init__(self, laws: Collection) -> None:
        self.laws = laws
        nodes, parents = laws.force_nodes, laws.model.parents
        self.relations = [_relations(at, kinds, parents) for at, kinds in zip(nodes.bodies, nodes.kinds, strict=True)]

    def _some(self, wanted: str) -> bool:
        return any(wanted in row for relation in self.relations for row in relation)

    @cached_property
    def distant(self) -> bool:
        """Whether some force couples ports that are neither the same nor neighbours."""
        return self._some(DISTANT)

    @cached_property
    def softness(self) -> Softness:
        """The cheapest way."""
        way = RECURSIVE if not self.distant else DENSE if self.laws.model.nv <= LARGE else GRADIENTS
        return Softness(bool(self.laws.forces) and self.laws.force_nodes.on_bodies, self._some(CHILD), way)

    @cached_property
    def plan(self) -> Plans:
        """Programs bound to the loaded model, kept."""
        laws, tree, nv = self.laws, self.laws.tree, self.laws.model.nv
        counts = tree.counts | {"tellings": 2 * laws.told_count, "entry": nv * (nv + 1) // 2, "answer": nv * laws.row_count}
        numbers = tree.numbers | {"nv": nv, "told_count": laws.told_count, "forces": len(laws.forces)}
        sets, tables = tree.sets, tree.tables
        if laws.forces:
            kinds = laws.force_nodes.kinds
            sizes = np.array([sum(map(port_size, ports)) for ports in kinds])
            sets = sets | {"force": _related(sets["force"], self.relations, sizes)}
            slopes = {"slope_sizes": sizes, "slope_at": np.cumsum(sizes**2) - sizes**2}
            tables = tables | {name: np.ascontiguousarray(x, np.int32) for name, x in slopes.items()}
            counts |= {"axis": int(sizes.max()) ** 2}
        return Plans(replace(tree, sets=sets, counts=counts, numbers=numbers, tables=tables))


def _relations(at: Sequence[int], kinds: Sequence[Any], parents: np.ndarray) -> tuple[tuple[str, ...], ...]:
    """How every port of a force stands to every other."""
    count = range(len(at))
    return tuple(tuple(_relation(at, kinds, i, j, parents) for j in count) for i in count)


def _relation(at: Sequence[int], kinds: Sequence[Any], i: int, j: int, parents: np.ndarray) -> str:
    if STILL in (kinds[i], kinds[j]):
        return NONE
    joints = [isinstance(kinds[k], Joint) for k in (i, j)]
    if at[i] == at[j] and joints[0] == joints[1]:
        return OWN
    if any(joints):
        return DISTANT
    return CHILD if parents[at[i]] == at[j] else PARENT if parents[at[j]] == at[i] else DISTANT


def _related(tree: Tree, relations: Sequence[Any], sizes: np.ndarray) -> Tree:
    """The set of forces with their relations as part of their classes, and room for P."""
    known: dict[Any, NodeClass] = {}
    classes = []
    for own, relation, size in zip(tree.classes, relations, sizes.tolist(), strict=True):
        signature = (*own.signature, relation)
        if signature not in known:
            attributes = own.attributes | {"relation": relation}
            known[signature] = replace(own, signature=signature, attributes=attributes, sizes=own.sizes | {"P": size**2})
        classes.append(known[signature])
    return replace(tree, classes=classes)


def stiff_laws(model: Model) -> StiffLaws:
    """The laws of a model, kept with it."""
    return model.keep_as(StiffLaws, lambda: StiffLaws(collection(model)))
