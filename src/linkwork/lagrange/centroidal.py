"""Momentum of a system about its centre of mass: the matrix A with h = A v, and its rate [Orin & Goswami 2008].

h = (angular about the centre of mass, linear), in world axes. Columns are Ic S with the composite inertia Ic of what a joint
carries, turned to world axes and moved to the centre of mass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.loops import Lane, Table, loops
from ..kernel.sweep import POSE, SCALAR, Algorithm, Codec, Field, Routine, each, inward, outward, vector
from ..model.accepts import check_model, takes_model
from ..model.model import Model
from ..model.rules import world_pose
from ..spatial.gate import finite_reals
from ..spatial.rigid import RigidInertia
from ..spatial.scalar import Vector, cross
from .centre_of_mass import center_of_mass
from .composite import MOVING, gathered, move
from .rules import flat, rigid_of, still_of
from .spaces import interface, plans_of, total_mass, world_tree

RIGID = Codec(10, RigidInertia.packed, RigidInertia.unpacked)


@loops
def balance(root_count: int, roots: Table, moment: Lane, inverse_mass: Lane, com: Lane) -> None:
    """The centre of mass (and, in the last three, its velocity) from what the roots carry."""
    for k in range(6):
        com[k] = 0.0
        for r in range(root_count):
            com[k] += moment[6 * roots[r] + k]
        com[k] = com[k] * inverse_mass[0]


BALANCE = Routine(balance, ("root_count", "roots", "moment", "inverse_mass", "com"))


def composite(n: Any, parent: Any) -> None:
    """The composite inertia, and the columns Ic S in axes of the body."""
    E, S = still_of(n)
    Ic = rigid_of(n) + n.Ic
    outside = Ic.moved(E)
    parent.Ic = parent.Ic + outside
    n.E, n.local = E, [Ic @ s for s in S.T]
    if n.is_root:
        n.moment = np.concatenate([outside.h, np.zeros(3)])


def about_centre(n: Any, parent: Any) -> None:
    """The columns in world axes about the centre of mass."""
    n.pose = (parent.pose @ n.E).collapsed()
    r = n.pose.p - n.com[:3]
    turned = [(n.pose.rotate(f[:3]), n.pose.rotate(f[3:])) for f in n.local]
    n.columns = flat([np.concatenate([m + cross(r, p), p]) for m, p in turned])


COMMON = {
    "q": Field("input", "q"),
    "inverse_mass": Field("input", "global", SCALAR),
    "moment": Field("work", "node", vector(6)),
    "com": Field("work", "global", vector(6)),
}
CENTROIDAL_MATRIX = Algorithm(
    "centroidal_matrix",
    {
        **COMMON,
        "Ic": Field("gathered", codec=RIGID),
        "pose": Field("shared", codec=POSE, world=world_pose),
        "A": Field("output", "J6", SCALAR),
        "columns": Field("work", "columns", alias="A"),
    },
    {"run": [inward(composite), BALANCE, outward(about_centre)]},
)


def move_with_base(n: Any, parent: Any) -> None:
    """`move`, and where the root is."""
    move(n, parent)
    n.base = still_of(n)[0].p if n.is_root else parent.base


def momenta(n: Any, parent: Any) -> None:
    """I c and its rate of every freedom, about where the root is."""
    X = gathered(n, parent)
    n.columns = flat([X.I @ c for c in n.column_list])
    n.rates = flat([X.rate(c) + X.I @ d for c, d in zip(n.column_list, n.column_rates, strict=True)])
    if n.is_root:
        n.moment = np.concatenate([X.I.h + n.base * X.I.mass, X.p])


def shift_to_centre(n: Any) -> None:
    """About the centre of mass, which moves."""
    r, r_dot = n.com[:3] - n.base, n.com[3:]
    columns, rates = n.columns.reshape(-1, 6), n.rates.reshape(-1, 6)
    n.columns = flat([_moved(f, r) for f in columns])
    n.rates = flat(
        [_moved(d, r) - np.concatenate([cross(r_dot, f[3:]), np.zeros(3)]) for f, d in zip(columns, rates, strict=True)]
    )


def _moved(f: Vector, r: Vector) -> Vector:
    """A wrench about a point that is r further."""
    return np.concatenate([f[:3] - cross(r, f[3:]), f[3:]])


CENTROIDAL_MATRIX_DOT = Algorithm(
    "centroidal_matrix_dot",
    {
        **COMMON,
        "v": Field("input", "v"),
        "pose": Field("shared", codec=POSE),
        "V": Field("shared", codec=vector(6)),
        "base": Field("shared", codec=vector(3)),
        "carried": Field("gathered", codec=MOVING),
        "A": Field("output", "J6", SCALAR),
        "A_dot": Field("output", "J6", SCALAR),
        "columns": Field("work", "columns", alias="A"),
        "rates": Field("work", "columns", alias="A_dot"),
    },
    {"run": [outward(move_with_base), inward(momenta), BALANCE, each(shift_to_centre)]},
)


def centroidal_momentum_matrix(model: Model, q: Any, threads: int | None = 1) -> np.ndarray:
    """A (6, nv) or (batch, 6, nv): A v is the momentum (angular, linear) about the centre of mass, in world axes.

    >>> lw.centroidal_momentum_matrix(model, q) @ v
    array([...])
    """
    if type(model) is not Model:
        check_model(model)
    short = model.shortest_calls.get("centroidal_matrix")
    if short is not None and type(threads) is int and threads == 1 and (found := short(q)) is not None:
        return found
    known = model.usual_functions.get("centroidal_matrix")
    if known is None:
        known = model.usual_functions["centroidal_matrix"] = _function(model, CENTROIDAL_MATRIX, ("q",), "A")
    result = known.first(threads, q)
    if (short := known.shortest()) is not None:
        model.shortest_calls["centroidal_matrix"] = short
    return result


@takes_model
def centroidal_momentum_matrix_dot(model: Model, q: Any, v: Any, threads: int | None = 1) -> np.ndarray:
    """The time derivative of A along v, (6, nv) or (batch, 6, nv): A a + A_dot v is the rate of momentum.

    The centre of mass moves, and so does the point of reference. Pinocchio's `dAg` is about one at rest: its angular rows have
    c_dot x (linear rows of A) more, which vanishes along v.

    >>> lw.centroidal_momentum_matrix_dot(model, q, v).shape
    (6, 2)
    """
    make = lambda: _function(model, CENTROIDAL_MATRIX_DOT, ("q", "v"), "A_dot")  # noqa: E731
    return model.keep_as(centroidal_momentum_matrix_dot, make).first(threads, q, v)


def momentum(model: Model, q: Any, v: Any, threads: int | None = 1, *, about: Any = None) -> np.ndarray:
    """The momentum (angular about the centre of mass, linear), in world axes: (6,) or (batch, 6) [Liu & Jain, Eqs. 18-21].

    about   a point of the world (3,) or (batch, 3), of which the angular momentum is then: (0, 0, 0) is the world's origin

    >>> lw.momentum(model, q, v, about=(0, 0, 0)).shape
    (6,)
    """
    if type(model) is not Model:
        check_model(model)
    A = centroidal_momentum_matrix(model, q, threads)
    v = finite_reals("momentum: v", v)
    if v.shape[-1:] != (model.nv,) or v.ndim > 2:
        raise InputError(f"momentum: v has shape {v.shape}; expected ({model.nv}) or (batch, {model.nv})")
    found = np.einsum("...ij,...j->...i", A, v)
    if about is not None:
        arm = center_of_mass(model, q, threads) - _point("momentum: about", about)
        found[..., :3] += np.cross(arm, found[..., 3:])
    return found


def _point(what: str, x: Any) -> np.ndarray:
    x = finite_reals(what, x)
    if x.shape[-1:] != (3,) or x.ndim > 2:
        raise InputError(f"{what} has shape {x.shape}; expected (3) or (batch, 3)")
    return x


def _function(model: Model, algorithm: Algorithm, names: tuple[str, ...], result: str) -> Any:
    known = interface(model, algorithm, plans_of(model, world_tree, lambda: world_tree(model)), {})
    return known.function(names, (result,), (), {"inverse_mass": np.array([1.0 / total_mass(model)])})
