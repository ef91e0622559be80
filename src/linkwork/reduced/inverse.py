"""Inverse dynamics in reduced coordinates, O(n): recursive Newton-Euler.

Outward: velocities and accelerations as in `forward`; f = I a + (w x J w, w x (w x m c)) - external. Inward: the wrench
that a joint transmits is the sum of its own and its children's, tau = S^T f + armature a + damping v [Si & Guenter, Eqs. 13-15].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.sweep import Algorithm, Field, inward, outward, vector
from ..model.accepts import check_model, takes_model
from ..model.arrays import usual_function
from ..model.model import FUNCTIONS, Model
from ..model.rules import inertia_of
from .rules import falling_world, gyroscopic, velocity_step


def body_wrenches(n: Any, parent: Any) -> None:
    """The wrench that moves each body as told."""
    E, S, w, zeta = velocity_step(n, parent.w)
    acc = E.pull_twist(parent.acc) + zeta + S @ n.a
    own = inertia_of(n)
    n.f = own @ acc + gyroscopic(w, n.first_moment, own.J) - n.external
    n.w, n.acc, n.E, n.S = w, acc, E, S


def transmitted(n: Any, parent: Any) -> None:
    """The wrench through each joint, and its part along the joint's freedoms."""
    f = n.f + n.below
    n.tau = n.S.T @ f + n.armature * n.a + n.damping * n.v
    n.wrench = f
    parent.below = parent.below + n.E.move_wrench(f)


INVERSE_DYNAMICS = Algorithm(
    "inverse_dynamics",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "a": Field("input", "v"),
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        "w": Field("shared", codec=vector(3)),
        "acc": Field("shared", codec=vector(6), world=falling_world),
        "below": Field("gathered", codec=vector(6)),
        "tau": Field("output", "v"),
        "wrench": Field("output", "node", vector(6)),
    },
    {"run": [outward(body_wrenches), inward(transmitted)]},
)
USUAL = (INVERSE_DYNAMICS, ("q", "v", "a"), "tau")
FUNCTIONS["tree_inverse_dynamics"] = lambda model: usual_function(model, *USUAL).prepared()


def tree_inverse_dynamics(model: Model, q: Any, v: Any, a: Any, external: Any = None, threads: int | None = 1) -> np.ndarray:
    """The joint forces (nv,) or (batch, nv) that cause the accelerations `a` of the bare tree: no forces of the model.

    external   wrenches (moment, force) on the bodies, about their origins in their axes: (bodies, 6)

    >>> bool(np.allclose(lw.tree_inverse_dynamics(model, q, v, np.zeros(2)), lw.bias_forces(model, q, v)))
    True
    """
    if type(model) is not Model:
        check_model(model)
    if external is None and v is not None and a is not None:
        return usual_function(model, *USUAL).first(threads, q, v, a)
    inputs = {"q": q, "v": v, "a": a, "external": external, "gravity": model.gravity}
    return model.call(INVERSE_DYNAMICS, inputs, threads, wanted=("tau",))["tau"]


def mass_product(model: Model, q: Any, x: Any, threads: int | None = 1) -> np.ndarray:
    """M(q) x, (nv,) or (batch, nv), armature included: the joint forces that cause accelerations at rest without gravity."""
    inputs = {"q": q, "v": None, "a": x, "external": None, "gravity": None}
    return model.call(INVERSE_DYNAMICS, inputs, threads, wanted=("tau",))["tau"]


@takes_model
def joint_wrenches(model: Model, q: Any, v: Any, a: Any, external: Any = None, threads: int | None = 1) -> np.ndarray:
    """The wrench (moment, force) that every joint transmits to its body, about the body's origin in its axes: (bodies, 6).

    Of the bare tree: what forces and constraints of the model do to bodies belongs to `external`; `Trajectory.reactions` adds it.

    >>> lw.joint_wrenches(model, q, v, lw.forward_dynamics(model, q, v)).shape
    (2, 6)
    """
    inputs = {"q": q, "v": v, "a": a, "external": external, "gravity": model.gravity}
    return model.call(INVERSE_DYNAMICS, inputs, threads, wanted=("wrench",))["wrench"]


def bias_forces(model: Model, q: Any, v: Any, threads: int | None = 1) -> np.ndarray:
    """The joint forces (nv,) or (batch, nv) at zero acceleration of the bare tree: Coriolis, centrifugal, gravity and damping.

    >>> M, a = lw.mass_matrix(model, q), lw.forward_dynamics(model, q, v)
    >>> bool(np.allclose(M @ a + lw.bias_forces(model, q, v), 0.0))
    True
    """
    if type(model) is not Model:
        check_model(model)
    return tree_inverse_dynamics(model, q, v, None, None, threads)


def gravity_forces(model: Model, q: Any, threads: int | None = 1) -> np.ndarray:
    """The joint forces (nv,) or (batch, nv) that hold the bare tree still.

    >>> np.round(lw.gravity_forces(model, np.zeros(2)), 3)
    array([-19.62 ,  -4.905])
    """
    if type(model) is not Model:
        check_model(model)
    return tree_inverse_dynamics(model, q, None, None, None, threads)
