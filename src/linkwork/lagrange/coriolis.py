"""The Coriolis matrix, in O(n depth): see `composite`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..kernel.sweep import POSE, SCALAR, Algorithm, Field, Items, Packing, Tree, inward, outward, over, vector
from ..model.accepts import check_model, takes_model
from ..model.model import Model, _body_dofs
from ..reduced.inverse import tree_inverse_dynamics
from ..spatial.scalar import dot
from .composite import MOVING, gathered, move
from .rules import flat
from .spaces import interface, plans_of

SIX = range(6)


def forces_of_columns(n: Any, parent: Any) -> None:
    """Of every freedom c of the joint: I c_dot + B c, I c and the angular half of B^T c, of all that it carries."""
    X = gathered(n, parent)
    pairs = list(zip(n.column_list, n.column_rates, strict=True))
    n.pushes = flat([X.I @ d + X.B(c) for c, d in pairs])
    n.momenta = flat([X.I @ c for c, _ in pairs])
    n.turns = flat([X.B_transposed(c) for c, _ in pairs])


def entries(n: Any, dof: Any, *places: Any) -> None:
    """C_ij = c_i . (I c_dot + B c)_j and C_ji = c_dot_i . (I c)_j + c_i . (B^T c)_j, for j below i or at the same joint."""
    push, momentum, turn = dof.push, dof.momentum, dof.turn
    for k, (c, d) in enumerate(zip(n.column_list, n.column_rates, strict=True)):
        places[6 + k].C = dot(d, momentum) + dot(c[:3], turn)
        places[k].C = dot(c, push)


ROLES = ("dof", *(f"c{k}" for k in SIX), *(f"t{k}" for k in SIX))
CORIOLIS_MATRIX = Algorithm(
    "coriolis_matrix",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "pose": Field("shared", codec=POSE),
        "V": Field("shared", codec=vector(6)),
        "carried": Field("gathered", codec=MOVING),
        "pushes": Field("work", "columns"),
        "momenta": Field("work", "columns"),
        "turns": Field("work", "points"),
        "push": Field("work", "dof", vector(6), alias="pushes"),
        "momentum": Field("work", "dof", vector(6), alias="momenta"),
        "turn": Field("work", "dof", vector(3), alias="turns"),
        "C": Field("output", "C", SCALAR),
    },
    {"run": [outward(move), inward(forces_of_columns), over("below", entries, *ROLES)]},
)


def coriolis_tree(model: Model) -> Tree:
    """Pairs of a body with a freedom that it carries, and the places in C of both their entries; all others are zero."""
    nodes, dof, own = _body_dofs(model)
    starts, nv = model.tree.offsets("v"), model.nv
    mine = [np.where(k < own, starts[nodes] + k, dof) for k in SIX]
    used = np.unique(np.concatenate([np.concatenate([i * nv + dof, dof * nv + i]) for i in mine])) if nv else np.zeros(0, int)
    index = np.full(nv * nv, len(used), np.int32)
    index[used] = np.arange(len(used))
    roles = {"dof": dof}
    roles |= {f"c{k}": np.asarray(index[i * nv + dof], np.int64) for k, i in enumerate(mine)}
    roles |= {f"t{k}": np.asarray(index[dof * nv + i], np.int64) for k, i in enumerate(mine)}
    packing = Packing(index, len(used) + 1)
    return replace(model.tree, items={"below": lambda: Items(nodes, roles)}, packings={"C": lambda: packing})


def coriolis_matrix(model: Model, q: Any, v: Any, threads: int | None = 1) -> np.ndarray:
    """C(q, v), (nv, nv) or (batch, nv, nv): C v are the Coriolis forces, and M_dot - 2 C is skew [Liu & Jain, Eqs. 14, 48].

    Of the bare tree; armature has no part in it.

    >>> bool(np.allclose(lw.coriolis_matrix(model, q, v) @ v, lw.coriolis_forces(model, q, v)))
    True
    """
    if type(model) is not Model:
        check_model(model)
    found = model.usual_functions.get("coriolis_matrix")
    if found is None:
        plans = plans_of(model, coriolis_matrix, lambda: coriolis_tree(model))
        known = interface(model, CORIOLIS_MATRIX, plans, {"C": (model.nv, model.nv)})
        found = model.usual_functions["coriolis_matrix"] = known.function(("q", "v"), ("C",), ())
    return found.first(threads, q, v)


@takes_model
def coriolis_forces(model: Model, q: Any, v: Any, threads: int | None = 1) -> np.ndarray:
    """C(q, v) v, (nv,) or (batch, nv): Coriolis and centrifugal joint forces, apart from gravity and damping, in O(n).

    >>> lw.coriolis_forces(model, q, v).shape
    (2,)
    """
    still = model.keep_as(coriolis_forces, lambda: _without_damping(model))
    return tree_inverse_dynamics(still, q, v, None, None, threads)


def _without_damping(model: Model) -> Model:
    """The bare tree without gravity and damping."""
    plain = Model(model.bodies, model.gravity)
    undamped = {b.name: {"damping": np.zeros(b.joint.nv)} for b in model.bodies if b.properties.damping.any()}
    return plain.with_parameters(undamped, gravity=(0.0, 0.0, 0.0))
