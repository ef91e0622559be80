"""What presses inside a joint, and where it rubs: bearings as rows on the relative twist, in the axes of the joint.

A wrench w that a joint carries without work is w = N^T alpha: of every bearing N has rank six, so that alpha are the parts of w;
those that press no surface have no share in friction. Tangents T are grouped in discs: friction of a disc is a vector, bounded by
its length, so that it resists slips of all directions alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..spatial.scalar import Scalar, Vector, array, cross, stack, where, zeros

ZERO = np.zeros(3)
RANK = 1e-10  # of the largest singular value of N: smaller ones are none


@dataclass(frozen=True, eq=False)
class Bearing:
    """N (k, 6) in groups (k,), the tangents T (m, 6), and how much of the length |alpha| of a group a tangent feels (m, groups).

    discs   how many tangents, one after the other, every disc has; those of a disc feel the same
    """

    N: np.ndarray
    groups: np.ndarray
    share: np.ndarray
    T: np.ndarray
    discs: tuple[int, ...]

    @property
    def pressing(self) -> tuple[np.ndarray, tuple[int, ...], np.ndarray]:
        """What finds pressures: alpha = P w (rows that press alone), their groups, and the shares of these."""
        used = np.flatnonzero(self.share.any(axis=0))
        rows = np.flatnonzero(np.isin(self.groups, used))
        P = np.linalg.pinv(self.N.T, rcond=RANK)[rows]
        return P, tuple(int(np.searchsorted(used, g)) for g in self.groups[rows]), self.share[:, used]


# --- rows ---------------------------------------------------------------------------------------------------------------------
def force(direction: Vector, at: Vector = ZERO) -> Vector:
    """The row of a force, or of the velocity of a point."""
    return np.concatenate([cross(at, direction), direction])


def moment(direction: Vector) -> Vector:
    """The row of a moment, or of an angular velocity."""
    return np.concatenate([direction, ZERO])


def across(axis: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors that make a right-handed triad with a unit vector [Duff et al. 2017].

    They jump where z passes a value that motions in a plane do not dwell at, as they do at zero.
    """
    x, y, z = axis
    side = where(z >= -0.7, 1.0, -1.0)
    a = -1.0 / (side + z)
    b = x * y * a
    return stack(1.0 + side * x * x * a, side * b, -side * x), stack(b, side + y * y * a, -y)


# --- bearings -----------------------------------------------------------------------------------------------------------------
def pin(axis: np.ndarray, radius: float, length: float) -> Bearing:
    """A journal and a collar of one radius about an axis: the torque is at most mu r (|F_1| + |F_2| + |F_axial|).

    F_1 and F_2 are the radial forces at its two ends, which also carry what would tilt it; without length |F| stands for both,
    and tilting does not press.
    """
    u, w = across(axis)
    T = np.array([radius * moment(axis)], float)
    if length == 0.0:
        N = [force(u), force(w), force(axis), moment(u), moment(w), moment(axis)]
        return Bearing(np.array(N, float), np.array([0, 0, 1, 2, 2, 2]), np.array([[1.0, 1.0, 0.0]]), T, (1,))
    ends = 0.5 * length * axis, -0.5 * length * axis
    N = [force(d, x) for x in ends for d in (u, w)] + [force(axis), moment(axis)]
    return Bearing(np.array(N, float), np.array([0, 0, 1, 1, 2, 3]), np.array([[1.0, 1.0, 1.0, 0.0]]), T, (1,))


def slide(axis: np.ndarray, length: float) -> Bearing:
    """A guide along an axis: the force is at most mu (|F_1| + |F_2|), with the forces across it at its two ends."""
    u, w = across(axis)
    T = np.array([force(axis)], float)
    if length == 0.0:
        N = [force(u), force(w), force(axis), moment(u), moment(w), moment(axis)]
        return Bearing(np.array(N, float), np.array([0, 0, 1, 1, 1, 1]), np.array([[1.0, 0.0]]), T, (1,))
    ends = 0.5 * length * axis, -0.5 * length * axis
    N = [force(d, x) for x in ends for d in (u, w)] + [force(axis), moment(axis)]
    return Bearing(np.array(N, float), np.array([0, 0, 1, 1, 2, 2]), np.array([[1.0, 1.0, 0.0]]), T, (1,))


def sleeve(axis: np.ndarray, radius: float, length: float) -> Bearing:
    """A round bar in a sleeve, free to turn and to slide: friction of at most mu (|F_1| + |F_2|) against the slip of the surface,
    whose square is that along the axis plus (radius times the turn)^2. F_1 and F_2 as those of `pin`.
    """
    smooth = pin(axis, radius, length)
    share = smooth.share.copy()
    share[:, smooth.groups[smooth.N @ force(axis) > 0.5]] = 0.0
    T = np.array([radius * moment(axis), force(axis)], float)
    return Bearing(smooth.N, smooth.groups, np.repeat(share, 2, axis=0), T, (2,))


def screw(axis: np.ndarray, pitch: float, radius: float, length: float) -> Bearing:
    """A nut on a thread of a mean radius, with `pitch` in metres per radian: friction along the thread is at most
    mu (|F_1| + |F_2| + |F_thread|), radial forces as those of `pin`, and F_thread across the thread, with the lead angle

        tan a = pitch / radius:      F_thread (cos a, -radius sin a)    along and about the axis.

    What drives the nut is a moment about the axis: it is no part of F_thread.
    """
    smooth = pin(axis, radius, length)
    slope = np.hypot(radius, pitch)
    N, axial = np.array(smooth.N, float), int(np.flatnonzero(smooth.N @ force(axis) > 0.5)[0])
    N[axial] = (radius / slope) * force(axis) - (radius * pitch / slope) * moment(axis)
    T = np.array([(radius**2 * moment(axis) + pitch * force(axis)) / slope], float)
    return Bearing(N, smooth.groups, smooth.share, T, (1,))


def table(R: np.ndarray, radius: float | None) -> Bearing:
    """A flat sole on the plane x y of the axes R: friction of at most mu |F_z|, of any direction in the plane.

    radius   of a sole that also turns about z: that times the turn is a slip, one vector with the others; None: it does not turn
    """
    e = [R[:, k] for k in range(3)]
    T = [force(e[0]), force(e[1]), *([] if radius is None else [radius * moment(e[2])])]
    N = [force(e[2]), force(e[0]), force(e[1]), *map(moment, e)]
    share = np.array([[1.0, 0.0]] * len(T))
    return Bearing(np.array(N, float), np.array([0, 1, 1, 1, 1, 1]), share, np.array(T, float), (len(T),))


def socket(radius: float) -> Bearing:
    """A ball in a socket: the torque is at most mu r |F|, of any direction."""
    e = np.eye(3)
    N = np.array([*map(force, e), *map(moment, e)], float)
    return Bearing(N, np.array([0, 0, 0, 1, 1, 1]), np.array([[1.0, 0.0]] * 3), radius * N[3:], (3,))


def surfaces(points: np.ndarray, normals: np.ndarray, S: np.ndarray, M: np.ndarray) -> Bearing:
    """Contacts at points with normals: friction of each is at most mu times what presses it, of any direction across its normal.

    S (6, nv) are the joint's freedoms: a force along them presses nothing. Of what the surfaces cannot carry all together they
    carry what would move the points along their normals, if the body with the inertia M (6, 6) were free; where they carry it in
    more than one way, the one with the least sum of squares.
    """
    k = len(points)
    pressed = np.array([force(n, x) for x, n in zip(points, normals, strict=True)], float)
    rest = _null(np.concatenate([S.T, pressed @ np.linalg.pinv(M)]))
    N = np.concatenate([pressed, (S / np.linalg.norm(S, axis=0)).T, rest])
    groups = np.minimum(np.arange(len(N)), k)
    share = np.concatenate([np.repeat(np.eye(k), 2, axis=0), np.zeros((2 * k, int(len(N) > k)))], axis=1)
    T = [force(d, x) for x, n in zip(points, normals, strict=True) for d in across(n)]
    return Bearing(N, groups, share, np.array(T, float), (2,) * k)


def _null(A: np.ndarray) -> np.ndarray:
    """A basis of what A maps to zero, in rows; those of A may be of any size."""
    A = A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
    _, sizes, V = np.linalg.svd(A)
    return V[int(np.sum(sizes > RANK * sizes.max(initial=0.0))) :]


def largest(limit: np.ndarray, P: np.ndarray, groups: tuple[int, ...], wrench: Vector) -> Vector:
    """The largest friction of every tangent under a wrench: limit times the lengths of the groups of alpha = P w."""
    squares = zeros(limit.shape[1])
    for a, g in zip(P @ wrench, groups, strict=True):
        squares[g] = squares[g] + a * a
    return limit @ array([length(x) for x in squares])


def length(square: Scalar) -> Scalar:
    """The root of a square, whose slope is zero where it is zero."""
    some = square > 0.0
    return where(some, np.sqrt(where(some, square, 1.0)), 0.0)
