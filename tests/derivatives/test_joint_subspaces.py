"""S, S_dot and the rows T of every joint against differences of its transform, also beside every singular point.

`test_joints` goes along random lines from the neutral position. Here are all Euler sequences in both charts, rotations up to
a full turn and beyond, gimbal lock, half turns of quaternions, angles of many turns; and T along the motion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest
from models import CUSTOM, PAIRS, SPLINES, unit

import linkwork as lw
from linkwork.joints import ALL_JOINTS, CustomJoint
from linkwork.joints.complement import complement
from linkwork.spatial.jet import Jet, rates, values

TOLERANCE = 1e-7
STEP = 1e-2
FIRST = {-3: -1 / 60, -2: 9 / 60, -1: -45 / 60, 1: 45 / 60, 2: -9 / 60, 3: 1 / 60}  # order six
SECOND = {-3: 2 / 180, -2: -27 / 180, -1: 270 / 180, 0: -490 / 180, 1: 270 / 180, 2: -27 / 180, 3: 2 / 180}
SEQUENCES = ["".join(s) for s in product("xyz", repeat=3) if s[0] != s[1] != s[2]]
OBLIQUE = (0.48, -0.6, 0.64)
Place = tuple[lw.Joint, np.ndarray]


# --- where ----------------------------------------------------------------------------------------------------------------
def off(length: float, rng: np.random.Generator) -> np.ndarray:
    return length * unit(rng)


def turned(joint: lw.Joint, at: slice, length: float, rng: np.random.Generator) -> Place:
    """Exponential coordinates of some length; the rest of order one."""
    q = rng.uniform(-1.0, 1.0, joint.nq)
    q[at] = off(length, rng)
    return joint, q


def locked(sequence: str, partner: str | None, chart: float, distance: float, rng: np.random.Generator) -> Place:
    """Euler angles at a distance from gimbal lock, in the chart named."""
    joint = lw.SphericalEuler(sequence, partner)
    used = joint.sequences[int(chart)]
    lock = np.pi * rng.integers(2) if used[0] == used[2] else np.pi * (rng.integers(2) - 0.5)
    q = rng.uniform(-np.pi, np.pi, 3)
    q[1] = lock + distance * rng.choice([-1.0, 1.0])
    return joint, q if partner is None else np.append(q, chart)


def half_turn(joint: lw.Joint, distance: float, rng: np.random.Generator) -> Place:
    """Quaternions near w = 0, and of either sign."""
    q = joint.random(rng)
    q[-4:] = np.append(np.sin(0.5 * distance), np.cos(0.5 * distance) * unit(rng)) * rng.choice([-1.0, 1.0])
    return joint, q


def anywhere(joint: lw.Joint, size: float, rng: np.random.Generator) -> Place:
    """A random position, with its angles and lengths as large as said."""
    q = joint.random(rng)
    return joint, size * q if joint.nq == joint.nv and not isinstance(joint, lw.SphericalEuler) else q


def at_pole(joint: lw.Joint, at: tuple[int, ...], distance: float, rng: np.random.Generator) -> Place:
    """Latitudes at a distance from the pole of a surface."""
    q = joint.random(rng)
    q[list(at)] = 0.5 * np.pi + distance
    return joint, q


def within_segments(joint: lw.Joint, rng: np.random.Generator) -> Place:
    """A random position as far from the knots of a spline as differences reach."""
    q = joint.random(rng)
    return joint, np.floor(q) + 0.1 + 0.8 * (q - np.floor(q))


def row(first: lw.Joint, second: lw.Joint) -> lw.Joint:
    return lw.Composite(first, second)


DISTANCES = (0.0, 1e-9, 1e-4)
ROTATIONS: list[tuple[lw.Joint, slice]] = [
    (lw.SphericalExp(), slice(3)),
    (lw.FreeExp("TR"), slice(3, 6)),
    (lw.FreeExp("RT"), slice(3)),
    (row(lw.Prismatic(OBLIQUE), lw.SphericalExp()), slice(1, 4)),
    (CUSTOM["rot_exp"], slice(3)),
    (CUSTOM["exp"], slice(3)),
]
Maker = Callable[[np.random.Generator], Place]
PLACES: dict[str, list[Maker]] = {
    "rotation vectors": [
        lambda rng, j=joint, at=at, length=angle + d: turned(j, at, length, rng)
        for joint, at in ROTATIONS
        for angle in (0.0, np.pi, 2 * np.pi)
        for d in (*DISTANCES, *(-d for d in DISTANCES[1:] if angle))
    ],
    "gimbal lock": [lambda rng, s=s, d=d: locked(s, None, 0.0, d, rng) for s in SEQUENCES for d in (*DISTANCES, 1e-2)],
    "charts": [
        lambda rng, a=a, b=b, chart=chart, d=d: locked(a, b, chart, d, rng)
        for a, b in (("xyz", "xzx"), ("zyz", "yxz"), ("zyx", "zxz"))
        for chart in (0.0, 1.0)
        for d in (1e-9, 1e-5, 0.3, 0.9)
    ],
    "half turns": [
        lambda rng, j=joint, d=d: half_turn(j, d, rng)
        for joint in (lw.Spherical(), lw.Free(), row(lw.Prismatic(OBLIQUE), lw.Spherical()))
        for d in DISTANCES
    ],
    "many turns": [
        lambda rng, j=joint, size=size: anywhere(j, size, rng)
        for joint in (
            lw.Fixed(),
            lw.Revolute(OBLIQUE),
            lw.Prismatic(OBLIQUE),
            lw.Cylindrical(OBLIQUE),
            lw.Helical(OBLIQUE, pitch=0.1),
            lw.Planar(),
            lw.Free2D(),
            lw.Translational(),
            lw.Universal(),
            row(lw.Universal(), lw.Cylindrical((0, 0, 1))),
            CUSTOM["helix"],
            CUSTOM["raw"],
        )
        for size in (0.0, 1e-9, 1.0, 10.0)
    ],
    "higher pairs": [lambda rng, j=joint: (j, j.random(rng)) for joint in PAIRS.values() for _ in range(3)],
    "poles": [
        lambda rng, j=joint, at=at, d=d: at_pole(j, at, d, rng)
        for joint, at in (
            (PAIRS["sphere on ellipsoid"], (1,)),
            (PAIRS["sphere on ellipsoid"], (1, 3)),
            (PAIRS["plane on sphere"], (1,)),
            (PAIRS["ellipsoid on torus"], (4,)),
        )
        for d in DISTANCES
    ],
    "splines": [lambda rng, j=joint: within_segments(j, rng) for joint in SPLINES.values() for _ in range(4)],
}


def places(kind: str) -> Iterator[tuple[lw.Joint, np.ndarray, np.ndarray]]:
    """Joints at positions with velocities of length one."""
    for k, make in enumerate(PLACES[kind]):
        rng = np.random.default_rng([k, len(kind)])
        joint, q = make(rng)
        yield joint, q, unit(rng, joint.nv) if joint.nv else np.zeros(0)


EVERY_KIND = pytest.mark.parametrize("kind", PLACES)


# --- differences ----------------------------------------------------------------------------------------------------------
def moved(joint: lw.Joint, q: np.ndarray, v: np.ndarray) -> dict[int, np.ndarray]:
    """Positions along the motion, at -3 to 3 steps."""
    return {k: np.asarray(joint.integrate(q, k * STEP * v), float) for k in range(-3, 4)}


def difference(weights: dict[int, float], x: dict[int, np.ndarray], order: int = 1) -> np.ndarray:
    return sum((w * x[k] for k, w in weights.items()), np.zeros_like(x[0])) / STEP**order


def twist_and_rate(joint: lw.Joint, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """phi and phi_dot at constant v, by differences of the 4x4 matrices."""
    Q = {k: np.asarray(joint.transform(x).matrix, float) for k, x in moved(joint, q, v).items()}
    X = np.linalg.solve(Q[0], difference(FIRST, Q))
    return vee(X), vee(np.linalg.solve(Q[0], difference(SECOND, Q, 2)) - X @ X)


def vee(X: np.ndarray) -> np.ndarray:
    return np.array([X[2, 1], X[0, 2], X[1, 0], *X[:3, 3]])


def subspace(joint: lw.Joint, q: np.ndarray) -> np.ndarray:
    return np.array(joint.motion(q, np.zeros(joint.nv)).tangent.S, float)


@cache
def subspaces(kind: str) -> list[dict[int, np.ndarray]]:
    """S along the motion, for all places of a kind."""
    return [{k: subspace(joint, x) for k, x in moved(joint, q, v).items()} for joint, q, v in places(kind)]


def traced_complement(S: np.ndarray, S_dot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """T by the mirrors that kernels use, and its rate."""
    pairs = zip(S.flat, S_dot.flat, strict=True)
    T = complement(np.array([Jet(x, (), rate, 0.0) for x, rate in pairs], dtype=object).reshape(S.shape))
    return np.array(values(T.reshape(-1)), float).reshape(T.shape), np.array(rates(T.reshape(-1)), float).reshape(T.shape)


# --- tests ----------------------------------------------------------------------------------------------------------------
def test_every_joint_is_here() -> None:
    here = {type(joint) for kind in PLACES for joint, _, _ in places(kind)}
    assert here == {*ALL_JOINTS.values(), CustomJoint}
    assert len(SEQUENCES) == 12


@EVERY_KIND
def test_subspace_and_bias(kind: str) -> None:
    for joint, q, v in places(kind):
        tangent = joint.motion(q, v).tangent
        S = np.array(tangent.S, float)
        for k, e in enumerate(np.eye(joint.nv)):
            assert np.abs(S[:, k] - twist_and_rate(joint, q, e)[0]).max() < TOLERANCE, (joint, q)
        twist, rate = twist_and_rate(joint, q, v)
        assert np.abs(np.array(tangent.phi, float) - twist).max() < TOLERANCE, (joint, q)
        assert np.abs(np.array(tangent.bias, float) - rate).max() < TOLERANCE, (joint, q)


@EVERY_KIND
def test_rate_of_the_subspace(kind: str) -> None:
    for (joint, q, v), S in zip(places(kind), subspaces(kind), strict=True):
        tangent = joint.motion(q, v).tangent
        rate = difference(FIRST, S)
        assert np.abs(np.array(tangent.S_dot, float) - rate).max(initial=0.0) < TOLERANCE, (joint, q)


@EVERY_KIND
def test_rows_are_normal_to_the_motion(kind: str) -> None:
    """T^T S = 0 with T^T T = 1, and T^T annihilates differenced twists; what is left of their rates is the bias."""
    for joint, q, v in places(kind):
        tangent = joint.motion(q, v).tangent
        S, S_dot = np.array(tangent.S, float), np.array(tangent.S_dot, float)
        twist, rate = twist_and_rate(joint, q, v)
        rows = [np.array(complement(S), float)]
        if np.linalg.matrix_rank(S, tol=1e-12) == joint.nv:
            rows.append(traced_complement(S, S_dot)[0])
        for T in rows:
            assert T.shape == (6, 6 - joint.nv)
            assert np.abs(T.T @ T - np.eye(T.shape[1])).max(initial=0.0) < 1e-14, (joint, q)
            assert np.abs(T.T @ S).max(initial=0.0) < 1e-14 * max(1.0, np.abs(S).max(initial=0.0)), (joint, q)
            assert np.abs(T.T @ twist).max(initial=0.0) < TOLERANCE, (joint, q)
            assert np.abs(T.T @ (rate - S_dot @ v)).max(initial=0.0) < TOLERANCE, (joint, q)


@EVERY_KIND
def test_rows_along_the_motion(kind: str) -> None:
    """T_dot by jets: T_dot^T S + T^T S_dot = 0, and T T^T (which no mirror's side changes) moves as its differences do."""
    compared = 0
    for (joint, q, v), S in zip(places(kind), subspaces(kind), strict=True):
        if joint.nv in (0, 6) or np.linalg.svd(S[0], compute_uv=False)[-1] < 1e-3:  # T_dot needs the inverse of S
            continue
        S_dot = np.array(joint.motion(q, v).tangent.S_dot, float)
        T, T_dot = traced_complement(S[0], S_dot)
        rate = difference(FIRST, {k: projector(s) for k, s in S.items()})
        assert np.abs(T_dot @ T.T + T @ T_dot.T - rate).max() < TOLERANCE, (joint, q)
        assert np.abs(T_dot.T @ S[0] + T.T @ S_dot).max() < 1e-12, (joint, q)
        compared += 1
    assert compared > len(PLACES[kind]) // 5


def projector(S: np.ndarray) -> np.ndarray:
    T = np.array(complement(S), float)
    return T @ T.T
