"""The equations of motion as the tutorial derives them: M(q) v_dot + C(q, v) = Q [Liu & Jain, Eqs. 13-17, 44-48, 59].

Three routes to every term: sums over links with their Jacobians (48, 59), the mass matrix alone (17), and the kinetic energy
alone (13). They are for reading and for checking; `lw.mass_matrix`, `lw.coriolis_matrix` and `lw.inverse_dynamics` are the fast
ones. Where velocities are not rates of coordinates (quaternions), Lagrange's equation has one more term (Hamel's): the momentum
times the bracket of the joint's freedoms. Armature, the inertia of drives, adds to M alone, as in `lw.mass_matrix`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.directional import directional
from ..kernel.sweep import SCALAR, Algorithm, Field, outward, vector
from ..model.model import Model
from ..model.rules import motion_of
from ..reduced.derivatives import coordinate_columns
from ..reduced.mass_matrix import MASS_MATRIX
from ..spatial.scalar import dot
from .links import link_inertias, link_jacobians, link_jacobians_dot
from .rules import rigid_of


# --- sums over links ---------------------------------------------------------------------------------------------------------
def mass_matrix_by_links(model: Model, q: Any) -> np.ndarray:
    """M = sum J_k^T M_ck J_k, (nv, nv) or (batch, nv, nv) [Liu & Jain, Eqs. 16, 32, 48, 59]."""
    return _mass_of_links(model, q) + np.diag(model.armature)


def _mass_of_links(model: Model, q: Any) -> np.ndarray:
    J = _jacobians(link_jacobians(model, q))
    return np.einsum("...kai,...kab,...kbj->...ij", J, link_inertias(model, q), J, optimize=True)


def coriolis_matrix_by_links(model: Model, q: Any, v: Any) -> np.ndarray:
    """sum J_k^T (M_ck J_dot_k + [w~_k] M_ck J_k), (nv, nv) or (batch, nv, nv) [Liu & Jain, Eqs. 44-48, 59].

    Its product with v is the Coriolis term; M_dot - 2 C is skew, though C is not the matrix of `lw.coriolis_matrix`.
    """
    found, rates = link_jacobians(model, q), link_jacobians_dot(model, q, v)
    J, J_dot, M = _jacobians(found), _jacobians(rates), link_inertias(model, q)
    w = np.einsum("...kai,...i->...ka", found.angular, np.asarray(v, float))
    MJ = np.einsum("...kab,...kbj->...kaj", M, J)
    gyroscopic = np.zeros_like(MJ)
    gyroscopic[..., 3:, :] = np.cross(w[..., None], MJ[..., 3:, :], axis=-2)
    inner = np.einsum("...kab,...kbj->...kaj", M, J_dot) + gyroscopic
    return np.einsum("...kai,...kaj->...ij", J, inner, optimize=True)


def _jacobians(found: Any) -> np.ndarray:
    """J_k = (J_vk; J_wk), (..., links, 6, nv)."""
    return np.concatenate([found.linear, found.angular], axis=-2)


# --- the mass matrix alone ---------------------------------------------------------------------------------------------------
MASS_MATRIX_DIRECTIONAL = directional(MASS_MATRIX)


def mass_matrix_derivatives(model: Model, q: Any) -> np.ndarray:
    """dM/dq, (nv, nv, nv) or (batch, nv, nv, nv), exact: the last index is that of the displacement."""
    q = np.asarray(q, float)
    many = np.repeat(q.reshape(-1, model.nq), model.nv, axis=0)
    along = coordinate_columns(model, q).reshape(-1, model.nq)
    dM = model.call(MASS_MATRIX_DIRECTIONAL, {"q": many, "d_q": along}, wanted=("d_M",))["d_M"]
    return np.moveaxis(dM.reshape(*q.shape[:-1], model.nv, model.nv, model.nv), -3, -1)


def coriolis_forces_from_mass_matrix(model: Model, q: Any, v: Any) -> np.ndarray:
    """M_dot v - 1/2 (dM/dq v)^T v, (nv,) or (batch, nv) [Liu & Jain, Eq. 17; errata 003-7].

    Column j of dM/dq v is (dM/dq_j) v; it is not M_dot, whose column j is sum_k dM_j/dq_k v_k.
    """
    v = np.asarray(v, float)
    dM = mass_matrix_derivatives(model, q)
    M_dot = np.einsum("...ijk,...k->...ij", dM, v)
    T = np.einsum("...ijk,...j->...ik", dM, v)
    energy_slope = 0.5 * np.einsum("...ik,...i->...k", T, v)
    p = np.einsum("...ij,...j->...i", _mass_of_links(model, q), v)
    return np.einsum("...ij,...j->...i", M_dot, v) - energy_slope + hamel_term(model, p, v)


def hamel_term(model: Model, p: np.ndarray, v: np.ndarray) -> np.ndarray:
    """p.[e_i, v] of every freedom i: zero where v = q_dot, w x p of a ball joint whose v is the angular velocity in body axes."""
    p, v = np.broadcast_arrays(np.asarray(p, float), np.asarray(v, float))
    out = np.zeros(p.shape)
    for body in model.bodies:
        at, nv = model.v_index(body.name), body.joint.nv
        tensor = model.keep_as((hamel_term, body.name), lambda joint=body.joint, nv=nv: _bracket_tensor(joint, nv))
        if tensor.any():
            out[..., at] = np.einsum("ijk,...k,...j->...i", tensor, p[..., at], v[..., at])
    return out


def _bracket_tensor(joint: Any, nv: int) -> np.ndarray:
    """[e_i, e_j], (nv, nv, nv)."""
    eye = np.eye(nv)
    return np.array([[np.asarray(joint.bracket(a, b), float) for b in eye] for a in eye]).reshape(nv, nv, nv)


# --- the kinetic energy alone ------------------------------------------------------------------------------------------------
def energy_of_body(n: Any, parent: Any) -> None:
    """1/2 phi^T I phi."""
    E = motion_of(n)
    n.twist = E.pull_twist(parent.twist) + E.tangent.phi
    n.energy = 0.5 * dot(n.twist, rigid_of(n) @ n.twist)


KINETIC_ENERGY = Algorithm(
    "kinetic_energy",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "twist": Field("shared", codec=vector(6)),
        "energy": Field("output", "node", SCALAR),
    },
    {"run": [outward(energy_of_body)]},
)
KINETIC_ENERGY_DIRECTIONAL = directional(KINETIC_ENERGY)


def kinetic_energy(model: Model, q: Any, v: Any) -> np.ndarray:
    """T = sum 1/2 V_k^T M_ck V_k of the links, one number or (batch,) [Liu & Jain, Eqs. 10, 16, 25-27, 32]."""
    return model.call(KINETIC_ENERGY, {"q": q, "v": v})["energy"][..., 0].sum(axis=-1)


def lagrange_forces(model: Model, q: Any, v: Any, a: Any) -> np.ndarray:
    """d/dt dT/dv - dT/dq (and armature a), (nv,): what inertia asks for, from the kinetic energy alone [Liu & Jain, Eq. 13].

    T is quadratic in v, so p_i = dT/dv_i = T(v + e_i) - T(v) - T(e_i), and likewise its rate along q_dot; slopes along q are
    exact. Of one state.
    """
    q, v, a = (np.asarray(x, float) for x in (q, v, a))
    eye, nv = np.eye(model.nv), model.nv
    units = coordinate_columns(model, q)
    q_dot = v @ units
    p = _polar(model, q, v, None) if nv else np.zeros(0)
    p_dot = _polar(model, q, a, None) + _polar(model, q, v, q_dot)
    many = {"q": np.tile(q, (nv, 1)), "v": np.tile(v, (nv, 1)), "d_q": units, "d_v": 0.0 * eye}
    slope = model.call(KINETIC_ENERGY_DIRECTIONAL, many, wanted=("d_energy",))["d_energy"][..., 0].sum(axis=-1)
    return p_dot - slope + hamel_term(model, p, v) + model.armature * a


def _polar(model: Model, q: np.ndarray, x: np.ndarray, q_dot: np.ndarray | None) -> np.ndarray:
    """T(x + e_i) - T(x) - T(e_i) for every i, or the derivatives of these along q_dot."""
    eye = np.eye(model.nv)
    rows = np.concatenate([x + eye, eye, x[None]])
    if q_dot is None:
        T = kinetic_energy(model, np.tile(q, (len(rows), 1)), rows)
    else:
        given = {"q": np.tile(q, (len(rows), 1)), "v": rows, "d_q": np.tile(q_dot, (len(rows), 1)), "d_v": 0.0 * rows}
        T = model.call(KINETIC_ENERGY_DIRECTIONAL, given, wanted=("d_energy",))["d_energy"][..., 0].sum(axis=-1)
    return T[: model.nv] - T[model.nv : -1] - T[-1]
