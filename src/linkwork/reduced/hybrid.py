"""Hybrid dynamics: some joints have their acceleration prescribed, the others their force [Sueda, Alg. 9].

A prescribed joint passes its subtree on undiminished: the parent feels IA and pA + IA (zeta + S a). Outward, the joint moves
as told, and the force that does it is tau = S^T (IA a + pA) + armature a + damping v.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.plan import Plan, variant
from ..kernel.sweep import Algorithm, Field, NodeClass, Tree, inward, outward
from ..kernel.widths import SCALAR64
from ..model.model import Model
from ..model.rules import inertia_of
from .forward import FORWARD_DYNAMICS, articulated_inertia, velocities
from .rules import gyroscopic


def inertias(n: Any, parent: Any) -> None:
    """As in forward dynamics, or the subtree as it is."""
    if not n.prescribed:
        articulated_inertia(n, parent)
        return
    own = inertia_of(n)
    IA = own + n.IA
    pA = gyroscopic(n.w, n.first_moment, own.J) - n.external + n.pA
    n.known_IA, n.known_pA = IA, pA
    parent.IA = parent.IA + n.E.move_inertia(IA)
    parent.pA = parent.pA + n.E.move_wrench(pA + IA @ (n.zeta + n.S @ n.a_given))


def accelerations(n: Any, parent: Any) -> None:
    """Accelerations of the free joints, forces of the prescribed ones."""
    a = n.E.pull_twist(parent.acc) + n.zeta
    if n.prescribed:
        v_dot = n.a_given
        n.acc = a + n.S @ v_dot
        n.tau_found = n.S.T @ (n.known_IA @ n.acc + n.known_pA) + n.armature * v_dot + n.damping * n.v
    else:
        v_dot = n.y - n.K @ a
        n.acc = a + n.S @ v_dot
        n.tau_found = n.tau
    n.a = v_dot


HYBRID_DYNAMICS = Algorithm(
    "hybrid_dynamics",
    {**FORWARD_DYNAMICS.fields, "a_given": Field("input", "v"), "tau_found": Field("output", "v")},
    {"run": [outward(velocities), inward(inertias), outward(accelerations)]},
)


def hybrid_dynamics(
    model: Model, q: Any, v: Any, tau: Any, a: Any, prescribed: Iterable[str], external: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations and joint forces (a, tau), when the joints named in `prescribed` move as told by `a`.

    `tau` counts at the other joints only, `a` at the prescribed ones only. For the bare tree, one state.
    """
    names = [prescribed] if isinstance(prescribed, str) else list(prescribed)
    fixed = frozenset(model.body_index(name) for name in names)
    plan = model.keep_as(("hybrid", fixed), lambda: _plan(model, fixed))
    zeros = {"v": np.zeros(model.nv), "external": np.zeros((model.nb, 6))}
    given = {"q": q, "v": v, "tau": tau, "a_given": a, "external": external}
    shapes = {"q": (model.nq,), "external": (model.nb, 6)}
    arrays = {}
    for name, x in given.items():
        value = zeros["external" if name == "external" else "v"] if x is None else np.ascontiguousarray(x, float)
        expected = shapes.get(name, (model.nv,))
        if value.shape != expected:
            raise InputError(f"hybrid_dynamics: {name} has shape {value.shape}; expected {expected}")
        arrays[name] = value.reshape(-1)
    out = {"a": np.empty((1, model.nv)), "tau_found": np.empty((1, model.nv))}
    plan.run({**arrays, "gravity": model.gravity}, out, 1)
    return out["a"][0], out["tau_found"][0]


def _plan(model: Model, fixed: frozenset[int]) -> Plan:
    """The model's tree with classes that know whether their joint is prescribed."""
    classes: dict[tuple[int, bool], NodeClass] = {}
    nodes = []
    for i, c in enumerate(model.tree.classes):
        key = (id(c), i in fixed)
        if key not in classes:
            signature = (*c.signature, "prescribed" if i in fixed else "free")
            classes[key] = NodeClass(signature, {**c.attributes, "prescribed": i in fixed}, c.patterns, c.sizes)
        nodes.append(classes[key])
    tree = Tree(model.tree.parent, nodes, model.tree.parameters)
    return Plan(HYBRID_DYNAMICS, tree, variant(SCALAR64, ("run",)))
