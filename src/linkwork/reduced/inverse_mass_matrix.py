"""The inverse of the mass matrix, O(n^2): the accelerations that unit joint forces cause, see `forward_derivatives`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.sweep import INERTIA, POSE, SCALAR, Algorithm, Field, inward, outward
from ..model.accepts import check_model
from ..model.model import FUNCTIONS, Model
from ..model.rules import joint_of, placement_of
from ..spatial.articulated import Articulated, symmetric
from ..spatial.rigid import RigidInertia
from ..spatial.scalar import dot, stack
from ..spatial.se3 import SE3
from .derivatives import square_function
from .forward_derivatives import answer, empty, less
from .forward_pairs import answers
from .pairs import flattened, routine, split_columns


def place_still(n: Any, parent: Any) -> None:
    """Every body in the frame of its root."""
    joint = joint_of(n)
    still = joint.motion(n.q, np.zeros(joint.nv))
    E = SE3() if n.is_root else parent.frame @ placement_of(n) @ still.with_tangent(None)
    n.frame = E = SE3(R=E.R, p=E.p)
    n.J_root = flattened([E.move_twist(s) for s in still.tangent.S.T])
    n.own = RigidInertia(n.mass, n.first_moment, symmetric(n.J)).moved(E)


def articulate(n: Any, parent: Any) -> None:
    """Articulated inertias, one degree of freedom after the other."""
    IA, J = (n.own.articulated + n.IA).matrix, split_columns(n.J_root, 6)
    K, d_inv = empty(len(J)), empty(len(J))
    for k in reversed(range(len(J))):
        u = IA @ J[k]
        d_inv[k] = 1.0 / (dot(J[k], u) + n.armature[k])
        K[k] = u * d_inv[k]
        IA = less(IA, u, K[k])
    n.K_root, n.d_inv = flattened(K), stack(*d_inv)
    parent.IA = parent.IA + Articulated.of_matrix(IA)


def begin_answers(n: Any, parent: Any) -> None:
    """Where the accelerations under a unit force begin."""
    J, K = split_columns(n.J_root, 6), split_columns(n.K_root, 6)
    n.X, n.own_response, n.Lambda = answer(J, K, n.d_inv, parent.Lambda)


UNUSED = {"dof_count": "dof_none", "p_q": "X", "p_v": "X", "da_dq": "M_inverse", "da_dv": "M_inverse", "da_dtau": "M_inverse"}
INVERSE_MASS_MATRIX = Algorithm(
    "inverse_mass_matrix",
    {
        "q": Field("input", "q"),
        "frame": Field("shared", codec=POSE),
        "IA": Field("gathered", codec=INERTIA),
        "Lambda": Field("work", "node", INERTIA),
        **{name: Field("work", "columns") for name in ("J_root", "K_root", "X", "trail", "trail_v")},
        "own_response": Field("work", "v"),
        "M_inverse": Field("output", "square", SCALAR),
    },
    {"run": [outward(place_still), inward(articulate), outward(begin_answers), routine(answers, **UNUSED)]},
)
USUAL = (INVERSE_MASS_MATRIX, ("q",), ("M_inverse",))
FUNCTIONS["inverse_mass_matrix"] = lambda model: square_function(model, *USUAL).prepared()


def inverse_mass_matrix(model: Model, q: Any, threads: int | None = 1) -> np.ndarray:
    """M(q)^-1, (nv, nv) or (batch, nv, nv), symmetric, with the armature of the joints.

    >>> bool(np.allclose(lw.inverse_mass_matrix(model, q) @ lw.mass_matrix(model, q), np.eye(2)))
    True
    """
    if type(model) is not Model:
        check_model(model)
    return square_function(model, *USUAL)(q, threads=threads)[0]
