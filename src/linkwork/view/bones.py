"""Bodies without shapes: capsules from their joint to all that they carry, as thick as their inertia says.

A body that carries nothing and turns about its centre of mass is the ellipsoid with its inertia.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..geometry import Capsule, Ellipsoid, Shape, Sphere
from ..joints import Translational
from ..model import Body
from ..spatial.inertia import Inertia
from ..spatial.se3 import SE3

THICK = (0.05, 0.16)  # radius of a capsule, of its length: from, to
SLENDER = 0.04  # the same of a bone that muscles or cables run along
THIN = 0.04  # shortest axis of an ellipsoid, of its longest


def equivalent_cuboid(inertia: Inertia) -> tuple[np.ndarray, np.ndarray]:
    """Edge lengths (3,) and axes (3, 3), as columns in body axes, of the uniform cuboid with the same inertia.

    With principal moments A, B, C about the centre of mass, the edge along the first axis is sqrt(6 (B + C - A) / m): the
    moments of a cuboid, A = m (b^2 + c^2) / 12 and so on, solved for the edges.
    """
    moments, axes = np.linalg.eigh(inertia.tensor)
    squares = 6.0 / inertia.mass * (moments.sum() - 2.0 * moments)
    order = np.argmax(np.abs(axes), axis=1)  # edges in the order of the body axes that they are closest to
    if len(set(order)) == 3:
        axes, squares = axes[:, order], squares[order]
    axes = axes * np.where(np.diag(axes) < 0, -1.0, 1.0)
    if np.linalg.det(axes) < 0:
        axes[:, 2] *= -1.0
    return np.sqrt(np.maximum(squares, 0.0)), axes


def bones(body: Body, carried: Sequence[np.ndarray], slender: bool = False) -> list[Shape]:
    """The shapes of a body that has none.

    carried   points in its frame where other bodies, loops and springs hang
    slender   thin, so that what runs along it is seen
    """
    inertia = body.inertia
    if inertia.mass <= 0.0:
        return []
    edges, axes = equivalent_cuboid(inertia)
    largest = float(edges.max())
    if isinstance(body.joint, Translational):
        return [Sphere(0.5 * np.sqrt(5.0 / 3.0) * largest)] if largest > 0.0 else []
    reach = max(largest, float(np.linalg.norm(inertia.com)), *(float(np.linalg.norm(x)) for x in carried), 0.0)
    ends = [x for x in carried if np.linalg.norm(x) > 1e-3 * reach]
    if not ends and np.linalg.norm(inertia.com) > 0.1 * reach:
        ends = [2.0 * inertia.com]
    if not ends or (body.joint.nv == 6 and len(ends) < 2 and np.linalg.norm(inertia.com) < 0.1 * reach):
        return [_ellipsoid(inertia, edges, axes)] if largest > 0.0 else []
    return [_capsule(x, edges, axes, slender) for x in ends]


def _ellipsoid(inertia: Inertia, edges: np.ndarray, axes: np.ndarray) -> Shape:
    """Semi-axes are sqrt(5/3) of half the edges: moments m (b^2 + c^2) / 5 instead of m (b^2 + c^2) / 12 of whole edges."""
    radii = 0.5 * np.sqrt(5.0 / 3.0) * np.maximum(edges, THIN * edges.max())
    return Ellipsoid(radii, SE3(R=axes, p=inertia.com))


def _capsule(end: np.ndarray, edges: np.ndarray, axes: np.ndarray, slender: bool) -> Shape:
    length = float(np.linalg.norm(end))
    along = end / length
    across = np.sort(edges * np.sqrt(np.maximum(0.0, 1.0 - (axes.T @ along) ** 2)))[1:]
    radius = SLENDER * length if slender else float(np.clip(0.5 * across.min(), THICK[0] * length, THICK[1] * length))
    return Capsule(radius, max(length - radius, 0.0), SE3(R=turned_to(along), p=0.5 * end))


def turned_to(z: np.ndarray) -> np.ndarray:
    """A rotation whose third axis is along a unit vector."""
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)
