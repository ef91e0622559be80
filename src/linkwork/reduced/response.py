"""The response of reduced coordinates: factor once per configuration, answer any forces in O(n).

The factor phase leaves K = D^-1 U^T, the factored D and the transforms at every node. A change of forces (tau, wrench)
changes accelerations by the velocity-free part of the forward recursion:

    inward     pA = -wrench + sum of the children's,   u = tau - S^T pA,   to the parent: pA + K^T u
    outward    a' = Ad(E_jp) a_p,   v_dot = D^-1 u - K a',   a = a' + S v_dot
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError
from ..kernel.sweep import INERTIA, Algorithm, Field, inward, outward, vector
from ..model.kinematics import kinematics
from ..model.model import Model
from ..model.rules import inertia_of, joint_of, placement_of
from ..model.state import Motion, Response, force_arrays
from ..spatial.gate import given_reals
from ..spatial.scalar import ldl_solve
from .rules import factor_joint


def factor(n: Any, parent: Any) -> None:
    """Articulated inertias without velocities; keeps E, S, K and the factored D."""
    joint = joint_of(n)
    still = joint.motion(n.q, np.zeros(joint.nv))
    E, S = placement_of(n) @ still.with_tangent(None), still.tangent.S
    f = factor_joint(inertia_of(n) + n.IA, S, n.armature)
    n.E, n.S, n.K, n.L, n.d_inv = E, S, f.K, f.L, f.d_inv
    parent.IA = parent.IA + E.move_inertia(f.Ia)


def gather_forces(n: Any, parent: Any) -> None:
    """Forces, leaves to root."""
    pA = n.pA - n.wrench
    u = n.tau - n.S.T @ pA
    n.y = ldl_solve(n.L, n.d_inv, u)
    parent.pA = parent.pA + n.E.move_wrench(pA + n.K.T @ u)


def spread_accelerations(n: Any, parent: Any) -> None:
    """Accelerations, root to leaves."""
    a = n.E.pull_twist(parent.acc)
    v_dot = n.y - n.K @ a
    n.acc = a + n.S @ v_dot
    n.dv, n.dacc = v_dot, n.acc


RESPONSE = Algorithm(
    "reduced_response",
    {
        "q": Field("input", "q"),
        "wrench": Field("input", "node", vector(6)),
        "tau": Field("input", "v"),
        "acc": Field("shared", codec=vector(6)),
        "IA": Field("gathered", codec=INERTIA),
        "pA": Field("gathered", codec=vector(6)),
        "dv": Field("output", "v"),
        "dacc": Field("output", "node", vector(6)),
    },
    {"factor": [inward(factor)], "apply": [inward(gather_forces), outward(spread_accelerations)]},
)


class ReducedResponse(Response):
    """See `Response`; made by `factor_reduced`."""

    def __init__(self, model: Model, q: np.ndarray, free: Motion) -> None:
        self.model, self.free = model, free
        self._factored = model.factored(RESPONSE, {"q": np.ascontiguousarray(q, float)})

    def apply(self, body_wrenches: Any = None, joint_forces: Any = None) -> Motion:
        forces, lead = force_arrays(self.model, body_wrenches, joint_forces)
        return Motion.of_rows(lead, *self._factored.apply(forces, ("dacc", "dv")))


def factor_reduced(
    model: Model, q: Any, v: Any = None, tau: Any = None, external: Any = None, dt: float | None = None
) -> ReducedResponse:
    """The response at a configuration of the bare tree in reduced coordinates.

    Without `dt` its free motion is the acceleration under v, tau and external; with `dt`, the velocity after an explicit step.
    """
    from .forward import tree_dynamics

    return response_at(model, q, v, lambda q, v: tree_dynamics(model, q, v, tau, external), dt)


def response_at(
    model: Model, q: Any, v: Any, accelerations: Callable[[np.ndarray, np.ndarray], np.ndarray], dt: float | None
) -> ReducedResponse:
    """The response at a configuration whose free motion has accelerations that are a function of q and v."""
    q = given_reals("factor: q", q)
    v = np.zeros(model.nv) if v is None else given_reals("factor: v", v)
    for name, x, size in (("q", q, model.nq), ("v", v, model.nv)):
        if x.shape != (size,):
            raise InputError(f"factor: {name} has shape {x.shape}; one state is factored at a time, ({size},)")
    a = accelerations(q, v)
    k = kinematics(model, q, v, a)
    free = Motion(k.twists_dot, a)
    if dt is not None:
        free = Motion(k.twists, v) + free * dt
    return ReducedResponse(model, q, free)
