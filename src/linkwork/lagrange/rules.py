"""Rules that the quantities of this package share: bodies and joints seen from the world.

A column of a joint is its motion in world axes, c = Ad(E_wj) S, and moves with c_dot = ad(V_j) c + Ad(E_wj) S_dot, V_j the
twist of the body. Positions are relative to where the root of the tree is now: in that frame, which is at rest, nothing cancels
however far from the world's origin a robot stands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.rules import joint_of, motion_of, placement_of
from ..spatial.articulated import symmetric
from ..spatial.rigid import RigidInertia, about
from ..spatial.scalar import Vector, array, cross, zeros
from ..spatial.se3 import SE3, bracket


def still_of(n: Any) -> tuple[SE3, np.ndarray]:
    """E_pj and S of a joint at rest."""
    joint = joint_of(n)
    still = joint.motion(n.q, np.zeros(joint.nv))
    return placement_of(n) @ still.with_tangent(None), still.tangent.S


def rigid_of(n: Any) -> RigidInertia:
    """The body's own inertia about its origin."""
    return RigidInertia(n.mass, n.first_moment, symmetric(n.J))


def rooted(n: Any, above: Any, E: SE3) -> SE3:
    """The pose in world axes, seen from where the root is; `above` has that of the parent."""
    return SE3(R=E.R) if n.is_root else (above.pose @ E).collapsed()


def world_columns(pose: SE3, S: np.ndarray) -> list[Vector]:
    """Ad(E_wj) S, column by column."""
    return [pose.move_twist(s) for s in S.T]


def flat(columns: list[Vector]) -> Vector:
    """Columns one after the other."""
    return np.concatenate(columns) if columns else zeros(0)


def sum_of(columns: list[Vector], x: Vector, start: Vector) -> Vector:
    """start + C x."""
    total = start
    for c, k in zip(columns, x, strict=True):
        total = total + c * k
    return total


def moving_columns(n: Any, above: Any) -> tuple[SE3, Vector, list[Vector], list[Vector]]:
    """Pose, twist V, columns and their rates; `above` has pose and V of the parent."""
    E = motion_of(n)
    t = E.tangent
    pose = rooted(n, above, E.with_tangent(None))
    C = world_columns(pose, t.S)
    V = sum_of(C, n.v, zeros(6) if n.is_root else above.V)
    return pose, V, C, [bracket(V, c) + pose.move_twist(s) for c, s in zip(C, t.S_dot.T, strict=True)]


def momentum_rates(I: RigidInertia, V: Vector) -> tuple[Vector, np.ndarray]:
    """Momentum I V of a body, and the rate of J; that of h is the linear momentum.

    I_dot = ad*(V) I - I ad(V):  J_dot = [w] J - J [w] - [v] [h] - [h] [v].
    """
    w, v = V[:3], V[3:]
    A = np.stack([cross(w, column) for column in I.J.T], axis=1)
    return I @ V, A + A.T + about(v, I.h) * 2.0


def vectors(x: Vector, size: int) -> list[Vector]:
    """A flat vector in pieces."""
    return [array(x[k : k + size]) for k in range(0, len(x), size)]
