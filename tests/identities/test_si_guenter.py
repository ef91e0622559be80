"""Si and Guenter 2010: the equations of motion of a tree in block matrices, and the square factors of M^-1 [errata 002].

All blocks come from the joints' own formulas in `dense`, none from the library's subspaces. Theirs are named as in the paper:

    Gamma   blocks Ad(f^-1) at (i, parent(i))                        (43)
    G       (1 - Gamma)^-1                                           (44), (45), (59)
    M       S^T G^T J G S                                            (51)
    C       S^T G^T (J G ad_Sq Gamma G S + J G S_dot + ad*_v J G S)  (52), with ad*_v for the printed ad*_v_dot
    phi     S^T G^T f_e, f_e = -(wrenches of gravity)                (53), all blocks negative
    M^-1    (1 - S^T Y Pi)^T Omega^-1 (1 - S^T Y Pi)                 (58), Y the inverse of 1 - the blocks of (29)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from identities.dense import JointMotion, bodies_at, hat, joint_motion
from identities.trees import DRIVEN, KINDS, compact_state, random_forest
from models import CUSTOM, PLACEMENTS, random_inertia, relative
from scipy import linalg

import linkwork as lw

TOLERANCE = 1e-11
I6 = np.eye(6)


def Ad(R: np.ndarray, t: np.ndarray) -> np.ndarray:
    """(2), with [t] R in the lower left."""
    return np.block([[R, np.zeros((3, 3))], [hat(t) @ R, R]])


def ad(g: np.ndarray) -> np.ndarray:
    """(3), with [v] in the lower left."""
    return np.block([[hat(g[:3]), np.zeros((3, 3))], [hat(g[3:]), hat(g[:3])]])


def inertia(body: lw.Body) -> np.ndarray:
    """(5)."""
    m, r = float(body.inertia.mass), hat(body.inertia.com)
    return np.block([[body.inertia.tensor - m * r @ r, m * r], [-m * r, m * np.eye(3)]])


def block_diag(*parts: np.ndarray) -> np.ndarray:
    return np.asarray(linalg.block_diag(*parts))


def subspaces(m: JointMotion, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(9) and (12): S and S_dot in child axes, from the motion of the joint in the axes of its inboard frame."""
    spin = hat(m.A @ v)
    S = np.vstack([m.R.T @ m.A, m.R.T @ m.B])
    return S, np.vstack([m.R.T @ (m.A_dot - spin @ m.A), m.R.T @ (m.B_dot - spin @ m.B)])


@dataclass
class Blocks:
    """The global matrices of appendix A; ad_S = diag(-ad_{S v}) and ad_v = diag(-ad*_v) have the paper's signs."""

    S: np.ndarray
    S_dot: np.ndarray
    J: np.ndarray
    Gamma: np.ndarray
    G: np.ndarray
    ad_S: np.ndarray
    ad_v: np.ndarray
    f_e: np.ndarray

    def C(self) -> np.ndarray:
        inner = self.J @ self.G @ self.ad_S @ self.Gamma @ self.G @ self.S
        return self.S.T @ self.G.T @ (inner + self.J @ self.G @ self.S_dot + self.ad_v @ self.J @ self.G @ self.S)


def blocks(model: lw.Model, state: lw.State) -> Blocks:
    n, v = model.nb, state.v
    b = bodies_at(model, state.q, v)
    S, S_dot, ad_S, f_e = [], [], [], []
    Gamma = np.zeros((6 * n, 6 * n))
    for i, body in enumerate(model.bodies):
        at = model.v_index(body.name)
        m = joint_motion(body.joint, state.q[model.q_index(body.name)], v[at])
        pair = subspaces(m, v[at])
        S.append(pair[0])
        S_dot.append(pair[1])
        ad_S.append(-ad(pair[0] @ v[at]))
        R, t = np.asarray(body.placement.R, float) @ m.R, body.placement.R @ m.p + body.placement.p  # f = (R, t)
        if body.parent >= 0:
            Gamma[6 * i : 6 * i + 6, 6 * body.parent : 6 * body.parent + 6] = Ad(R.T, -R.T @ np.asarray(t, float))
        weight = b.R[i].T @ model.gravity * float(body.inertia.mass)
        f_e.append(-np.concatenate([np.cross(body.inertia.com, weight), weight]))
    G = np.linalg.inv(np.eye(6 * n) - Gamma)
    big = [block_diag(*x) for x in (S, S_dot, [inertia(body) for body in model.bodies], ad_S)]
    twists = (G @ big[0] @ v).reshape(n, 6)  # (41)
    return Blocks(big[0], big[1], big[2], Gamma, G, big[3], block_diag(*(-ad(x).T for x in twists)), np.concatenate(f_e))


@dataclass
class Factors:
    Y: np.ndarray
    Pi: np.ndarray
    Omega_inverse: np.ndarray


def factors(model: lw.Model, x: Blocks) -> Factors:
    """(27) to (30), with Ad* in (30); Y is (1 - blocks)^-1 [errata 002-1, 6]."""
    n = model.nb
    Y, Pi, inverses = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, model.nv)), []
    Jbar = [x.J[6 * i : 6 * i + 6, 6 * i : 6 * i + 6].copy() for i in range(n)]
    for k in reversed(range(n)):
        rows, at, p = slice(6 * k, 6 * k + 6), model.v_index(model.bodies[k].name), model.bodies[k].parent
        S = x.S[rows, at]
        inverse = np.linalg.inv(S.T @ Jbar[k] @ S)
        inverses.append(inverse)
        if p >= 0:
            parent = slice(6 * p, 6 * p + 6)
            A = x.Gamma[rows, parent]
            Y[parent, rows] = A.T @ (I6 - Jbar[k] @ S @ inverse @ S.T)
            Pi[parent, at] = A.T @ Jbar[k] @ S @ inverse
            Jbar[p] += A.T @ (Jbar[k] - Jbar[k] @ S @ inverse @ S.T @ Jbar[k]) @ A
    return Factors(np.linalg.inv(np.eye(6 * n) - Y), Pi, block_diag(*reversed(inverses)))


# --- trees ----------------------------------------------------------------------------------------------------------------
def six_links() -> lw.Model:
    """A tree of joints with 3, 1, 2, 4, 1 and 2 freedoms, most of whose subspaces depend on q."""
    rng = np.random.default_rng(6)
    surface = lw.Composite(lw.Planar(), lw.Universal())
    joints = (lw.SphericalEuler("zyx"), CUSTOM["helix"], CUSTOM["raw"], surface, lw.Revolute((0, 0.6, 0.8)), lw.Universal())
    builder = lw.ModelBuilder(gravity=(1.0, -2.0, -9.0))
    for i, (joint, parent) in enumerate(zip(joints, ("world", "b0", "b1", "b0", "b3", "b3"), strict=True)):
        builder.body(f"b{i}", parent=parent, joint=joint, placement=PLACEMENTS["general"](rng), inertia=random_inertia(rng))
    return builder.build()


PLAIN = [kind for kind in KINDS if kind not in DRIVEN]  # the paper has neither armature nor damping
CASES = ["six links", *range(1, 6)]


@pytest.fixture(scope="module", params=CASES, ids=str)
def case(request: pytest.FixtureRequest) -> tuple[lw.Model, lw.State, Blocks]:
    k = request.param
    model = six_links() if k == "six links" else random_forest(k, 2 * k, PLAIN)
    state = compact_state(model, 2)
    return model, state, blocks(model, state)


def test_block_identities(case: tuple[lw.Model, lw.State, Blocks]) -> None:
    """(45): G is a finite sum of powers; (60): Gamma G = G - 1."""
    model, _, x = case
    one = np.eye(6 * model.nb)
    total = power = one
    for _ in range(model.nb):
        power = power @ x.Gamma
        total = total + power
    assert not power.any()
    assert relative(x.G, total) < TOLERANCE
    assert relative(x.Gamma @ x.G, x.G - one) < TOLERANCE


def test_equations_of_motion(case: tuple[lw.Model, lw.State, Blocks]) -> None:
    """(50) to (53): M, C v + phi, phi, and the joint forces of any acceleration."""
    model, state, x = case
    q, v, a = state.q, state.v, np.random.default_rng(5).normal(size=model.nv)
    M = x.S.T @ x.G.T @ x.J @ x.G @ x.S
    phi, C = x.S.T @ x.G.T @ x.f_e, x.C()
    assert relative(lw.mass_matrix(model, q), M) < TOLERANCE
    assert relative(lw.gravity_forces(model, q), phi) < TOLERANCE
    assert relative(lw.bias_forces(model, q, v), C @ v + phi) < TOLERANCE
    assert relative(lw.inverse_dynamics(model, q, v, a), M @ a + C @ v + phi) < TOLERANCE
    assert relative(lw.forward_dynamics(model, q, v, a), np.linalg.solve(M, a - C @ v - phi)) < TOLERANCE


def test_square_factors_of_the_inverse(case: tuple[lw.Model, lw.State, Blocks]) -> None:
    """(58)."""
    model, state, x = case
    f = factors(model, x)
    half = np.eye(model.nv) - x.S.T @ f.Y @ f.Pi
    inverse = half.T @ f.Omega_inverse @ half
    assert relative(lw.inverse_mass_matrix(model, state.q), inverse) < TOLERANCE
    b = np.random.default_rng(5).normal(size=model.nv)
    assert relative(lw.inverse_inertia_product(model, state.q, b), inverse @ b) < TOLERANCE


def test_the_printed_forms_are_told_apart() -> None:
    """Without the star in (30), with the blocks of (29) for Y, and with the last block of f_e positive."""
    model = six_links()
    state = compact_state(model, 2)
    x = blocks(model, state)
    f, inverse = factors(model, x), lw.inverse_mass_matrix(model, state.q)
    wrong_Y = np.eye(model.nv) - x.S.T @ (np.eye(6 * model.nb) - np.linalg.inv(f.Y)) @ f.Pi
    assert relative(inverse, wrong_Y.T @ f.Omega_inverse @ wrong_Y) > 1e-2
    f_e = x.f_e.copy()
    f_e[-6:] *= -1.0
    assert relative(lw.gravity_forces(model, state.q), x.S.T @ x.G.T @ f_e) > 1e-2
    Pi = f.Pi.copy()
    for i, body in enumerate(model.bodies):
        if body.parent >= 0:
            rows, at = slice(6 * body.parent, 6 * body.parent + 6), model.v_index(body.name)
            A = x.Gamma[6 * i : 6 * i + 6, rows]
            Pi[rows, at] = A @ np.linalg.solve(A.T, Pi[rows, at])
    wrong_Pi = np.eye(model.nv) - x.S.T @ f.Y @ Pi
    assert relative(inverse, wrong_Pi.T @ f.Omega_inverse @ wrong_Pi) > 1e-2
