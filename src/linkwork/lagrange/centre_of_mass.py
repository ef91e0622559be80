"""The centre of mass: where it is, how it moves, its Jacobian and the rate of that.

With m and h mass and first moment of what a joint carries, in axes of its body, the column of a freedom s = (w, u) is
R (m u + w x h) / total mass: one sweep inward for h, one outward for R.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.sweep import POSE, SCALAR, Algorithm, Field, inward, matrix, outward, vector
from ..model.accepts import check_model, takes_model
from ..model.arrays import Interface
from ..model.kinematics import kinematics
from ..model.model import Model
from ..spatial.scalar import cross
from .rules import flat, moving_columns, still_of
from .spaces import interface, plans_of, total_mass, world_tree


def carried_moment(n: Any, parent: Any) -> None:
    """Mass and first moment of all that the joint carries, and the columns in axes of the body."""
    E, S = still_of(n)
    m, h = n.mass + n.m_below, n.first_moment + n.h_below
    parent.m_below, parent.h_below = parent.m_below + m, parent.h_below + E.rotate(h) + E.p * m
    share, n.E = n.inverse_mass, E
    n.local = [(s[3:] * m + cross(s[:3], h)) * share for s in S.T]


def turn_columns(n: Any, parent: Any) -> None:
    """The columns in world axes."""
    R = n.E.R if n.is_root else parent.turn @ n.E.R
    n.turn = R
    n.points = flat([R @ c for c in n.local])


CENTRE_JACOBIAN = Algorithm(
    "centre_jacobian",
    {
        "q": Field("input", "q"),
        "inverse_mass": Field("input", "global", SCALAR),
        "m_below": Field("gathered", codec=SCALAR),
        "h_below": Field("gathered", codec=vector(3)),
        "turn": Field("shared", codec=matrix(3, 3)),
        "J": Field("output", "J3", SCALAR),
        "points": Field("work", "points", alias="J"),
    },
    {"run": [inward(carried_moment), outward(turn_columns)]},
)


def move_moments(n: Any, parent: Any) -> None:
    """Pose, twist, columns and their rates; first moment and linear momentum of the body, from where the root is."""
    n.pose, n.V, n.column_list, n.column_rates = moving_columns(n, parent)
    w, v = n.V[:3], n.V[3:]
    h = n.pose.rotate(n.first_moment) + n.pose.p * n.mass
    n.h, n.p_own = h, v * n.mass + cross(w, h)


def point_rates(n: Any, parent: Any) -> None:
    """(m u_dot + w_dot x h + w x h_dot) / total mass; h_dot is the momentum of what the joint carries."""
    m, h, p = n.mass + n.m_below, n.h + n.h_below, n.p_own + n.p_below
    parent.m_below, parent.h_below, parent.p_below = parent.m_below + m, parent.h_below + h, parent.p_below + p
    pairs = zip(n.column_list, n.column_rates, strict=True)
    n.points = flat([(d[3:] * m + cross(d[:3], h) + cross(c[:3], p)) * n.inverse_mass for c, d in pairs])


CENTRE_JACOBIAN_DOT = Algorithm(
    "centre_jacobian_dot",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "inverse_mass": Field("input", "global", SCALAR),
        "pose": Field("shared", codec=POSE),
        "V": Field("shared", codec=vector(6)),
        "m_below": Field("gathered", codec=SCALAR),
        "h_below": Field("gathered", codec=vector(3)),
        "p_below": Field("gathered", codec=vector(3)),
        "J_dot": Field("output", "J3", SCALAR),
        "points": Field("work", "points", alias="J_dot"),
    },
    {"run": [outward(move_moments), inward(point_rates)]},
)


def com_jacobian(model: Model, q: Any, threads: int | None = 1) -> np.ndarray:
    """J (3, nv) or (batch, 3, nv): the velocity of the centre of mass, in world axes, is J v.

    >>> lw.com_jacobian(model, q).shape
    (3, 2)
    """
    if type(model) is not Model:
        check_model(model)
    short = model.shortest_calls.get("centre_jacobian")
    if short is not None and type(threads) is int and threads == 1 and (found := short(q)) is not None:
        return found
    known = model.usual_functions.get("centre_jacobian")
    if known is None:
        known = model.usual_functions["centre_jacobian"] = _function(model, CENTRE_JACOBIAN, ("q",), "J")
    result = known.first(threads, q)
    if (short := known.shortest()) is not None:
        model.shortest_calls["centre_jacobian"] = short
    return result


@takes_model
def com_jacobian_dot(model: Model, q: Any, v: Any, threads: int | None = 1) -> np.ndarray:
    """The time derivative of `com_jacobian` along v: (3, nv) or (batch, 3, nv).

    >>> lw.com_jacobian_dot(model, q, v).shape
    (3, 2)
    """
    make = lambda: _function(model, CENTRE_JACOBIAN_DOT, ("q", "v"), "J_dot")  # noqa: E731
    return model.keep_as(com_jacobian_dot, make).first(threads, q, v)


def _function(model: Model, algorithm: Algorithm, names: tuple[str, ...], result: str) -> Any:
    known: Interface = interface(model, algorithm, plans_of(model, world_tree, lambda: world_tree(model)), {})
    return known.function(names, (result,), (), {"inverse_mass": np.array([1.0 / total_mass(model)])})


def center_of_mass(model: Model, q: Any, threads: int | None = 1) -> np.ndarray:
    """Where the centre of mass is in the world: (3,) or (batch, 3).

    >>> lw.center_of_mass(model, np.zeros(2))
    array([1., 0., 0.])
    """
    if type(model) is not Model:
        check_model(model)
    poses = kinematics(model, q, threads=threads).poses
    m, c = _masses(model)
    return np.einsum("k,...kij,kj->...i", m, poses[..., :3, :], c)


def _masses(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Shares of the mass (bodies,) and homogeneous centres of mass (bodies, 4)."""

    def make() -> tuple[np.ndarray, np.ndarray]:
        m = np.array([b.inertia.mass for b in model.bodies]) / total_mass(model)
        return m, np.array([[*b.inertia.com, 1.0] for b in model.bodies])

    return model.keep_as(_masses, make)
