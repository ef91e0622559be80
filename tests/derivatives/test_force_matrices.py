"""Stiffness and damping matrices of Sueda's notes, section 1.9, with the errata 004-1 to 004-7, at zero twist.

The notes' Gamma = ([x]^T, I) maps a twist to the velocity of the point x, both in body axes; Delta x points from the first point
to the second. Of the printed matrices (1.33), (1.52), (1.63), K_k1 of (1.62), K_n1 of (1.67) and all D are +df/dq and
+df/dphi; (1.37), (1.51), K_k2 and K_n2 are -df/dq.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pytest
from models import rotation, unit

import linkwork as lw
from linkwork.forces.force import distance

TOLERANCE = 1e-10
SEEDS = pytest.mark.parametrize("seed", range(5))


class Scene:
    """Free bodies "0", "1", ... at random poses, a point on each, and the matrices of one force."""

    def __init__(self, seed: int, n: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.R = [rotation(unit(self.rng), self.rng.uniform(0, 3)) for _ in range(n)]
        self.p = self.rng.normal(size=(n, 3))
        self.x = self.rng.normal(size=(n, 3))  # in body axes
        self.world = np.array([R @ x + p for R, x, p in zip(self.R, self.x, self.p, strict=True)])

    def found(self, force: lw.Force) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Wrenches (6n,), df_dq and df_dv (6n, 6n)."""
        b, n = lw.ModelBuilder(), len(self.R)
        for i in range(n):
            b.body(str(i), joint=lw.Free(), inertia=lw.Inertia(1.0))
        poses = np.tile(np.eye(4), (n, 1, 1))
        poses[:, :3, :3], poses[:, :3, 3] = self.R, self.p
        forces, still = lw.force_set(b.add(force).build()), np.zeros((n, 6))
        slopes = [A.dense(n) for A in forces.derivatives(poses, still)]
        return forces.wrenches(poses, still).reshape(-1), slopes[0], slopes[1]

    def row(self, d: np.ndarray, i: int, j: int) -> np.ndarray:
        """(d^T R_i Gamma_i, -d^T R_j Gamma_j) at the places of bodies i and j (6n,)."""
        out = np.zeros((len(self.R), 6))
        out[i], out[j] = d @ self.R[i] @ gamma(self.x[i]), -d @ self.R[j] @ gamma(self.x[j])
        return out.reshape(-1)

    def second(self, i: int, j: int) -> np.ndarray:
        """The matrix of (1.37), (1.51), K_k2, K_n2 for points i and j, without its factor (6n, 6n)."""
        n = len(self.R)
        out = np.zeros((n, 6, n, 6))
        for a, b in ((i, j), (j, i)):
            Ra, Rb, X, Y = self.R[a], self.R[b], skew(self.x[a]), skew(self.x[b])
            W = skew(Ra.T @ (self.p[a] - self.world[b]))
            out[a, :, a] = np.block([[X @ W, X], [W, np.eye(3)]])
            out[a, :, b] = np.block([[X @ Ra.T @ Rb @ Y, -X @ Ra.T @ Rb], [Ra.T @ Rb @ Y, -Ra.T @ Rb]])
        return out.reshape(6 * n, 6 * n)


def skew(x: np.ndarray) -> np.ndarray:
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def gamma(x: np.ndarray) -> np.ndarray:
    return np.hstack([skew(x).T, np.eye(3)])


def check(found: Sequence[np.ndarray], *expected: np.ndarray) -> None:
    for A, B in zip(found, expected, strict=True):
        assert np.abs(A - B).max() < TOLERANCE * max(1.0, np.abs(B).max())


class Tendon(lw.Line):
    """A line over any number of points with a nonlinear tension f(l, l_dot), as a muscle has."""

    parameter_names: ClassVar[tuple[str, ...]] = ("points",)

    def __init__(self, points: np.ndarray) -> None:
        self.bodies, self.points = tuple(str(i) for i in range(len(points))), points

    def length(self, poses: Sequence[lw.SE3]) -> Any:
        x = [E @ p for E, p in zip(poses, self.points, strict=True)]
        return sum(distance(a, b) for a, b in pairwise(x))

    def tension(self, length: Any, rate: Any, t: Any, u: Any) -> Any:
        return np.exp(0.3 * length) * (2.0 + np.tanh(rate))


@SEEDS
def test_viscous_damping(seed: int) -> None:
    """1.9.1: D = d I."""
    f, df_dq, df_dv = Scene(seed, 1).found(lw.BodyDamping("0", 0.7))
    check((f, df_dq, df_dv), np.zeros(6), np.zeros((6, 6)), -0.7 * np.eye(6))


@SEEDS
def test_directional_point_force(seed: int) -> None:
    """(1.31), (1.33)."""
    s, k = Scene(seed, 1), 2.5
    a = unit(s.rng)
    A = skew(s.R[0].T @ a)
    K = k * np.block([[skew(s.x[0]) @ A, np.zeros((3, 3))], [A, np.zeros((3, 3))]])
    f = k * gamma(s.x[0]).T @ s.R[0].T @ a
    check(s.found(lw.PointForce("0", s.x[0], k * a)), f, K, 0.0 * K)


@SEEDS
def test_point_to_point_force(seed: int) -> None:
    """(1.35), and (1.37) negated [errata 004-1]."""
    s, k = Scene(seed, 2), 3.5
    d = s.world[1] - s.world[0]
    K = -k * s.second(0, 1)
    check(s.found(lw.PointSpring("0", "1", *s.x, stiffness=k)), k * s.row(d, 0, 1), K, 0.0 * K)


@SEEDS
def test_tension_between_two_points(seed: int) -> None:
    """(1.39), K1 - K2 of (1.51) to (1.53) and D of (1.55), (1.56), for any tension f(l, l_dot) [errata 004-2, 4]."""
    s = Scene(seed, 2)
    d = s.world[1] - s.world[0]
    l = float(np.linalg.norm(d))
    f, slope, rate_slope = 2.0 * np.exp(0.3 * l), 0.6 * np.exp(0.3 * l), np.exp(0.3 * l)
    column = s.row(d, 0, 1)
    K1 = np.outer(column, s.row((f / l - slope) / l**2 * d, 0, 1))
    D = np.outer(column, s.row(-rate_slope / l**2 * d, 0, 1))
    check(s.found(Tendon(s.x)), f / l * column, K1 - f / l * s.second(0, 1), D)


@SEEDS
def test_tension_along_several_points(seed: int) -> None:
    """(1.60), (1.61) with K_k1 - K_k2 of (1.62), (1.63), and D of (1.64) [errata 004-2, 7]."""
    s = Scene(seed, 4)
    segments = [(i, i + 1, s.world[i + 1] - s.world[i]) for i in range(3)]
    total = sum(np.linalg.norm(d) for _, _, d in segments)
    f, slope, rate_slope = 2.0 * np.exp(0.3 * total), 0.6 * np.exp(0.3 * total), np.exp(0.3 * total)
    f_n, K_n, df_dE, df_dPhi = np.zeros(24), np.zeros((24, 24)), np.zeros(24), np.zeros(24)
    for i, j, d in segments:
        l = float(np.linalg.norm(d))
        f_n += s.row(d, i, j) / l
        K_n += np.outer(s.row(d, i, j), s.row(d / l**3, i, j)) - s.second(i, j) / l
        df_dE += s.row(-slope * d / l, i, j)
        df_dPhi += s.row(-rate_slope * d / l, i, j)
    check(s.found(Tendon(s.x)), f * f_n, np.outer(f_n, df_dE) + f * K_n, np.outer(f_n, df_dPhi))


@SEEDS
def test_spring_damper(seed: int) -> None:
    """(1.66) corrected, (1.67) with K_n1 - K_n2, (1.68) [errata 004-2, 3, 5]."""
    s = Scene(seed, 2)
    k, c, L = 4.0, 0.8, 1.3
    d = s.world[1] - s.world[0]
    l = float(np.linalg.norm(d))
    f_s, f_n = k * (l - L) / L, s.row(d, 0, 1) / l
    K_n = np.outer(s.row(d, 0, 1), s.row(d / l**3, 0, 1)) - s.second(0, 1) / l
    K = np.outer(f_n, s.row(-k / L * d / l, 0, 1)) + f_s * K_n
    D = np.outer(f_n, s.row(-c / L * d / l, 0, 1))
    force = lw.SpringDamper("0", "1", *s.x, stiffness=k, damping=c, rest_length=L)
    check(s.found(force), f_s * f_n, K, D)


@SEEDS
def test_symmetrised_on_request(seed: int) -> None:
    """(K + K^T) / 2, as the notes take it after (1.33) and (1.37)."""
    s = Scene(seed, 2)
    b = lw.ModelBuilder()
    for i in range(2):
        b.body(str(i), joint=lw.Free(), inertia=lw.Inertia(1.0))
    b.add(lw.PointForce("0", s.x[0], (1, 2, 3))).add(lw.PointSpring("0", "1", *s.x, stiffness=2.0)).add(
        lw.PointSpring("1", stiffness=3.0)
    )
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = s.R, s.p
    forces, twists = lw.force_set(b.build()), s.rng.normal(size=(2, 6))
    plain, even = (forces.derivatives(poses, twists, symmetrised=x) for x in (False, True))
    for A, B in zip(plain, even, strict=True):
        K = A.dense(2)
        assert np.abs(0.5 * (K + K.T) - B.dense(2)).max() < 1e-14 * max(1.0, np.abs(K).max())
    assert np.abs(plain[0].dense(2) - plain[0].dense(2).T).max() > 0.1
