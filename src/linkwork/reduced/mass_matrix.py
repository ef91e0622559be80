"""The mass matrix, its inverse and its factor, exploiting the tree.

Composite inertias go inward. A column F = Ic S of every degree of freedom is then carried from its body to the root; at every
body on the way its product with S is an entry of M [Featherstone's composite-rigid-body method]. Entries of bodies that do
not carry one another are zero and never touched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernel.sweep import INERTIA, SCALAR, Algorithm, Field, inward, over, vector
from ..model.accepts import check_model, takes_model
from ..model.arrays import usual_function
from ..model.model import FUNCTIONS, Model
from ..model.rules import inertia_of, joint_of, placement_of


def composite_inertia(n: Any, parent: Any) -> None:
    """Composite inertia of the subtree, and the columns Ic S of the body's own degrees of freedom."""
    joint = joint_of(n)
    still = joint.motion(n.q, np.zeros(joint.nv))
    n.E, n.S = placement_of(n) @ still.with_tangent(None), still.tangent.S
    Ic = inertia_of(n) + n.Ic
    n.columns = (Ic.matrix @ n.S).T.reshape(-1)
    parent.Ic = parent.Ic + n.E.move_inertia(Ic)


def entry(n: Any, dof: Any, *places: Any) -> None:
    """The entries of one degree of freedom at one body above it; then on to the parent."""
    F = dof.column
    nv = n.S.shape[1]
    for k in range(nv):
        places[k].M = n.S[:, k] @ F
    if not n.is_root:
        dof.column = n.E.move_wrench(F)


ROLES = ("dof", *(f"e{k}" for k in range(6)))
MASS_MATRIX = Algorithm(
    "mass_matrix",
    {
        "q": Field("input", "q"),
        "Ic": Field("gathered", codec=INERTIA),
        "columns": Field("work", "columns"),
        "column": Field("work", "dof", vector(6), alias="columns"),
        "M": Field("output", "M", SCALAR),
    },
    {"run": [inward(composite_inertia), over("below", entry, *ROLES)]},
)


USUAL = (MASS_MATRIX, ("q",), "M")


def _prepared_mass_matrix(model: Model) -> Callable[..., np.ndarray]:
    call, armature = usual_function(model, *USUAL).prepared(), np.diag(model.armature)
    return (lambda q: call(q) + armature) if model.has_armature else call


FUNCTIONS["mass_matrix"] = _prepared_mass_matrix


def mass_matrix(model: Model, q: Any, threads: int | None = 1) -> np.ndarray:
    """M(q), (nv, nv) or (batch, nv, nv), symmetric positive definite, with the armature of the joints.

    >>> M = lw.mass_matrix(model, q)
    >>> bool(np.allclose(M, M.T))
    True
    """
    if type(model) is not Model:
        check_model(model)
    M = usual_function(model, *USUAL).first(threads, q)
    if model.has_armature:
        index = np.arange(model.nv)
        M[..., index, index] += model.armature
    return M


@takes_model
def mass_matrix_factor(model: Model, q: Any) -> np.ndarray:
    """L, lower triangular, with M = L^T L; L has no more entries than M (no fill-in) [Featherstone, LTL].

    Rows are eliminated from the last to the first; row k only touches the degrees of freedom on the path from k to the root.

    >>> L = lw.mass_matrix_factor(model, q)
    >>> bool(np.allclose(L.T @ L, lw.mass_matrix(model, q)))
    True
    """
    L = np.array(mass_matrix(model, q), dtype=float)
    above = dof_parents(model)
    for k in range(model.nv - 1, -1, -1):
        L[..., k, k] = np.sqrt(L[..., k, k])
        path = []
        i = above[k]
        while i >= 0:
            path.append(i)
            i = above[i]
        if path:
            L[..., k, path] /= L[..., k, k, None]
            for i in path:
                rest = [j for j in path if j <= i]
                L[..., i, rest] -= L[..., k, i, None] * L[..., k, rest]
    return np.tril(L)


def dof_parents(model: Model) -> np.ndarray:
    """For every degree of freedom the one before it on the way to the root, or -1."""
    starts = model.tree.offsets("v")
    out = np.arange(-1, model.nv - 1)
    for i, p in enumerate(model.parents):
        if starts[i] == starts[i + 1]:
            continue
        while p >= 0 and starts[p] == starts[p + 1]:
            p = model.parents[p]
        out[starts[i]] = starts[p + 1] - 1 if p >= 0 else -1
    return out
