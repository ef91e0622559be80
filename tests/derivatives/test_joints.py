"""Every joint against finite differences of its own transform: S, S_dot, the complement, moving on the manifold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from models import CUSTOM, PAIRS, SPLINES, relative, unit
from scipy.linalg import expm

import linkwork as lw
from linkwork.joints import ALL_JOINTS
from linkwork.joints.complement import complement
from linkwork.spatial.jet import Jet, values

OBLIQUE = np.array([0.48, -0.6, 0.64])
SAMPLES: dict[str, lw.Joint] = {
    "revolute x": lw.Revolute((1, 0, 0)),
    "revolute -z": lw.Revolute((0, 0, -1)),
    "revolute in plane": lw.Revolute((0, 0.6, -0.8)),
    "revolute oblique": lw.Revolute(OBLIQUE),
    "spherical": lw.Spherical(),
    "free": lw.Free(),
    **CUSTOM,
    "fixed": lw.Fixed(),
    "prismatic": lw.Prismatic(OBLIQUE),
    "prismatic -y": lw.Prismatic((0, -1, 0)),
    "cylindrical": lw.Cylindrical(OBLIQUE),
    "cylindrical z": lw.Cylindrical((0, 0, 1)),
    "helical": lw.Helical(OBLIQUE, pitch=0.3),
    "helical -x": lw.Helical((-1, 0, 0), pitch=0.3),
    "planar": lw.Planar(),
    "free2d": lw.Free2D(),
    "translational": lw.Translational(),
    "universal": lw.Universal(),
    "spherical exp": lw.SphericalExp(),
    "euler xyz": lw.SphericalEuler("xyz"),
    "euler zxz": lw.SphericalEuler("zxz"),
    "euler xyz or zxz": lw.SphericalEuler("xyz", "zxz"),
    "free exp TR": lw.FreeExp("TR"),
    "free exp RT": lw.FreeExp("RT"),
    "prismatic, spherical": lw.Composite(lw.Prismatic(OBLIQUE), lw.Spherical()),
    "hinges apart": lw.Composite(lw.Revolute((0, 1, 0)), lw.Revolute(OBLIQUE), lw.SE3(R=lw.SE3.rot_x(0.4).R, p=(0.1, -0.2, 0.3))),
    "spherical, helix": lw.Composite(lw.Spherical(), CUSTOM["helix"]),
    **PAIRS,
    **SPLINES,
    "hinge, spline": lw.Composite(lw.Revolute(OBLIQUE), SPLINES["spline"]),
}
EVERY_JOINT = pytest.mark.parametrize("name", SAMPLES)
QUATERNION = pytest.mark.parametrize("name", ["spherical", "free"])
LENGTHS = pytest.mark.parametrize("length", [0.0, 1e-9, 1e-5, 0.3, 1.9, np.pi - 1e-9])
SEEDS = range(3)


def place(joint: lw.Joint, length: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A configuration at a distance from the neutral one, or anywhere in a domain that this leaves, and a unit velocity."""
    rng = np.random.default_rng(seed)
    dv, v = (unit(rng, joint.nv) if joint.nv else np.zeros(0) for _ in range(2))
    q = np.asarray(joint.integrate(joint.neutral(), length * dv), float)
    q = q if joint.inside(q) else joint.random(rng)
    return q + beside_knots(joint, q), v


def beside_knots(joint: lw.Joint, q: np.ndarray) -> np.ndarray:
    """How far to move so that differences stay within one segment of a spline; zero for joints without knots."""
    if isinstance(joint, lw.Composite):
        n = joint.first.nq
        return np.concatenate([beside_knots(joint.first, q[:n]), beside_knots(joint.second, q[n:])])
    knots = isinstance(joint, lw.SplineCurve | lw.SplineSurface)
    return np.where(np.abs(q - np.round(q)) < 0.05, 0.1, 0.0) if knots else np.zeros(len(q))


def matrix(joint: lw.Joint, q: Any) -> np.ndarray:
    return np.asarray(joint.transform(np.asarray(q, float)).matrix, float)


def vee(X: np.ndarray) -> np.ndarray:
    """The twist (angular, linear) of a 4x4 matrix in se(3); its rotation must be skew."""
    assert np.abs(X[:3, :3] + X[:3, :3].T).max() < 1e-9
    return np.array([X[2, 1], X[0, 2], X[1, 0], *X[:3, 3]])


def hat(x: np.ndarray) -> np.ndarray:
    X = np.zeros((4, 4))
    X[:3, :3] = [[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]]
    X[:3, 3] = x[3:]
    return X


def twist_and_rate(joint: lw.Joint, q: np.ndarray, v: np.ndarray, at: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """phi and phi_dot along t -> integrate(q, t v), from differences of order six of the 4x4 matrices."""
    h = 1e-2
    Q = {k: matrix(joint, joint.integrate(q, (at + k * h) * v)) for k in range(-3, 4)}
    first = (45 * (Q[1] - Q[-1]) - 9 * (Q[2] - Q[-2]) + (Q[3] - Q[-3])) / (60 * h)
    second = (2 * (Q[3] + Q[-3]) - 27 * (Q[2] + Q[-2]) + 270 * (Q[1] + Q[-1]) - 490 * Q[0]) / (180 * h * h)
    X = np.linalg.solve(Q[0], first)
    return vee(X), vee(np.linalg.solve(Q[0], second) - X @ X)


def subspace(joint: lw.Joint, q: np.ndarray) -> np.ndarray:
    return np.array(joint.motion(q, np.zeros(joint.nv)).tangent.S, float)


def test_every_registered_joint_is_here() -> None:
    assert {type(j) for j in SAMPLES.values()} >= set(ALL_JOINTS.values())


@EVERY_JOINT
@LENGTHS
def test_subspace_and_twist(name: str, length: float) -> None:
    joint = SAMPLES[name]
    for seed in SEEDS:
        q, v = place(joint, length, seed)
        E = joint.motion(q, v)
        assert np.abs(np.asarray(E.matrix, float) - matrix(joint, q)).max() < 1e-14
        S = np.array(E.tangent.S, float)
        assert S.shape == (6, joint.nv)
        for k, e in enumerate(np.eye(joint.nv)):
            assert np.abs(S[:, k] - twist_and_rate(joint, q, e)[0]).max() < 1e-7
        assert np.abs(np.array(E.tangent.phi, float) - S @ v).max() < 1e-13


@EVERY_JOINT
@LENGTHS
def test_bias(name: str, length: float) -> None:
    """S_dot v is the rate of the twist at constant v."""
    joint = SAMPLES[name]
    for seed in SEEDS:
        q, v = place(joint, length, seed)
        found = np.array(joint.motion(q, v).tangent.bias, float)
        assert np.abs(found - twist_and_rate(joint, q, v)[1]).max() < 1e-7
        assert np.abs(np.array(joint.motion(q, 3.0 * v).tangent.bias, float) - 9.0 * found).max() < 1e-12


@EVERY_JOINT
@LENGTHS
def test_rate_of_the_subspace(name: str, length: float) -> None:
    """S_dot, column by column, along the motion."""
    joint, h = SAMPLES[name], 1e-2
    for seed in SEEDS:
        q, v = place(joint, length, seed)
        S = {k: subspace(joint, np.asarray(joint.integrate(q, k * h * v), float)) for k in (-3, -2, -1, 1, 2, 3)}
        rate = (45 * (S[1] - S[-1]) - 9 * (S[2] - S[-2]) + (S[3] - S[-3])) / (60 * h)
        tangent = joint.motion(q, v).tangent
        assert np.abs(np.array(tangent.S_dot, float) - rate).max(initial=0.0) < 1e-7
        assert np.abs(np.array(tangent.S_dot, float) @ v - np.array(tangent.bias, float)).max() < 1e-12


@QUATERNION
@LENGTHS
def test_subspaces_by_hand_equal_the_derived_ones(name: str, length: float) -> None:
    joint = SAMPLES[name]
    for seed in SEEDS:
        q, v = place(joint, length, seed)
        hand, derived = joint.motion(q, v).tangent, joint.transform(joint.jets(q, v)).tangent
        for part in ("S", "phi", "bias"):
            a, b = (np.array(getattr(t, part), float) for t in (hand, derived))
            assert np.abs(a - b).max() < 1e-14, part


@EVERY_JOINT
@LENGTHS
def test_complement(name: str, length: float) -> None:
    """T^T S = 0, T^T T = 1, and together they span everything; by QR of numbers and by the mirrors that are traced."""
    joint = SAMPLES[name]
    for seed in SEEDS:
        S = subspace(joint, place(joint, length, seed)[0])
        if np.linalg.matrix_rank(S, tol=1e-6) < joint.nv:
            continue  # Euler angles at lock, surfaces at their poles
        jets = np.array([Jet(x, (), 0.0, 0.0) for x in S.flat], dtype=object).reshape(S.shape)
        for T in (complement(S), values(complement(jets))):
            T = np.array(T, float)
            assert T.shape == (6, 6 - joint.nv)
            assert np.abs(T.T @ S).max(initial=0.0) < 1e-14 * max(1.0, np.abs(S).max(initial=0.0))
            assert np.abs(T.T @ T - np.eye(T.shape[1])).max(initial=0.0) < 1e-14
            assert np.linalg.matrix_rank(np.hstack([S, T]), tol=1e-6) == 6


@EVERY_JOINT
@LENGTHS
def test_difference_undoes_integrate(name: str, length: float) -> None:
    joint = SAMPLES[name]
    for seed in SEEDS:
        q, _ = place(joint, 1.0, seed + 10)
        dv = length * (unit(np.random.default_rng(seed), joint.nv) if joint.nv else np.zeros(0))
        there = np.asarray(joint.integrate(q, dv), float)
        assert np.abs(np.asarray(joint.difference(q, there), float) - dv).max(initial=0.0) < 1e-12
        again = joint.integrate(q, joint.difference(q, there))
        assert np.abs(matrix(joint, again) - matrix(joint, there)).max() < 1e-13


@EVERY_JOINT
def test_integrate_undoes_difference(name: str) -> None:
    """For any two configurations, quaternions of either sign among them."""
    joint = SAMPLES[name]
    for seed in range(10):
        rng = np.random.default_rng(seed)
        q0, q1 = joint.random(rng), joint.random(rng)
        assert joint.checked(q0) is None
        again = joint.integrate(q0, joint.difference(q0, q1))
        assert np.abs(matrix(joint, again) - matrix(joint, q1)).max() < 1e-13


@QUATERNION
@LENGTHS
def test_quaternion_joints_move_along_a_constant_twist(name: str, length: float) -> None:
    """integrate(q, dv) is Q(q) exp(dv), and on the way the twist in child axes stays v."""
    joint = SAMPLES[name]
    for seed in SEEDS:
        q, v = place(joint, length, seed)
        full = np.append(v, np.zeros(6 - len(v)))
        for t in (1e-9, 0.5, np.pi - 1e-9):
            assert np.abs(matrix(joint, joint.integrate(q, t * v)) - matrix(joint, q) @ expm(hat(t * full))).max() < 1e-13
        for t in (0.0, 0.7, 2.5):
            twist, rate = twist_and_rate(joint, q, v, at=t)
            assert np.abs(twist - full).max() < 1e-9
            assert np.abs(rate).max() < 1e-7


@QUATERNION
def test_quaternions_of_either_sign_are_one_configuration(name: str) -> None:
    joint = SAMPLES[name]
    rng = np.random.default_rng(0)
    q = joint.random(rng)
    other = np.concatenate([q[:-4], -q[-4:]])
    assert np.abs(np.asarray(joint.difference(q, other), float)).max() < 1e-15
    assert np.array_equal(matrix(joint, q), matrix(joint, other))
    assert joint.checked(1.001 * q) is not None


@EVERY_JOINT
def test_compiled_kinematics_uses_the_same_derivatives(name: str) -> None:
    """Twists and their rates of one body on the joint, at rest in the joint's own frame."""
    joint = SAMPLES[name]
    model = lw.ModelBuilder().body("b", joint=joint, inertia=lw.Inertia.sphere(1.0, 0.1)).build()
    for length in (0.0, 1e-9, 1e-5, 1.3):
        q, v = place(joint, length, 5)
        k = lw.kinematics(model, q, v)
        twist, rate = twist_and_rate(joint, q, v)
        assert np.abs(k.poses[0] - matrix(joint, q)).max() < 1e-14
        assert np.abs(k.twists[0] - twist).max() < 1e-7
        assert np.abs(k.twists_dot[0] - rate).max() < 1e-7


def test_models_move_joint_by_joint() -> None:
    """integrate and difference of a model are those of its joints, side by side; a batch moves like its members."""
    builder = lw.ModelBuilder()
    for name, joint in SAMPLES.items():
        builder.body(name, joint=joint, inertia=lw.Inertia.sphere(1.0, 0.1))
    model = builder.build()
    rng = np.random.default_rng(1)
    q = np.array([model.random_configuration(rng) for _ in range(9)])
    dv = rng.uniform(-1.0, 1.0, (9, model.nv))
    there = model.integrate(q, dv)
    back = model.difference(q, there)
    for k in range(9):
        for body in model.bodies:
            at_q, at_v = model.q_index(body.name), model.v_index(body.name)
            expected = np.asarray(body.joint.integrate(q[k, at_q], dv[k, at_v]), float)
            assert np.abs(there[k, at_q] - expected).max(initial=0.0) < 1e-14
            assert np.abs(back[k, at_v] - dv[k, at_v]).max(initial=0.0) < 1e-12
        assert np.array_equal(model.integrate(q[k], dv[k]), there[k])
        assert np.array_equal(model.difference(q[k], there[k]), back[k])


def test_two_ways_to_write_one_joint() -> None:
    """The screw as a custom joint and as `Helical`; a raw matrix and a product of turns."""
    helical = lw.Helical((0, 0, 1), pitch=0.02)
    turns = lw.joint(
        lambda q: (
            lw.SE3(p=(0.2 * np.sin(q[0]), 0.1 * q[0] * q[1], 0.3 * np.cos(2.0 * q[1])))
            @ lw.SE3.rot_z(q[0])
            @ lw.SE3.rot_x(2.0 * q[1])
        ),
        nv=2,
    )
    for one, other in ((CUSTOM["screw"], helical), (CUSTOM["raw"], turns)):
        q, v = place(one, 1.7, 3)
        a, b = one.motion(q, v).tangent, other.motion(q, v).tangent
        for part in ("S", "phi", "bias"):
            assert relative(np.array(getattr(a, part), float), np.array(getattr(b, part), float)) < 1e-14
