"""An independent oracle: Newton and Euler for every body in world axes, all joints as equations, one dense solve.

Nothing here uses the library's subspaces, jets or spatial algebra. Of a model it reads names, parents, placements, inertias,
gravity and, for custom joints, values of the transform (at complex points). The other joints are turns and slides in a row.

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
from identities.spline_poses import spline_pose
from scipy.linalg import expm, lu_factor, lu_solve

import linkwork as lw
from linkwork.joints import CustomJoint
from linkwork.joints.higher_pair import HigherPair


def hat(w: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of two vectors; NumPy's is slow for a single pair."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


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
    """R_Q, p_Q, A, B and their rates A_dot, B_dot (3, nv) of one joint, in axes of its inboard frame."""

    R: np.ndarray
    p: np.ndarray
    A: np.ndarray
    B: np.ndarray
    A_dot: np.ndarray
    B_dot: np.ndarray


def joint_motion(joint: Any, q: np.ndarray, v: np.ndarray) -> JointMotion:
    """By hand for the joints that have closed forms, by Cauchy's formula for those given as a function."""
    if isinstance(joint, HigherPair | lw.FourBar):  # analytic near the real axis only
        return analytic_joint_motion(lambda x: pose_of(joint.transform(x)), q, v, 0.12)
    if isinstance(joint, lw.Composite):
        nq, nv = joint.first.nq, joint.first.nv
        first, second = joint_motion(joint.first, q[:nq], v[:nv]), joint_motion(joint.second, q[nq:], v[nv:])
        return in_a_row(first, v[:nv], second, v[nv:])
    if isinstance(joint, lw.Helical):
        gear = np.array([1.0, float(joint.pitch)])
        m = row_of([turn(joint.axis, q[0]), slide(joint.axis, gear[1] * q[0])], gear * v)
        return JointMotion(m.R, m.p, *(x @ gear[:, None] for x in (m.A, m.B, m.A_dot, m.B_dot)))
    if isinstance(joint, lw.Spherical):
        return ball(rotation_of_quaternion(q), v)
    if isinstance(joint, lw.SphericalExp):
        return rotation_vector(q, v)
    if isinstance(joint, lw.Free):
        m = ball(rotation_of_quaternion(q[3:]), v[:3])
        Z = np.zeros((3, 3))
        return JointMotion(m.R, q[:3], *(np.hstack(x) for x in ((m.A, Z), (Z, m.A), (m.A_dot, Z), (Z, m.A_dot))))
    if isinstance(joint, lw.SplineCurve | lw.SplineSurface):
        return analytic_joint_motion(spline_pose(joint, q), q, v)
    if not isinstance(joint, CustomJoint):
        return row_of(stages(joint, q), v)
    if joint.name in ("exp", "rot_exp"):  # the library's branches on small angles do not take complex numbers
        return analytic_joint_motion(exponential, q, v)
    return analytic_joint_motion(lambda x: pose_of(joint.transform(x)), q, v)


def stages(joint: Any, q: np.ndarray) -> list[JointMotion]:
    """A joint as turns and slides, one for each of its coordinates."""
    x, y, z = np.eye(3)
    if isinstance(joint, lw.SphericalEuler):
        sequence = joint.sequences[int(q[3]) if len(q) > 3 else 0]
        return [turn(np.eye(3)["xyz".index(axis)], angle) for axis, angle in zip(sequence, q[:3], strict=True)]
    made: dict[type, Callable[[], list[JointMotion]]] = {
        lw.Fixed: list,
        lw.Revolute: lambda: [turn(joint.axis, q[0])],
        lw.Prismatic: lambda: [slide(joint.axis, q[0])],
        lw.Cylindrical: lambda: [turn(joint.axis, q[0]), slide(joint.axis, q[1])],
        lw.Planar: lambda: [slide(x, q[0]), slide(y, q[1])],
        lw.Free2D: lambda: [slide(x, q[0]), slide(y, q[1]), turn(z, q[2])],
        lw.Translational: lambda: [slide(x, q[0]), slide(y, q[1]), slide(z, q[2])],
        lw.Universal: lambda: [turn(x, q[0]), turn(y, q[1])],
    }
    return made[type(joint)]()


def turn(axis: Any, angle: float) -> JointMotion:
    axis, O = np.asarray(axis, float), np.zeros((3, 1))
    return JointMotion(rotation_about(axis, angle), np.zeros(3), axis[:, None], O, O, O)


def slide(axis: Any, length: float) -> JointMotion:
    axis, O = np.asarray(axis, float), np.zeros((3, 1))
    return JointMotion(np.eye(3), axis * length, O, axis[:, None], O, O)


def ball(R: np.ndarray, v: np.ndarray) -> JointMotion:
    """A rotation whose angular velocity in child axes is v: A = R, A_dot = R [v]."""
    O = np.zeros((3, 3))
    return JointMotion(R, np.zeros(3), R, O, R @ hat(v), O)


def rotation_vector(w: np.ndarray, v: np.ndarray) -> JointMotion:
    """exp([w]): R and A = sum over k of [w]^k / k! and [w]^k / (k + 1)!, summed; A_dot term by term."""
    W, V, O = hat(w), hat(v), np.zeros((3, 3))
    power, slope = np.eye(3), np.zeros((3, 3))  # [w]^k / k! and its rate
    R, A, A_dot = np.eye(3), np.eye(3), np.zeros((3, 3))
    for k in range(1, 60):
        slope = (V @ power + W @ slope) / k
        power = W @ power / k
        R, A, A_dot = R + power, A + power / (k + 1), A_dot + slope / (k + 1)
    return JointMotion(R, np.zeros(3), A, O, A_dot, O)


def in_a_row(a: JointMotion, va: np.ndarray, b: JointMotion, vb: np.ndarray) -> JointMotion:
    """Two joints with nothing in between: the velocity of the second's origin has what the first's turning adds to it."""
    w, r = a.A @ va, a.R @ b.p
    A, B = a.R @ b.A, a.R @ b.B
    r_dot = cross(w, r) + B @ vb
    return JointMotion(
        a.R @ b.R,
        a.p + r,
        np.hstack([a.A, A]),
        np.hstack([a.B - hat(r) @ a.A, B]),
        np.hstack([a.A_dot, hat(w) @ A + a.R @ b.A_dot]),
        np.hstack([a.B_dot - hat(r_dot) @ a.A - hat(r) @ a.A_dot, hat(w) @ B + a.R @ b.B_dot]),
    )


def row_of(parts: Sequence[JointMotion], v: np.ndarray) -> JointMotion:
    """Joints of one coordinate each, one after the other."""
    O = np.zeros((3, 0))
    m = JointMotion(np.eye(3), np.zeros(3), O, O, O, O)
    for k, part in enumerate(parts):
        m = in_a_row(m, v[:k], part, v[k : k + 1])
    return m


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
    f: Callable[[np.ndarray], np.ndarray], q: np.ndarray, direction: np.ndarray, reach: float = 0.5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value, first and second derivative of an analytic function along a direction, by Cauchy's integral on a circle.

    The trapezoidal rule with 24 points on a circle of radius `reach` is exact to rounding if the function is analytic on a circle
    several times as large: nothing is differenced. The function is real for real q, so its values on the lower half of the circle
    are the conjugates of those on the upper half, and are not computed.
    """
    scale = max(1.0, float(np.linalg.norm(direction)))
    count, radius = 24, reach / scale
    circle = np.exp(2j * np.pi * np.arange(count // 2 + 1) / count)
    weights = np.where(np.isin(np.arange(len(circle)), (0, count // 2)), 1.0, 2.0)
    values = np.array([f(q + radius * z * direction) for z in circle])
    taylor = [np.tensordot(weights * circle**-k, values, 1) / (count * radius**k) for k in range(3)]
    return taylor[0].real, taylor[1].real, 2.0 * taylor[2].real


def analytic_joint_motion(
    pose: Callable[[np.ndarray], np.ndarray], q: np.ndarray, v: np.ndarray, reach: float = 0.5
) -> JointMotion:
    """[A_k] = R_k R^T and [A_dot_k] = R_kv R^T + R_k R_v^T (slopes along e_k, along v, and along both), for a transform
    q -> (R, p) that accepts complex q; mixed slopes by polarisation."""
    E, along, bend = derivatives_along(pose, q, v, reach)
    R = E[:, :3]
    A, B, A_dot, B_dot = np.zeros((4, 3, len(v)))
    for k, e in enumerate(np.eye(len(v))):
        _, slope, own = derivatives_along(pose, q, e, reach)
        mixed = v[0] * own if len(v) == 1 else 0.5 * (derivatives_along(pose, q, v + e, reach)[2] - bend - own)
        A[:, k], B[:, k] = vee(slope[:, :3] @ R.T), slope[:, 3]
        A_dot[:, k], B_dot[:, k] = vee(mixed[:, :3] @ R.T + slope[:, :3] @ along[:, :3].T), mixed[:, 3]
    return JointMotion(R, E[:, 3], A, B, A_dot, B_dot)


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
        out.u[i] = u_p + cross(w_p, r) + F @ m.B @ vi
        out.frames.append(F)
        out.joints.append(m)
    return out


def body_jacobian(model: lw.Model, q: np.ndarray) -> np.ndarray:
    """(6 n, nv): (omega, u) of all bodies in world axes from v."""
    return jacobian_of(model, bodies_at(model, q, np.zeros(model.nv)))


def jacobian_of(model: lw.Model, b: Bodies) -> np.ndarray:
    J = np.zeros((len(model.bodies), 6, model.nv))
    at_v = 0
    for i, body in enumerate(model.bodies):
        if body.parent >= 0:
            r = b.x[i] - b.x[body.parent]
            J[i] = np.block([[np.eye(3), np.zeros((3, 3))], [-hat(r), np.eye(3)]]) @ J[body.parent]
        F, m, nv = b.frames[i], b.joints[i], body.joint.nv
        J[i, :, at_v : at_v + nv] += np.vstack([F @ m.A, F @ m.B])
        at_v += nv
    return J.reshape(6 * len(model.bodies), model.nv)


def jacobian_rate_of(model: lw.Model, b: Bodies, J: np.ndarray) -> np.ndarray:
    """(6 n, nv): the rate of J = `jacobian_of(model, b)`, world axes."""
    shape = (len(model.bodies), 6, model.nv)
    J, J_dot = J.reshape(shape), np.zeros(shape)
    at_v = 0
    for i, body in enumerate(model.bodies):
        p, w_p = body.parent, np.zeros(3)
        if p >= 0:
            w_p, r, r_dot = b.w[p], b.x[i] - b.x[p], b.u[i] - b.u[p]
            J_dot[i] = J_dot[p]
            J_dot[i, 3:] -= hat(r) @ J_dot[p, :3] + hat(r_dot) @ J[p, :3]
        F, m, nv = b.frames[i], b.joints[i], body.joint.nv
        for rows, X, X_dot in ((slice(3), m.A, m.A_dot), (slice(3, 6), m.B, m.B_dot)):
            J_dot[i, rows, at_v : at_v + nv] += hat(w_p) @ F @ X + F @ X_dot
        at_v += nv
    return J_dot.reshape(6 * len(model.bodies), model.nv)


def in_body_axes(b: Bodies, J: np.ndarray) -> np.ndarray:
    """R^T J of every body, angular and linear rows alike."""
    return np.einsum("nji,nkjv->nkiv", b.R, J.reshape(len(b.x), 2, 3, J.shape[1])).reshape(J.shape)


def rate_in_body_axes(b: Bodies, J: np.ndarray, J_dot: np.ndarray) -> np.ndarray:
    """The rate of R^T J: R^T (J_dot - [omega] J)."""
    spin = np.array([hat(w) for w in b.w])
    turning = np.einsum("nij,nkjv->nkiv", spin, J.reshape(len(b.x), 2, 3, J.shape[1])).reshape(J.shape)
    return in_body_axes(b, J_dot - turning)


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
    return b.x[body] + r, b.u[body] + cross(w, r), J, cross(w, cross(w, r))


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
    n_dot = cross(w, n)
    J = n @ (J_a - J_c)
    J[6 * c : 6 * c + 3] += cross(n, d)  # (alpha x n) . d
    bias = n @ (bias_a - bias_c) + 2.0 * n_dot @ d_dot + cross(w, n_dot) @ d
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


def dense_dynamics(
    model: lw.Model,
    state: lw.State,
    tau: np.ndarray,
    external: np.ndarray,
    extra: Extra | None = None,
    bodies: Bodies | None = None,
) -> Dense:
    """Solve the equations of motion of all bodies and joints at once, in the order of the module's text."""
    n, nv = len(model.bodies), model.nv
    b = bodies or bodies_at(model, state.q, state.v)
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
                cross(w_p, wv) + F @ m.A_dot @ v,
                cross(w_p, cross(w_p, r)) + 2.0 * cross(w_p, bv) + F @ m.B_dot @ v,
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


def body_masses(model: lw.Model, b: Bodies) -> tuple[np.ndarray, np.ndarray]:
    """(n, 6, 6) and (n, 6): `newton_euler` of all bodies."""
    pairs = [newton_euler(body.inertia, b.R[i], b.w[i], model.gravity) for i, body in enumerate(model.bodies)]
    return np.array([mass for mass, _ in pairs]), np.array([load for _, load in pairs])


def dense_mass_matrix(model: lw.Model, b: Bodies, J: np.ndarray) -> np.ndarray:
    """J^T mass J of all bodies, and the drives on the diagonal."""
    blocks = J.reshape(len(b.x), 6, model.nv)
    return J.T @ (body_masses(model, b)[0] @ blocks).reshape(J.shape) + np.diag(model.armature)


def dense_inverse(
    model: lw.Model, b: Bodies, J: np.ndarray, acc: np.ndarray, external: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """J^T resultants (nv,) and transmitted wrenches (n, 6; body axes) that go with accelerations acc (n, 6) of the bodies.

    The resultant on a body is its mass times acceleration less its loads; a joint transmits those of all bodies it carries.
    """
    n = len(b.x)
    mass, load = body_masses(model, b)
    given = np.einsum("nij,nkj->nki", b.R, external.reshape(n, 2, 3)).reshape(n, 6)
    resultant = np.einsum("nij,nj->ni", mass, acc) - load - given
    carried = resultant.copy()
    for i in reversed(range(n)):
        p = model.bodies[i].parent
        if p >= 0:
            carried[p] += carried[i] + np.concatenate([cross(b.x[i] - b.x[p], carried[i, 3:]), np.zeros(3)])
    return J.T @ resultant.reshape(-1), np.einsum("nji,nkj->nki", b.R, carried.reshape(n, 2, 3)).reshape(n, 6)


def newton_euler(inertia: Any, R: np.ndarray, w: np.ndarray, gravity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(mass, right-hand side) of (alpha, a) of a body's origin: moments about the origin, then forces, world axes."""
    m, c = inertia.mass, R @ inertia.com
    J = R @ inertia.tensor @ R.T
    C = hat(c)
    mass = np.block([[J - m * C @ C, m * C], [-m * C, m * np.eye(3)]])
    force = m * (gravity - cross(w, cross(w, c)))
    return mass, np.concatenate([-cross(w, J @ w) + cross(c, force), force])


def refined_solve(M: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """A dense solve with two refinements whose residuals are computed in extended precision."""
    factor = lu_factor(M)
    z = lu_solve(factor, rhs).astype(np.longdouble)
    wide = M.astype(np.longdouble)
    for _ in range(2):
        z = z + lu_solve(factor, (rhs - wide @ z).astype(float))
    return z.astype(float)
