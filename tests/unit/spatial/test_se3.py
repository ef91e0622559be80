"""SE(3): group axioms, exp and log, moving twists, wrenches and inertias, tangents against finite differences."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.linalg
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from models import random_inertia, rotation, turn
from symbols import evaluated

from linkwork.errors import InputError
from linkwork.kernel.symbol import variable
from linkwork.spatial import SE3, Ad, Articulated, Tangent, ad, entire, quaternion, so3
from linkwork.spatial.jet import Jet, biases, coordinates, gradient_rates, gradients, rates, values
from linkwork.spatial.scalar import array, norm, stack
from linkwork.spatial.se3 import bracket, left_jacobian, right_jacobian
from linkwork.spatial.stage import Rotation, Shift, Turn

Vector = np.ndarray


def close(a: Any, b: Any, tol: float = 1e-13) -> None:
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape
    assert np.all(np.isfinite(a))
    np.testing.assert_allclose(a, b, rtol=0, atol=tol * (1 + np.abs(b).max(initial=0.0)))


# --- samples --------------------------------------------------------------------------------------------------------------
coordinate = st.floats(-3, 3)
vectors = st.tuples(*3 * [coordinate]).map(np.array)
directions = vectors.filter(lambda a: np.linalg.norm(a) > 1e-3).map(lambda a: a / np.linalg.norm(a))
angles = st.one_of(
    st.floats(0.0, np.pi),
    st.sampled_from([0.0, 1e-300, 1e-160, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 1.0, 2.0, np.pi]),
    st.sampled_from([1e-15, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3]).map(lambda d: np.pi - d),
)
rotation_vectors = st.builds(lambda n, angle: angle * n, directions, angles)
twists = st.builds(lambda w, v: np.concatenate([w, v]), rotation_vectors, vectors)
primitives = st.one_of(
    st.builds(lambda k, a: (SE3.rot_x, SE3.rot_y, SE3.rot_z)[k](a), st.integers(0, 2), coordinate),
    vectors.map(lambda p: SE3(p=p)),
    st.builds(SE3.rot_axis, directions, coordinate),
    twists.map(SE3.exp),
    rotation_vectors.map(SE3.rot_exp),
    st.builds(lambda n, a, p: SE3(R=rotation(n, a), p=p), directions, coordinate, vectors),
    st.builds(lambda k, a, p: SE3(R=turn(k, a), p=p), st.integers(0, 2), coordinate, vectors),
    st.just(SE3()),
)


def product(factors: list[SE3]) -> SE3:
    E = SE3()
    for factor in factors:
        E = E @ factor
    return E


transforms = st.lists(primitives, min_size=1, max_size=4).map(product)
many = settings(deadline=None, max_examples=60)


def adjoint(E: SE3) -> np.ndarray:
    """[[R, 0], [[p] R, R]], from its definition."""
    R, (x, y, z) = E.R, E.p
    P = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.block([[R, np.zeros((3, 3))], [P @ R, R]])


def hat(xi: Vector) -> np.ndarray:
    """The 4x4 matrix of a twist."""
    out = np.zeros((4, 4))
    out[:3, :3], out[:3, 3] = so3.hat(xi[:3]), xi[3:]
    return out


def vee(X: np.ndarray) -> Vector:
    return np.array([X[2, 1], X[0, 2], X[1, 0], *X[:3, 3]])


def slope(f: Callable[[float], Any], h: float = 0.004) -> np.ndarray:
    """f'(0) by central differences of order eight."""
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    return sum(w * (np.asarray(f(k * h), float) - np.asarray(f(-k * h), float)) for k, w in weights.items()) / h


# --- the group ------------------------------------------------------------------------------------------------------------
@many
@given(A=transforms, B=transforms, C=transforms, x=vectors)
def test_group_axioms(A: SE3, B: SE3, C: SE3, x: Vector) -> None:
    close((A @ B).matrix, A.matrix @ B.matrix)
    close(((A @ B) @ C).matrix, (A @ (B @ C)).matrix)
    close((SE3() @ A).matrix, A.matrix, 0.0)
    close((A @ SE3()).matrix, A.matrix, 0.0)
    for I in (A @ A.inverse(), A.inverse() @ A):
        close(I.matrix, np.eye(4))
    close(A.inverse().matrix, np.linalg.inv(A.matrix))
    close((A @ B).inverse().matrix, (B.inverse() @ A.inverse()).matrix)
    close(A.inverse().inverse().matrix, A.matrix, 1e-15)
    close(A @ x, (A.matrix @ [*x, 1.0])[:3])
    close(A.act(x), A.R @ x + A.p)
    close((A @ B).act(x), A.act(B.act(x)))


@many
@given(E=transforms, x=vectors)
def test_parts(E: SE3, x: Vector) -> None:
    close(E.R @ E.R.T, np.eye(3))
    assert np.linalg.det(E.R) == pytest.approx(1.0)
    close(E.matrix, np.block([[E.R, E.p[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]]), 0.0)
    close(E.rotate(x), E.R @ x)
    close(E.unrotate(x), E.R.T @ x)
    one = E.collapsed()
    assert [type(s) for s in one.stages] == [Shift, Rotation]
    close(one.matrix, E.matrix, 1e-15)
    assert E.matrix.dtype == float


def test_the_identity_has_no_stages() -> None:
    assert (
        SE3().stages == SE3(np.eye(3), np.zeros(3)).stages == SE3(R=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], p=(0, 0, 0)).stages == ()
    )
    assert np.array_equal(SE3().matrix, np.eye(4))


def test_stages_of_what_is_given() -> None:
    assert [type(s) for s in SE3(R=rotation((0.6, 0.0, 0.8), 1.0), p=(1, 2, 3)).stages] == [Shift, Rotation]
    assert [type(s) for s in SE3(R=turn(1, 0.5)).stages] == [Turn]
    assert [type(s) for s in (SE3(p=(1, 2, 3)) @ SE3.rot_x(0.3) @ SE3.rot_z(0.2)).stages] == [Shift, Turn, Turn]


def test_a_transform_owns_its_numbers() -> None:
    R, p = rotation((0.6, 0.0, 0.8), 1.0), np.array([1.0, 2.0, 3.0])
    E = SE3(R, p)
    before = E.matrix
    R[:], p[:] = 0.0, 0.0
    close(E.matrix, before, 0.0)


VECTORS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "position": (lambda x: SE3(p=x), 3),
    "axis": (lambda x: SE3.rot_axis(x, 0.5), 3),
    "twist": (SE3.exp, 6),
    "rotation vector": (SE3.rot_exp, 3),
    "quaternion": (SE3.rot_quat, 4),
    "point": (lambda x: SE3() @ x, 3),
}


@pytest.mark.parametrize("name", VECTORS)
def test_vectors_have_their_number_of_entries(name: str) -> None:
    make, n = VECTORS[name]
    for shape in ((n - 1,), (n + 1,), (n, 1), (1, n), (0,), ()):
        for x in (np.zeros(shape), np.zeros(shape, dtype=object), np.zeros(shape).tolist()):
            with pytest.raises(InputError, match=rf"SE3: the {name} must have {n} entries, not shape {re.escape(str(shape))}"):
                make(x)


@pytest.mark.parametrize("R", [np.eye(2), np.eye(4), np.ones(3), np.zeros((3, 3, 1)), [[1.0, 0.0], [0.0, 1.0]], 1.0], ids=repr)
def test_a_rotation_is_three_by_three(R: Any) -> None:
    with pytest.raises(InputError, match=r"SE3: the rotation must be a 3x3 matrix, not of shape \("):
        SE3(R=R)


def test_repr_shows_both_parts() -> None:
    assert repr(SE3(p=(1.0, 2.0, 3.0))).startswith("SE3(R=[[1., 0., 0.]")
    assert "p=[" in repr(SE3())


# --- primitives -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.5, -2.0, np.pi, 7.0])
def test_turns(angle: float) -> None:
    for k, make in enumerate((SE3.rot_x, SE3.rot_y, SE3.rot_z)):
        close(make(angle).matrix[:3, :3], turn(k, angle), 1e-16)
        for sign in (1.0, -1.0):
            axis = sign * np.eye(3)[k]
            E = SE3.rot_axis(tuple(axis), angle)
            assert [type(s) for s in E.stages] == [Turn]
            close(E.R, rotation(axis, angle), 1e-15)
    for axis in ((0.6, 0.0, 0.8), (0.36, -0.48, 0.8), (0.0, 0.6, -0.8)):
        close(SE3.rot_axis(axis, angle).R, rotation(axis, angle), 1e-15)
        close(SE3.rot_exp(np.array(axis) * angle).R, rotation(axis, angle), 1e-15)


@many
@given(n=directions, angle=coordinate)
def test_quaternions(n: Vector, angle: float) -> None:
    q = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * n)])
    close(SE3.rot_quat(q).R, rotation(n, angle))
    close(SE3.rot_quat(tuple(-q)).R, rotation(n, angle))


@many
@given(xi=twists)
def test_exp_is_the_matrix_exponential(xi: Vector) -> None:
    close(SE3.exp(xi).matrix, scipy.linalg.expm(hat(xi)))
    close(SE3.exp(tuple(xi)).inverse().matrix, SE3.exp(-xi).matrix)


@many
@given(xi=twists)
def test_log_inverts_exp(xi: Vector) -> None:
    """For angles up to pi; next to pi the angular part is found to 1e-15 or so, the linear as well as the axis is."""
    assume(np.linalg.norm(xi[:3]) < np.pi - 1e-9)
    close(SE3.exp(xi).log(), xi, 1e-12)


@many
@given(E=transforms)
def test_exp_inverts_log(E: SE3) -> None:
    """Also at pi, where the axis may have either sign."""
    xi = E.log()
    assert np.linalg.norm(xi[:3]) <= np.pi + 1e-14
    close(SE3.exp(xi).matrix, E.matrix)


def test_exp_of_one_parameter_is_a_group() -> None:
    xi = np.array([0.3, -0.5, 0.8, 1.0, 2.0, -1.0])
    close((SE3.exp(0.3 * xi) @ SE3.exp(0.9 * xi)).matrix, SE3.exp(1.2 * xi).matrix)


# --- Ad and ad ------------------------------------------------------------------------------------------------------------
@many
@given(A=transforms, B=transforms, a=twists, b=twists)
def test_adjoints(A: SE3, B: SE3, a: Vector, b: Vector) -> None:
    close(Ad(A), adjoint(A))
    close(Ad(A @ B), Ad(A) @ Ad(B), 1e-12)
    close(Ad(A.inverse()), np.linalg.inv(Ad(A)), 1e-11)
    close(hat(Ad(A) @ a), A.matrix @ hat(a) @ A.inverse().matrix, 1e-12)
    close(Ad(A) @ bracket(a, b), bracket(Ad(A) @ a, Ad(A) @ b), 1e-12)


@many
@given(a=twists, b=twists, c=twists)
def test_brackets(a: Vector, b: Vector, c: Vector) -> None:
    close(hat(bracket(a, b)), hat(a) @ hat(b) - hat(b) @ hat(a))
    close(ad(a) @ b, bracket(a, b))
    close(bracket(a, b), -bracket(b, a), 1e-15)
    close(ad(bracket(a, b)), ad(a) @ ad(b) - ad(b) @ ad(a))
    jacobi = bracket(a, bracket(b, c)) + bracket(b, bracket(c, a)) + bracket(c, bracket(a, b))
    close(jacobi, np.zeros(6), 1e-11)


@many
@given(xi=twists)
def test_ad_generates_Ad(xi: Vector) -> None:
    close(Ad(SE3.exp(xi)), scipy.linalg.expm(ad(xi)), 1e-12)
    assert Ad(SE3.exp(xi)).dtype == ad(xi).dtype == float


# --- moving ---------------------------------------------------------------------------------------------------------------
@many
@given(E=transforms, x=twists, f=twists)
def test_twists_and_wrenches(E: SE3, x: Vector, f: Vector) -> None:
    A = adjoint(E)
    close(E.move_twist(x), A @ x)
    close(E.pull_twist(x), np.linalg.solve(A, x), 1e-11)
    close(E.pull_wrench(f), A.T @ f)
    close(E.move_wrench(f), np.linalg.solve(A.T, f), 1e-11)
    close(E.pull_twist(E.move_twist(x)), x, 1e-12)
    close(E.pull_wrench(E.move_wrench(f)), f, 1e-12)


@many
@given(E=transforms, x=twists, f=twists)
def test_power_is_invariant(E: SE3, x: Vector, f: Vector) -> None:
    scale = 1e-13 * (1 + np.abs(adjoint(E)).max()) ** 2 * 100
    assert E.move_twist(x) @ E.move_wrench(f) == pytest.approx(x @ f, abs=scale)
    assert E.pull_twist(x) @ E.pull_wrench(f) == pytest.approx(x @ f, abs=scale)


@many
@given(E=transforms, x=twists, seed=st.integers(0, 999))
def test_inertias(E: SE3, x: Vector, seed: int) -> None:
    """Rigid and any symmetric matrix."""
    rng = np.random.default_rng(seed)
    body = random_inertia(rng)
    B = rng.normal(size=(6, 6))
    back = np.linalg.inv(adjoint(E))
    J = body.about_origin
    for inertia in (Articulated.rigid(body.mass, body.first_moment, (J + J.T) / 2), Articulated.of_matrix(B @ B.T)):
        moved = E.move_inertia(inertia)
        close(moved.matrix, back.T @ inertia.matrix @ back, 1e-11)
        assert np.array_equal(moved.matrix, moved.matrix.T)
        close(moved @ x, moved.matrix.astype(float) @ x, 1e-12)
        energy = x @ inertia.matrix @ x
        assert E.move_twist(x) @ (moved @ E.move_twist(x)) == pytest.approx(energy, rel=1e-9, abs=1e-9 * (1 + energy))


def test_inertias_add_and_pack() -> None:
    rng = np.random.default_rng(1)
    a, b = (Articulated.of_matrix(x @ x.T) for x in rng.normal(size=(2, 6, 6)))
    close((a + b).matrix, a.matrix + b.matrix, 1e-16)
    assert len(a.packed()) == 21
    close(Articulated.unpacked(a.packed()).matrix, a.matrix, 0.0)
    A = rng.normal(size=(6, 6))
    close(Articulated.of_matrix(A).matrix, np.triu(A) + np.triu(A, 1).T, 0.0)


# --- tangents -------------------------------------------------------------------------------------------------------------
def raw(q: Any) -> list[list[Any]]:
    """Rz(q0) Rx(q1 q0) written out."""
    c, s, u, w = np.cos(q[0]), np.sin(q[0]), np.cos(q[1] * q[0]), np.sin(q[1] * q[0])
    return [[c, -s * u, s * w], [s, c * u, -c * w], [0.0, w, u]]


def bent(q: Any) -> Any:
    """A nonlinear function of both coordinates."""
    return q[0] * q[1] + 0.3 * np.sin(q[0]) + 0.5 * q[1]


def curve(q: Any) -> list[Any]:
    return [bent(q), 0.4 * q[0] - 0.2 * q[1] * q[1], 0.3 * np.cos(q[1]) + 0.1]


def swept(q: Any) -> Any:
    return stack(*curve(q), *(2.0 * x + q[0] for x in curve(q)[::-1]))


def unit_quaternion(q: Any) -> Any:
    x = stack(1.0 + 0.1 * q[0], bent(q), q[1], 0.5 - q[0] * q[1])
    return x * (1.0 / norm(x))


FIXED = SE3(R=rotation((0.36, -0.48, 0.8), 0.8), p=(0.3, -0.2, 0.5))
MOTIONS: dict[str, Callable[[Any], SE3]] = {
    "rot_x": lambda q: SE3.rot_x(bent(q)),
    "rot_y": lambda q: SE3.rot_y(bent(q)),
    "rot_z": lambda q: SE3.rot_z(bent(q)),
    "rot_axis": lambda q: SE3.rot_axis((0.36, -0.48, 0.8), bent(q)),
    "rot_axis along -y": lambda q: SE3.rot_axis((0.0, -1.0, 0.0), bent(q)),
    "exp": lambda q: SE3.exp(swept(q)),
    "rot_exp": lambda q: SE3.rot_exp(stack(*curve(q))),
    "rot_quat": lambda q: SE3.rot_quat(unit_quaternion(q)),
    "matrix": lambda q: SE3(R=raw(q)),
    "matrix as an array": lambda q: SE3(R=array(raw(q))),
    "matrix of one turn": lambda q: SE3(
        R=[[1.0, 0.0, 0.0], [0.0, np.cos(q[1]), -np.sin(q[1])], [0.0, np.sin(q[1]), np.cos(q[1])]]
    ),
    "shift": lambda q: SE3(p=curve(q)),
    "shift in part": lambda q: SE3(p=(0.0, q[0] * q[1], 1.0)),
    "matrix and shift": lambda q: SE3(R=raw(q), p=curve(q)),
    "still matrix, moving shift": lambda q: SE3(R=FIXED.R, p=curve(q)),
    "moving matrix, still shift": lambda q: SE3(R=raw(q), p=(1.0, 2.0, 3.0)),
    "product": lambda q: SE3.rot_axis((0.36, -0.48, 0.8), bent(q)) @ SE3.exp(swept(q)),
    "product of three": lambda q: SE3(p=curve(q)) @ SE3.rot_quat(unit_quaternion(q)) @ SE3(R=raw(q), p=(q[1], 0.0, 1.0)),
    "still first": lambda q: FIXED @ SE3.exp(swept(q)),
    "still last": lambda q: SE3.exp(swept(q)) @ FIXED,
    "inverse": lambda q: SE3.exp(swept(q)).inverse(),
    "inverse of a product": lambda q: (SE3(R=raw(q), p=curve(q)) @ FIXED @ SE3.rot_x(bent(q))).inverse(),
    "inverse twice": lambda q: SE3(R=raw(q), p=curve(q)).inverse().inverse(),
    "relative": lambda q: SE3.exp(swept(q)).inverse() @ SE3(R=raw(q), p=curve(q)),
    "collapsed": lambda q: (SE3(p=curve(q)) @ SE3.rot_x(bent(q)) @ SE3(p=curve(q))).collapsed(),
}
STATES = [((0.4, -0.7), (0.9, 0.6)), ((-1.1, 0.3), (-0.5, 1.4)), ((0.0, 0.0), (1.0, -1.0))]
EVERY_MOTION = pytest.mark.parametrize("name", MOTIONS)
EVERY_STATE = pytest.mark.parametrize(("q", "v"), [(np.array(q), np.array(v)) for q, v in STATES])


@EVERY_MOTION
@EVERY_STATE
def test_tangents_against_finite_differences(name: str, q: Vector, v: Vector) -> None:
    """Columns from differences of the matrix, their rates from differences of the columns."""
    motion = MOTIONS[name]
    E = motion(coordinates(q, v))
    still = motion(q)
    assert still.carried is None
    close(E.matrix, still.matrix, 1e-15)
    back = np.linalg.inv(still.matrix)
    t = E.tangent
    for k, e in enumerate(np.eye(2)):
        close(t.S[:, k], vee(back @ slope(lambda s, e=e: motion(q + s * e).matrix)), 1e-11)

    def later(s: float) -> Tangent:
        return motion(coordinates(q + s * v, v)).tangent

    close(t.S_dot, slope(lambda s: later(s).S), 1e-11)
    close(t.phi, np.asarray(t.S, float) @ v, 1e-14)
    close(t.bias, np.asarray(t.S_dot, float) @ v, 1e-13)


POINTS: list[Callable[[Any], Any]] = [
    lambda q: np.array([0.5, -1.0, 2.0]),
    lambda q: stack(*curve(q)[::-1]),
    lambda q: stack(q[0] * q[1], 2.0, 0.0),
]


@EVERY_MOTION
@pytest.mark.parametrize("k", range(3), ids=["still", "moving", "moving in part"])
def test_points_carried_along(name: str, k: int) -> None:
    """E x with all derivatives."""
    (q, v), point = map(np.array, STATES[k]), POINTS[k]
    y = MOTIONS[name](coordinates(q, v)) @ point(coordinates(q, v))
    _check_point(y, lambda z: MOTIONS[name](z) @ point(z), q, v)


def _check_point(y: Vector, f: Callable[[Any], Vector], q: Vector, v: Vector) -> None:
    close(values(y), f(q), 1e-14)
    J = np.stack([slope(lambda s, e=e: f(q + s * e)) for e in np.eye(2)], axis=1)
    close(gradients(y, 2), J, 1e-11)
    close(rates(y), J @ v, 1e-11)

    def later(s: float) -> Vector:
        return f(coordinates(q + s * v, v))

    close(biases(y), slope(lambda s: rates(later(s))), 1e-11)
    close(gradient_rates(y, 2), slope(lambda s: gradients(later(s), 2)), 1e-11)


@EVERY_STATE
def test_a_still_transform_carries_a_moving_point(q: Vector, v: Vector) -> None:
    y = FIXED.act(stack(*curve(coordinates(q, v))))
    _check_point(y, lambda z: FIXED.act(stack(*curve(z))), q, v)


def test_what_is_still_gives_numbers() -> None:
    y = FIXED.act((1.0, 2.0, 3.0))
    assert y.dtype == float
    close(y, FIXED.R @ [1.0, 2.0, 3.0] + FIXED.p, 1e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-160, 1e-9, 1e-5, 1.0, 3.0, np.pi, 5.0])
def test_tangents_of_exp_at_any_angle(angle: float) -> None:
    """The body twist of exp(xi(t)): its columns are the right Jacobian, its bias their rate."""
    xi, v = np.array([0.36, -0.48, 0.8, 1.0, -0.5, 0.3]), np.array([0.3, 0.9, -0.4, 0.2, -0.7, 1.1])
    xi[:3] *= angle
    t = SE3.exp(coordinates(xi, v)).tangent
    close(t.S, series(xi, -1), 1e-14)
    close(t.bias, slope(lambda s: series(xi + s * v, -1)) @ v, 1e-11)
    r = SE3.rot_exp(coordinates(xi[:3], v[:3])).tangent
    close(r.S[:3], so3.right_jacobian(xi[:3]), 1e-15)
    close(r.S[3:], np.zeros((3, 3)), 0.0)
    close(r.bias[:3], slope(lambda s: so3.right_jacobian(xi[:3] + s * v[:3])) @ v[:3], 1e-11)


def test_a_quaternion_that_moves_off_the_sphere_of_units() -> None:
    """Rates of the unit quaternion alone count: those along it are no rotation."""
    q = quaternion.exp(np.array([0.3, -0.5, 0.8]))
    omega = np.array([0.4, 0.2, -0.9])
    q_dot = 0.5 * quaternion.multiply(q, np.array([0.0, *omega]))
    E = SE3.rot_quat(stack(*(Jet(a, (), b, 0.0) for a, b in zip(q, q_dot + 2.0 * q, strict=True))))
    close(E.tangent.phi, np.array([*omega, 0, 0, 0]), 1e-15)


def test_a_still_transform_has_no_tangent() -> None:
    for E in (SE3(), FIXED, SE3.exp(np.ones(6)), SE3.rot_quat((1.0, 0.0, 0.0, 0.0)), FIXED @ FIXED, FIXED.inverse()):
        with pytest.raises(InputError, match="does not move: it was built from plain numbers, not from jets"):
            _ = E.tangent


def test_a_tangent_can_be_given() -> None:
    S = np.eye(6)[:, :2]
    E = FIXED.with_tangent(Tangent.constant(S, S @ [2.0, 3.0]))
    close(E.matrix, FIXED.matrix, 0.0)
    close(E.tangent.S, S, 0.0)
    close(E.tangent.bias, np.zeros(6), 0.0)
    close(E.tangent.S_dot, np.zeros((6, 2)), 0.0)
    assert E.with_tangent(None).carried is None
    moved = SE3.rot_x(0.5) @ E @ FIXED
    close(moved.tangent.S, Ad(FIXED.inverse()) @ S)


def test_a_motion_without_coordinates() -> None:
    E = FIXED.with_tangent(Tangent.constant(np.zeros((6, 0)), np.zeros(6)))
    for moved in (E @ E, E.inverse(), FIXED @ E, E @ FIXED):
        assert moved.tangent.S.shape == moved.tangent.S_dot.shape == (6, 0)
        close(moved.tangent.phi, np.zeros(6), 0.0)


# --- Jacobians of the exponential -----------------------------------------------------------------------------------------
def series(xi: Vector, sign: int) -> np.ndarray:
    """sum (sign ad)^k / (k+1)! in fixed point of 200 bits: the left Jacobian for +1, the right for -1."""
    bits = 200
    A = np.array([int(Fraction(x) * 2**bits) for x in (sign * ad(xi)).flat], dtype=object).reshape(6, 6)
    term = total = np.array(np.eye(6, dtype=int), dtype=object) << bits
    for k in range(2, 90):
        term = ((term @ A) >> bits) // k
        total = total + term
    return np.array([float(Fraction(x, 2**bits)) for x in total.flat]).reshape(6, 6)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_jacobians_against_finite_differences(angle: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    w, v = rng.normal(size=(2, 3))
    xi = np.concatenate([angle * w / np.linalg.norm(w), v])
    E = SE3.exp(xi)
    for k, e in enumerate(np.eye(6)):
        E_dot = slope(lambda s, e=e: SE3.exp(xi + s * e).matrix)
        close(right_jacobian(xi)[:, k], vee(E.inverse().matrix @ E_dot), 1e-12)
        close(left_jacobian(xi)[:, k], vee(E_dot @ E.inverse().matrix), 1e-12)


@many
@given(xi=twists, factor=st.sampled_from([1.0, 1.0, 2.0, 4.0]))
def test_jacobians_are_exact(xi: Vector, factor: float) -> None:
    """To rounding, also beyond pi and past the limits of the series."""
    xi = factor * xi
    close(right_jacobian(xi), series(xi, -1), 3e-15)
    close(left_jacobian(xi), series(xi, 1), 3e-15)
    close(left_jacobian(xi), Ad(SE3.exp(xi)) @ right_jacobian(xi).astype(float), 1e-13)


COEFFICIENTS: list[Callable[[Any], Any]] = [
    lambda x: (4 - x * mp.sin(x) - 4 * mp.cos(x)) / (2 * x**2),
    lambda x: (4 * x - 5 * mp.sin(x) + x * mp.cos(x)) / (2 * x**3),
    lambda x: (2 - x * mp.sin(x) - 2 * mp.cos(x)) / (2 * x**4),
    lambda x: (2 * x - 3 * mp.sin(x) + x * mp.cos(x)) / (2 * x**5),
]


@pytest.mark.parametrize("x", [0.0, 1e-9, 1e-3, 0.1, 0.3, 1.0, 2.0, 3.0, 4.4, 4.5, 4.89, 4.91, 6.0, 10.0])
def test_coefficients_of_the_jacobian_have_exact_derivatives(x: float) -> None:
    """Values and two derivatives, to rounding; the limits of the series are at 4.47 and 4.90.

    The slopes of the first two vanish at zero: they are differences of slopes of 1/12 and 1/60.
    """
    x2 = x * x
    for k, jet in enumerate(entire.se3_jacobian(Jet(x2, (1.0,), 1.0, 0.0))):

        def exact(z: Any, k: int = k) -> Any:
            with mp.workdps(300):
                return mp.re(COEFFICIENTS[k](mp.sqrt(z)))

        with mp.workdps(50):
            truth = [mp.diff(exact, max(mp.mpf(x2), mp.mpf("1e-40")), order) for order in range(4)]
        for order, computed in enumerate((jet.x, jet.grad[0], jet.bias)):
            scale = max(abs(truth[order]), abs(x2 * truth[order + 1]), (0.1, 0.02, 0, 0)[k])
            assert abs(mp.mpf(computed) - truth[order]) < (1e-15, 2e-15, 5e-15)[order] * scale


# --- symbols --------------------------------------------------------------------------------------------------------------
@EVERY_MOTION
def test_symbols_agree_with_numbers(name: str) -> None:
    """The matrix and the tangents of a transform built from jets of symbols."""
    symbols = [variable(s) for s in ("q0", "q1", "v0", "v1")]

    def computed(x: Any) -> list[Any]:
        E = MOTIONS[name](coordinates(stack(*x[:2]), stack(*x[2:])))
        t = E.tangent
        return [*E.matrix.flat, *t.S.flat, *t.phi, *t.bias, *t.S_dot.flat]

    traced = computed(symbols)
    for q, v in STATES[:2]:
        close(evaluated(traced, symbols, [*q, *v]), np.array(computed([*q, *v]), float), 1e-13)
