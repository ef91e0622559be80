"""Pieces that many rules begin with: the node's transform and its inertia."""

from __future__ import annotations

from typing import Any

from ..joints import Joint
from ..spatial.inertia import Articulated, symmetric
from ..spatial.scalar import Vector, where
from ..spatial.se3 import SE3


def world_pose(n: Any) -> SE3:
    """The pose of the world."""
    return SE3()


def joint_of(n: Any) -> Joint:
    """The node's joint, with its parameters as the node has them."""
    joint = n.joint
    return joint.bound({name: getattr(n, f"joint_{name}") for name in joint.parameter_names})


def stepped_joint_of(n: Any) -> Joint:
    """The same as steps take it."""
    return joint_of(n).about(centre_of(n))


def centre_of(n: Any) -> Vector:
    """The centre of mass in body axes."""
    return n.first_moment * (1.0 / where(n.mass > 0.0, n.mass, 1.0))


def placement_of(n: Any) -> SE3:
    """The pose of the joint's inboard frame in the parent's frame."""
    return SE3(R=n.R, p=n.p)


def motion_of(n: Any) -> SE3:
    """E_pj with its tangent: S, S v and S_dot v."""
    return placement_of(n) @ joint_of(n).motion(n.q, n.v)


def inertia_of(n: Any) -> Articulated:
    """The rigid body's own inertia about its origin."""
    return Articulated.rigid(n.mass, n.first_moment, symmetric(n.J))
