"""Single bodies in implicit maximal coordinates, for one linear solve per step [Hernandez et al. 2011; errata noted below].

A step h turns a body by exp(h w) and moves its centre of mass by h (v + w x c), straight in the world, where momentum is kept.

K_geo is the derivative of the joints' own forces, which the printed method leaves out; without it chains explode (errata 000-9).
A force f at the place r, seen from the centre of mass, answers a turn t of the body by -(r . f) t + (r f^T + f r^T) t / 2; its
positive part has the closed form of `pull_stiffness`, for the force of the step before.

Turning bodies take their gyroscopic moment implicitly, each by itself: I (w* - w) + h w* x I w* = 0, one step of Newton's method.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.rules import centre_of
from ..spatial import so3
from ..spatial.inertia import symmetric
from ..spatial.scalar import Vector, array, cross, dot, inv, where
from ..spatial.se3 import SE3


# --- one body ---------------------------------------------------------------------------------------------------------------
def central_inertia(n: Any) -> np.ndarray:
    """The rotational inertia about the centre of mass."""
    c = centre_of(n)
    return symmetric(n.J) - n.mass * (dot(c, c) * np.eye(3) - np.outer(c, c))


def unforced_turning(n: Any) -> Vector:
    """w* of the module's text."""
    I, w, h = central_inertia(n), n.twists[:3], n.h
    L = I @ w
    slope = I + h * (so3.hat(w) @ I - so3.hat(L)) + (1e-13 * (I[0, 0] + I[1, 1] + I[2, 2]) + 1e-200) * np.eye(3)  # rods, points
    return w - inv(slope) @ (h * cross(w, L))


def pull_stiffness(r: Vector, f: Vector) -> np.ndarray:
    """The positive part of (r . f) 1 - (r f^T + f r^T) / 2.

    Its eigenvalues are r . f along r x f, and (r . f +- |r| |f|) / 2 along r/|r| -+ f/|f|. What is left if both that are negative
    are set to zero has no singularity but that of the lengths.
    """
    s, r2, f2 = dot(r, f), dot(r, r), dot(f, f)
    some = (r2 > 1e-30) & (f2 > 1e-30)
    r2, f2 = where(some, r2, 1.0), where(some, f2, 1.0)
    both, ratio = np.sqrt(r2 * f2), np.sqrt(f2 / r2)
    n = cross(r, f)
    K = 0.5 * (s + both) * np.eye(3) - 0.25 * (ratio * np.outer(r, r) + np.outer(r, f) + np.outer(f, r) + np.outer(f, f) / ratio)
    return where(some, 1.0, 0.0) * (K - np.outer(n, n) * (0.5 / (both + np.abs(s))))


# --- choices ----------------------------------------------------------------------------------------------------------------
def either(condition: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The one array where the condition holds, else the other."""
    return array([where(condition, x, y) for x, y in zip(a.flat, b.flat, strict=True)]).reshape(a.shape)


def either_pose(condition: Any, A: SE3, B: SE3) -> SE3:
    """The one pose where the condition holds, else the other."""
    return SE3(R=either(condition, A.R, B.R), p=either(condition, A.p, B.p))


def mirrored(A: np.ndarray) -> np.ndarray:
    """(A + A^T) / 2."""
    return 0.5 * (A + A.T)
