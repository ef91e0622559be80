"""In how many directions a surface bends: whether it is flat, straight in one direction everywhere, or curved in both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import ModelError
from .surfaces import ImplicitSurface, Surface

SOME = 37  # one in so many samples is looked at
STEP = 1e-4  # of the size of the surface: differences of normals
STRAIGHT = 1e-5  # of the larger curvature, or of the reciprocal of the size: what counts as none


class Bending(NamedTuple):
    """A surface about one point.

    directions   in how many directions it bends
    straight     the unit tangent along which it bends least
    """

    directions: int
    straight: np.ndarray


def bending_at(surface: Surface, u: np.ndarray, size: float | None = None) -> Bending:
    """The bending about the point with these coordinates, by the slopes of its unit normal.

    size   of the surface, by that of its samples if it is not said
    """
    size = float(np.ptp(surface.table[1], axis=0).max()) if size is None else size
    here = surface.patch(u)
    n, first = _unit(here.normal), _unit(here.tangents[0])
    across = np.stack([first, np.cross(n, first)])
    if isinstance(surface, ImplicitSurface):
        moves = across
        turns = np.array([_slope(surface, u, e, STEP * size) for e in across])
    else:
        tangents = np.array(here.tangents, float)
        h = STEP * size / np.linalg.norm(tangents, axis=1)
        moves = tangents
        turns = np.array([_slope(surface, u, e, h[k]) for k, e in enumerate(np.eye(2))])
    W = np.linalg.solve(moves @ across.T, turns @ across.T)
    curvatures, axes = np.linalg.eigh(0.5 * (W + W.T))
    order = np.argsort(np.abs(curvatures))
    least, most = np.abs(curvatures)[order]
    directions = 0 if most <= STRAIGHT / size else 1 if least <= STRAIGHT * max(most, 1.0 / size) else 2
    return Bending(directions, _unit(axes[:, order[0]] @ across))


def most_bending(surface: Surface) -> int:
    """The most directions in which it bends at some of its samples; 2 if no point of it is known."""
    try:
        u = surface.samples()
        u = u[:: max(1, min(SOME, len(u) // 4))]
        size = float(np.ptp([np.asarray(surface.patch(x).point, float) for x in u], axis=0).max())
    except ModelError:  # without a box: about the origin
        assert isinstance(surface, ImplicitSurface)
        u, size = np.array([[0.3, 0.1, 0.2], [-0.2, 0.4, -0.1], [0.1, -0.3, 0.5]]), 1.0
        for _ in range(8):
            u = surface.heights_and_feet(u)[1]
        if not np.abs(surface.heights_and_feet(u)[0]).max() < 1e-9:
            return 2
    most = 0
    for x in u:
        most = max(most, bending_at(surface, x, size).directions)
        if most == 2:
            break
    return most


def _slope(surface: Surface, u: np.ndarray, along: np.ndarray, h: float) -> np.ndarray:
    ahead, behind = (_unit(surface.patch(u + s * h * along).normal) for s in (1.0, -1.0))
    return (ahead - behind) / (2.0 * h)


def _unit(x: np.ndarray) -> np.ndarray:
    x = np.asarray(x, float)
    return x / np.linalg.norm(x)
