"""About where two surfaces touch, or would: a start for Newton's method, from samples of theirs."""

from __future__ import annotations

import numpy as np

from .surfaces import ImplicitSurface, Surface

COARSE = 4


def touching(a: Surface, b: Surface, E: np.ndarray) -> np.ndarray:
    """The coordinates of a point of each, one after the other; the matrix E (4, 4) maps coordinates of a to those of b.

    The gap of two surfaces is the least height of a point of one over the other. An implicit surface knows heights; samples are
    taken from the other one, and never from a surface without a box (a plane) unless both are such.
    """
    endless = isinstance(a, ImplicitSurface) and a.box is None
    if isinstance(b, ImplicitSurface) and not endless:
        return np.concatenate(deepest(a, b, E))
    if isinstance(a, ImplicitSurface):
        return np.concatenate(deepest(b, a, np.linalg.inv(E))[::-1])
    return np.concatenate(matching(a, b, E))


def deepest(surface: Surface, field: ImplicitSurface, E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of the sample of a surface that lies lowest over another, brought there by E, and of the point below it."""
    u, x, _ = surface.table
    heights, feet = field.heights_and_feet(x @ E[:3, :3].T + E[:3, 3])
    k = int(np.argmin(heights))
    return u[k], feet[k]


def matching(one: Surface, other: Surface, E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of a pair of samples that agrees in place and, as if a radian were half the smaller surface, in normal.

    E brings the first surface to the second. One in so many samples looks for its partner, then both look around among all.
    """
    (u_a, x_a, n_a), (u_b, x_b, n_b) = one.table, other.table
    scale = 0.5 * min(float(np.ptp(x, axis=0).max()) for x in (x_a, x_b))
    a = np.hstack([x_a @ E[:3, :3].T + E[:3, 3], scale * n_a @ E[:3, :3].T])
    b = np.hstack([x_b, -scale * n_b])
    some = a[::COARSE]
    apart = -2.0 * some @ b[::COARSE].T + np.sum(b[::COARSE] ** 2, axis=1)
    i = COARSE * int(np.argmin(apart.min(axis=1) + np.sum(some**2, axis=1)))
    for _ in range(2):
        j = int(np.argmin(np.sum((b - a[i]) ** 2, axis=1)))
        i = int(np.argmin(np.sum((a - b[j]) ** 2, axis=1)))
    return u_a[i], u_b[j]
