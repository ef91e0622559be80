"""What presses inside a joint, and where it rubs: bearings as rows on the relative twist, in the axes of the joint.

A bearing's N has rows for all six parts of the wrench, so that alpha are its parts; those that press no surface have no limit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ZERO = np.zeros(3)


class Bearing(NamedTuple):
    """N (k, 6) in groups (k,), T (m, 6), and how much of the pressure of a group a tangent feels (m, groups)."""

    N: np.ndarray
    groups: np.ndarray
    T: np.ndarray
    share: np.ndarray


def force(direction: np.ndarray, at: np.ndarray = ZERO) -> np.ndarray:
    """The row of a force, or of the velocity of a point."""
    return np.concatenate([np.cross(at, direction), direction])


def moment(direction: np.ndarray) -> np.ndarray:
    """The row of a moment, or of an angular velocity."""
    return np.concatenate([direction, ZERO])


def across(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors that make a right-handed triad with a unit vector."""
    e = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, e)
    first /= np.linalg.norm(first)
    return first, np.cross(axis, first)


def pin(axis: np.ndarray, radius: float, length: float) -> Bearing:
    """A journal and a collar of one radius about an axis: the torque is at most mu r (|F_1| + |F_2| + |F_axial|).

    F_1 and F_2 are the radial forces at its two ends, which also carry what would tilt it; without length |F| stands for both,
    and tilting does not press.
    """
    u, w = across(axis)
    T = radius * moment(axis)[None]
    if length == 0.0:
        N = [force(u), force(w), force(axis), moment(u), moment(w), moment(axis)]
        return Bearing(np.array(N), np.array([0, 0, 1, 2, 2, 2]), T, np.array([[1.0, 1.0, 0.0]]))
    ends = 0.5 * length * axis, -0.5 * length * axis
    N = [force(d, x) for x in ends for d in (u, w)] + [force(axis), moment(axis)]
    return Bearing(np.array(N), np.array([0, 0, 1, 1, 2, 3]), T, np.array([[1.0, 1.0, 1.0, 0.0]]))


def slide(axis: np.ndarray, length: float) -> Bearing:
    """A guide along an axis: the force is at most mu (|F_1| + |F_2|), with the forces across it at its two ends."""
    u, w = across(axis)
    T = force(axis)[None]
    if length == 0.0:
        N = [force(u), force(w), force(axis), moment(u), moment(w), moment(axis)]
        return Bearing(np.array(N), np.array([0, 0, 1, 1, 1, 1]), T, np.array([[1.0, 0.0]]))
    ends = 0.5 * length * axis, -0.5 * length * axis
    N = [force(d, x) for x in ends for d in (u, w)] + [force(axis), moment(axis)]
    return Bearing(np.array(N), np.array([0, 0, 1, 1, 2, 2]), T, np.array([[1.0, 1.0, 0.0]]))


def socket(radius: float, spin: np.ndarray) -> Bearing:
    """A ball in a socket: the torque along its angular velocity is at most mu r |F|, and across it as much."""
    e = np.eye(3)
    speed = float(np.linalg.norm(spin))
    along = spin / speed if speed > 0.0 else e[0]
    T = radius * np.array([moment(d) for d in (along, *across(along))])
    N = np.array([*map(force, e), *map(moment, e)])
    return Bearing(N, np.array([0, 0, 0, 1, 1, 1]), T, np.array([[1.0, 0.0]] * 3))


def surfaces(points: np.ndarray, normals: np.ndarray, S: np.ndarray, twist: np.ndarray) -> Bearing:
    """Contacts at points with normals: each rubs along its slip, and across it, at most mu times what presses it.

    S (6, nv) are the joint's freedoms: a force along them presses nothing.
    """
    k, N, T = len(points), [], []
    for x, n in zip(points, normals, strict=True):
        slip = twist[3:] + np.cross(twist[:3], x)
        slip -= n * (n @ slip)
        size = float(np.linalg.norm(slip))
        first = slip / size if size > 0.0 else across(n)[0]
        N.append(force(n, x))
        T += [force(first, x), force(np.cross(n, first), x)]
    N += [s / np.linalg.norm(s) for s in S.T]
    share = np.concatenate([np.repeat(np.eye(k), 2, axis=0), np.zeros((2 * k, S.shape[1]))], axis=1)
    return Bearing(np.array(N), np.arange(len(N)), np.array(T), share)
