"""The inertial-parameter regressor: inverse dynamics as a linear function of masses, first moments and rotational inertias.

With angular velocity w, angular acceleration alpha and acceleration a of the body's origin (gravity as that of the ground), in
body axes, the body needs the wrench

    (J alpha + h x a + w x J w,  m a + alpha x h + w x (w x h)),

linear in pi = (m, h, Jxx, Jxy, Jxz, Jyy, Jyz, Jzz), h = m c, J about the origin. Every body finds these wrenches of unit
parameters once, in the frame of its root; the joint force of a freedom that carries the body is the product of its motion
there with each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..kernel.sweep import POSE, SCALAR, Algorithm, Field, Items, Packing, Step, Tree, outward, over, vector
from ..model.accepts import check_model, takes_model
from ..model.model import Model
from ..reduced.rules import falling_world, velocity_step
from ..spatial.rigid import UPPER
from ..spatial.scalar import Vector, array, cross, dot, stack, zeros
from ..spatial.se3 import SE3
from .rules import vectors, world_columns
from .spaces import interface, paths, plans_of

COUNT = 10  # parameters of a body


def accelerate(n: Any, parent: Any) -> None:
    """Accelerations and pose of the body, the motion of its freedoms, and the wrenches that unit parameters need."""
    E, S, w, zeta = velocity_step(n, parent.w)
    acc = E.pull_twist(parent.acc) + zeta + S @ n.a
    pose = SE3() if n.is_root else (parent.pose @ E).collapsed()
    n.w, n.acc, n.pose = w, acc, pose
    n.motions = world_columns(pose, S)
    alpha, a = acc[:3], acc[3:]
    of_mass = pose.move_wrench(np.concatenate([zeros(3), a]))
    turned = [np.concatenate([cross(e, a), cross(alpha, e) + cross(w, cross(w, e))]) for e in np.eye(3)]
    of_inertia = [symmetric_product(i, j, alpha) + cross(w, symmetric_product(i, j, w)) for i, j in UPPER]
    n.needs = np.concatenate([of_mass, *(pose.move_wrench(f) for f in turned), *(pose.rotate(m) for m in of_inertia)])


def symmetric_product(i: int, j: int, x: Vector) -> Vector:
    """J x for the symmetric J whose only entries are ones at (i, j) and (j, i)."""
    out = zeros(3)
    out[i] = x[j]
    out[j] = x[i]
    return array(out)


def products(n: Any, body: Any, *pairs: Any) -> None:
    """Ten numbers for every freedom of a joint and a body that it carries."""
    wrenches, moments = vectors(body.needs[:24], 6), vectors(body.needs[24:], 3)
    for pair, c in zip(pairs, n.motions, strict=False):
        pair.block = stack(*(dot(c, f) for f in wrenches), *(dot(c[:3], m) for m in moments))


ROLES = ("body", *(f"p{k}" for k in range(6)))
FIELDS = {
    "q": Field("input", "q"),
    "v": Field("input", "v"),
    "a": Field("input", "v"),
    "gravity": Field("input", "global", vector(3)),
    "w": Field("shared", codec=vector(3)),
    "acc": Field("shared", codec=vector(6), world=falling_world),
    "pose": Field("shared", codec=POSE),
    "needs": Field("work", "node", vector(42)),
}
STEPS: dict[str, Sequence[Step]] = {"run": [outward(accelerate), over("below", products, *ROLES)]}
REGRESSOR = Algorithm(
    "regressor",
    {**FIELDS, "Y": Field("output", "Y", SCALAR), "block": Field("work", "pair", vector(COUNT), alias="Y")},
    STEPS,
)
REGRESSOR_BLOCKS = Algorithm("regressor_blocks", {**FIELDS, "block": Field("output", "pair", vector(COUNT))}, STEPS)


def regressor_tree(model: Model) -> Tree:
    """Every joint with every body that it carries; blocks of ten numbers for each of its freedoms, the others are zero."""
    bodies, dofs = np.nonzero(paths(model))
    pairs, starts = len(bodies), model.tree.offsets("v")
    place = np.full((model.nv, model.nb), pairs, np.int64)
    place[dofs, bodies] = np.arange(pairs)
    index = np.minimum(place[:, :, None] * COUNT + np.arange(COUNT), pairs * COUNT)
    packing = Packing(np.ascontiguousarray(index.reshape(-1), np.int32), pairs * COUNT + 1)
    joints = np.searchsorted(starts, dofs, side="right") - 1
    first = starts[joints] == dofs
    nodes, carried = joints[first], bodies[first]
    own = [np.minimum(starts[nodes] + k, starts[nodes + 1] - 1) for k in range(6)]
    roles = {"body": carried, **{f"p{k}": place[dof, carried] for k, dof in enumerate(own)}}
    counts = {**model.tree.counts, "pair": pairs}
    return replace(model.tree, counts=counts, items={"below": lambda: Items(nodes, roles)}, packings={"Y": lambda: packing})


def regressor(model: Model, q: Any, v: Any, a: Any, threads: int | None = 1) -> np.ndarray:
    """Y (nv, 10 bodies) or (batch, nv, 10 bodies): the joint forces of the bare tree without armature and damping are
    Y `inertial_parameters(model)`.

    >>> Y = lw.regressor(model, q, v, np.zeros(2))
    >>> bool(np.allclose(Y @ lw.inertial_parameters(model), lw.tree_inverse_dynamics(model, q, v, np.zeros(2))))
    True
    """
    if type(model) is not Model:
        check_model(model)
    found = model.usual_functions.get("regressor")
    if found is None:
        known = interface(
            model, REGRESSOR, plans_of(model, regressor, lambda: regressor_tree(model)), {"Y": (model.nv, COUNT * model.nb)}
        )
        found = known.function(("q", "v", "a"), ("Y",), (), {"gravity": model.gravity})
        model.usual_functions["regressor"] = found
    return found.first(threads, q, v, a)


def regressor_blocks(model: Model, q: Any, v: Any, a: Any, threads: int | None = 1) -> np.ndarray:
    """The blocks (pairs, 10) or (batch, pairs, 10) of the regressor that are not zero for certain: for large models most are, and
    writing zeros takes longer than all else. `regressor_pairs` says where they stand."""
    found = model.usual_functions.get("regressor_blocks")
    if found is None:
        plans = plans_of(model, regressor, lambda: regressor_tree(model))
        known = interface(model, REGRESSOR_BLOCKS, plans, {"block": (len(regressor_pairs(model)[0]), COUNT)})
        found = known.function(("q", "v", "a"), ("block",), (), {"gravity": model.gravity})
        model.usual_functions["regressor_blocks"] = found
    return found.first(threads, q, v, a)


def regressor_pairs(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """The degree of freedom and the body of every block: Y[dof, 10 body : 10 body + 10]."""
    bodies, dofs = np.nonzero(paths(model))
    return dofs, bodies


@takes_model
def inertial_parameters(model: Model) -> np.ndarray:
    """(10 bodies,): of every body mass, first moment m c, and Jxx, Jxy, Jxz, Jyy, Jyz, Jzz about its origin, in its axes.

    >>> lw.inertial_parameters(model).shape
    (20,)
    """
    return np.concatenate([np.zeros(0), *(_parameters(b.inertia) for b in model.bodies)])


def _parameters(inertia: Any) -> np.ndarray:
    J = inertia.about_origin
    return np.array([float(inertia.mass), *inertia.first_moment, *(J[i] for i in UPPER)])
