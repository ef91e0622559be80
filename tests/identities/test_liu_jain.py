"""Liu and Jain's tutorial: every numbered equation that computes something, on the four links of its Figure 1 [errata 003].

The other route is never the function's own: bodies as `dense` places them, differences of positions, energies, dense algebra.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from identities.dense import bodies_at, hat
from models import relative
from scipy.linalg import block_diag, expm

import linkwork as lw
from linkwork import convert, lagrange
from linkwork.scenes import ALL_SCENES
from linkwork.spatial import so3

TIGHT, CLOSE = 1e-12, 1e-9
MODEL, STATE = ALL_SCENES["tutorial"].build()
Q, V = STATE.q, STATE.v
A = np.array([1.0, -2.0, 0.5, 3.0, -1.5, 0.7, 2.5])
INERTIA = [b.inertia for b in MODEL.bodies]
COM = np.array([i.com for i in INERTIA])


def slope(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, along: np.ndarray, h: float = 2e-3) -> np.ndarray:
    """The derivative by six values: an error of h^6."""
    values = [f(x + k * h * along) for k in (-3, -2, -1, 1, 2, 3)]
    return sum(w * y for w, y in zip((-1, 9, -45, 45, -9, 1), values, strict=True)) / (60.0 * h)


def gradient(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """(..., len(x))."""
    return np.stack([slope(f, x, e) for e in np.eye(len(x))], axis=-1)


def positions(q: np.ndarray) -> np.ndarray:
    """Centres of mass (4, 3)."""
    b = bodies_at(MODEL, q, np.zeros(7))
    return b.x + np.einsum("kij,kj->ki", b.R, COM)


def rotations(q: np.ndarray) -> np.ndarray:
    return bodies_at(MODEL, q, np.zeros(7)).R


def velocities(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of centres of mass, and angular ones."""
    b = bodies_at(MODEL, q, v)
    return b.u + np.cross(b.w, np.einsum("kij,kj->ki", b.R, COM)), b.w


def energy(q: np.ndarray, v: np.ndarray) -> float:
    """(10), (25) to (27): a sum over links."""
    u, w = velocities(q, v)
    R = rotations(q)
    return float(sum(0.5 * i.mass * u[k] @ u[k] + 0.5 * w[k] @ R[k] @ i.tensor @ R[k].T @ w[k] for k, i in enumerate(INERTIA)))


def vee(W: np.ndarray) -> np.ndarray:
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


# --- sections 2 to 4 -----------------------------------------------------------------------------------------------------------
def test_the_scene_is_that_of_figure_1() -> None:
    assert [b.joint.nv for b in MODEL.bodies] == [2, 3, 1, 1]
    assert MODEL.parents.tolist() == [-1, 0, 1, 1]


def test_eq_2_6_15_28_57_point_jacobians() -> None:
    """dr/dq of a point, and r_dot = J q_dot."""
    point = np.array([0.1, -0.2, 0.3])

    def place(q: np.ndarray) -> np.ndarray:
        b = bodies_at(MODEL, q, np.zeros(7))
        return b.x[3] + b.R[3] @ point

    J = lw.point_jacobian(MODEL, Q, "link4", point)
    assert relative(J, gradient(place, Q)) < CLOSE
    assert relative(J @ V, slope(lambda t: place(Q + t[0] * V), np.zeros(1), np.ones(1))) < CLOSE
    for k, found in enumerate(lagrange.link_jacobians(MODEL, Q).linear):
        assert relative(found, gradient(lambda q, k=k: positions(q)[k], Q)) < CLOSE


def test_eq_3_virtual_work() -> None:
    f, point = np.array([1.0, -2.0, 3.0]), np.array([0.1, 0.0, -0.4])
    wrench = np.r_[0.0, 0.0, 0.0, f]
    expected = lw.point_jacobian(MODEL, Q, "link3", point).T @ f
    assert relative(lw.frame_forces(MODEL, Q, wrench, "link3", "aligned", point), expected) < TIGHT


def test_eq_8_rate_of_a_point_jacobian() -> None:
    J_dot = lw.frame_jacobian_dot(MODEL, Q, V, "link4", point=(0.1, 0, 0))[3:]
    found = slope(lambda t: lw.point_jacobian(MODEL, Q + t[0] * V, "link4", (0.1, 0, 0)), np.zeros(1), np.ones(1))
    assert relative(J_dot, found) < CLOSE


def test_eq_10_16_26_27_32_kinetic_energy() -> None:
    T = lagrange.kinetic_energy(MODEL, Q, V)
    assert pytest.approx(energy(Q, V), rel=TIGHT) == T
    assert pytest.approx(0.5 * V @ lw.mass_matrix(MODEL, Q) @ V, rel=TIGHT) == T
    assert float(lw.energy(MODEL, STATE).kinetic) == pytest.approx(T, rel=TIGHT)


def test_eq_11_13_lagrange_from_the_energy_alone() -> None:
    """d/dt dT/dv - dT/dq, from differences of the energy of bodies, against the exact one, and inverse dynamics without
    gravity."""
    eye = np.eye(7)

    def momenta(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([energy(q, v + e) - energy(q, v) - energy(q, e) for e in eye])  # T is quadratic in v

    rate = slope(lambda t: momenta(Q + t[0] * V, V + t[0] * A), np.zeros(1), np.ones(1))
    expected = rate - gradient(lambda q: np.array(energy(q, V)), Q)
    found = lagrange.lagrange_forces(MODEL, Q, V, A)
    assert relative(found, expected) < CLOSE
    falling = MODEL.replace(gravity=(0, 0, 0))
    assert relative(found, lw.inverse_dynamics(falling, Q, V, A)) < TIGHT


def test_eq_14_equations_of_motion() -> None:
    """M a + C + gravity are the generalized forces; nothing else acts."""
    M, C, g = lw.mass_matrix(MODEL, Q), lw.coriolis_forces(MODEL, Q, V), lw.gravity_forces(MODEL, Q)
    assert relative(lw.inverse_dynamics(MODEL, Q, V, A), M @ A + C + g) < TIGHT
    potential = gradient(
        lambda q: np.array(-sum(i.mass * MODEL.gravity @ x for i, x in zip(INERTIA, positions(q), strict=True))), Q
    )
    assert relative(g, potential) < CLOSE


def test_eq_17_coriolis_from_the_mass_matrix_alone() -> None:
    dM = gradient(lambda q: lagrange.mass_matrix_by_links(MODEL, q), Q)
    assert relative(lagrange.mass_matrix_derivatives(MODEL, Q), dM) < CLOSE
    T = np.einsum("ijk,j->ik", dM, V)  # column k is (dM/dq_k) v
    M_dot = dM @ V
    C = lw.coriolis_forces(MODEL, Q, V)
    assert relative(M_dot @ V - 0.5 * T.T @ V, C) < CLOSE
    assert relative(lagrange.coriolis_forces_from_mass_matrix(MODEL, Q, V), C) < TIGHT
    assert relative(T, M_dot) > 0.1  # the note under (17)
    assert relative(M_dot @ V - 0.5 * T @ V, C) > 0.1  # as printed, without the transpose


def test_eq_18_21_momenta() -> None:
    """Linear momentum, and angular momentum about the centre of mass of all links."""
    u, w = velocities(Q, V)
    x, R, m = positions(Q), rotations(Q), np.array([i.mass for i in INERTIA])
    centre = m @ x / m.sum()
    L = sum(R[k] @ i.tensor @ R[k].T @ w[k] + m[k] * np.cross(x[k] - centre, u[k]) for k, i in enumerate(INERTIA))
    assert relative(lw.momentum(MODEL, Q, V), np.r_[L, m @ u]) < TIGHT
    about = np.array([0.3, -0.2, 0.5])
    assert relative(lw.momentum(MODEL, Q, V, about=about)[:3], L + np.cross(centre - about, m @ u)) < TIGHT
    many = lw.momentum(MODEL, np.tile(Q, (2, 1)), np.tile(V, (2, 1)), about=[about, centre])
    assert relative(many[1, :3], L) < TIGHT
    assert relative(lw.center_of_mass(MODEL, Q), centre) < TIGHT


def test_eq_20_cross_products() -> None:
    a, b = np.array([0.3, -0.2, 0.9]), np.array([1.0, 2.0, 3.0])
    assert np.array_equal(so3.hat(a), hat(a))
    assert relative(so3.hat(a) @ b, np.cross(a, b)) < TIGHT
    assert relative(-so3.hat(a) @ so3.hat(a), a @ a * np.eye(3) - np.outer(a, a)) < TIGHT


def test_eq_22_24_newton_and_euler() -> None:
    """Rates of momentum of every link are the forces that its joints and its weight exert on it."""
    found = lw.link_dynamics(MODEL, Q, V, A)
    R = rotations(Q)
    u_dot = slope(lambda t: velocities(Q + t[0] * V + 0.5 * t[0] ** 2 * A, V + t[0] * A)[0], np.zeros(1), np.ones(1))
    w_dot = slope(lambda t: velocities(Q + t[0] * V + 0.5 * t[0] ** 2 * A, V + t[0] * A)[1], np.zeros(1), np.ones(1))
    w = velocities(Q, V)[1]
    for k, i in enumerate(INERTIA):
        I = R[k] @ i.tensor @ R[k].T
        force, torque = (
            R[k] @ found.force[k] + i.mass * MODEL.gravity,
            R[k] @ (found.torque[k] - np.cross(COM[k], found.force[k])),
        )
        for child in np.flatnonzero(MODEL.parents == k):
            f = R[child] @ found.force[child]
            arm = bodies_at(MODEL, Q, V).x[child] - positions(Q)[k]
            force, torque = force - f, torque - R[child] @ found.torque[child] - np.cross(arm, f)
        assert np.allclose(i.mass * u_dot[k], force, atol=1e-8)
        assert np.allclose(I @ w_dot[k] + np.cross(w[k], I @ w[k]), torque, atol=1e-8)


def test_eq_29_31_angular_jacobians() -> None:
    """[j_j] = dR/dq_j R^T."""
    dR = gradient(rotations, Q)
    for k, J in enumerate(lagrange.link_jacobians(MODEL, Q).angular):
        columns = np.stack([vee(dR[k, :, :, j] @ rotations(Q)[k].T) for j in range(7)], axis=1)
        assert relative(J, columns) < CLOSE


def test_eq_42_exchange_of_derivatives() -> None:
    """dj_j/dq_k - dj_k/dq_j = j_k x j_j."""
    J = lagrange.link_jacobians(MODEL, Q).angular[3]
    dJ = gradient(lambda q: lagrange.link_jacobians(MODEL, q).angular[3], Q)
    for j, k in ((0, 1), (2, 4), (3, 6)):
        assert np.allclose(dJ[:, j, k] - dJ[:, k, j], np.cross(J[:, k], J[:, j]), atol=1e-9)


def test_eq_44_48_59_sums_over_links() -> None:
    """M and C from Jacobians of the links; M_dot - 2 C is skew, of this matrix and of the recursive one."""
    M = sum(
        m.mass * Jv.T @ Jv + Jw.T @ R @ m.tensor @ R.T @ Jw
        for m, R, Jv, Jw in zip(INERTIA, rotations(Q), *_jacobians_of_differences(), strict=True)
    )
    assert relative(lw.mass_matrix(MODEL, Q), M) < CLOSE
    assert relative(lagrange.mass_matrix_by_links(MODEL, Q), lw.mass_matrix(MODEL, Q)) < TIGHT
    M_dot = lagrange.mass_matrix_derivatives(MODEL, Q) @ V
    C = lw.coriolis_forces(MODEL, Q, V)
    for matrix in (lagrange.coriolis_matrix_by_links(MODEL, Q, V), lw.coriolis_matrix(MODEL, Q, V)):
        assert relative(matrix @ V, C) < TIGHT
        assert np.abs(M_dot - matrix - matrix.T).max() < TIGHT


def _jacobians_of_differences() -> tuple[np.ndarray, np.ndarray]:
    dx, dR, R = gradient(positions, Q), gradient(rotations, Q), rotations(Q)
    Jw = np.array([np.stack([vee(dR[k, :, :, j] @ R[k].T) for j in range(7)], axis=1) for k in range(4)])
    return dx, Jw


# --- section 5 ---------------------------------------------------------------------------------------------------------------
def test_eq_49_51_relative_rotation() -> None:
    """The examples under (51): which blocks of J_w1 and J_w4 vanish."""
    J = lagrange.link_jacobians(MODEL, Q).angular
    J_hat, R = lagrange.joint_angular_jacobian(MODEL, Q), rotations(Q)
    assert relative(J[0], np.hstack([J_hat[0][:, :2], np.zeros((3, 5))])) < TIGHT
    expected = np.hstack([J_hat[0][:, :2], R[0] @ J_hat[1][:, 2:5], np.zeros((3, 1)), R[1] @ J_hat[3][:, 6:]])
    assert relative(J[3], expected) < TIGHT


def test_eq_52_euler_angles() -> None:
    angles = np.array([0.3, -0.7, 1.1])
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.SphericalEuler("xyz"), inertia=lw.Inertia.sphere(1.0, 0.1))
    Rx, Ry = expm(angles[0] * hat(np.eye(3)[0])), expm(angles[1] * hat(np.eye(3)[1]))
    expected = np.stack([np.eye(3)[0], Rx @ np.eye(3)[1], Rx @ Ry @ np.eye(3)[2]], axis=1)
    assert relative(lagrange.joint_angular_jacobian(b.build(), angles)[0], expected) < TIGHT


@pytest.mark.parametrize("size", [1.7, 1e-3, 1e-7, 0.0])
def test_eq_53_56_exponential_map(size: float) -> None:
    """R = exp [q], Jhat = left Jacobian = R times the right one; the limits near zero."""
    q = size * np.array([0.6, -0.64, 0.48])
    R, J, W = so3.exp(q), so3.left_jacobian(q), hat(q)
    assert relative(R, expm(W)) < TIGHT
    assert relative(J, R @ so3.right_jacobian(q)) < TIGHT
    along = np.array([0.2, 0.9, -0.3])
    assert np.allclose(hat(J @ along), slope(lambda t: expm(hat(q + t[0] * along)), np.zeros(1), np.ones(1)) @ R.T, atol=1e-10)
    if size < 1e-2:
        assert np.abs(R - (np.eye(3) + W + 0.5 * W @ W)).max() < size**3 + 1e-15
        assert np.abs(J - (np.eye(3) + 0.5 * W + W @ W / 6.0)).max() < size**3 + 1e-15
    b = lw.ModelBuilder()
    b.body("ball", joint=lw.SphericalExp(), inertia=lw.Inertia.sphere(1.0, 0.1))
    assert relative(lagrange.joint_angular_jacobian(b.build(), q)[0], J) < TIGHT


def test_eq_58_60_stacked_jacobian() -> None:
    u, w = velocities(Q, V)
    J = lagrange.link_jacobians(MODEL, Q)
    assert relative(J.stacked @ V, np.concatenate([u, w]).reshape(-1)) < TIGHT
    J_dot = lagrange.link_jacobians_dot(MODEL, Q, V).stacked
    found = slope(lambda t: lagrange.link_jacobians(MODEL, Q + t[0] * V).stacked, np.zeros(1), np.ones(1))
    assert relative(J_dot, found) < CLOSE


# --- section 6 ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "route", [convert.velocities_by_pseudo_inverse, convert.velocities_by_rows, convert.velocities_by_joints]
)
def test_eq_61_to_66_velocities_back(route: Callable[..., convert.VelocityFit]) -> None:
    u, w = velocities(Q, V)
    found = route(MODEL, Q, u, w)
    assert relative(found.v, V) < TIGHT
    assert found.residual < TIGHT
    torn = u.copy()
    torn[3] += [0.3, 0.0, 0.0]  # the last link leaves its joint
    assert route(MODEL, Q, torn, w).residual > 0.1


def test_eq_61_is_the_least_squares_solution() -> None:
    rng = np.random.default_rng(3)
    u, w = rng.normal(size=(2, 4, 3))
    J = lagrange.link_jacobians(MODEL, Q).stacked
    found = convert.velocities_by_pseudo_inverse(MODEL, Q, u, w)
    assert relative(found.v, np.linalg.lstsq(J, np.concatenate([u, w]).reshape(-1), rcond=None)[0]) < TIGHT


def test_eq_62_to_65_relative_velocities() -> None:
    D = np.array([[1, 0, 0, 0], [-1, 1, 0, 0], [0, -1, 1, 0], [0, -1, 0, 1]])
    assert np.array_equal(lagrange.connectivity(MODEL), np.kron(D, np.eye(3)))
    parents = [np.eye(3), *(rotations(Q)[p] for p in (0, 1, 1))]
    R = block_diag(*parents)
    assert relative(block_diag(*lagrange.parent_rotations(MODEL, Q)), R) < TIGHT
    J_w = lagrange.link_jacobians(MODEL, Q).angular.reshape(12, 7)
    J_hat = lagrange.joint_angular_jacobian(MODEL, Q).reshape(12, 7)
    assert relative(J_hat, R.T @ lagrange.connectivity(MODEL) @ J_w) < TIGHT
    w = velocities(Q, V)[1]
    w_hat = R.T @ lagrange.connectivity(MODEL) @ w.reshape(-1)
    assert relative(lagrange.relative_angular_velocities(MODEL, Q, w).reshape(-1), w_hat) < TIGHT
    assert relative(convert.rotational_velocities(MODEL, Q, w), V) < TIGHT


def test_eq_67_generalized_forces() -> None:
    """With points of application, and the note under (67): J'_v^T f = J_v^T f + J_w^T [r - x] f."""
    rng = np.random.default_rng(4)
    f, n, arms = rng.normal(size=(3, 4, 3))
    J, x = lagrange.link_jacobians(MODEL, Q), positions(Q)
    R, origins = rotations(Q), bodies_at(MODEL, Q, V).x
    points = [R[k].T @ (x[k] + arms[k] - origins[k]) for k in range(4)]
    expected = sum(lw.point_jacobian(MODEL, Q, f"link{k + 1}", points[k]).T @ f[k] + J.angular[k].T @ n[k] for k in range(4))
    found = convert.generalized_forces(MODEL, Q, f, n, x + arms)
    assert relative(found, expected) < TIGHT
    assert relative(convert.generalized_forces(MODEL, Q, f, n + np.cross(arms, f)), expected) < TIGHT


def test_eq_68_69_joint_torques() -> None:
    rng = np.random.default_rng(5)
    f, torques, points = rng.normal(size=(3, 4, 3))
    R = rotations(Q)
    own = [np.eye(3) @ torques[0], R[0] @ torques[1], R[1] @ torques[2], R[1] @ torques[3]]
    expected = np.array([own[0] - own[1], own[1] - own[2] - own[3], own[2], own[3]])
    assert relative(convert.body_torques(MODEL, Q, torques), expected) < TIGHT
    found = convert.generalized_forces_of_joint_torques(MODEL, Q, f, torques, points)
    assert relative(found, convert.generalized_forces(MODEL, Q, f, expected, points)) < TIGHT


def test_eq_70_71_forces_back() -> None:
    """Each returns what amounts to Q, and the least of its kind."""
    rng = np.random.default_rng(6)
    f, n = convert.cartesian_forces(MODEL, Q, A)
    J = lagrange.link_jacobians(MODEL, Q).stacked
    assert relative(np.concatenate([f, n]).reshape(-1), np.linalg.lstsq(J.T, A, rcond=None)[0]) < TIGHT
    assert relative(convert.generalized_forces(MODEL, Q, f, n), A) < TIGHT
    points = rng.normal(size=(4, 3))
    f, torques = convert.forces_at_points(MODEL, Q, A, points)
    assert relative(convert.generalized_forces_of_joint_torques(MODEL, Q, f, torques, points), A) < TIGHT
    torques = convert.joint_torques(MODEL, Q, A)
    assert relative(convert.generalized_forces_of_joint_torques(MODEL, Q, 0.0 * f, torques), A) < TIGHT
    for k, (J_hat, torque) in enumerate(zip(lagrange.joint_angular_jacobian(MODEL, Q), torques, strict=True)):
        at = MODEL.v_index(f"link{k + 1}")
        assert relative(torque, np.linalg.lstsq(J_hat[:, at].T, A[at], rcond=None)[0]) < TIGHT
    acting = convert.drive_wrenches(MODEL, Q, A)
    assert relative(lw.jacobian_transpose_product(MODEL, Q, acting), A) < TIGHT


# --- section 7 ---------------------------------------------------------------------------------------------------------------
def test_eq_72_to_81_and_85_recursion_in_local_frames() -> None:
    found = lw.link_dynamics(MODEL, Q, V, A)
    R = rotations(Q)
    u, w = velocities(Q, V)
    moving = lambda t: (Q + t[0] * V + 0.5 * t[0] ** 2 * A, V + t[0] * A)  # noqa: E731
    u_dot, w_dot = (slope(lambda t, k=k: velocities(*moving(t))[k], np.zeros(1), np.ones(1)) for k in (0, 1))
    into = lambda x: np.einsum("kji,kj->ki", R, x)  # noqa: E731
    assert relative(found.velocity, into(u)) < TIGHT
    assert relative(found.angular_velocity, into(w)) < TIGHT
    assert relative(found.acceleration, into(u_dot - MODEL.gravity)) < CLOSE  # (85)
    assert relative(found.angular_acceleration, into(w_dot)) < CLOSE
    assert relative(found.Q, lw.inverse_dynamics(MODEL, Q, V, A)) < TIGHT
    wrenches = lw.joint_wrenches(MODEL, Q, V, A)
    assert relative(np.hstack([found.torque, found.force]), wrenches) < TIGHT
    assert np.linalg.norm(found.force[0]) > 10.0  # the root's are what the ground carries, not zero
    J_hat = lagrange.joint_angular_jacobian(MODEL, Q)
    parents = [np.eye(3), R[0], R[1], R[1]]
    torques = np.array([parents[k].T @ R[k] @ found.torque[k] for k in range(4)])
    assert relative(np.einsum("kin,ki->n", J_hat, torques), found.Q) < TIGHT  # errata 003-3


def test_eq_82_to_84_translations_on_a_moving_parent() -> None:
    """The printed (84) is the rate of components; the acceleration has two more terms [errata 003-1]."""
    b = lw.ModelBuilder(gravity=(0, 0, 0))
    for name, parent, joint in (("turn", "world", lw.Spherical()), ("slide", "turn", lw.Translational())):
        b.body(name, parent=parent, joint=joint, inertia=lw.Inertia.cuboid(1.0, (0.1, 0.2, 0.3), com=(0.1, 0.2, -0.1)))
    model = b.build()
    rng = np.random.default_rng(8)
    q, v, a = model.random_configuration(1), rng.normal(size=6), rng.normal(size=6)
    q[4:] = [0.3, -0.2, 0.5]
    found = lw.link_dynamics(model, q, v, a)

    def velocity(t: np.ndarray) -> np.ndarray:
        at = bodies_at(model, model.integrate(q, t[0] * v + 0.5 * t[0] ** 2 * a), v + t[0] * a)
        return at.u[1] + np.cross(at.w[1], at.R[1] @ model.bodies[1].inertia.com)

    R = bodies_at(model, q, v).R[1]
    true = R.T @ slope(velocity, np.zeros(1), np.ones(1), 1e-3)
    assert np.allclose(found.acceleration[1], true, atol=1e-5)
    w, w_dot = found.angular_velocity[0], found.angular_acceleration[0]
    s = model.bodies[1].inertia.com + q[4:] - model.bodies[0].inertia.com
    printed = found.acceleration[0] + np.cross(w_dot, s) + np.cross(w, v[3:]) + a[3:]
    right = printed + np.cross(w, np.cross(w, s)) + np.cross(w, v[3:])
    assert relative(found.acceleration[1], right) < TIGHT
    assert relative(found.acceleration[1], printed) > 0.1


def test_a_floating_root_transmits_nothing() -> None:
    """With the accelerations of free motion, force and torque at the root vanish: the one case in which (7.3) is right."""
    b = lw.ModelBuilder()
    for name, parent, joint in (("root", "world", lw.Free()), ("arm", "root", lw.Revolute((0, 1, 0)))):
        b.body(name, parent=parent, joint=joint, placement=lw.SE3(p=(0.2, 0, 0)), inertia=INERTIA[1])
    model = b.build()
    q, v = model.random_configuration(2), np.random.default_rng(2).normal(size=7)
    found = lw.link_dynamics(model, q, v, lw.forward_dynamics(model, q, v))
    assert max(np.abs(found.force[0]).max(), np.abs(found.torque[0]).max(), np.abs(found.Q).max()) < 1e-11
