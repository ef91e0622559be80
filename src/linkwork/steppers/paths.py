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

from typing import Any

import numpy as np

from ..joints import Composite, Free, Joint, Spherical, Translational
from ..model.rules import joint_of
from ..spatial.scalar import Vector, zeros

STRAIGHT = Composite(Translational(), Spherical())


def is_straight(joint: Joint) -> bool:
    """Whether the joint moves straight while it turns."""
    return type(joint) is Free


def path_of(n: Any) -> Joint:
    """In a rule, the joint whose velocities are constant over the step."""
    joint = joint_of(n)
    return STRAIGHT if is_straight(joint) else joint


def turn_of(n: Any) -> np.ndarray | None:
    """S of a path that is not the joint's own, where the joint is; else None."""
    return STRAIGHT.motion(n.q, zeros(6)).tangent.S if is_straight(n.joint) else None


def own(n: Any, S: Any, x: Vector) -> Vector:
    """Velocities or momenta of the joint out of those of its path, with the subspace S of the path there."""
    return S @ x if is_straight(n.joint) else x


def along(n: Any, S: Any, v: Vector) -> Vector:
    """Velocities or momenta of the path out of the joint's."""
    return S.T @ v if is_straight(n.joint) else v
