"""Hybrid dynamics: some joints have their acceleration prescribed, the others their force [Sueda, Alg. 9].

A prescribed joint passes its subtree on undiminished: the parent feels IA and pA + IA (zeta + S a). Outward, the joint moves
as told, and the force that does it is tau = S^T (IA a + pA) + armature a + damping v.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.plans import Plans
from ..kernel.sweep import Algorithm, Field, NodeClass, Tree, inward, outward
from ..model.accepts import takes_model
from ..model.arrays import Interface
from ..model.model import Model
from ..model.rules import inertia_of
from ..spatial.articulated import Articulated
from ..spatial.gate import shown
from ..spatial.scalar import Vector
from .forward import FORWARD_DYNAMICS, articulated_inertia, velocities
from .rules import gyroscopic


def inertias(n: Any, parent: Any) -> None:
    """As in forward dynamics, or the subtree as it is."""
    if n.prescribed:
        n.known_IA, n.known_pA = pass_undiminished(n, parent, n.external)
    else:
        articulated_inertia(n, parent)


def pass_undiminished(n: Any, parent: Any, load: Vector) -> tuple[Articulated, Vector]:
    """Hand inertia and bias force of the subtree of a prescribed joint to the parent."""
    own = inertia_of(n)
    IA = own + n.IA
    pA = gyroscopic(n.w, n.first_moment, own.J) - load + n.pA
    parent.IA = parent.IA + n.E.move_inertia(IA)
    parent.pA = parent.pA + n.E.move_wrench(pA + IA @ (n.zeta + n.S @ n.a_given))
    return IA, pA


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


@takes_model
def tree_hybrid_dynamics(
    model: Model,
    q: Any,
    v: Any,
    tau: Any,
    a: Any,
    prescribed: str | Iterable[str],
    external: Any = None,
    threads: int | None = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations and joint forces (a, tau) of the bare tree, (nv,) or (batch, nv), when the joints named in `prescribed`
    move as told by `a`.

    `tau` counts at the other joints only, `a` at the prescribed ones only.

    >>> a, tau = lw.tree_hybrid_dynamics(model, q, v, np.zeros(2), np.zeros(2), prescribed="upper")
    """
    fixed = prescribed_bodies(model, prescribed)

    def make() -> Interface:
        return Interface(model, HYBRID_DYNAMICS, Plans(with_prescribed(model.tree, fixed)))

    given = {"q": q, "v": v, "tau": tau, "a_given": a, "external": external, "gravity": model.gravity}
    out = model.keep_as((tree_hybrid_dynamics, fixed), make)(given, threads)
    return out["a"], out["tau_found"]


def prescribed_bodies(model: Model, names: str | Iterable[str]) -> frozenset[int]:
    """The bodies of the joints that are named."""
    try:
        given = [names] if isinstance(names, str) else list(names)
    except TypeError:
        raise InputError(f"prescribed must be the name of a joint, or several, not {shown(names)}") from None
    return frozenset(model.body_index(name) for name in given)


def with_prescribed(tree: Tree, fixed: frozenset[int]) -> Tree:
    """A tree whose classes know whether their joint is prescribed."""
    classes: dict[tuple[int, bool], NodeClass] = {}
    nodes = []
    for i, c in enumerate(tree.classes):
        key = (id(c), i in fixed)
        if key not in classes:
            signature = (*c.signature, "prescribed" if i in fixed else "free")
            classes[key] = replace(c, signature=signature, attributes={**c.attributes, "prescribed": i in fixed})
        nodes.append(classes[key])
    return replace(tree, classes=nodes)
