"""Laws outside programs: a set of nodes beside plain bodies, whose poses, twists, coordinates and velocities are given."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..joints import Joint
from ..kernel.plans import Plans
from ..kernel.sweep import MATRIX, SCALAR, Algorithm, Field, NodeClass, Tree, each, vector
from .nodes import LawNodes

LAWS = "law"  # the set of nodes that the laws are


class Evaluation:
    """Laws of a model, ports of any mixture, ready to be asked.

    sizes   of every law, of the fields that differ from law to law
    """

    def __init__(self, nodes: LawNodes, sizes: Sequence[dict[str, int]]) -> None:
        self.nodes, self.model = nodes, nodes.model
        classes: dict[tuple[int, int], NodeClass] = {}
        for nq, nv in {(b.joint.nq, b.joint.nv) for b in self.model.bodies}:
            classes[nq, nv] = NodeClass(("body", nq, nv), sizes={"q": nq, "v": nv})
        bodies = [classes[b.joint.nq, b.joint.nv] for b in self.model.bodies]
        self.tree = Tree(np.full(len(bodies), -1), bodies, [{}] * len(bodies), sets={LAWS: nodes.tree(sizes)})
        self.plans = Plans(self.tree)

    def algorithm(self, rule: Callable[..., None], fields: Callable[[], dict[str, Field]]) -> Algorithm:
        """A rule at every law; its fields are those of laws, and what its ports are."""
        return _algorithm(rule, fields, self.nodes.most, self.nodes.on_bodies, self.nodes.on_joints)

    def run(
        self, algorithm: Algorithm, names: Sequence[str], given: dict[str, np.ndarray], lead: tuple[int, ...] = ()
    ) -> dict[str, np.ndarray]:
        """Some outputs (..., size) with these leading axes.

        given   all inputs, (size,) or (..., size); those that no law looks at are passed over
        """
        inputs = {name: given[name] for name in algorithm.of_kind("input")}
        return self.plans.run(algorithm, inputs, names, lead)


@functools.cache
def _algorithm(
    rule: Callable[..., None], fields: Callable[[], dict[str, Field]], most: int, on_bodies: bool, on_joints: bool
) -> Algorithm:
    placed = {"pose": Field("input", "node", MATRIX), "twist": Field("input", "node", vector(6))}
    turned = {"q": Field("input", "q"), "v": Field("input", "v")}
    given = (placed if on_bodies else {}) | (turned if on_joints else {}) | {"t": Field("input", "global", SCALAR)}
    name = f"{rule.__name__}_{most}{'_bodies' if on_bodies else ''}{'_joints' if on_joints else ''}"
    return Algorithm(name, given | fields(), {"run": [each(rule, *(f"p{i}" for i in range(most)), on=LAWS)]})


def of_laws(kind: Any, **spaces: str) -> dict[str, Field]:
    """Fields of laws, each with as many numbers as the law has in a space."""
    return {name: Field(kind, space, of=LAWS) for name, space in spaces.items()}


def port_size(kind: Any) -> int:
    """The number of velocities of a port; of the world as of any body."""
    return kind.nv if isinstance(kind, Joint) else 6
