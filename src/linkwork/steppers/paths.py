"""The paths that joints take over a step of a variational method: constant velocities x, of the joint itself or of its parts.

A free body with a constant twist moves along a screw, which ties its speed to its turning: the faster it falls, the less M says
about the change of its momenta. Newton's rounds with M then fail where h |v| is about twice the body's smallest radius of
gyration (measured on a spinning body in free fall, steps of 2.5 to 20 ms: at 1.7 to 2.1 times). A `Free` joint therefore moves
straight in its parent's axes while it turns: x = (u, w) of `Composite(Translational, Spherical)`, which has the same coordinates,
and its own velocities are

    v = S x,   S = [[0, 1], [R^T, 0]] the subspace of that pair, orthogonal: momenta change with S, too.

All other joints move with their own velocities, x = v.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..joints import Composite, Free, Joint, Spherical, Translational
from ..model import Model
from ..model.rules import joint_of
from ..spatial.scalar import Vector

STRAIGHT = Composite(Translational(), Spherical())


def is_straight(joint: Joint) -> bool:
    """Whether the joint moves straight while it turns."""
    return type(joint) is Free


# --- in rules: n.S is the subspace of the path ----------------------------------------------------------------------------
def path_of(n: Any) -> Joint:
    """The joint whose velocities are constant over the step."""
    joint = joint_of(n)
    return STRAIGHT if is_straight(joint) else joint


def own_subspace(n: Any) -> np.ndarray:
    """S of the joint's own velocities."""
    return np.eye(6) if is_straight(n.joint) else n.S


def own(n: Any, x: Vector) -> Vector:
    """Velocities or momenta of the joint out of those of its path."""
    return n.S @ x if is_straight(n.joint) else x


def along(n: Any, v: Vector) -> Vector:
    """Velocities or momenta of the path out of the joint's."""
    return n.S.T @ v if is_straight(n.joint) else v


# --- for arrays (..., nv), at the configurations q ------------------------------------------------------------------------
def all_along(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Velocities or momenta of all paths out of the joints'."""
    out = np.array(v)
    for s, k in _straight(model):
        out[..., k : k + 3], out[..., k + 3 : k + 6] = _turned(q[..., s + 3 : s + 7], v[..., k + 3 : k + 6]), v[..., k : k + 3]
    return out


def all_own(model: Model, q: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Velocities or momenta of all joints out of their paths'."""
    out = np.array(x)
    for s, k in _straight(model):
        back = q[..., s + 3 : s + 7] * (1.0, -1.0, -1.0, -1.0)
        out[..., k : k + 3], out[..., k + 3 : k + 6] = x[..., k + 3 : k + 6], _turned(back, x[..., k : k + 3])
    return out


def moved(model: Model, q: np.ndarray, dx: np.ndarray) -> np.ndarray:
    """The configuration reached from q along the paths."""
    out = model.integrate(q, all_own(model, q, dx))
    for s, k in _straight(model):
        out[..., s : s + 3] = q[..., s : s + 3] + dx[..., k : k + 3]
    return out


def _straight(model: Model) -> Iterator[tuple[int, int]]:
    """Where the coordinates and velocities of joints that move straight begin."""
    for b in model.bodies:
        if is_straight(b.joint):
            yield model.q_index(b.name).start, model.v_index(b.name).start


def _turned(quat: np.ndarray, x: np.ndarray) -> np.ndarray:
    """R x of unit quaternions wxyz."""
    half = np.cross(quat[..., 1:], x)
    return x + 2.0 * (quat[..., :1] * half + np.cross(quat[..., 1:], half))
