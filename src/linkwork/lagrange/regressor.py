"""The inertial-parameter regressor: inverse dynamics as a linear function of masses, first moments and rotational inertias.

With angular velocity w, angular acceleration alpha and acceleration a of the body's origin (gravity as that of the ground), in
body axes, the body needs the wrench

    (J alpha + h x a + w x J w,  m a + alpha x h + w x (w x h)),

linear in pi = (m, h, Jxx, Jxy, Jxz, Jyy, Jyz, Jzz), h = m c, J about the origin. Every body finds these wrenches of unit
parameters once, in the frame of its root; the joint force of a freedom that carries the body is the product of its motion
there with each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..kernel.function import Function
from ..kernel.sweep import POSE, SCALAR, Algorithm, Field, Items, Packing, Step, Tree, outward, over, vector
from ..kernel.symbol import variable
from ..model.accepts import check_model, takes_model
from ..model.model import Model
from ..reduced.rules import falling_world, velocity_step
from ..spatial.rigid import UPPER
from ..spatial.scalar import Vector, array, cross, dot, is_number, stack, zeros
from ..spatial.se3 import SE3
from ..spatial.table import Table
from .rules import vectors, world_columns
from .spaces import interface, paths, plans_of

COUNT = 10  # parameters of a body
NEEDS = 42  # numbers of a body: four wrenches, six moments


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
    "Y": Field("output", "Y", SCALAR),
    "needs": Field("work", "node", vector(NEEDS), alias="Y"),
    "block": Field("work", "pair", vector(COUNT), alias="Y"),
}
STEPS: dict[str, Sequence[Step]] = {"run": [outward(accelerate), over("below", products, *ROLES)]}
REGRESSOR = Algorithm("regressor", FIELDS, STEPS)


class RegressorPlaces:
    """Where the numbers of the regressor are stored: the needs of all bodies, then blocks of freedoms with what they carry, zero.

    The motion of a root's freedom in the frame of its body is often one of the axes: then its joint forces are needs of the
    bodies, and no block of it is stored.

    pairs    (nodes, bodies) of joints and bodies below them that have blocks
    table    (nv, bodies, 10): the place of every number
    """

    def __init__(self, model: Model) -> None:
        on_way, starts = paths(model) > 0, model.tree.offsets("v")
        axes = root_axes(model)
        stored = on_way & ~np.isin(np.arange(model.nv), list(axes))
        first = -(-NEEDS * model.nb // COUNT)  # blocks begin after the needs
        self.count = COUNT * (first + int(np.count_nonzero(stored))) + 1
        blocks = np.full((model.nb, model.nv), self.count - 1)
        blocks[stored] = COUNT * (first + np.arange(np.count_nonzero(stored)))
        self.table = np.minimum(blocks.T[:, :, None] + np.arange(COUNT), self.count - 1)
        for dof, axis in axes.items():
            below = np.flatnonzero(on_way[:, dof])
            self.table[dof, below] = self._of_needs(axis, below)
        moving = np.flatnonzero(np.diff(starts))
        bodies, joints = np.nonzero(stored[:, starts[moving]])
        self.pairs = moving[joints], bodies

    def _of_needs(self, axis: int, bodies: np.ndarray) -> np.ndarray:
        """The places (bodies, 10) of component `axis` of the wrenches; forces of rotational inertias are zero."""
        wrenches, moments = 6 * np.arange(4) + axis, 24 + 3 * np.arange(6) + axis
        found = NEEDS * bodies[:, None] + np.concatenate([wrenches, moments])
        if axis >= 3:
            found[:, 4:] = self.count - 1
        return found

    def tree(self, model: Model, index: np.ndarray) -> Tree:
        """The tree of the model whose regressor is returned as the numbers at these places."""
        nodes, bodies = self.pairs
        starts = model.tree.offsets("v")
        own = [np.minimum(starts[nodes] + k, starts[nodes + 1] - 1) for k in range(6)]
        roles = {"body": bodies, **{f"p{k}": self.table[dof, bodies, 0] // COUNT for k, dof in enumerate(own)}}
        packing = Packing(np.ascontiguousarray(index.reshape(-1), np.int32), self.count)
        counts = {**model.tree.counts, "pair": self.count // COUNT}
        return replace(model.tree, counts=counts, items={"below": lambda: Items(nodes, roles)}, packings={"Y": lambda: packing})


def root_axes(model: Model) -> dict[int, int]:
    """The freedoms of roots that are one component of the body's twist each, at any q, and which it is."""
    found: dict[int, int] = {}
    for root in np.flatnonzero(model.parents < 0).tolist():
        joint, start = model.bodies[root].joint, int(model.tree.offsets("v")[root])
        if any(isinstance(x, Table) for x in joint.parameters().values()):
            continue  # symbols cannot look up numbers; what moves by a table is no axis
        q = stack(*(variable(f"q{k}") for k in range(joint.nq)))
        S = joint.motion(q, np.zeros(joint.nv)).tangent.S
        if all(is_number(x) and x in (0.0, 1.0) for x in S.flat) and all(sum(s) == 1.0 for s in S.T):
            found |= {start + k: int(np.argmax(s)) for k, s in enumerate(S.T.astype(float))}
    return found


def regressor_tree(model: Model) -> Tree:
    """The whole matrix, row by row."""
    places = RegressorPlaces(model)
    return places.tree(model, places.table)


def regressor_blocks_tree(model: Model) -> Tree:
    """The blocks that are not zero for certain, one after the other."""
    places = RegressorPlaces(model)
    return places.tree(model, places.table[regressor_pairs(model)])


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
        found = _function(model, "regressor", regressor_tree, (model.nv, COUNT * model.nb))
    return found.first(threads, q, v, a)


def regressor_blocks(model: Model, q: Any, v: Any, a: Any, threads: int | None = 1) -> np.ndarray:
    """The blocks (pairs, 10) or (batch, pairs, 10) of the regressor that are not zero for certain: for large models most are, and
    writing zeros takes longer than all else. `regressor_pairs` says where they stand."""
    found = model.usual_functions.get("regressor_blocks")
    if found is None:
        found = _function(model, "regressor_blocks", regressor_blocks_tree, (len(regressor_pairs(model)[0]), COUNT))
    return found.first(threads, q, v, a)


def _function(model: Model, name: str, tree: Callable[[Model], Tree], shape: tuple[int, int]) -> Function:
    """A function of q, v and a, kept with the model."""
    known = interface(model, REGRESSOR, plans_of(model, tree, lambda: tree(model)), {"Y": shape})
    found = model.usual_functions[name] = known.function(("q", "v", "a"), ("Y",), (), {"gravity": model.gravity})
    return found


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
