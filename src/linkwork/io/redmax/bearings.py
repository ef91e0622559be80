"""Where the joints of scene files rub: the contact geometry of each type, in the joint's axes, as published."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from ...redmax.bisp import Rubbing
from ...spatial.se3 import SE3, Ad
from .joints import axis_of
from .record import Record

Geometry = tuple[np.ndarray, np.ndarray, np.ndarray]  # N (k, 6), T (m, 6), and which normals press a tangent (m, k)


def along(x: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Rows on a twist: the velocity of the point x along directions (k, 3)."""
    return np.concatenate([np.cross(x, directions), directions], axis=1)


def _rows(contacts: list[tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]]) -> Geometry:
    """The rows of contacts: points, their normals and tangents."""
    N = np.concatenate([along(x, np.array(n)) for x, n, _ in contacts])
    T = np.concatenate([along(x, np.array(t)) for x, _, t in contacts])
    pressing, row, column = np.zeros((len(T), len(N))), 0, 0
    for _, n, t in contacts:
        pressing[row : row + len(t), column : column + len(n)] = 1.0
        row, column = row + len(t), column + len(n)
    return N, T, pressing


def cylinder(radius: float, height: float, axis: np.ndarray) -> Geometry:
    """A pin: at both ends four points, each pressed inward and towards the middle, rubbing around it.

    The pin is turned from z by acos(axis_z) about axis x z: about the axes of the world it is where it should be.
    """
    about = np.cross(axis, (0.0, 0.0, 1.0))
    size = float(np.linalg.norm(about))
    R = np.eye(3) if size == 0.0 else np.asarray(SE3.rot_axis(about / size, float(np.arccos(axis[2]))).R, float)
    contacts = []
    for (c, s), end in product(((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)), (1.0, -1.0)):
        x, inward, around = (R @ np.array(a) for a in ((radius * c, radius * s, 0.5 * end * height), (-c, -s, 0.0), (-s, c, 0.0)))
        contacts.append((x, [inward, R @ np.array([0.0, 0.0, -end])], [around]))
    return _rows(contacts)


def box(sides: np.ndarray, axis: np.ndarray) -> Geometry:
    """A slider: at its eight corners pressed inward, across the axis, and rubbing along it."""
    k = int(np.argmax(np.abs(axis)))
    e, contacts = np.eye(3), []
    for signs in product((1.0, -1.0), repeat=3):
        contacts.append((0.5 * np.array(signs) * sides, [-signs[i] * e[i] for i in range(3) if i != k], [axis]))
    return _rows(contacts)


def ball(radius: float) -> Geometry:
    """A ball: six points, pressed inward, each rubbing along two tangents."""
    e, contacts = np.eye(3), []
    for i, sign in product(range(3), (1.0, -1.0)):
        contacts.append((sign * radius * e[i], [-sign * e[i]], [e[i - 2], e[i - 1]]))
    return _rows(contacts)


GEOMETRY: dict[str, Callable[[Record, Record], Geometry]] = {
    "revolute": lambda joint, g: cylinder(g.number("radius"), g.number("height"), axis_of(joint)),
    "prismatic": lambda joint, g: box(g.vector("sides"), axis_of(joint)),
    "spherical_exp": lambda joint, g: ball(g.number("radius")),
}


def rubbing_joint(record: Record, body: int, parent: int, mu: float) -> Rubbing | None:
    """The contacts of a joint; None for one that does not rub."""
    kind = record.text("type")
    if kind not in GEOMETRY or "geometry" not in record:
        return None
    N, T, pressing = GEOMETRY[kind](record, record.record("geometry"))
    return Rubbing(body, parent, N, T, mu * pressing)


def rubbing_loop(
    record: Record, carrier: Record, bodies: tuple[int, int], place: SE3, rows: tuple[int, int], mu: float
) -> Rubbing:
    """The contacts of a loop: a pin at a place of its first body, along the axis of that body's joint.

    rows   the first of the loop, and one past its last
    """
    g = record.record("geometry")
    N, T, pressing = cylinder(g.number("radius"), g.number("height"), axis_of(carrier))
    moved = np.asarray(Ad(place.inverse()), float)
    return Rubbing(*bodies, N @ moved, T @ moved, mu * pressing, tuple(range(*rows)))
