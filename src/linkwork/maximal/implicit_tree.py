"""The bodies of a model as nodes that carry forces, so that one sweep sees a body, its joint and what pulls at them.

A force belongs to a node if it acts on that joint, on that body alone (or against the world), or between that body and its
parent: then its stiffness couples only neighbours in the tree, and elimination without fill-in takes it in. All other forces are
*distant*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..forces.force import WORLD, Force
from ..forces.joint import JointForce
from ..kernel.plans import Plans
from ..kernel.sweep import NodeClass, Tree, pattern
from ..model.model import Model

OWN, PARENT = "own", "parent"


@dataclass(frozen=True, eq=False)
class Carried:
    """A force on a node: `sides` says which of its bodies is the node's own, its parent or the world."""

    law: Any
    sides: tuple[str, ...]
    prefix: str
    start: int

    def at(self, n: Any) -> tuple[Any, Any]:
        """The force with the parameters of the node, and its inputs."""
        law = self.law.bound({name: getattr(n, self.prefix + name) for name in self.law.parameters()})
        return law, n.u[self.start : self.start + self.law.inputs]


class ForceTree:
    """The tree of a model with the forces that its nodes carry; made by `force_tree`.

    carried   forces in the factor, in the order of their inputs `u`
    distant   the others
    plan      algorithms bound to the tree, as those of a model
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        on_node: list[list[tuple[Any, tuple[str, ...]]]] = [[] for _ in model.bodies]
        self.distant: list[Force] = []
        for f in model.elements_of(JointForce):
            i = model.body_index(f.joint)
            on_node[i].append((f.fitted(model.bodies[i]), ()))
        for f in model.elements_of(Force):
            i, sides = _place(model, f)
            if i < 0:
                self.distant.append(f)
            else:
                on_node[i].append((f, sides))
        self.inputs = np.concatenate([np.zeros(0), *(f.initial_inputs() for node in on_node for f, _ in node)])
        self.carried: list[Any] = [f for node in on_node for f, _ in node]
        self.tree = self._tree(on_node)
        self.plan = Plans(self.tree)

    def _tree(self, on_node: list[list[tuple[Any, tuple[str, ...]]]]) -> Tree:
        plain = self.model.tree
        classes: dict[Any, NodeClass] = {}
        nodes, parameters = [], []
        bare: dict[int, NodeClass] = {}  # classes of nodes without forces, by their class in the plain tree
        for i, found in enumerate(on_node):
            base, values = plain.classes[i], plain.parameters[i]
            if not found:
                if id(base) not in bare:
                    sizes = {**base.sizes, "u": 0}
                    signature, attributes = (base.signature, "no forces"), {**base.attributes, "carried": ()}
                    bare[id(base)] = NodeClass(signature, attributes, base.patterns, sizes)
                nodes.append(bare[id(base)])
                parameters.append(values)
                continue
            laws, start, values = [], 0, dict(values)
            for k, (f, sides) in enumerate(found):
                laws.append(Carried(f, sides, f"force{k}_", start))
                values |= {f"force{k}_{name}": x for name, x in f.parameters().items()}
                start += f.inputs
            own = {name: pattern(x, False) for name, x in values.items() if name not in base.patterns}
            kinds = tuple((_signature(law, base.attributes["joint"]), law.sides) for law in laws)
            signature = (base.signature, kinds, tuple(own.items()))
            if signature not in classes:
                attributes = {**base.attributes, "carried": tuple(laws)}
                classes[signature] = NodeClass(signature, attributes, base.patterns | own, {**base.sizes, "u": start})
            nodes.append(classes[signature])
            parameters.append(values)
        return Tree(plain.parent, nodes, parameters)


def _place(model: Model, force: Force) -> tuple[int, tuple[str, ...]]:
    """The node that carries a force, and the sides of its bodies there; -1 if there is none."""
    parents = model.parents
    bodies = [-1 if b == WORLD else model.body_index(b) for b in force.bodies]
    i = max(bodies)
    if any(b not in (i, parents[i], -1) for b in bodies) or len(set(bodies)) < len(bodies):
        return -1, ()
    return i, tuple(OWN if b == i else PARENT if b == parents[i] and b >= 0 else WORLD for b in bodies)


def _signature(carried: Carried, joint: Any) -> Any:
    law = carried.law
    return law.signature(joint) if isinstance(law, JointForce) else law.signature


def force_tree(model: Model) -> ForceTree:
    """The tree of a model with its forces, kept with it."""
    return model.keep_as(ForceTree, lambda: ForceTree(model))


def force_report(model: Model) -> dict[str, str]:
    """What a step of `maximal-implicit` does with every force of a model, by name."""
    found = force_tree(model)
    said = {repr(f): "implicit, in the factor" for f in found.carried}
    return said | {repr(f): "implicit, beside the factor: it joins bodies that are no neighbours" for f in found.distant}
