"""SplineCurve: a body carried along a curve through frames.

Between control frames C_k the pose follows products of screws, by the cumulative form of the basis [Sueda, 2.4.12]:

    Q(q) = C_k exp(dC_{k+1} b_1(u)) exp(dC_{k+2} b_2(u)) exp(dC_{k+3} b_3(u)),   dC_i = log(C_{i-1}^-1 C_i),   q = k + u,

with b_i the sums of the weights from i on. Each factor moves along its own fixed twist dC, so that with (B, B', B'') at u

    S <- dC B' + Ad S,    S' <- dC B'' + Ad (S' + ad(S) dC B'),    Ad of the inverse of the factor, S before the update

[Alg. 3; errata 004-21], S_dot = S' q_dot. A row of the table is a segment: C_k, and of each screw its unit axis a, angle t, 1 / t
and linear part v: nothing is branched on, and no root is taken, when the joint moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..errors import LinkworkError, ModelError
from ..spatial.jet import Jet
from ..spatial.kinds import explained
from ..spatial.scalar import Scalar, Vector, array, cross, dot
from ..spatial.se3 import SE3, Tangent, bracket
from ..spatial.table import Table
from ..spatial.tangent import along
from .base import Joint
from .formula import FormulaJoint
from .formula_checks import check_formula
from .spline_basis import SplineBasis, basis_of, derivatives

SCREW = 8  # numbers of a screw in the table
LEAST = 1e-18  # rad: the angle that stands for none; its reciprocal fits float32, and so does its square
SAME = 1e-9  # m, rad: frames as close as this coincide
HALF_TURN = 1e-6  # rad: how close to half a turn it does not say which way round


class SplineCurve(FormulaJoint):
    """One coordinate along a spline through control frames, from 0 to the number of its segments.

    frames   poses of the child frame in the inboard frame, any number: SE3, or arrays (4, 4)
    cyclic   whether the spline is closed; then its coordinate has the number of segments as its period
    basis    "bspline": near the frames, with two continuous derivatives;  "catmull-rom": through all but the first and the last,
             with one;  "bezier": through every third, with none of its own;  or a `SplineBasis`
    domain   of the coordinate, if not all segments of an open spline; beyond the ends the last segments go on

    >>> frames = [lw.SE3(p=(0.1 * k, 0, 0.02 * k * k)) for k in range(6)]
    >>> slide = lw.SplineCurve(frames)
    >>> slide.nv
    1
    """

    nq = nv = 1
    pose_lists = ("frames",)
    own_parameters: ClassVar[tuple[str, ...]] = ("table",)
    found_anew: ClassVar[tuple[str, ...]] = ("_made_from",)  # older files do not have it
    basis: SplineBasis

    @explained
    def __init__(self, frames: Any, cyclic: bool = False, basis: str | SplineBasis = "bspline", domain: Any = None) -> None:
        owner = type(self).__name__
        self._made_from = (cyclic, basis, domain)
        self.basis = basis_of(owner, basis)
        C = _poses(owner, frames)
        self.segments = self.basis.segments(owner, len(C), cyclic)
        self.frames = C
        windows = self.basis.windows(len(C), cyclic, self.segments)
        pairs = dict.fromkeys(pair for window in windows.tolist() for pair in pairwise(window))
        screws = {(i, j): screw_of(_step(owner, C, i, j)) for i, j in pairs}
        self.table = Table(np.array([_row(C, window, screws) for window in windows.tolist()]), cyclic=cyclic)
        ends = (0.0, float(self.segments)) if domain is None and not cyclic else domain
        self._take_region(owner, ends, float(self.segments) if cyclic else None)
        check_formula(self, owner)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> SplineCurve:
        """The joint that a file says: made anew of its frames."""
        return cls(state["frames"], *state.get("_made_from", (state["cyclic"] == (True,), state["basis"], state["domain"])))

    @property
    def signature(self) -> tuple[Any, ...]:
        return (type(self).__name__, self.cyclic, self.basis.matrix)

    def factor(self, screw: Vector, s: Scalar) -> SE3:
        """The part s of a screw, as it counts in the product."""
        return turned(screw, s)

    def _place(self, x: Any) -> tuple[Any, SE3, list[Vector]]:
        """Where in its segment a coordinate is, the frame at its beginning, and its screws."""
        row, u = self.table.row_and_rest(x)
        first = SE3(R=row[:9].reshape(3, 3), p=row[9:12])
        return u, first, [row[k : k + SCREW] for k in range(12, len(row), SCREW)]

    def transform(self, q: Vector) -> SE3:
        u, E, screws = self._place(q[0])
        for screw, c in zip(screws, self.basis.cumulative.tolist(), strict=True):
            E = E @ self.factor(screw, derivatives(c, u, 0)[0])
        return E

    def motion(self, q: Vector, v: Vector) -> SE3:
        u, E, screws = self._place(q[0])
        S = dS = np.zeros(6)
        for k, (screw, c) in enumerate(zip(screws, self.basis.cumulative.tolist(), strict=True)):
            B, B1, B2 = derivatives(c, u, 2)
            step, factor = twist(screw), self.factor(screw, B)
            slope = step * B1
            if k:
                dS, S = step * B2 + factor.pull_twist(dS + bracket(S, slope)), slope + factor.pull_twist(S)
            else:
                dS, S = step * B2, slope
            E = E @ factor
        S_dot = dS * v[0]
        return E.collapsed().with_tangent(Tangent(S[:, None], S * v[0], S_dot * v[0], S_dot[:, None]))

    def numbers(self) -> dict[str, Any]:
        return {"frames": self.frames}

    def _made_with(self, known: Mapping[str, Any], values: Mapping[str, Any]) -> Joint:
        return type(self)(values.get("frames", self.frames), *self._made_from)

    def __repr__(self) -> str:
        return f"SplineCurve({len(self.frames)} frames{', cyclic' * any(self.cyclic)})"


# --- screws -------------------------------------------------------------------------------------------------------------------
def screw_of(xi: np.ndarray) -> np.ndarray:
    """Axis, angle, its reciprocal and linear part of a twist (angular, linear)."""
    angle = max(float(np.linalg.norm(xi[:3])), LEAST)
    axis = xi[:3] / angle if angle > LEAST else np.array([0.0, 0.0, 1.0])
    return np.concatenate([axis, [angle, 1.0 / angle], xi[3:]])


def twist(screw: Vector) -> Vector:
    """The twist of a screw."""
    return np.concatenate([screw[:3] * screw[3], screw[5:]])


def turned(screw: Vector, s: Scalar) -> SE3:
    """exp(s xi): turned by x = s t about the axis a, shifted by (v . a) a s + (v_perp sin x + a x v (1 - cos x)) / t."""
    a, t, inverse, v = screw[:3], screw[3], screw[4], screw[5:]
    x = s.x if isinstance(s, Jet) else s
    half = 0.5 * (t * x)
    sine, cosine = np.sin(half), np.cos(half)
    sin_x, versine = 2.0 * (sine * cosine), 2.0 * (sine * sine)
    ax, ay, az = (sin_x * e for e in a)
    bx, by, bz = (versine * e for e in a)
    xx, yy, zz, xy, xz, yz = bx * a[0], by * a[1], bz * a[2], bx * a[1], bx * a[2], by * a[2]
    R = array(
        [
            [1.0 - (yy + zz), xy - az, xz + ay],
            [xy + az, 1.0 - (xx + zz), yz - ax],
            [xz - ay, yz + ax, 1.0 - (xx + yy)],
        ]
    )
    along_axis = dot(a, v)
    across, around = v - a * along_axis, cross(a, v)
    p = a * (along_axis * x) + across * (sin_x * inverse) + around * (versine * inverse)
    return SE3(R=R, p=p).with_tangent(along(twist(screw), s))


# --- the table ------------------------------------------------------------------------------------------------------------------
def _row(C: np.ndarray, window: list[int], screws: dict[tuple[int, int], np.ndarray]) -> np.ndarray:
    """A segment: its first frame and the screws to the others."""
    first = C[window[0]]
    return np.concatenate([first[:3, :3].reshape(-1), first[:3, 3], *(screws[pair] for pair in pairwise(window))])


def _step(owner: str, C: np.ndarray, i: int, j: int) -> np.ndarray:
    """The twist from frame i to frame j."""
    A, B = (SE3(R=E[:3, :3], p=E[:3, 3]) for E in (C[i], C[j]))
    step = np.asarray((A.inverse() @ B).log(), float)
    if np.abs(step).max() < SAME:
        raise ModelError(f"{owner}: frames {i} and {j} coincide; neighbours must differ")
    if np.linalg.norm(step[:3]) > np.pi - HALF_TURN:
        raise ModelError(f"{owner}: frames {i} and {j} are half a turn apart, which does not say which way round")
    return step


def _poses(owner: str, frames: Any) -> np.ndarray:
    """Control frames as matrices (n, 4, 4), rigid ones."""
    if isinstance(frames, SE3) or not isinstance(frames, (Sequence, np.ndarray)):
        raise ModelError(f"{owner}: frames must be a list of SE3 or of arrays (4, 4), not {type(frames).__name__}")
    found = []
    for k, frame in enumerate(frames):
        try:
            E = np.array(frame.matrix if isinstance(frame, SE3) else frame, dtype=float)
        except (TypeError, ValueError, LinkworkError):
            E = np.zeros(0)
        if E.shape != (4, 4) or not np.all(np.isfinite(E)):
            raise ModelError(f"{owner}: frame {k} must be a SE3 or an array (4, 4) of finite numbers, not {frame!r}")
        R = E[:3, :3]
        if not np.allclose(R @ R.T, np.eye(3), atol=1e-9) or np.linalg.det(R) < 0 or not np.allclose(E[3], (0, 0, 0, 1)):
            raise ModelError(f"{owner}: frame {k} is not a rigid transform")
        found.append(E)
    return np.array(found).reshape(-1, 4, 4)
