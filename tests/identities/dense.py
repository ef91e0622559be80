"""An independent oracle: Newton and Euler for every body in world axes, all joints as equations, one dense solve.

Nothing here uses the library's subspaces, jets or spatial algebra. Of a model it reads names, parents, placements, inertias,
gravity and, for custom joints, values of the transform (at complex points).

For a joint with inboard frame F, which is fixed to the parent, R_j = R_F R_Q and x_j = x_F + R_F p_Q. With the relative
angular velocity A v and the relative velocity of the origin B v, both in axes of F,

    omega_j = omega_p + R_F A v,     alpha_j = alpha_p + omega_p x R_F A v + R_F (A v_dot + A_dot v),
    a_j     = a_p + alpha_p x r + omega_p x (omega_p x r) + 2 omega_p x R_F B v + R_F (B v_dot + B_dot v),    r = x_j - x_p.

Unknowns are alpha, a (of the origins) and the joint accelerations; multipliers are the wrenches that the joints transmit.
Along its freedoms a joint transmits tau - damping v - armature v_dot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import expm

import linkwork as lw


def hat(w: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def rotation_of_quaternion(q: np.ndarray) -> np.ndarray:
    """R x = x + 2 w v x x + 2 v x (v x x), for the unit quaternion (w, v)."""
    q = q / np.linalg.norm(q)
    V = hat(q[1:])
    return np.eye(3) + 2.0 * q[0] * V + 2.0 * V @ V


def rotation_about(axis: np.ndarray, angle: float) -> np.ndarray:
    K = hat(axis)
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


# --- joints -----------------------------------------------------------------------------------------------------------
@dataclass
class JointMotion:
    """R_Q, p_Q, the rates A, B (3, nv) and the biases A_dot v, B_dot v of one joint, in axes of its inboard frame."""

    R: np.ndarray
    p: np.ndarray
    A: np.ndarray
    B: np.ndarray
    A_bias: np.ndarray
    B_bias: np.ndarray


def joint_motion(joint: Any, q: np.ndarray, v: np.ndarray) -> JointMotion:
    """By hand for the joints that have closed forms, by Cauchy's formula for those given as a function."""
    o, O = np.zeros(3), np.zeros((3, joint.nv))
    if isinstance(joint, lw.Revolute):
        axis = np.asarray(joint.axis, float)
        return JointMotion(rotation_about(axis, q[0]), o, axis[:, None], O, o, o)
    if isinstance(joint, lw.Spherical):
        R = rotation_of_quaternion(q)
        return JointMotion(R, o, R, O, o, o)
    if isinstance(joint, lw.Free):
        R = rotation_of_quaternion(q[3:])
        Z = np.zeros((3, 3))
        return JointMotion(R, q[:3], np.hstack([R, Z]), np.hstack([Z, R]), o, R @ np.cross(v[:3], v[3:]))
    if getattr(joint, "name", "") in ("exp", "rot_exp"):  # the library's branches on small angles do not take complex numbers
        return analytic_joint_motion(exponential, q, v)
    return analytic_joint_motion(lambda x: pose_of(joint.transform(x)), q, v)


def pose_of(E: Any) -> np.ndarray:
    """(3, 4) complex: the rotation and the position of a transform."""
    return np.hstack([np.array(E.R, complex), np.array(E.p, complex)[:, None]])


def exponential(xi: np.ndarray) -> np.ndarray:
    """(3, 4) complex: the matrix exponential of a rotation vector (3,) or a twist (6,)."""
    X = np.zeros((4, 4), complex)
    X[:3, :3] = [[0, -xi[2], xi[1]], [xi[2], 0, -xi[0]], [-xi[1], xi[0], 0]]
    X[: len(xi[3:]), 3] = xi[3:]
    return expm(X)[:3]


def derivatives_along(
    f: Callable[[np.ndarray], np.ndarray], q: np.ndarray, direction: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value, first and second derivative of an entire function along a direction, by Cauchy's integral on a circle.

    The trapezoidal rule with 48 points on a circle of radius 1/2 is exact to rounding: nothing is differenced.
    """
    scale = max(1.0, float(np.linalg.norm(direction)))
    count, radius = 48, 0.5 / scale
    circle = np.exp(2j * np.pi * np.arange(count) / count)
    values = np.array([f(q + radius * z * direction) for z in circle])
    taylor = [np.tensordot(circle**-k, values, 1) / (count * radius**k) for k in range(3)]
    return taylor[0].real, taylor[1].real, 2.0 * taylor[2].real


def analytic_joint_motion(pose: Callable[[np.ndarray], np.ndarray], q: np.ndarray, v: np.ndarray) -> JointMotion:
    """[A v] = R_dot R^T and [A_dot v] = R_ddot R^T - [A v]^2, for a transform q -> (R, p) that accepts complex q."""
    E, along, second = derivatives_along(pose, q, v)
    R = E[:, :3]
    A, B = np.zeros((3, len(v))), np.zeros((3, len(v)))
    for k, e in enumerate(np.eye(len(v))):
        _, slope, _ = derivatives_along(pose, q, e)
        A[:, k], B[:, k] = vee(slope[:, :3] @ R.T), slope[:, 3]
    W = along[:, :3] @ R.T
    return JointMotion(R, E[:, 3], A, B, vee(second[:, :3] @ R.T - W @ W), second[:, 3])


def vee(W: np.ndarray) -> np.ndarray:
    return 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])


# --- positions and velocities -----------------------------------------------------------------------------------------
@dataclass
class Bodies:
    """World rotations (n, 3, 3), origins, angular velocities and velocities of the origins (n, 3)."""

    R: np.ndarray
    x: np.ndarray
    w: np.ndarray
    u: np.ndarray
    frames: list[np.ndarray] = field(default_factory=list)
    joints: list[JointMotion] = field(default_factory=list)


def bodies_at(model: lw.Model, q: np.ndarray, v: np.ndarray) -> Bodies:
    """Forward kinematics."""
    n = len(model.bodies)
    out = Bodies(np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)))
    at_q = at_v = 0
    for i, body in enumerate(model.bodies):
        nq, nv = body.joint.nq, body.joint.nv
        qi, vi = q[at_q : at_q + nq], v[at_v : at_v + nv]
        at_q, at_v = at_q + nq, at_v + nv
        m = joint_motion(body.joint, qi, vi)
        R_p, x_p, w_p, u_p = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
        if body.parent >= 0:
            R_p, x_p, w_p, u_p = out.R[body.parent], out.x[body.parent], out.w[body.parent], out.u[body.parent]
        F = R_p @ np.asarray(body.placement.R, float)
        r = R_p @ np.asarray(body.placement.p, float) + F @ m.p
        out.R[i], out.x[i] = F @ m.R, x_p + r
        out.w[i] = w_p + F @ m.A @ vi
        out.u[i] = u_p + np.cross(w_p, r) + F @ m.B @ vi
        out.frames.append(F)
        out.joints.append(m)
    return out


def body_jacobian(model: lw.Model, q: np.ndarray) -> np.ndarray:
    """(6 n, nv): (omega, u) of all bodies in world axes from v."""
    b = bodies_at(model, q, np.zeros(model.nv))
    J = np.zeros((len(model.bodies), 6, model.nv))
    at_v = 0
    for i, body in enumerate(model.bodies):
        if body.parent >= 0:
            r = b.x[i] - b.x[body.parent]
            J[i] = np.block([[np.eye(3), np.zeros((3, 3))], [-hat(r), np.eye(3)]]) @ J[body.parent]
        F, m, nv = b.frames[i], b.joints[i], body.joint.nv
        J[i, :, at_v : at_v + nv] += np.vstack([F @ m.A, F @ m.B])
        at_v += nv
    return J.reshape(-1, model.nv)


# --- further constraints ----------------------------------------------------------------------------------------------
@dataclass
class Extra:
    """Rows J (k, 6 n) on (alpha, a) of all bodies in world axes, and the bias: J (alpha, a) + bias = 0."""

    J: np.ndarray
    bias: np.ndarray


def point_row(b: Bodies, body: int, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A point of a body (-1: the world): position, velocity, rows (3, 6 n) and bias of its acceleration."""
    J = np.zeros((3, 6 * len(b.x)))
    if body < 0:
        return np.asarray(point, float), np.zeros(3), J, np.zeros(3)
    r, w = b.R[body] @ point, b.w[body]
    J[:, 6 * body : 6 * body + 6] = np.hstack([-hat(r), np.eye(3)])
    return b.x[body] + r, b.u[body] + np.cross(w, r), J, np.cross(w, np.cross(w, r))


def loop_rows(b: Bodies, a: int, c: int, point_a: np.ndarray, point_c: np.ndarray) -> Extra:
    """A point of body a stays at a point of body c, in world axes."""
    _, _, J_a, bias_a = point_row(b, a, point_a)
    _, _, J_c, bias_c = point_row(b, c, point_c)
    return Extra(J_a - J_c, bias_a - bias_c)


def contact_row(b: Bodies, a: int, c: int, center: np.ndarray, point: np.ndarray, normal: np.ndarray) -> Extra:
    """The gap n . d between the centre of a sphere on a and a plane of c, d = centre - point, n turning with c."""
    x_a, u_a, J_a, bias_a = point_row(b, a, center)
    x_c, u_c, J_c, bias_c = point_row(b, c, point)
    d, d_dot = x_a - x_c, u_a - u_c
    if c < 0:
        return Extra((normal @ (J_a - J_c))[None], np.array([normal @ (bias_a - bias_c)]))
    n, w = b.R[c] @ normal, b.w[c]
    n_dot = np.cross(w, n)
    J = n @ (J_a - J_c)
    J[6 * c : 6 * c + 3] += np.cross(n, d)  # (alpha x n) . d
    bias = n @ (bias_a - bias_c) + 2.0 * n_dot @ d_dot + np.cross(w, n_dot) @ d
    return Extra(J[None], np.array([bias]))


def stacked(parts: Sequence[Extra]) -> Extra:
    return Extra(np.vstack([p.J for p in parts]), np.concatenate([p.bias for p in parts]))


# --- the solve --------------------------------------------------------------------------------------------------------
@dataclass
class Dense:
    """v_dot (nv,); alpha, a (n, 3) in world axes; wrenches of the joints (n, 6) about body origins in body axes; extra forces."""

    v_dot: np.ndarray
    alpha: np.ndarray
    a: np.ndarray
    wrenches: np.ndarray
    forces: np.ndarray
    bodies: Bodies

    @property
    def twists(self) -> np.ndarray:
        """(angular, linear) in body axes."""
        b = self.bodies
        return np.hstack([np.einsum("nji,nj->ni", b.R, b.w), np.einsum("nji,nj->ni", b.R, b.u)])

    @property
    def twists_dot(self) -> np.ndarray:
        """Rates of their components: R^T alpha and R^T (a - omega x u)."""
        b = self.bodies
        return np.hstack([np.einsum("nji,nj->ni", b.R, self.alpha), np.einsum("nji,nj->ni", b.R, self.a - np.cross(b.w, b.u))])


def dense_dynamics(model: lw.Model, state: lw.State, tau: np.ndarray, external: np.ndarray, extra: Extra | None = None) -> Dense:
    """Solve the equations of motion of all bodies and joints at once, in the order of the module's text."""
    n, nv = len(model.bodies), model.nv
    b = bodies_at(model, state.q, state.v)
    extra = extra or Extra(np.zeros((0, 6 * n)), np.zeros(0))
    k = len(extra.bias)
    at_wrench, at_extra = 6 * n + nv, 12 * n + nv
    size = at_extra + k
    M, rhs = np.zeros((size, size)), np.zeros(size)
    at_v = 0
    for i, body in enumerate(model.bodies):
        rows = slice(6 * i, 6 * i + 6)
        M[rows, rows], rhs[rows] = newton_euler(body.inertia, b.R[i], b.w[i], model.gravity)
        rhs[rows] += np.concatenate([b.R[i] @ external[i, :3], b.R[i] @ external[i, 3:]])
        F, m, nv_i = b.frames[i], b.joints[i], body.joint.nv
        v = state.v[at_v : at_v + nv_i]
        p = body.parent
        w_p = b.w[p] if p >= 0 else np.zeros(3)
        r = b.x[i] - (b.x[p] if p >= 0 else 0.0)
        wv, bv = F @ m.A @ v, F @ m.B @ v
        bias = np.concatenate(
            [
                np.cross(w_p, wv) + F @ m.A_bias,
                np.cross(w_p, np.cross(w_p, r)) + 2.0 * np.cross(w_p, bv) + F @ m.B_bias,
            ]
        )
        # (alpha, a)_j - X (alpha, a)_p - H v_dot = bias; the transmitted wrench is the multiplier of these six rows.
        G = np.zeros((6, size))
        G[:, rows] = np.eye(6)
        if p >= 0:
            G[:, 6 * p : 6 * p + 6] = -np.block([[np.eye(3), np.zeros((3, 3))], [-hat(r), np.eye(3)]])
        H = np.vstack([F @ m.A, F @ m.B])
        G[:, 6 * n + at_v : 6 * n + at_v + nv_i] = -H
        here = slice(at_wrench + 6 * i, at_wrench + 6 * i + 6)
        M[here] += G
        M[:, here] -= G.T
        rhs[here] = bias
        drive = np.arange(6 * n + at_v, 6 * n + at_v + nv_i)
        M[drive, drive] += body.properties.armature
        rhs[drive] = tau[at_v : at_v + nv_i] - body.properties.damping * v
        at_v += nv_i
    M[at_extra:, : 6 * n], M[: 6 * n, at_extra:] = extra.J, -extra.J.T
    rhs[at_extra:] = -extra.bias
    z = refined_solve(M, rhs)
    motion = z[: 6 * n].reshape(n, 6)
    world = z[at_wrench:at_extra].reshape(n, 2, 3)
    wrenches = np.einsum("nji,nkj->nki", b.R, world).reshape(n, 6)
    return Dense(z[6 * n : at_wrench], motion[:, :3], motion[:, 3:], wrenches, z[at_extra:], b)


def newton_euler(inertia: Any, R: np.ndarray, w: np.ndarray, gravity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(mass, right-hand side) of (alpha, a) of a body's origin: moments about the origin, then forces, world axes."""
    m, c = inertia.mass, R @ inertia.com
    J = R @ inertia.tensor @ R.T
    C = hat(c)
    mass = np.block([[J - m * C @ C, m * C], [-m * C, m * np.eye(3)]])
    force = m * (gravity - np.cross(w, np.cross(w, c)))
    return mass, np.concatenate([-np.cross(w, J @ w) + np.cross(c, force), force])


def refined_solve(M: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """A dense solve with two refinements whose residuals are computed in extended precision."""
    z = np.linalg.solve(M, rhs).astype(np.longdouble)
    wide = M.astype(np.longdouble)
    for _ in range(2):
        z = z + np.linalg.solve(M, (rhs - wide @ z).astype(float))
    return z.astype(float)
