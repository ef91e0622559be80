"""The inverse-inertia product: y = (M + J^T P_m J + P_r)^-1 x in O(n) [Sueda, Alg. 10].

Without terms this is M^-1 x. With P_r (one number per degree of freedom) and P_m (one 6x6 block per body, not necessarily
symmetric), as h D - h^2 K of joints and bodies, it solves or preconditions a linearly implicit step.

    inward, once:    Mhat = M + P_m + sum of the children's Pi,   Psi = (S^T Mhat S + P_r)^-1,
                     Pi = Mhat - Mhat S Psi S^T Mhat, moved to the parent
    inward:          beta = B + Mhat S Psi (x - S^T B),  B = sum of the children's beta
    outward:         y = Psi (x - S^T Mhat a' - S^T B),  a = a' + S y
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.sweep import Algorithm, Field, inward, matrix, outward, vector
from ..model.accepts import takes_model
from ..model.model import Model
from ..model.rules import inertia_of, joint_of, placement_of
from ..spatial.gate import finite_reals
from ..spatial.scalar import lu_inverse
from ..spatial.se3 import SE3


def moved_matrix(E: SE3, A: np.ndarray) -> np.ndarray:
    """Ad(E)^-T A Ad(E)^-1 for any 6x6 matrix."""
    half = np.stack([E.move_wrench(column) for column in A.T], axis=1)
    return np.stack([E.move_wrench(row) for row in half], axis=0)


def factor(n: Any, parent: Any) -> None:
    joint = joint_of(n)
    still = joint.motion(n.q, np.zeros(joint.nv))
    E, S = placement_of(n) @ still.with_tangent(None), still.tangent.S
    M = inertia_of(n).matrix + n.body_terms + n.Pi
    D = np.array(S.T @ M @ S, dtype=object)
    for k in range(joint.nv):
        D[k, k] = D[k, k] + n.armature[k] + n.joint_terms[k]
    Psi = lu_inverse(D)
    n.E, n.S, n.Psi = E, S, Psi
    n.MS_Psi, n.Psi_SM = M @ S @ Psi, Psi @ S.T @ M
    parent.Pi = parent.Pi + moved_matrix(E, M - n.MS_Psi @ (S.T @ M))


def gather(n: Any, parent: Any) -> None:
    u = n.x - n.S.T @ n.B
    n.y_own = n.Psi @ u
    parent.B = parent.B + n.E.move_wrench(n.B + n.MS_Psi @ u)


def spread(n: Any, parent: Any) -> None:
    a = n.E.pull_twist(parent.acc)
    y = n.y_own - n.Psi_SM @ a
    n.acc = a + n.S @ y
    n.y = y


INERTIA_PRODUCT = Algorithm(
    "inverse_inertia_product",
    {
        "q": Field("input", "q"),
        "joint_terms": Field("input", "v"),
        "body_terms": Field("input", "node", matrix(6, 6)),
        "x": Field("input", "v"),
        "acc": Field("shared", codec=vector(6)),
        "Pi": Field("gathered", codec=matrix(6, 6)),
        "B": Field("gathered", codec=vector(6)),
        "y": Field("output", "v"),
    },
    {"factor": [inward(factor)], "apply": [inward(gather), outward(spread)]},
)


PRODUCT_AT_ONCE = Algorithm(
    "inverse_inertia_product_at_once",
    INERTIA_PRODUCT.fields,
    {"run": [inward(factor), inward(gather), outward(spread)]},
)


class InertiaProduct:
    """The factored operator at one configuration; call it with x (nv,) or (..., nv)."""

    def __init__(self, model: Model, q: Any, joint_terms: Any = None, body_terms: Any = None) -> None:
        self.model = model
        given = {"q": (q, (model.nq,)), "joint_terms": (joint_terms, (model.nv,)), "body_terms": (body_terms, (model.nb, 6, 6))}
        arrays = {}
        for name, (value, shape) in given.items():
            a = np.zeros(shape) if value is None else np.ascontiguousarray(value, float)
            if a.shape != shape:
                raise InputError(f"inverse_inertia_product: {name} has shape {a.shape}; expected {shape}")
            arrays[name] = a.reshape(-1)
        self._factored = model.factored(INERTIA_PRODUCT, arrays)

    def __call__(self, x: Any) -> np.ndarray:
        model = self.model
        x = finite_reals("inverse_inertia_product: x", x)
        if x.shape[-1:] != (model.nv,):
            raise InputError(f"inverse_inertia_product: x has shape {x.shape}; expected (..., {model.nv})")
        rows = int(np.prod(x.shape[:-1]))
        return self._factored.apply({"x": x.reshape(rows, model.nv)}, ("y",))[0].reshape(x.shape)


@takes_model
def inverse_inertia_product(model: Model, q: Any, x: Any, joint_terms: Any = None, body_terms: Any = None) -> np.ndarray:
    """(M + J^T P_m J + P_r)^-1 x for x (nv,) or (..., nv) at one configuration, or x (batch, nv) at a batch of them (batch, nq).

    joint_terms   P_r, one number per degree of freedom (nv,); (batch, nv)
    body_terms    P_m, one matrix per body in its own coordinates (bodies, 6, 6); (batch, bodies, 6, 6)

    >>> x = lw.inverse_inertia_product(model, q, np.array([1.0, 0.0]))
    >>> bool(np.allclose(lw.mass_matrix(model, q) @ x, [1.0, 0.0]))
    True
    """
    if np.ndim(q) == 1 and np.ndim(x) != 1:
        return InertiaProduct(model, q, joint_terms, body_terms)(x)
    terms = None if body_terms is None else np.reshape(body_terms, (*np.shape(body_terms)[:-2], 36))
    given = {"q": q, "joint_terms": joint_terms, "body_terms": terms, "x": x}
    names = tuple(name for name, value in given.items() if value is not None)
    return model.quick(PRODUCT_AT_ONCE, names, ("y",))(*(given[name] for name in names))[0]
