"""Forward dynamics in reduced coordinates, O(n): the articulated-body recursions.

These are the recursions of [Si & Guenter, Eqs. 18-35; errata 002] in a frame that moves with each body, with classical
accelerations: as Newton's law does not see a uniform velocity, linear velocities of the bodies never appear. For a node
with E_pj = (R, p), joint twist (w_J, v_J) = S v and bias c = S_dot v:

    w     = R^T w_p + w_J
    zeta  = (w x w_J, R^T (w_p x (w_p x p)) + 2 (R^T w_p) x v_J + w_J x v_J) + c
    pA    = (w x J w, w x (w x m c)) - external + sum of the children's
    U     = IA S,   D = S^T U + armature,   K = D^-1 U^T,   y = D^-1 (tau - damping v - S^T pA)
    to the parent:  IA - U K  and  pA + (IA - U K) zeta + U y, moved by E_pj
    a'    = (R^T alpha_p, R^T (a_p + alpha_p x p)) + zeta,   v_dot = y - K a',   a = a' + S v_dot

Gravity enters as the acceleration (0, -g) of the world.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.sweep import INERTIA, Algorithm, Field, inward, outward, vector
from ..model.accepts import check_model
from ..model.arrays import usual_function
from ..model.model import FUNCTIONS, Model
from ..model.rules import inertia_of
from ..spatial.scalar import Vector, array, zeros
from .rules import JointFactor, factor_joint, falling_world, gyroscopic, velocity_step


def velocities(n: Any, parent: Any) -> None:
    """Angular velocity and the velocity-dependent acceleration zeta."""
    n.E, n.S, n.w, n.zeta = velocity_step(n, parent.w)
    n.bend = zeros(len(n.v))


def articulated_inertia(n: Any, parent: Any) -> None:
    """Articulated inertia and bias force of the subtree, handed to the parent."""
    articulate(n, parent, n.external, n.tau)


def articulate(n: Any, parent: Any, load: Vector, push: Vector) -> None:
    """The same under any wrench on the body and any joint force."""
    f = factor_joint(inertia_of(n) + n.IA, n.S, n.armature)
    n.K, n.factor = f.K, f
    parent.IA = parent.IA + n.E.move_inertia(f.Ia)
    pass_forces(n, parent, f, load, push)


def pass_forces(n: Any, parent: Any, f: JointFactor, load: Vector, push: Vector) -> None:
    """The bias force of the subtree, on a factor that is known; armature acts on v_dot, which is a - bend in a step."""
    pA = gyroscopic(n.w, n.first_moment, inertia_of(n).J) - load + n.pA
    tau = push - n.damping * n.v + n.armature * n.bend
    n.y = f.solve(tau - n.S.T @ pA)
    pa = np.array(pA + f.Ia @ n.zeta + f.U @ n.y, dtype=object)
    for k, row in enumerate(f.rows):
        pa[row] = n.S[row, k] * tau[k]  # as (IA - U K) S = 0; known here, not to a trace
    parent.pA = parent.pA + n.E.move_wrench(array(pa))


def accelerations(n: Any, parent: Any) -> None:
    """Joint accelerations, root to leaves."""
    a = n.E.pull_twist(parent.acc) + n.zeta
    v_dot = n.y - n.K @ a
    n.acc = a + n.S @ v_dot
    n.a = v_dot


FORWARD_DYNAMICS = Algorithm(
    "forward_dynamics",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "tau": Field("input", "v"),
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        "w": Field("shared", codec=vector(3)),
        "acc": Field("shared", codec=vector(6), world=falling_world),
        "IA": Field("gathered", codec=INERTIA),
        "pA": Field("gathered", codec=vector(6)),
        "a": Field("output", "v"),
    },
    {"run": [outward(velocities), inward(articulated_inertia), outward(accelerations)]},
)
USUAL = (FORWARD_DYNAMICS, ("q", "v", "tau"), "a")
FUNCTIONS["tree_dynamics"] = lambda model: usual_function(model, *USUAL).prepared()


def tree_dynamics(model: Model, q: Any, v: Any, tau: Any = None, external: Any = None, threads: int | None = 1) -> np.ndarray:
    """The joint accelerations (nv,) or (batch, nv) of the bare tree: gravity, tau and external wrenches, no forces and
    constraints of the model.

    external   wrenches (moment, force) on the bodies, about their origins in their axes: (bodies, 6)

    >>> bool(np.allclose(lw.tree_dynamics(model, q, v), lw.forward_dynamics(model, q, v)))
    True
    """
    if type(model) is not Model:
        check_model(model)
    if external is None and v is not None and tau is not None:
        return usual_function(model, *USUAL).first(threads, q, v, tau)
    inputs = {"q": q, "v": v, "tau": tau, "external": external, "gravity": model.gravity}
    return model.call(FORWARD_DYNAMICS, inputs, threads)["a"]
