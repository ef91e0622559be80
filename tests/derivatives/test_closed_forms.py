"""Q, S and S_dot of the joints of Sueda's notes, section 2.4, as printed there, with the errata 004-19, 20, 21 and 24.

Twists and conventions of the notes are ours: S in child axes, (angular, linear), S_dot at constant v.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from models import rotation, unit
from scipy.linalg import expm, logm

import linkwork as lw

TOLERANCE = 1e-12
SEEDS = pytest.mark.parametrize("seed", range(5))
Form = tuple[np.ndarray, np.ndarray, np.ndarray]  # Q, S, S_dot


def found(joint: lw.Joint, q: np.ndarray, v: np.ndarray) -> Form:
    E = joint.motion(q, v)
    return np.asarray(E.matrix, float), np.array(E.tangent.S, float), np.array(E.tangent.S_dot, float)


def check(joint: lw.Joint, q: np.ndarray, v: np.ndarray, expected: Form, tolerance: float = TOLERANCE) -> None:
    for x, y in zip(found(joint, q, v), expected, strict=True):
        assert x.shape == y.shape
        assert np.abs(x - y).max(initial=0.0) < tolerance
    bias = np.array(joint.motion(q, v).tangent.bias, float)
    assert np.abs(bias - expected[2] @ v).max() < tolerance


def draw(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-3.0, 3.0, n), rng.normal(size=n)


def bracket(w: np.ndarray) -> np.ndarray:
    """(1.7), or (1.6) for a twist."""
    W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return W if len(w) == 3 else np.block([[W, w[3:, None]], [np.zeros((1, 4))]])


def unbracket(W: np.ndarray) -> np.ndarray:
    assert np.abs(W + W.T).max() < 1e-12 * max(1.0, np.abs(W).max())
    return np.array([W[2, 1], W[0, 2], W[1, 0]])


def Ad(E: np.ndarray) -> np.ndarray:
    """(1.14)."""
    R, p = E[:3, :3], E[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [bracket(p) @ R, R]])


def ad(phi: np.ndarray) -> np.ndarray:
    """(1.19)."""
    W = bracket(phi[:3])
    return np.block([[W, np.zeros((3, 3))], [bracket(phi[3:]), W]])


def pose(R: np.ndarray | None = None, p: np.ndarray | None = None) -> np.ndarray:
    E = np.eye(4)
    E[:3, :3], E[:3, 3] = np.eye(3) if R is None else R, 0.0 if p is None else p
    return E


def angular(S: np.ndarray) -> np.ndarray:
    return np.vstack([S, np.zeros_like(S)])


# --- translations and the hinge -----------------------------------------------------------------------------------------
@SEEDS
def test_constant_subspaces(seed: int) -> None:
    """Fixed, prismatic (2.23, 2.24), planar (2.25, 2.26), translational (2.28) and revolute about z (2.41): S_dot = 0."""
    (q, v), axis, eye = draw(seed, 3), unit(np.random.default_rng(seed)), np.eye(6)
    c, s = np.cos(q[0]), np.sin(q[0])
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    cases: list[tuple[lw.Joint, np.ndarray, np.ndarray]] = [
        (lw.Fixed(), np.eye(4), np.zeros((6, 0))),
        (lw.Prismatic(axis), pose(p=axis * q[0]), np.append(np.zeros(3), axis)[:, None]),
        (lw.Planar(), pose(p=np.array([q[0], q[1], 0])), eye[:, 3:5]),
        (lw.Translational(), pose(p=q), eye[:, 3:]),
        (lw.Revolute((0, 0, 1)), pose(turn), eye[:, 2:3]),
    ]
    for joint, Q, S in cases:
        check(joint, q[: joint.nq], v[: joint.nv], (Q, S, 0.0 * S))


# --- angles -------------------------------------------------------------------------------------------------------------
@SEEDS
def test_spherical_joint_by_euler_angles_xzx(seed: int) -> None:
    """(2.31), (2.34), (2.35)."""
    q, v = draw(seed, 3)
    (c1, c2, c3), (s1, s2, s3) = np.cos(q), np.sin(q)
    R = np.array(
        [
            [c2, -s2 * c3, s2 * s3],
            [c1 * s2, c1 * c2 * c3 - s1 * s3, -s1 * c3 - c1 * c2 * s3],
            [s1 * s2, c1 * s3 + s1 * c2 * c3, c1 * c3 - s1 * c2 * s3],
        ]
    )
    S = np.array([[c2, 0, 1], [-c3 * s2, s3, 0], [s2 * s3, c3, 0]])
    S_dot = np.array(
        [
            [-s2 * v[1], 0, 0],
            [s3 * s2 * v[2] - c3 * c2 * v[1], c3 * v[2], 0],
            [c2 * s3 * v[1] + s2 * c3 * v[2], -s3 * v[2], 0],
        ]
    )
    expected = (pose(R), angular(S), angular(S_dot))
    check(lw.SphericalEuler("xzx"), q, v, expected)
    for joint, chart in ((lw.SphericalEuler("xyz", "xzx"), 1.0), (lw.SphericalEuler("xzx", "xyz"), 0.0)):
        check(joint, np.append(q, chart), v, expected)


@SEEDS
def test_universal_joint(seed: int) -> None:
    """(2.37), (2.39), (2.40); XYZ angles (2.36) with the third at zero are the same rotation."""
    q, v = draw(seed, 2)
    (c1, c2), (s1, s2) = np.cos(q), np.sin(q)
    R = np.array([[c2, 0, s2], [s1 * s2, c1, -s1 * c2], [-c1 * s2, s1, c1 * c2]])
    S = np.array([[c2, 0], [0, 1], [s2, 0]])
    S_dot = np.array([[-s2 * v[1], 0], [0, 0], [c2 * v[1], 0]])
    check(lw.Universal(), q, v, (pose(R), angular(S), angular(S_dot)))
    assert np.abs(found(lw.SphericalEuler("xyz"), np.append(q, 0.0), np.append(v, 0.0))[0][:3, :3] - R).max() < TOLERANCE


@SEEDS
def test_rotation_by_euler_angles_xyz(seed: int) -> None:
    """(2.36)."""
    q, v = draw(seed, 3)
    (c1, c2, c3), (s1, s2, s3) = np.cos(q), np.sin(q)
    R = np.array(
        [
            [c2 * c3, -c2 * s3, s2],
            [c1 * s3 + s1 * s2 * c3, c1 * c3 - s1 * s2 * s3, -s1 * c2],
            [s1 * s3 - c1 * s2 * c3, s1 * c3 + c1 * s2 * s3, c1 * c2],
        ]
    )
    assert np.abs(found(lw.SphericalEuler("xyz"), q, v)[0] - pose(R)).max() < TOLERANCE


# --- exponential coordinates --------------------------------------------------------------------------------------------
def exponential_form(q: np.ndarray, v: np.ndarray) -> Form:
    """(2.42) to (2.47): R, S and S_dot (3, 3), for |q| not small."""
    R, I = expm(bracket(q)), np.eye(3)
    d, d_dot = 1.0 / (q @ q), -2.0 * (q @ v) / (q @ q) ** 2
    C = [bracket(bracket(q) @ (I - R) @ e) for e in I]
    A = [(q[i] * bracket(q) + C[i]) * d for i in range(3)]
    R_dot = np.einsum("iab,bc,i->ac", A, R, v)
    S, S_dot = np.zeros((3, 3)), np.zeros((3, 3))
    for i, e in enumerate(I):
        B, B_dot = q[i] * bracket(q), v[i] * bracket(q) + q[i] * bracket(v)
        C_dot = bracket(bracket(v) @ (I - R) @ e - bracket(q) @ R_dot @ e)
        A_dot = (B_dot + C_dot) * d + (B + C[i]) * d_dot
        S[:, i] = unbracket(R.T @ A[i] @ R)
        S_dot[:, i] = unbracket(R_dot.T @ A[i] @ R + R.T @ A_dot @ R + R.T @ A[i] @ R_dot)
    return R, S, S_dot


def rotation_vector(seed: int, lengths: tuple[float, float] = (0.5, 6.0)) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return unit(rng) * rng.uniform(*lengths), rng.normal(size=3)


@SEEDS
def test_spherical_joint_by_exponential_coordinates(seed: int) -> None:
    q, v = rotation_vector(seed)
    R, S, S_dot = exponential_form(q, v)
    check(lw.SphericalExp(), q, v, (pose(R), angular(S), angular(S_dot)))


@pytest.mark.parametrize("length", [0.0, 1e-200, 1e-13])
def test_limit_of_exponential_coordinates(length: float) -> None:
    """S -> 1 and S_dot -> -[v] / 2 where (2.47) divides by zero [errata 004-24]."""
    q, v = rotation_vector(1)
    q *= length / np.linalg.norm(q)
    check(lw.SphericalExp(), q, v, (np.eye(4), angular(np.eye(3)), angular(-0.5 * bracket(v))))


@SEEDS
def test_reparametrisation(seed: int) -> None:
    """q <- (1 - 2 pi / |q|) q, v <- S^-1 S_prev v_prev [2.4.8]."""
    q, v = rotation_vector(seed, (1.5 * np.pi + 1e-6, 2 * np.pi - 0.3))
    expected = (1.0 - 2.0 * np.pi / np.linalg.norm(q)) * q
    q_new, v_new = (np.asarray(x, float) for x in lw.SphericalExp().rechart(q, v))
    assert np.abs(q_new - expected).max() < TOLERANCE
    change = np.linalg.solve(exponential_form(expected, v)[1], exponential_form(q, v)[1] @ v)
    assert np.abs(v_new - change).max() < TOLERANCE * np.abs(change).max()


# --- composites ---------------------------------------------------------------------------------------------------------
def composite_form(first: Form, second: Form, v2: np.ndarray) -> Form:
    """(2.48) to (2.52), with + S_dot_2 [errata 004-19]."""
    (Q1, S1, S1_dot), (Q2, S2, S2_dot) = first, second
    across = Ad(np.linalg.inv(Q2))
    return Q1 @ Q2, np.hstack([across @ S1, S2]), np.hstack([-ad(S2 @ v2) @ across @ S1 + across @ S1_dot, S2_dot])


PAIRS: dict[str, tuple[lw.Joint, lw.Joint]] = {
    "universal, prismatic": (lw.Universal(), lw.Prismatic((0.6, 0.0, 0.8))),
    "prismatic, euler": (lw.Prismatic((0, 0, 1)), lw.SphericalEuler("xzx")),
    "translational, exponential": (lw.Translational(), lw.SphericalExp()),
    "euler, planar": (lw.SphericalEuler("zyx"), lw.Planar()),
    "a row of three": (lw.Planar(), lw.Composite(lw.Universal(), lw.Prismatic((0, 1, 0)))),
}


@SEEDS
@pytest.mark.parametrize("name", PAIRS)
def test_composite_joint(name: str, seed: int) -> None:
    first, second = PAIRS[name]
    (q1, v1), (q2, v2) = draw(seed, first.nv), draw(seed + 100, second.nv)
    expected = composite_form(found(first, q1, v1), found(second, q2, v2), v2)
    check(lw.Composite(first, second), np.append(q1, q2), np.append(v1, v2), expected)


@SEEDS
def test_free_joint_in_the_plane(seed: int) -> None:
    """(2.55), and (2.56) with entry (5, 2) as -qd Q^yx [errata 004-20]."""
    q, v = draw(seed, 3)
    turn, S, S_dot = rotation((0, 0, 1), q[2]), np.zeros((6, 3)), np.zeros((6, 3))
    S[2, 2] = 1.0
    S[3:, 0], S[3:, 1] = turn[0], turn[1]
    S_dot[3, :2] = v[2] * turn[0, 1], v[2] * turn[1, 1]
    S_dot[4, :2] = -v[2] * turn[0, 0], -v[2] * turn[1, 0]
    expected = (pose(turn, np.array([q[0], q[1], 0])), S, S_dot)
    check(lw.Free2D(), q, v, expected)
    check(lw.Composite(lw.Planar(), lw.Revolute((0, 0, 1))), q, v, expected)


@SEEDS
def test_free_joint_in_space(seed: int) -> None:
    """(2.57) to (2.59): a rotation by exponential coordinates, then a translation in its axes."""
    (q1, v1), (q2, v2) = rotation_vector(seed), draw(seed, 3)
    R, S1, S1_dot = exponential_form(q1, v1)
    O = np.zeros((3, 3))
    S = np.block([[S1, O], [-bracket(q2) @ S1, np.eye(3)]])
    S_dot = np.block([[S1_dot, O], [-bracket(v2) @ S1 - bracket(q2) @ S1_dot, O]])
    check(lw.FreeExp("RT"), np.append(q1, q2), np.append(v1, v2), (pose(R, R @ q2), S, S_dot))


# --- splines, as joints of the user's own ---------------------------------------------------------------------------------
BASIS = np.array([[1, -3, 3, -1], [4, 0, -6, 3], [1, 3, 3, -3], [0, 0, 0, 1]]) / 6.0  # (2.61)


def powers(q: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(1, q, q^2, q^3) and its derivatives (2.66, 2.69)."""
    return np.array([1, q, q * q, q**3]), np.array([0, 1, 2 * q, 3 * q * q]), np.array([0, 0, 2, 6 * q])


def blend(x: Any) -> list[Any]:
    """The four basis functions at a coordinate that may be a jet (2.62)."""
    return [((d * x + c) * x + b) * x + a for a, b, c, d in BASIS]


def cumulative(weights: np.ndarray) -> np.ndarray:
    """(2.65): entry i is the sum of the weights from i on."""
    return np.cumsum(weights[::-1])[::-1]


def control_twists(seed: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """The first of four control frames, and the three steps between them: log(C_{i-1}^-1 C_i)."""
    rng = np.random.default_rng(seed)
    frames = [expm(bracket(0.5 * rng.normal(size=6))) for _ in range(4)]
    steps = [np.real(logm(np.linalg.solve(a, b))) for a, b in pairwise(frames)]
    return frames[0], [np.append(unbracket(X[:3, :3]), X[:3, 3]) for X in steps]


def spline_form(first: np.ndarray, steps: list[np.ndarray], q: float, v: float) -> Form:
    """Alg. 3, with the derivative of the basis in line 10 [errata 004-21]."""
    B, B1, B2 = (cumulative(BASIS @ x)[1:] for x in powers(q))
    Q, S, dS = first, np.zeros(6), np.zeros(6)
    for k, step in enumerate(steps):
        Qk = expm(bracket(step * B[k]))
        across = Ad(np.linalg.inv(Qk))
        dS = step * B2[k] + across @ (dS + ad(S) @ step * B1[k])
        S = step * B1[k] + across @ S
        Q = Q @ Qk
    return Q, S[:, None], dS[:, None] * v


@SEEDS
def test_spline_curve(seed: int) -> None:
    first, steps = control_twists(seed)

    def transform(q: np.ndarray) -> lw.SE3:
        weights = blend(q[0])
        E = lw.SE3(R=first[:3, :3], p=first[:3, 3])
        for k, step in enumerate(steps):
            E = E @ lw.SE3.exp(np.array([x * sum(weights[k + 1 :]) for x in step], dtype=object))
        return E

    joint = lw.joint(transform, nv=1)
    for q in (0.0, 0.3, 1.0):
        check(joint, np.array([q]), np.array([1.7]), spline_form(first, steps, q, 1.7))


@SEEDS
@pytest.mark.parametrize("cyclic", [False, True])
def test_spline_curve_joint(seed: int, cyclic: bool) -> None:
    """Alg. 3 on every segment, at its ends and inside."""
    rng = np.random.default_rng(seed)
    frames = [expm(bracket(0.5 * rng.normal(size=6))) for _ in range(7)]
    joint = lw.SplineCurve(frames, cyclic=cyclic)
    for k in range(joint.segments):
        own = [frames[(k + i) % 7] for i in range(4)]
        steps = [np.real(logm(np.linalg.solve(a, b))) for a, b in pairwise(own)]
        twists = [np.append(unbracket(X[:3, :3]), X[:3, 3]) for X in steps]
        for u in (0.0, 0.3, 0.999):
            check(joint, np.array([k + u]), np.array([1.7]), spline_form(own[0], twists, u, 1.7))


UNITS = np.roll(np.eye(6), 3, axis=0)  # (2.70): translations first


def surface_form(C: np.ndarray, q: np.ndarray, v: np.ndarray) -> Form:
    """Alg. 4, for control values C (6, 4, 4)."""
    a, b = powers(q[0]), powers(q[1])

    def value(k: int, i: int, j: int) -> float:  # derivatives of order i and j (2.68, 2.69)
        return a[i] @ BASIS.T @ C[k] @ BASIS @ b[j]

    Q, S, dS = np.eye(4), np.zeros((2, 6)), np.zeros((2, 2, 6))
    for k, e in enumerate(UNITS.T):
        Qk = expm(bracket(e * value(k, 0, 0)))
        across = Ad(np.linalg.inv(Qk))
        slope = (value(k, 1, 0), value(k, 0, 1))
        bend = ((value(k, 2, 0), value(k, 1, 1)), (value(k, 1, 1), value(k, 0, 2)))
        for i in range(2):
            for j in range(2):
                dS[i, j] = e * bend[i][j] + across @ (dS[i, j] + ad(S[i]) @ e * slope[j])
        S = np.array([e * slope[i] + across @ S[i] for i in range(2)])
        Q = Q @ Qk
    return Q, S.T, np.einsum("ijx,j->xi", dS, v)


@SEEDS
def test_spline_surface(seed: int) -> None:
    C = 0.5 * np.random.default_rng(seed).normal(size=(6, 4, 4))

    def transform(q: np.ndarray) -> lw.SE3:
        rows, columns = blend(q[0]), blend(q[1])
        f = [sum(rows[i] * C[k, i, j] * columns[j] for i in range(4) for j in range(4)) for k in range(6)]
        return lw.SE3(p=np.array(f[:3], dtype=object)) @ lw.SE3.rot_x(f[3]) @ lw.SE3.rot_y(f[4]) @ lw.SE3.rot_z(f[5])

    joint = lw.joint(transform, nv=2)
    q, v = np.random.default_rng(seed + 50).uniform(0.0, 1.0, 2), np.array([1.3, -0.7])
    check(joint, q, v, surface_form(C, q, v))


@SEEDS
def test_spline_surface_joint(seed: int) -> None:
    """Alg. 4 on every patch."""
    C = 0.5 * np.random.default_rng(seed).normal(size=(6, 6, 5))
    joint, v = lw.SplineSurface(C), np.array([1.3, -0.7])
    for i, j in np.ndindex(3, 2):
        for u in np.random.default_rng(seed).uniform(0.0, 1.0, (3, 2)):
            check(joint, np.array([i, j]) + u, v, surface_form(C[:, i : i + 4, j : j + 4], u, v))


def test_printed_forms_with_errata_are_told_apart() -> None:
    """What is printed in (2.52) and (2.56) is off by much more than rounding."""
    q, v = draw(0, 3)
    turn = rotation((0, 0, 1), q[2])
    S_dot = found(lw.Free2D(), q, v)[2]
    assert abs(S_dot[4, 1] + v[2] * turn[0, 1]) > 0.1  # Q^xy
    joint = lw.Composite(lw.Prismatic((0, 0, 1)), lw.Universal())
    q, v = draw(1, 3)
    own = found(lw.Universal(), q[1:], v[1:])[2]
    assert np.abs(found(joint, q, v)[2][:, 1:] + own).max() > 0.1  # - S_dot_2
