"""Laws as sets of nodes beside the tree of bodies: those that compute the same are one class and share a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..joints import Joint
from ..kernel.sweep import NodeClass, Tree, pattern
from ..model.model import WORLD, Model
from ..spatial.scalar import zeros
from ..spatial.se3 import SE3
from .law import Law
from .ports import At, BodyAt, JointAt, JointPort

BODY, STILL = "body", "world"  # kinds of ports that are no joints; one that never moves


class LawNodes:
    """Laws on a model: the body that every port stands for, and what kernels must know of it.

    most    ports that a law has at most: the roles p0, p1, ... of their set
    """

    def __init__(self, model: Model, laws: Sequence[Law]) -> None:
        self.model = model
        self.laws: list[Any] = list(laws)
        self.bodies = [[-1 if p.name == WORLD else model.body_index(p.name) for p in law.ports] for law in self.laws]
        self.kinds = [
            tuple(_kind(model, i, isinstance(p, JointPort)) for i, p in zip(at, law.ports, strict=True))
            for law, at in zip(self.laws, self.bodies, strict=True)
        ]
        self.most = max((len(at) for at in self.bodies), default=0)

    @property
    def roles(self) -> tuple[str, ...]:
        return tuple(f"p{i}" for i in range(self.most))

    @property
    def bodies_looked_at(self) -> np.ndarray:
        """The bodies at whose poses laws look."""
        ports = (port for at, kinds in zip(self.bodies, self.kinds, strict=True) for port in zip(at, kinds, strict=True))
        return np.array(sorted({body for body, kind in ports if kind == "body"}), np.int64)

    @cached_property
    def on_bodies(self) -> bool:
        """Whether some law looks at the pose of a body."""
        return any(kind == BODY for kinds in self.kinds for kind in kinds)

    @cached_property
    def on_joints(self) -> bool:
        """Whether some law looks at the coordinates of a joint."""
        return any(isinstance(kind, Joint) for kinds in self.kinds for kind in kinds)

    def tree(
        self,
        sizes: Sequence[dict[str, int]],
        further_roles: dict[str, np.ndarray] | None = None,
        further_sizes: Sequence[dict[str, dict[str, int]]] | None = None,
    ) -> Tree:
        """The set of nodes, with the sizes of their fields.

        further_roles   besides those of the ports, with the sizes of what they point to
        """
        classes: dict[Any, NodeClass] = {}
        known: dict[Any, Any] = {}
        nodes, parameters = [], []
        further = further_sizes or [{} for _ in self.laws]
        for law, kinds, own, more, at in zip(self.laws, self.kinds, sizes, further, self.bodies, strict=True):
            joints = [kind for kind in kinds if isinstance(kind, Joint)]
            values = {f"own_{name}": x for name, x in law.parameters().items()}
            for i, kind in enumerate(kinds):
                values |= {f"p{i}_{name}": x for name, x in kind.parameters().items()} if isinstance(kind, Joint) else {}
            patterns = {name: pattern(x, False) for name, x in values.items()}
            ports = tuple(kind.signature if isinstance(kind, Joint) else kind for kind in kinds)
            same = _same_roles(at, kinds)
            structure = (ports, tuple(own.items()), tuple((r, *s.items()) for r, s in more.items()), tuple(patterns.items()))
            structure += (tuple(same.items()),) if same else ()
            key = (law.same, structure)
            if key not in known:
                known[key] = (law.code(joints), *structure)
            signature = known[key]
            if signature not in classes:
                seen = {f"p{i}": {"q": k.nq, "v": k.nv, "vv": k.nv**2} for i, k in enumerate(kinds) if isinstance(k, Joint)}
                classes[signature] = NodeClass(signature, {"law": law, "kinds": kinds}, patterns, own, seen | more, same)
            nodes.append(classes[signature])
            parameters.append(values)
        padded = np.array([[max(i, 0) for i in at] + [0] * (self.most - len(at)) for at in self.bodies], np.int64)
        roles = dict(zip(self.roles, padded.reshape(len(self.laws), self.most).T, strict=True))
        return Tree(np.full(len(nodes), -1), nodes, parameters, roles | (further_roles or {}))


def _kind(model: Model, body: int, joint: bool) -> Any:
    """What a port is: a joint, "body", or "world"."""
    if body < 0:
        return STILL
    return model.bodies[body].joint if joint else BODY


def _same_roles(at: Sequence[int], kinds: Sequence[Any]) -> dict[str, str]:
    """Ports that are the body or the joint of an earlier port: their roles, and those of their places, by number."""
    found: dict[str, str] = {}
    first: dict[Any, int] = {}
    for i, (body, kind) in enumerate(zip(at, kinds, strict=True)):
        k = i if kind == STILL else first.setdefault((body, isinstance(kind, Joint)), i)
        found |= {f"p{i}": f"p{k}", f"s{i}": f"s{k}"} if k < i else {}
    return found


def law_at(n: Any, ports: Sequence[Any]) -> tuple[Any, list[At]]:
    """In a rule, the law of a node with its parameters, and its ports where they are."""
    at: list[At] = []
    for i, (kind, port) in enumerate(zip(n.kinds, ports, strict=False)):
        if isinstance(kind, Joint):
            joint = kind.bound({name: getattr(n, f"p{i}_{name}") for name in kind.parameter_names})
            at.append(JointAt(joint, port.q, port.v))
        else:
            at.append(BodyAt(SE3(), zeros(6)) if kind == STILL else BodyAt(port.pose, port.twist))
    return n.law.at_node(n), at
