"""Jacobians of the bodies: products in O(n), and dense matrices made of them.

J maps joint velocities to body twists (angular, linear; body axes). The products follow the tree [Sueda, Algs. 5, 6]:

    y = J x            outward   y_j = Ad(E_jp) y_p + S x
    z = J_dot x        outward   z_j = Ad(E_jp) z_p - ad(S v) Ad(E_jp) y_p + S_dot x
    x = J^T f          inward    f_p += Ad(E_jp)^T f_j,  x = S^T f_j

Dense matrices are products with unit vectors, eight at a time [Sueda, Algs. 1, 2; errata 004-17].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.function import Function
from ..kernel.sweep import Algorithm, Field, inward, outward, vector
from ..model.accepts import check_model, takes_model
from ..model.arrays import Interface
from ..model.kinematics import kinematics
from ..model.model import Model
from ..model.rules import joint_of, motion_of, placement_of
from ..spatial.gate import given_reals
from ..spatial.se3 import bracket


def push(n: Any, parent: Any) -> None:
    """J x and J_dot x, root to leaves."""
    E = motion_of(n)
    t = E.tangent
    y = E.pull_twist(parent.y)
    n.y = y + t.S @ n.x
    n.z = E.pull_twist(parent.z) - bracket(t.phi, y) + t.S_dot @ n.x
    n.Jx, n.J_dot_x = n.y, n.z


def pull(n: Any, parent: Any) -> None:
    """J^T f, leaves to root."""
    joint = joint_of(n)
    still = joint.motion(n.q, np.zeros(joint.nv))
    f = n.f + n.below
    n.JTf = still.tangent.S.T @ f
    parent.below = parent.below + (placement_of(n) @ still.with_tangent(None)).move_wrench(f)


JACOBIAN_PRODUCT = Algorithm(
    "jacobian_product",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "x": Field("input", "v"),
        "y": Field("shared", codec=vector(6)),
        "z": Field("shared", codec=vector(6)),
        "Jx": Field("output", "node", vector(6)),
        "J_dot_x": Field("output", "node", vector(6)),
    },
    {"run": [outward(push)]},
)
JACOBIAN_TRANSPOSE_PRODUCT = Algorithm(
    "jacobian_transpose_product",
    {
        "q": Field("input", "q"),
        "f": Field("input", "node", vector(6)),
        "below": Field("gathered", codec=vector(6)),
        "JTf": Field("output", "v"),
    },
    {"run": [inward(pull)]},
)


def pull_units(n: Any, parent: Any) -> None:
    """J^T of six wrenches at once, leaves to root; nothing comes from nodes that do not carry the frame."""
    joint = joint_of(n)
    still = joint.motion(n.q, np.zeros(joint.nv))
    E, wrenches = placement_of(n) @ still.with_tangent(None), (n.units + n.held).reshape(6, 6)
    n.columns = (still.tangent.S.T @ wrenches.T).reshape(-1)
    parent.held = parent.held + np.concatenate([E.move_wrench(f) for f in wrenches])


JACOBIAN = Algorithm(
    "jacobian",
    {
        "q": Field("input", "q"),
        "units": Field("input", "node", vector(36)),
        "held": Field("gathered", codec=vector(36)),
        "columns": Field("output", "columns"),
    },
    {"run": [inward(pull_units)]},
)


@takes_model
def jacobian_product(model: Model, q: Any, x: Any) -> np.ndarray:
    """J x: the body twists (bodies, 6) that joint velocities x (nv,) cause; batches broadcast.

    >>> bool(np.allclose(lw.jacobian_product(model, q, v), lw.kinematics(model, q, v).twists))
    True
    """
    return model.call(JACOBIAN_PRODUCT, {"q": q, "v": None, "x": x}, wanted=("Jx",))["Jx"]


@takes_model
def jacobian_dot_product(model: Model, q: Any, v: Any, x: Any) -> np.ndarray:
    """J_dot x at velocity v: (bodies, 6); batches broadcast.

    >>> lw.jacobian_dot_product(model, q, v, v).shape
    (2, 6)
    """
    return model.call(JACOBIAN_PRODUCT, {"q": q, "v": v, "x": x}, wanted=("J_dot_x",))["J_dot_x"]


@takes_model
def jacobian_transpose_product(model: Model, q: Any, wrenches: Any) -> np.ndarray:
    """J^T f: the joint forces (nv,) that body wrenches (bodies, 6) amount to; batches broadcast.

    >>> lw.jacobian_transpose_product(model, q, np.ones((2, 6))).shape
    (2,)
    """
    return model.call(JACOBIAN_TRANSPOSE_PRODUCT, {"q": q, "f": wrenches})["JTf"]


@takes_model
def body_jacobian(model: Model, q: Any) -> np.ndarray:
    """The dense J (6 bodies, nv) or (batch, 6 bodies, nv) of all bodies.

    >>> lw.body_jacobian(model, q).shape
    (12, 2)
    """
    return _dense(model, lambda x, q: jacobian_product(model, q, x), q)


@takes_model
def body_jacobian_dot(model: Model, q: Any, v: Any) -> np.ndarray:
    """The dense time derivative of J (6 bodies, nv) or (batch, 6 bodies, nv).

    >>> lw.body_jacobian_dot(model, q, v).shape
    (12, 2)
    """
    return _dense(model, lambda x, q, v: jacobian_dot_product(model, q, v, x), q, v)


def _dense(model: Model, product: Callable[..., np.ndarray], *state: Any) -> np.ndarray:
    """The matrix of a product with velocities x (batch, nv): every state as often as there are columns."""
    parts = {name: given_reals(name, x) for name, x in zip("qv", state, strict=False)}
    batches = {name: len(x) for name, x in parts.items() if x.ndim == 2}
    lead = tuple(set(batches.values()))
    if len(lead) > 1:
        raise InputError(f"q is a batch of {batches['q']}, v of {batches['v']}")
    states = (np.repeat(x, model.nv, axis=0) if x.ndim == 2 else x for x in parts.values())
    columns = np.tile(np.eye(model.nv), (*lead, 1))
    return product(columns, *states).reshape(*lead, model.nv, 6 * model.nb).swapaxes(-1, -2)


def jacobian(model: Model, q: Any, frame: str, threads: int | None = 1) -> np.ndarray:
    """The Jacobian (6, nv) or (batch, 6, nv) of a body or frame: its twist (angular, linear) in its own axes is J v.

    >>> lw.jacobian(model, q, "hand").shape
    (6, 2)
    """
    if type(model) is not Model:
        check_model(model)
    body, E = model.frame(frame)
    if body < 0:
        return np.zeros((*np.shape(q)[:-1], 6, model.nv))

    def make() -> Function:
        unit = np.zeros((model.nb, 36))
        unit[body] = np.concatenate([np.asarray(E.move_wrench(e), float) for e in np.eye(6)])
        shapes = {"units": (model.nb, 36), "columns": (model.nv, 6)}
        return Interface(model, JACOBIAN, tails=shapes).function(("q",), ("columns",), (), {"units": unit.reshape(-1)})

    found = model.keep_as((jacobian, frame), make)(q, threads=threads)[0]
    return found.swapaxes(-1, -2)


@takes_model
def frame_pose(model: Model, q: Any, frame: str) -> np.ndarray:
    """The world pose (4, 4) or (batch, 4, 4) of a body or frame.

    >>> lw.frame_pose(model, np.zeros(2), "hand")[:3, 3]
    array([2., 0., 0.])
    """
    body, E = model.frame(frame)
    inner = np.asarray(E.matrix, float)
    if body < 0:
        return np.broadcast_to(inner, (*np.shape(q)[:-1], 4, 4)).copy()
    return kinematics(model, q).poses[..., body, :, :] @ inner
