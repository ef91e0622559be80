"""Rules that several algorithms of reduced coordinates share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.rules import motion_of
from ..spatial.scalar import Vector, cross, dot, stack
from ..spatial.se3 import SE3


def velocity_step(n: Any, w_p: Vector) -> tuple[SE3, np.ndarray, Vector, Vector]:
    """One step outward with classical accelerations: (E_pj, S, w, zeta), see `forward`.

    Linear velocities of bodies never appear: Newton's law does not see them.
    """
    E = motion_of(n)
    S, twist, bias = E.tangent.S, E.tangent.phi, E.tangent.bias
    w_J, v_J = twist[:3], twist[3:]
    w_in = E.unrotate(w_p)
    centripetal = E.unrotate(cross(w_p, cross(w_p, E.p)))
    linear = centripetal + cross(w_in + w_in + w_J, v_J)
    zeta = np.concatenate([cross(w_in, w_J), linear]) + bias
    return E.with_tangent(None), S, w_in + w_J, zeta


def gyroscopic(w: Vector, first_moment: Vector, J: np.ndarray) -> Vector:
    """(w x J w, w x (w x m c)): the wrench that keeps a body turning, about its origin."""
    return np.concatenate([cross(w, J @ w), w * dot(w, first_moment) - first_moment * dot(w, w)])


def falling_world(n: Any) -> Vector:
    """The acceleration of a world that falls upwards: gravity, seen as the motion of the ground."""
    g = n.gravity
    return stack(0.0, 0.0, 0.0, -g[0], -g[1], -g[2])
