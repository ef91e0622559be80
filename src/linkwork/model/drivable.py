"""Joints that nothing resists: a point of mass on its own axis, a needle that turns about itself. No force says how they move."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ModelError
from ..joints.independence import LOCKED, independence
from ..spatial.gate import rotation_problem
from ..spatial.inertia import Articulated
from ..spatial.se3 import Ad

WEIGHTLESS = 1e-14  # of the inertia that the freedom would meet if it were that of the body's other axes; rounding is 1e-16

AGREE = 1e-9  # of the curvatures: a relative curvature below it is none


def check_leaves(model: Any) -> None:
    """Raise if the last body of a branch can be turned or shifted by its joint without moving any mass; looked at once."""
    found = model.keep_as(check_leaves, lambda: _weightless_leaf(model))
    if found:
        raise ModelError(found)


def _weightless_leaf(model: Any) -> str | None:
    inner, known = set(model.parents.tolist()), set()
    for i, body in enumerate(model.bodies):
        parts = (id(body.joint), id(body.inertia), id(body.properties))
        if i in inner or parts in known or not body.joint.nv:
            continue
        known.add(parts)
        q = _unlocked(body.joint)
        if q is not None and _weightless(_subspace(body.joint, q), _matrix(body), body.properties.armature):
            return _complaint(body, q)
    return None


def _subspace(joint: Any, q: np.ndarray) -> np.ndarray:
    return np.asarray(joint.motion(q, np.zeros(joint.nv)).tangent.S, float)


def _unlocked(joint: Any) -> np.ndarray | None:
    """The neutral coordinates, or others where S loses its rank there, as that of Euler angles zxz does; None if there, too."""
    tries = (joint.neutral, lambda: joint.random(np.random.default_rng(0)))
    return next((q for q in (find() for find in tries) if float(independence(_subspace(joint, q))) > LOCKED), None)


def weightless_joint(model: Any, q: np.ndarray) -> str | None:
    """The complaint about the first joint, leaves first, that nothing resists at q (nq,), or None: articulated inertias in dense
    matrices, D = S^T IA S + armature."""
    IA = [_matrix(body) for body in model.bodies]
    for i in reversed(range(model.nb)):
        body = model.bodies[i]
        own = q[model.q_index(body.name)]
        E = body.placement @ body.joint.motion(own, np.zeros(body.joint.nv))
        S = np.asarray(E.tangent.S, float).reshape(6, body.joint.nv)
        if body.joint.nv and _weightless(S, IA[i], body.properties.armature):
            return lost_rank(body, own) if not float(independence(S)) > LOCKED else _complaint(body, own)
        if body.parent >= 0:
            U = IA[i] @ S
            D = S.T @ U + np.diag(body.properties.armature)
            X = np.asarray(Ad(E.with_tangent(None).inverse()), float)
            rest = IA[i] - (U @ np.linalg.solve(D, U.T) if body.joint.nv else 0.0)
            IA[body.parent] = IA[body.parent] + X.T @ rest @ X
    return None


def _matrix(body: Any) -> np.ndarray:
    inertia = body.inertia
    return np.asarray(Articulated.rigid(inertia.mass, inertia.first_moment, inertia.about_origin).matrix, float)


def _weightless(S: np.ndarray, I: np.ndarray, armature: np.ndarray) -> bool:
    """Whether some velocity of the joint has next to no kinetic energy, by that of a ball with the same trace."""
    typical = np.diag(np.repeat([np.trace(I[:3, :3]), np.trace(I[3:, 3:]) / 3.0], 3))
    D, ball = (S.T @ A @ S + np.diag(armature) for A in (I, typical))
    size = np.sqrt(np.diag(ball))
    if not np.all(np.isfinite(D)) or not np.all(size > 0.0):
        return True
    return bool(np.linalg.eigvalsh(D / np.outer(size, size))[0] < WEIGHTLESS)


def bent_joint(model: Any, q: np.ndarray) -> str | None:
    """The complaint about the first joint whose transform at q (nq,) is not rigid, or None."""
    for body in model.bodies:
        if body.joint.may_lock:
            own = q[model.q_index(body.name)]
            problem = rotation_problem(np.asarray(body.joint.transform(own).R, float))
            if problem:
                return f"joint {body.joint_name!r} of body {body.name!r}: transform({own.tolist()}) is not a rotation: {problem}"
    return None


def lost_rank(body: Any, q: np.ndarray) -> str:
    """What to say of a joint whose subspace loses rank at q."""
    return (
        f"the motion subspace of joint {body.joint_name!r} has a rank below {body.joint.nv} at q = {np.asarray(q).tolist()}: "
        f"its coordinates do not move body {body.name!r} independently there{_along_a_line(body.joint, np.asarray(q, float))}"
    )


def _along_a_line(joint: Any, q: np.ndarray) -> str:
    """Why, if the surfaces of a joint do not touch at one point."""
    if not joint.may_part or not abs(float(joint.relative_curvature(q))) < AGREE:
        return ""
    return f", as the curvatures of its surfaces ({joint!r}) agree in one direction and they touch along a line"


def _complaint(body: Any, q: np.ndarray) -> str:
    return (
        f"body {body.name!r}: nothing resists joint {body.joint_name!r} at q = {np.asarray(q).tolist()}: no mass moves with it; "
        "give the body a tensor or its centre of mass off the axis, or the joint armature"
    )
