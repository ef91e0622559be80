"""Recursive inverse dynamics in the local frames of the links, with what is transmitted between them [Liu & Jain, section 7].

The origin of a link is its joint, c its centre of mass, d the joint's place in the parent, R the rotation to the parent. Outward,

    w_k     = R^T (w_p + w_hat)                                                                                     (78)
    v_k     = R^T (v_p + w_p x (d - c_p) + d_dot) + w_k x c                                                         (76, 83)
    w_dot_k = R^T (w_dot_p + w_hat_dot + w_p x w_hat)                                                               (80)
    v_dot_k = R^T (v_dot_p + w_dot_p x (d - c_p) + w_p x (w_p x (d - c_p)) + 2 w_p x d_dot + d_ddot)
              + w_k x (w_k x c) + w_dot_k x c                                                                       (79, 84)

where the printed (84) is the rate of the components of v_k and not the acceleration; d_dot = d_ddot = 0 for joints that only
turn. The world moves with -g (85). Inward, with F and N the forces and moments that the children pass on to the joint,

    f_k   = m v_dot + F - f_ext                                                                                     (72)
    tau_k = I w_dot + w x I w + c x f_k + (N - c x F) - (n_ext - c x f_ext)                                         (73)

and Q_k = S_k^T (tau_k, f_k), which the tutorial leaves out. At the root f and tau are what the ground carries, not zero
[errata 003-1, 2, 3, 8].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernel.sweep import Algorithm, Field, inward, outward, vector
from ..model.accepts import takes_model
from ..model.model import Model
from ..model.rules import motion_of
from ..spatial.articulated import symmetric
from ..spatial.rigid import UPPER
from ..spatial.scalar import cross, stack


def fall(n: Any) -> Any:
    """Gravity as the acceleration -g of the world."""
    g = n.gravity
    return stack(-g[0], -g[1], -g[2])


def pass_one(n: Any, parent: Any) -> None:
    """Velocity and acceleration of the centre of mass, in axes of the link."""
    E = motion_of(n)
    t = E.tangent
    E = E.with_tangent(None)
    w_hat, w_hat_dot = E.rotate(t.phi[:3]), E.rotate(t.S[:3] @ n.a + t.bias[:3])
    d_dot = E.rotate(t.phi[3:])
    d_ddot = E.rotate(t.S[3:] @ n.a + t.bias[3:] + cross(t.phi[:3], t.phi[3:]))
    w_p, arm, c = parent.w, E.p - parent.com, n.com
    w = E.unrotate(w_p + w_hat)
    w_dot = E.unrotate(parent.w_dot + w_hat_dot + cross(w_p, w_hat))
    v = E.unrotate(parent.u + cross(w_p, arm) + d_dot) + cross(w, c)
    carried = parent.u_dot + cross(parent.w_dot, arm) + cross(w_p, cross(w_p, arm)) + 2.0 * cross(w_p, d_dot) + d_ddot
    n.w, n.w_dot, n.u = w, w_dot, v
    n.u_dot = E.unrotate(carried) + cross(w, cross(w, c)) + cross(w_dot, c)
    n.E, n.S = E, t.S
    n.velocity, n.acceleration = np.concatenate([w, v]), np.concatenate([w_dot, n.u_dot])


def pass_two(n: Any, parent: Any) -> None:
    """Force and torque from the parent, and the joint force."""
    below, c, I = n.below, n.com, symmetric(n.tensor)
    N, F, n_ext, f_ext = below[:3], below[3:], n.external[:3], n.external[3:]
    f = n.u_dot * n.mass + F - f_ext
    tau = I @ n.w_dot + cross(n.w, I @ n.w) + cross(c, f) + (N - cross(c, F)) - (n_ext - cross(c, f_ext))
    n.wrench = np.concatenate([tau, f])
    n.Q = n.S.T @ n.wrench + n.armature * n.a + n.damping * n.v
    parent.below = parent.below + n.E.move_wrench(n.wrench)


LINK_DYNAMICS = Algorithm(
    "link_dynamics",
    {
        "q": Field("input", "q"),
        "v": Field("input", "v"),
        "a": Field("input", "v"),
        "external": Field("input", "node", vector(6)),
        "gravity": Field("input", "global", vector(3)),
        "com": Field("input", "node", vector(3)),
        "tensor": Field("input", "node", vector(6)),
        "w": Field("shared", codec=vector(3)),
        "u": Field("shared", codec=vector(3)),
        "w_dot": Field("shared", codec=vector(3)),
        "u_dot": Field("shared", codec=vector(3), world=fall),
        "below": Field("gathered", codec=vector(6)),
        "velocity": Field("output", "node", vector(6)),
        "acceleration": Field("output", "node", vector(6)),
        "wrench": Field("output", "node", vector(6)),
        "Q": Field("output", "v"),
    },
    {"run": [outward(pass_one), inward(pass_two)]},
)


@dataclass(frozen=True, eq=False)
class LinkDynamics:
    """Of every link in its own axes, (..., links, 3) each: velocity and acceleration of its centre of mass, gravity as an offset
    of the acceleration; the force and the torque, about its joint, that it receives from its parent; and the joint forces Q
    (..., nv).
    """

    velocity: np.ndarray
    angular_velocity: np.ndarray
    acceleration: np.ndarray
    angular_acceleration: np.ndarray
    force: np.ndarray
    torque: np.ndarray
    Q: np.ndarray


@takes_model
def link_dynamics(model: Model, q: Any, v: Any, a: Any, external: Any = None, threads: int | None = 1) -> LinkDynamics:
    """What moves every link and what its joint transmits, for accelerations `a` of one state or a batch, O(n).

    external   wrenches (moment, force) on the bodies, about their origins in their axes: (bodies, 6)

    >>> found = lw.link_dynamics(model, q, v, lw.forward_dynamics(model, q, v))
    """
    com, tensor = model.keep_as(link_dynamics, lambda: _constants(model))
    inputs = {"q": q, "v": v, "a": a, "external": external, "gravity": model.gravity, "com": com, "tensor": tensor}
    out = model.call(LINK_DYNAMICS, inputs, threads)
    angular, linear = ({k: out[k][..., s] for k in ("velocity", "acceleration", "wrench")} for s in (slice(3), slice(3, 6)))
    return LinkDynamics(
        linear["velocity"],
        angular["velocity"],
        linear["acceleration"],
        angular["acceleration"],
        linear["wrench"],
        angular["wrench"],
        out["Q"],
    )


def _constants(model: Model) -> tuple[np.ndarray, np.ndarray]:
    com = np.array([b.inertia.com for b in model.bodies])
    return com, np.array([[b.inertia.tensor[i] for i in UPPER] for b in model.bodies])
