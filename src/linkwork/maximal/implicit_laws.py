"""The laws of a model as an implicit step sees them: which of their ports are neighbours, and what the tree takes in of each.

The stiffness of a law couples all its ports. A block of it on one body, on one joint, or between a body and its parent goes into
the matrix that one sweep eliminates without fill-in; the blocks between *distant* ports do not, and are found by rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..elements.collection import Collection, collection
from ..elements.nodes import STILL, LawNodes, law_at
from ..elements.ports import At
from ..joints import Joint
from ..kernel.plans import Plans
from ..kernel.sweep import NodeClass, Tree
from ..model.accepts import takes_model
from ..model.model import Model

CYCLE = 20  # directions that `krylov` keeps
SAME, ABOVE, PAIR, FAR = "same", "above", "pair", "far"
Relation = tuple[int, int, str]


def relations(nodes: LawNodes, law: int) -> tuple[Relation, ...]:
    """Of every two ports (i, j) of a law what they are to one another; the world is passed over.

    SAME    one body, or one joint
    ABOVE   j is the parent of i; PAIR if the law concerns nothing else
    FAR     all others
    """
    parents, at, kinds = nodes.model.parents, nodes.bodies[law], nodes.kinds[law]
    real = [i for i, kind in enumerate(kinds) if kind != STILL]
    bodies = {i for i in real if not isinstance(kinds[i], Joint)}
    above = PAIR if len(kinds) == 2 else ABOVE
    found = []
    for i in real:
        for j in real:
            on_bodies = {i, j} <= bodies
            if at[i] == at[j] and (i in bodies) == (j in bodies):
                found.append((i, j, SAME))
            elif on_bodies and parents[at[i]] == at[j]:
                found.append((i, j, above))
            elif not (on_bodies and parents[at[j]] == at[i]):
                found.append((i, j, FAR))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class ImplicitLaws:
    """The laws of a model for implicit steps; made by `implicit_laws`."""

    laws: Collection

    @cached_property
    def relations(self) -> list[tuple[Relation, ...]]:
        """Those of the forces."""
        return [relations(self.laws.force_nodes, k) for k in range(len(self.laws.forces))]

    @cached_property
    def distant(self) -> bool:
        """Whether some force joins ports that are no neighbours."""
        return any(relation == FAR for related in self.relations for _, _, relation in related)

    @cached_property
    def tree(self) -> Tree:
        """The bodies, each knowing what forces add to its blocks, with the sets of the laws."""
        tree = self.laws.tree
        touched = self._touched()
        bodies = _extended(tree.classes, touched, {"vv": lambda c: c.sizes["v"] ** 2})
        sets = dict(tree.sets)
        if self.laws.forces:
            force = sets["force"]
            classes = _extended(force.classes, [{"relations": r} for r in self.relations], {})
            sets["force"] = replace(force, classes=[_with_squares(c) for c in classes])
        numbers = {**tree.numbers, "bodies": len(tree), "forces": len(self.laws.forces), "width": 6 * len(tree)}
        counts = {**tree.counts, "basis": CYCLE * 6 * len(tree) if self.distant else 1}
        return replace(tree, classes=bodies, sets=sets, numbers=numbers, counts=counts)

    def _touched(self) -> list[dict[str, Any]]:
        """Of every body whether forces press on it, on its joint, or between it and its parent."""
        found = [{"pressed": False, "sprung": False, "coupled": False} for _ in self.laws.model.bodies]
        nodes = self.laws.force_nodes
        for at, kinds, related in zip(nodes.bodies, nodes.kinds, self.relations, strict=True):
            for i, kind in enumerate(kinds):
                if kind != STILL:
                    found[at[i]]["sprung" if isinstance(kind, Joint) else "pressed"] = True
            for i, _, relation in related:
                if relation in (ABOVE, PAIR):
                    found[at[i]]["coupled"] = True
        return found

    @cached_property
    def plan(self) -> Plans:
        """Programs bound to it, kept."""
        return Plans(self.tree)


def _extended(classes: Any, attributes: list[dict[str, Any]], sizes: dict[str, Any]) -> list[NodeClass]:
    """Classes of nodes with further attributes, which are part of what identifies them, and further sizes."""
    made: dict[Any, NodeClass] = {}
    out = []
    for c, own in zip(classes, attributes, strict=True):
        key = (id(c), tuple(own.items()))
        if key not in made:
            more = {name: size(c) for name, size in sizes.items()}
            signature = (c.signature, "implicit", *own.items())
            made[key] = replace(c, signature=signature, attributes={**c.attributes, **own}, sizes={**c.sizes, **more})
        out.append(made[key])
    return out


def _with_squares(c: NodeClass) -> NodeClass:
    """The class of a law whose joint ports have matrices too."""
    roles = {role: {**sizes, "vv": sizes["v"] ** 2} if "v" in sizes else sizes for role, sizes in c.role_sizes.items()}
    return replace(c, role_sizes=roles)


def implicit_laws(model: Model) -> ImplicitLaws:
    """The laws of a model for implicit steps, kept with it."""
    return model.keep_as(ImplicitLaws, lambda: ImplicitLaws(collection(model)))


class Looked:
    """A port of a force where the step is guessed to lead."""

    def __init__(self, port: Any) -> None:
        self._port = port

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, f"look_{name}")


def looked_at(n: Any, ports: Any) -> tuple[Any, list[At]]:
    """In a rule, the force of a node with its parameters, and its ports where the step is guessed to lead."""
    return law_at(n, [Looked(port) for port in ports])


def is_distant(n: Any) -> bool:
    """In a rule, whether the force of a node joins ports that are no neighbours."""
    return any(relation == FAR for _, _, relation in n.relations)


def stacked(n: Any, ports: Any, twists: str, velocities: str) -> np.ndarray:
    """Fields of bodies and of joints at all ports of a force, one after the other; the world's are zeros."""
    parts = []
    for kind, port in zip(n.kinds, ports, strict=False):
        parts.append(np.zeros(6) if kind == STILL else getattr(port, velocities if isinstance(kind, Joint) else twists))
    return np.concatenate([np.asarray(p, dtype=object) for p in parts])


@takes_model
def force_report(model: Model) -> dict[str, str]:
    """What a step of `maximal-implicit` does with every force of a model, by name.

    >>> lw.force_report(model.add(lw.JointSpring("lower", 5.0, name="spring")))
    {...}
    """
    found = implicit_laws(model)
    beside = [any(relation == FAR for _, _, relation in related) for related in found.relations]
    ways = {False: "implicit, in the factor", True: "implicit, beside the factor: it joins bodies that are no neighbours"}
    return {repr(f): ways[far] for f, far in zip(found.laws.forces, beside, strict=True)}
