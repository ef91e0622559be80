"""Poses of spline joints at complex coordinates, from their control values alone; nothing of the library's splines is used."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import logm

import linkwork as lw


def weights(joint: Any, u: Any) -> np.ndarray:
    """The basis at a place in a segment."""
    M = np.array(joint.basis.matrix)
    return M @ u ** np.arange(M.shape[1])


def segment(joint: Any, q: np.ndarray) -> np.ndarray:
    """The numbers of the segments at a configuration."""
    counts = np.atleast_1d(joint.segments)
    return np.array(
        [np.floor(x) if c else np.clip(np.floor(x), 0, n - 1) for x, c, n in zip(q, joint.cyclic, counts, strict=True)], int
    )


def screw(X: np.ndarray, s: Any) -> np.ndarray:
    """exp(s X) of a matrix in se(3), by X^4 = -t^2 X^2."""
    t = np.sqrt(0.5 * np.sum(X[:3, :3] ** 2))
    return np.eye(4) + s * X + (1 - np.cos(s * t)) / t**2 * X @ X + (s * t - np.sin(s * t)) / t**3 * X @ X @ X


def turn(axis: int, angle: Any) -> np.ndarray:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    E = np.eye(4, dtype=complex)
    E[i, i] = E[j, j] = np.cos(angle)
    E[j, i], E[i, j] = np.sin(angle), -np.sin(angle)
    return E


def curve(joint: lw.SplineCurve, k: int) -> Callable[[np.ndarray], np.ndarray]:
    """The pose (3, 4) on segment k, at any complex coordinate."""
    n = len(joint.frames)
    C = [joint.frames[(joint.basis.stride * k + i) % n] for i in range(joint.basis.count)]
    steps = [np.real(logm(np.linalg.solve(a, b))) for a, b in pairwise(C)]

    def pose(x: np.ndarray) -> np.ndarray:
        w, E = weights(joint, x[0] - k), C[0]
        for i, X in enumerate(steps):
            E = E @ screw(X, w[i + 1 :].sum())
        return np.array(E[:3], complex)

    return pose


def surface(joint: lw.SplineSurface, k: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The pose (3, 4) on patch k, at any complex coordinates."""
    C = joint.values
    for axis, (i, n) in enumerate(zip(k, joint.values.shape[1:], strict=True), 1):
        C = np.take(C, (joint.basis.stride * i + np.arange(joint.basis.count)) % n, axis=axis)

    def pose(x: np.ndarray) -> np.ndarray:
        f = C
        for i, u in reversed(list(enumerate(x - k))):
            f = f @ weights(joint, u) if i == f.ndim - 2 else f
        E = np.eye(4, dtype=complex)
        E[:3, 3] = f[:3]
        return (E @ turn(0, f[3]) @ turn(1, f[4]) @ turn(2, f[5]))[:3]

    return pose


def spline_pose(joint: Any, q: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The pose as a function of complex coordinates around q, on its own segment."""
    k = segment(joint, q)
    return curve(joint, int(k[0])) if isinstance(joint, lw.SplineCurve) else surface(joint, k)
