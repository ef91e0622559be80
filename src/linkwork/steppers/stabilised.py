"""A step of symplectic Euler in maximal coordinates whose joints do not drift and whose energy does not either.

Bodies turn with their new angular velocity and their centres of mass move straight with their new velocity, in world axes, where
momentum is constant: R' = R exp(h w'), x_c' = x_c + h v_c'. In body axes this moves a body by

    log(E^-1 E') = h phi + h^2 (phi_dot + k) + O(h^3),     k = (0, w x v_c / 2),

where the true motion has h phi + h^2 phi_dot / 2. So a joint with rows T^T phi_dot_rel = T^T zeta stays closed to O(h^3) if its
bias is zeta / 2 - k_rel instead. Replacing the bias along T by

    zeta / 2 - k_rel - phi_rel / h - PULL gap / h^2,     gap = log(Q(q_fit)^-1 E_joint),

also removes the velocity error of the step before and a part of the position error: Baumgarte's terms [Baumgarte 1972] at their
strongest. That makes the multipliers those of a constrained symplectic step (SHAKE) to O(h^3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.sweep import MATRIX, SCALAR, Algorithm, Field, each, outward, vector
from ..maximal import rules
from ..maximal.convert import to_reduced
from ..maximal.dynamics import DYNAMICS, MAXIMAL_DYNAMICS
from ..maximal.response import MaximalResponse
from ..maximal.rules import centre_of
from ..model import MaximalState, Model, Motion
from ..model.rules import joint_of, placement_of
from ..spatial import so3
from ..spatial.scalar import Vector, cross
from ..spatial.se3 import SE3

PULL = 0.5  # the part of a joint's gap that one step removes


def overshoot(n: Any, parent: Any) -> None:
    """k of the module's text."""
    w, v = n.twists[:3], n.twists[3:]
    n.k = np.concatenate([np.zeros(3), 0.5 * cross(w, v + cross(w, centre_of(n)))])


def stabilise(n: Any, parent: Any) -> None:
    """The bias that closes the joint at the end of the step."""
    inboard = placement_of(n).inverse() @ n.E
    gap = (joint_of(n).transform(n.q_fit).inverse() @ inboard).log()
    relative = n.twists - n.E.pull_twist(parent.twists)
    k, rate = n.k - n.E.pull_twist(parent.k), 1.0 / n.h
    n.zeta = n.zeta - n.T @ (n.T.T @ (0.5 * n.zeta + k + rate * (relative + (PULL * rate) * gap)))


def moved(n: Any) -> tuple[SE3, Vector]:
    """The pose and twist after the step."""
    c, E = centre_of(n), n.poses
    w, v = n.twists[:3], n.twists[3:]
    w_dot, v_dot = n.twists_dot[:3], n.twists_dot[3:]
    v_c = v + cross(w, c)
    w_new = w + n.h * w_dot
    v_c_new = v_c + n.h * (v_dot + cross(w_dot, c) + cross(w, v_c))
    turn = so3.exp(n.h * w_new)
    R = E.R @ turn
    pose = SE3(R=R, p=E.p + E.rotate(c + n.h * v_c_new) - R @ c)
    return pose, np.concatenate([w_new, turn.T @ v_c_new - cross(w_new, c)])


def _move(n: Any) -> None:
    n.poses_new, n.twists_new = moved(n)


def _stabilised(at: int) -> list[Any]:
    return [*DYNAMICS[:at], outward(overshoot), outward(stabilise), *DYNAMICS[at:]]


STABILISED_DYNAMICS = Algorithm(
    "stabilised_maximal_dynamics",
    {**MAXIMAL_DYNAMICS.fields, "h": Field("input", "global", SCALAR), "k": Field("shared", codec=vector(6))},
    {"run": _stabilised([sweep.rule for sweep in DYNAMICS].index(rules.loads) + 1)},
)
MOVE = Algorithm(
    "maximal_move",
    {
        "poses": Field("input", "node", MATRIX),
        "twists": Field("input", "node", vector(6)),
        "twists_dot": Field("input", "node", vector(6)),
        "h": Field("input", "global", SCALAR),
        "poses_new": Field("output", "node", MATRIX),
        "twists_new": Field("output", "node", vector(6)),
    },
    {"run": [each(_move)]},
)


def factor_stabilised(model: Model, state: MaximalState, tau: Any, external: Any, h: float) -> MaximalResponse:
    """The response at velocity level after a step h at whose end the joints are closed."""
    inputs = {"poses": state.poses, "twists": state.twists, "q_fit": state.q_fit, "tau": tau, "external": external}
    out = model.call(STABILISED_DYNAMICS, {**inputs, "gravity": model.gravity, "h": np.array([h])}, wanted=("twists_dot", "a"))
    now = Motion(state.twists, to_reduced(model, state).v)
    return MaximalResponse(model, state, now + Motion(out["twists_dot"], out["a"]) * h)


def moved_bodies(model: Model, state: MaximalState, twists_dot: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Poses and twists of all bodies after a step with these accelerations."""
    inputs = {"poses": state.poses, "twists": state.twists, "twists_dot": twists_dot, "h": np.array([h])}
    out = model.call(MOVE, inputs)
    return out["poses_new"], out["twists_new"]
