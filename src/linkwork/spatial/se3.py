"""SE(3): the value type `SE3`, its exponential and logarithm, Ad and ad.

`E_pj` maps coordinates in j to coordinates in p. Twists are (angular, linear) in body axes, wrenches (moment, force):
`E_dot = E [phi]`. A transform built from jets carries its tangents in body axes through products and inverses:

    d(A B):   S = Ad(B^-1) S_A + S_B,   S_dot = Ad(B^-1) S_dot_A - ad(phi_B) Ad(B^-1) S_A + S_dot_B.

Only the primitives (turn, shift, exponential, quaternion, raw matrix) differentiate anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import isfinite
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError, ModelError, SymbolError, UnitWarning, warn
from . import entire, quaternion, so3
from . import stage as st
from .gate import real, reals, rotation_problem, shown
from .inertia import Articulated
from .jet import Jet, biases, gradient_rates, gradients, rates, values
from .kinds import explained
from .scalar import Element, Scalar, Vector, array, cross, dot, is_number, is_zero, numeric, read_only, stack, zeros
from .stage import Shift, Stage, Turn
from .tangent import Tangent, along, column_count, has_jets, mapped, of_matrix, of_rotation, of_shift
from .tape import ACTIVE, noted_call, tape_of

MANY_TURNS = 4.0 * np.pi  # rad: nobody writes down a larger angle of a pose
LARGEST_ANGLE = 1e300  # rad: a float, and finite
IN_DEGREES = 5.0  # a larger angle that is a multiple of this was meant in degrees


@dataclass(frozen=True, slots=True, init=False, eq=False)
class SE3:
    """A rigid transform: rotation `R` (3, 3) and position `p` (3), kept as a product of elementary stages.

    It keeps copies of what it is given, and hands out arrays that cannot be written to.

    >>> E = lw.SE3(p=(1, 0, 0)) @ lw.SE3.rot_z(np.pi / 2)
    >>> np.round(E @ np.array([1.0, 0, 0]), 6)
    array([1., 1., 0.])
    """

    stages: tuple[Stage, ...]
    carried: Tangent | None

    def __new__(cls, R: Any = None, p: Any = None) -> SE3:
        return (noted_call("made", R, p) if ACTIVE else None) or object.__new__(cls)

    def __init__(self, R: Any = None, p: Any = None) -> None:
        """The transform x -> R x + p, of numbers, symbols or jets. The identity by default."""
        shift, turn = IDENTITY_PARTS
        if p is not None:
            position = _vector("position", p, 3)
            shift = _carrying(st.shift_stages(read_only(values(position))), of_shift(position))
        if R is not None:
            rotation = _matrix(R)
            turn = _carrying(st.rotation_stages(read_only(values(rotation))), of_matrix(rotation))
        object.__setattr__(self, "stages", shift.stages + turn.stages)
        object.__setattr__(self, "carried", _joined(shift, shift.carried, turn, turn.carried))

    is_record: ClassVar[bool] = True

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> SE3:
        """The transform that a file says: a constant product of elementary moves, which were looked at."""
        stages = state.get("stages")
        if set(state) != {"stages", "carried"} or state["carried"] is not None or not isinstance(stages, tuple):
            raise ModelError("a transform is a product of elementary moves, and does not move by itself")
        if not all(isinstance(s, (st.Turn, st.Rotation, st.Shift)) for s in stages):
            raise ModelError("a transform is a product of turns, rotations and shifts")
        return _carrying(stages, None)

    def __deepcopy__(self, memo: Any) -> SE3:
        return self

    # --- primitives -------------------------------------------------------------------------------------------------
    @staticmethod
    def rot_x(angle: Scalar) -> SE3:
        """Turn about x."""
        return (noted_call("rot_x", angle) if ACTIVE else None) or _turn(0, angle)

    @staticmethod
    def rot_y(angle: Scalar) -> SE3:
        """Turn about y."""
        return (noted_call("rot_y", angle) if ACTIVE else None) or _turn(1, angle)

    @staticmethod
    def rot_z(angle: Scalar) -> SE3:
        """Turn about z."""
        return (noted_call("rot_z", angle) if ACTIVE else None) or _turn(2, angle)

    @staticmethod
    def rot_axis(axis: Vector, angle: Scalar) -> SE3:
        """Turn about a constant unit axis."""
        noted = noted_call("rot_axis", axis, angle) if ACTIVE else None
        if noted is not None:
            return noted
        axis = _vector("axis", axis, 3)
        for k in range(3):
            if is_zero(axis[(k + 1) % 3]) and is_zero(axis[(k + 2) % 3]) and is_number(axis[k]):
                return _turn(k, _angle(angle) * float(axis[k]))
        x = angle.x if isinstance(angle, Jet) else _angle(angle)
        c, s = np.cos(x), np.sin(x)
        R = st.skew(axis) * s + np.outer(axis, axis) * (1.0 - c) + np.eye(3) * c
        return _carrying((st.Rotation(numeric(R)),), along(np.concatenate([axis, np.zeros(3)]), angle))

    @staticmethod
    def exp(xi: Vector) -> SE3:
        """The exponential of a twist (angular, linear)."""
        noted = noted_call("exp", xi) if ACTIVE else None
        if noted is not None:
            return noted
        xi = _vector("twist", xi, 6)
        x = values(xi)
        J = so3.left_jacobian(x[:3])
        E = _carrying((Shift(J @ x[3:]), st.Rotation(so3.exp(x[:3]))), None)
        if not has_jets(xi):
            return E
        J_r = right_jacobian(xi)
        n = column_count(xi)
        return _carrying(E.stages, Tangent(*mapped(values(J_r), rates(J_r), xi, n)))

    @staticmethod
    def rot_exp(w: Vector) -> SE3:
        """The rotation exp([w])."""
        noted = noted_call("rot_exp", w) if ACTIVE else None
        if noted is not None:
            return noted
        w = _vector("rotation vector", w, 3)
        stages = (st.Rotation(so3.exp(values(w))),)
        if not has_jets(w):
            return _carrying(stages, None)
        J_r = so3.right_jacobian(w)
        S, phi, bias, S_dot = mapped(values(J_r), rates(J_r), w, column_count(w))
        return _carrying(stages, of_rotation(S, phi, bias, S_dot))

    @staticmethod
    def rot_quat(quat_wxyz: Vector) -> SE3:
        """The rotation of a unit quaternion (w, x, y, z)."""
        noted = noted_call("rot_quat", quat_wxyz) if ACTIVE else None
        if noted is not None:
            return noted
        quat = _vector("quaternion", quat_wxyz, 4)
        q = values(quat)
        if q.dtype != object and not np.any(q):
            raise InputError("SE3: the quaternion (wxyz) has norm 0; no rotation is meant")
        stages = (st.Rotation(quaternion.to_rotation(q)),)
        if not has_jets(quat):
            return _carrying(stages, None)

        n = column_count(quat)
        # w = 2 vec(conj(q) q_dot); its rate is 2 vec(conj(q) q_ddot), as conj(q_dot) q_dot is real. Columns of S mix two
        # velocities, so their rates keep the term with conj(q_dot).
        A = np.stack([2.0 * quaternion.multiply(quaternion.conjugate(q), e)[1:] for e in np.eye(4)], axis=1)
        A_dot = np.stack([2.0 * quaternion.multiply(quaternion.conjugate(rates(quat)), e)[1:] for e in np.eye(4)], axis=1)
        return _carrying(stages, of_rotation(*mapped(A, A_dot, quat, n)))

    # --- parts ------------------------------------------------------------------------------------------------------
    @property
    def R(self) -> np.ndarray:
        """The rotation matrix (3, 3)."""
        R = np.eye(3)
        for stage in self.stages:
            if not isinstance(stage, Shift):
                R = R @ st.rotation_matrix(stage)
        return read_only(R)

    @property
    def p(self) -> Vector:
        """The position of the inner origin in outer coordinates (3,)."""
        return read_only(self._image(np.zeros(3)))

    @property
    def matrix(self) -> np.ndarray:
        """The homogeneous matrix (4, 4)."""
        out = np.array(np.eye(4), dtype=object)
        out[:3, :3], out[:3, 3] = self.R, self.p
        return numeric(out)

    @property
    def tangent(self) -> Tangent:
        """How the transform moves; only transforms built from jets know."""
        if self.carried is None:
            raise InputError("this transform does not move: it was built from plain numbers, not from jets")
        return self.carried

    def with_tangent(self, tangent: Tangent | None) -> SE3:
        """The same transform, moving as given (for joints that know their subspace better than the chain rule)."""
        return _carrying(self.stages, tangent)

    def collapsed(self) -> SE3:
        """The same transform as one shift and one rotation."""
        return _carrying((Shift(self.p), st.Rotation(self.R)), self.carried)

    # --- group ------------------------------------------------------------------------------------------------------
    def __matmul__(self, other: Any) -> Any:
        """The product with a transform, or the image of a point (3,)."""
        if isinstance(other, SE3):
            return _carrying(_in_a_row(self.stages, other.stages), _joined(self, self.carried, other, other.carried))
        return self.act(other)

    def inverse(self) -> SE3:
        """E^-1; its tangent is -Ad(E) S."""
        back = _carrying(tuple(s.inverse() for s in reversed(self.stages)), None)
        if self.carried is None:
            return back
        t = self.carried
        S_dot = t.S_dot + _each_column(lambda x: bracket(t.phi, x), t.S)
        S, S_dot = (-_each_column(self.move_twist, columns) for columns in (t.S, S_dot))
        return _carrying(back.stages, Tangent(S, -self.move_twist(t.phi), -self.move_twist(t.bias), S_dot))

    def act(self, point: Vector) -> Vector:
        """R x + p for a point (3,); an array of jets if the transform or the point moves."""
        x = _vector("point", point, 3)
        tape = tape_of(x) if ACTIVE else None
        if tape is not None:
            return tape.array((3,), "SE3.act", self, x)
        y = self._image(values(x))
        if self.carried is None and not has_jets(x):
            return y
        n = self.carried.S.shape[1] if self.carried is not None else column_count(x)
        t = self.carried or Tangent.constant(np.zeros((6, n)), np.zeros(6))
        x0, x1, x2 = values(x), rates(x), biases(x)
        w, v = t.phi[:3], t.phi[3:]

        def velocity(slope: Vector, of_x: Vector) -> Vector:
            return slope[3:] + cross(slope[:3], x0) + of_x

        G, G_dot = [], []
        for k, (g, g_dot) in enumerate(zip(gradients(x, n).T, gradient_rates(x, n).T, strict=True)):
            u = velocity(t.S[:, k], g)
            G.append(self.rotate(u))
            G_dot.append(self.rotate(cross(w, u) + velocity(t.S_dot[:, k], g_dot) + cross(t.S[:3, k], x1)))
        u = v + cross(w, x0) + x1
        y_dot = self.rotate(u)
        y_bias = self.rotate(cross(w, u) + velocity(t.bias, x2) + cross(w, x1))
        jets = (Jet(y[i], tuple(g[i] for g in G), y_dot[i], y_bias[i], tuple(g[i] for g in G_dot)) for i in range(3))
        return stack(*jets)

    def log(self) -> Vector:
        """The twist xi (angular, linear) with exp(xi) = E, |angular| <= pi."""
        w = so3.log(self.R)
        return np.concatenate([w, so3.left_jacobian_inverse(w) @ self.p])

    # --- moving vectors: "move" inner to outer, "pull" outer to inner -------------------------------------------------
    def rotate(self, x: Vector) -> Vector:
        """R x."""
        for stage in reversed(self.stages):
            x = st.move_vector(stage, x)
        return x

    def unrotate(self, x: Vector) -> Vector:
        """R^T x."""
        for stage in self.stages:
            x = st.pull_vector(stage, x)
        return x

    def move_twist(self, x: Vector) -> Vector:
        """Ad(E) x: a twist (angular, linear) from inner to outer coordinates."""
        w, v = x[:3], x[3:]
        for stage in reversed(self.stages):
            if isinstance(stage, Shift):
                v = v + cross(stage.p, w)
            else:
                w, v = st.move_vector(stage, w), st.move_vector(stage, v)
        return np.concatenate([w, v])

    def pull_twist(self, x: Vector) -> Vector:
        """Ad(E)^-1 x: a twist from outer to inner coordinates."""
        w, v = x[:3], x[3:]
        for stage in self.stages:
            if isinstance(stage, Shift):
                v = v + cross(w, stage.p)
            else:
                w, v = st.pull_vector(stage, w), st.pull_vector(stage, v)
        return np.concatenate([w, v])

    def move_wrench(self, f: Vector) -> Vector:
        """Ad(E)^-T f: a wrench (moment, force) from inner to outer coordinates."""
        n, f = f[:3], f[3:]
        for stage in reversed(self.stages):
            if isinstance(stage, Shift):
                n = n + cross(stage.p, f)
            else:
                n, f = st.move_vector(stage, n), st.move_vector(stage, f)
        return np.concatenate([n, f])

    def pull_wrench(self, f: Vector) -> Vector:
        """Ad(E)^T f: a wrench from outer to inner coordinates."""
        n, f = f[:3], f[3:]
        for stage in self.stages:
            if isinstance(stage, Shift):
                n = n - cross(stage.p, f)
            else:
                n, f = st.pull_vector(stage, n), st.pull_vector(stage, f)
        return np.concatenate([n, f])

    def move_inertia(self, inertia: Articulated) -> Articulated:
        """Ad(E)^-T I Ad(E)^-1: an inertia from inner to outer coordinates."""
        for stage in reversed(self.stages):
            inertia = inertia.moved(stage)
        return inertia

    def _image(self, x: Vector) -> Vector:
        for stage in reversed(self.stages):
            x = x + stage.p if isinstance(stage, Shift) else st.move_vector(stage, x)
        return x

    def __repr__(self) -> str:
        return f"SE3(R={np.array2string(np.asarray(self.R), separator=', ')}, p={np.asarray(self.p).tolist()})"


# --- plain functions -------------------------------------------------------------------------------------------------
@explained
def Ad(E: SE3) -> np.ndarray:
    """The 6x6 matrix [[R, 0], [[p] R, R]] that moves twists from inner to outer coordinates.

    >>> lw.Ad(lw.SE3(p=(0, 0, 1))) @ np.array([1.0, 0, 0, 0, 0, 0])
    array([1., 0., 0., 0., 1., 0.])
    """
    return numeric(np.stack([E.move_twist(column) for column in np.eye(6)], axis=1))


@explained
def ad(phi: Vector) -> np.ndarray:
    """The 6x6 matrix of the Lie bracket: ad(a) b = [a, b] = ([w_a] w_b, [v_a] w_b + [w_a] v_b).

    >>> lw.ad(np.arange(6.0)).shape
    (6, 6)
    """
    phi = _vector("twist", phi, 6)
    W, V = st.skew(phi[:3]), st.skew(phi[3:])
    return numeric(np.block([[W, np.zeros((3, 3))], [V, W]]))


def bracket(a: Vector, b: Vector) -> Vector:
    """ad(a) b without forming the matrix."""
    return np.concatenate([cross(a[:3], b[:3]), cross(a[3:], b[:3]) + cross(a[:3], b[3:])])


def left_jacobian(xi: Vector) -> np.ndarray:
    """J_l with d(exp xi) exp(-xi) = [J_l d xi]: [[J, 0], [Q, J]], J and Q of so(3)."""
    return right_jacobian(-xi)


def right_jacobian(xi: Vector) -> np.ndarray:
    """J_r with exp(-xi) d(exp xi) = [J_r d xi].

    As ad(xi) satisfies A^5 + 2 t^2 A^3 + t^4 A = 0 with t = |angular|, the series sum (-A)^k / (k+1)! is a polynomial of
    degree four in A whose coefficients are entire functions of t^2.
    """
    t2 = dot(xi[:3], xi[:3])
    a1, a2, a3, a4 = entire.se3_jacobian(t2)
    A = _ad_any(xi)
    A2 = A @ A
    A3 = A2 @ A
    eye = np.eye(6)
    return eye - A * a1 + A2 * a2 - A3 * a3 + (A3 @ A) * a4


def _ad_any(xi: Vector) -> np.ndarray:
    W, V = st.skew(xi[:3]), st.skew(xi[3:])
    return np.block([[W, zeros(3, 3)], [V, W]])


def rigid_parts(owner: str, what: str, E: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position of a frame that an element is given, checked; None is the identity."""
    if E is None:
        return np.eye(3), np.zeros(3)
    if not isinstance(E, SE3):
        raise ModelError(f"{owner}: {what.removeprefix('its ')} must be an SE3, not {type(E).__name__}")
    try:
        R, p = reals(E.R), reals(E.p)
    except ValueError as error:
        raise ModelError(f"{owner}: {what} must be of numbers, not of {error}") from None
    if not (np.all(np.isfinite(R)) and np.all(np.isfinite(p))):
        raise ModelError(f"{owner}: {what} is not finite: R = {shown(R.tolist())}, p = {p.tolist()}")
    problem = rotation_problem(R)
    if problem:
        raise ModelError(f"{owner}: the rotation of {what} is not a rotation ({problem})")
    return R, p


# --- how transforms are made ----------------------------------------------------------------------------------------
def _carrying(stages: tuple[Stage, ...], tangent: Tangent | None) -> SE3:
    E = object.__new__(SE3)
    object.__setattr__(E, "stages", stages)
    object.__setattr__(E, "carried", tangent)
    return E


IDENTITY_PARTS = (_carrying((), None), _carrying((), None))


def _joined(A: SE3, a: Tangent | None, B: SE3, b: Tangent | None) -> Tangent | None:
    """The tangent of A B: the product rule of the module's text."""
    if a is None:
        return b
    S, S_dot = (_each_column(B.pull_twist, columns) for columns in (a.S, a.S_dot))
    phi, bias = B.pull_twist(a.phi), B.pull_twist(a.bias)
    if b is None:
        return Tangent(S, phi, bias, S_dot)
    S_dot = S_dot - _each_column(lambda x: bracket(b.phi, x), S) + b.S_dot
    return Tangent(S + b.S, phi + b.phi, bias - bracket(b.phi, phi) + b.bias, S_dot)


def _each_column(fn: Any, S: np.ndarray) -> np.ndarray:
    return np.stack([fn(column) for column in S.T], axis=1) if S.shape[1] else S


def _in_a_row(first: tuple[Stage, ...], second: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """The stages of a product; two shifts that meet are one."""
    if first and second and isinstance(first[-1], Shift) and isinstance(second[0], Shift):
        return (*first[:-1], Shift(first[-1].p + second[0].p), *second[1:])
    return first + second


def _turn(axis: int, angle: Scalar) -> SE3:
    x = angle.x if isinstance(angle, Jet) else _angle(angle)
    unit = np.eye(6)[axis]
    return _carrying((Turn(axis, np.cos(x), np.sin(x)),), along(unit, angle))


def _vector(name: str, x: Any, size: int) -> Vector:
    vector = _scalars(name, x)
    if vector.shape != (size,):
        raise InputError(f"SE3: the {name} must have {size} entries, not shape {vector.shape}")
    return vector


def _matrix(R: Any) -> np.ndarray:
    matrix = _scalars("rotation", R)
    if matrix.shape != (3, 3):
        raise InputError(f"SE3: the rotation must be a 3x3 matrix, not of shape {matrix.shape}")
    return matrix


def _angle(x: Any) -> Any:
    """An angle as a number, or a traced value as it is."""
    if isinstance(x, float | int) and MANY_TURNS < abs(x) < LARGEST_ANGLE and x % IN_DEGREES == 0.0:
        warn([f"SE3: a turn of {x:g} rad looks like degrees; angles are in radians: write np.deg2rad({x:g})"], UnitWarning)
    if type(x) is float and not isfinite(x):
        raise InputError(f"SE3: the angle must be finite, not {x!r}")
    if type(x) is float or isinstance(x, Element | complex | np.complexfloating) or hasattr(x, "place"):
        return x
    try:
        return real(x)
    except ValueError as error:
        if isinstance(x, np.ndarray) and x.size == 1 and isinstance(x.item(), Element):
            raise SymbolError(
                "SE3: the angle is an array of a traced value; use lw.math.where instead of np.where, or take its entry"
            ) from None
        raise InputError(f"SE3: the angle must be a number, not {shown(x)} ({error})") from None


NO_SCALARS = {str, bytes, dict, set, bool, type(None), date, datetime, timedelta}


def _of_scalars(x: np.ndarray) -> bool:
    """Whether it is an array of scalars that rules compute with, of any kind."""
    return x.dtype == object and not NO_SCALARS & set(map(type, x.flat))


def _scalars(name: str, x: Any) -> np.ndarray:
    """Numbers, jets and traced values in an array; what is neither is refused."""
    if isinstance(x, np.ndarray) and x.ndim and (x.dtype == np.float64 or _of_scalars(x)):
        return x
    try:
        a = reals(x) if isinstance(x, np.ndarray) and x.dtype != object else array(x)
        kinds = set(map(type, a.flat)) if a.dtype == object and a.ndim else set()
        if not (NO_SCALARS | {complex}) & kinds and any(not issubclass(kind, Real) for kind in kinds):
            return a
        return reals(x)
    except (TypeError, ValueError) as error:
        raise InputError(f"SE3: the {name} must be numbers, not {shown(x)} ({error})") from None
