"""The inertial-parameter regressor: inverse dynamics as a linear function of masses, first moments and rotational inertias.

With angular velocity w, angular acceleration alpha and acceleration a of the body's origin (gravity as that of the ground),
in body axes, the body needs the wrench

    (J alpha + h x a + w x J w,  m a + alpha x h + w x (w x h)),

linear in pi = (m, h, Jxx, Jxy, Jxz, Jyy, Jyz, Jzz), h = m c, J about the origin. The joint force of a freedom below which the
body hangs is the product of that wrench with the freedom's motion s = (r, u), seen from the body:

    m:  u.a      h:  a x r + u x alpha + w (w.u) - u (w.w)      J:  r alpha^T + (r x w) w^T, made symmetric.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..kernel.sweep import POSE, SCALAR, Algorithm, Field, Items, Packing, Tree, outward, over, vector
from ..model.model import Model
from ..reduced.rules import falling_world, velocity_step
from ..spatial.rigid import UPPER
from ..spatial.scalar import cross, dot
from .rules import flat, rooted, world_columns
from .spaces import interface, paths, plans_of

COUNT = 10  # parameters of a body


def accelerate(n: Any, parent: Any) -> None:
    """Angular velocity, accelerations and pose of the body, and the motion of its freedoms."""
    E, S, w, zeta = velocity_step(n, parent.w)
    acc = E.pull_twist(parent.acc) + zeta + S @ n.a
    n.w, n.acc = w, acc
    n.pose = rooted(n, parent, E)
    n.columns = flat(world_columns(n.pose, S))


def products(n: Any, dof: Any, pair: Any) -> None:
    """Ten numbers for every freedom above a body."""
    s, w, alpha, a = n.pose.pull_twist(dof.column), n.w, n.acc[:3], n.acc[3:]
    r, u = s[:3], s[3:]
    h = cross(a, r) + cross(u, alpha) + w * dot(w, u) - u * dot(w, w)
    x = cross(r, w)
    J = [
        r[i] * alpha[i] + x[i] * w[i] if i == j else r[i] * alpha[j] + r[j] * alpha[i] + x[i] * w[j] + x[j] * w[i]
        for i, j in UPPER
    ]
    pair.block = np.array([dot(u, a), *h, *J], dtype=object)


REGRESSOR = Algorithm(
    "regressor",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "a": Field("input", "v"),
        "gravity": Field("input", "global", vector(3)),
        "w": Field("shared", codec=vector(3)),
        "acc": Field("shared", codec=vector(6), world=falling_world),
        "pose": Field("shared", codec=POSE),
        "columns": Field("work", "columns"),
        "column": Field("work", "dof", vector(6), alias="columns"),
        "Y": Field("output", "Y", SCALAR),
        "block": Field("work", "pair", vector(COUNT), alias="Y"),
    },
    {"run": [outward(accelerate), over("above", products, "dof", "pair")]},
)


def regressor_tree(model: Model) -> Tree:
    """Every body with every freedom above it; blocks of ten numbers, the others are zero."""
    bodies, dofs = np.nonzero(paths(model))
    pairs = len(bodies)
    first = np.full((model.nv, model.nb), pairs * COUNT, np.int64)
    first[dofs, bodies] = np.arange(pairs) * COUNT
    index = np.minimum(first[:, :, None] + np.arange(COUNT), pairs * COUNT)
    packing = Packing(np.ascontiguousarray(index.reshape(-1), np.int32), pairs * COUNT + 1)
    roles = {"dof": dofs, "pair": np.arange(pairs)}
    counts = {**model.tree.counts, "pair": pairs}
    return replace(model.tree, counts=counts, items={"above": lambda: Items(bodies, roles)}, packings={"Y": lambda: packing})


def regressor(model: Model, q: Any, v: Any, a: Any, threads: int | None = 1) -> np.ndarray:
    """Y (nv, 10 bodies) or (batch, nv, 10 bodies): the joint forces of the bare tree without armature and damping are
    Y `inertial_parameters(model)`."""
    found = model.usual_functions.get("regressor")
    if found is None:
        known = interface(
            model, REGRESSOR, plans_of(model, regressor, lambda: regressor_tree(model)), {"Y": (model.nv, COUNT * model.nb)}
        )
        found = known.function(("q", "v", "a"), ("Y",), (), {"gravity": model.gravity})
        model.usual_functions["regressor"] = found
    return found.first(threads, q, v, a)


def inertial_parameters(model: Model) -> np.ndarray:
    """(10 bodies,): of every body mass, first moment m c, and Jxx, Jxy, Jxz, Jyy, Jyz, Jzz about its origin, in its axes."""
    return np.concatenate([np.zeros(0), *(_parameters(b.inertia) for b in model.bodies)])


def _parameters(inertia: Any) -> np.ndarray:
    J = inertia.about_origin
    return np.array([float(inertia.mass), *inertia.first_moment, *(J[i] for i in UPPER)])
