"""Fewer triangles for the same surface: vertices of one cell of a grid become one, where the planes of their triangles meet best.

With a triangle's plane n . x = d of area w, the vertex of a cell is the least of sum w (n . x - d)^2 over the triangles with
corners in it, held near the mean of these corners where the planes leave it free [Lindstrom 2000]. Edges and corners stay sharp.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Surface = tuple[np.ndarray, np.ndarray]  # vertices (n, 3), faces (m, 3)
FINEST = 400  # cells along the diagonal of everything, before anything is simplified
LEAST = 24  # cells along the diagonal of one surface: small parts keep their form
LEAST_CELL = 1e-5  # of the longest side: of surfaces that have no triangles left at larger cells
ROUNDS = 8
STIFFNESS = 1e-3  # of the pull to the mean


def simplified(surfaces: Sequence[Surface], most: int) -> list[Surface]:
    """All surfaces with about `most` triangles together at most, all at the same fineness."""
    whole = [_joined(v, f) for v, f in surfaces]
    if sum(len(f) for _, f in whole) <= most:
        return whole
    spans = [float(np.linalg.norm(np.ptp(v, axis=0))) for v, _ in whole]
    low, high = max(spans) / FINEST / 16.0, max(spans) / LEAST
    for _ in range(ROUNDS):
        cell = np.sqrt(low * high)
        count = sum(_count(v, f, min(cell, span / LEAST)) for (v, f), span in zip(whole, spans, strict=True))
        low, high = (cell, high) if count > most else (low, cell)
    return [_clustered(v, f, min(high, span / LEAST)) for (v, f), span in zip(whole, spans, strict=True)]


def _joined(vertices: np.ndarray, faces: np.ndarray) -> Surface:
    """The surface with vertices at the same place made one, and without triangles that have no area, if any have."""
    span = float(np.ptp(vertices, axis=0).max()) or 1.0
    _, first, of = np.unique(_keys(vertices, 1e-6 * span), return_index=True, return_inverse=True)
    kept = _proper(of.reshape(-1)[faces])
    return (vertices[first], kept) if len(kept) else (vertices, faces)


def _proper(faces: np.ndarray) -> np.ndarray:
    a, b, c = faces.T
    return faces[(a != b) & (b != c) & (c != a)]


def _cells(vertices: np.ndarray, cell: float) -> np.ndarray:
    """Which cell every vertex is in, as numbers from 0."""
    return np.unique(_keys(vertices, cell), return_inverse=True)[1].reshape(-1)


def _keys(vertices: np.ndarray, cell: float) -> np.ndarray:
    """A number for every vertex that says its cell."""
    at = np.floor((vertices - vertices.min(axis=0)) / cell + 0.5).astype(np.int64)
    size = at.max(axis=0) + 1
    return (at[:, 0] * size[1] + at[:, 1]) * size[2] + at[:, 2]


def _count(vertices: np.ndarray, faces: np.ndarray, cell: float) -> int:
    return len(_proper(_cells(vertices, cell)[faces]))


def _clustered(vertices: np.ndarray, faces: np.ndarray, cell: float) -> Surface:
    of = _cells(vertices, cell)
    corners = vertices[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    weight = np.linalg.norm(normal, axis=1)
    n = normal / np.where(weight > 0, weight, 1.0)[:, None]
    count = int(of.max()) + 1
    mean = np.stack([np.bincount(of, x, count) for x in vertices.T], axis=1) / np.bincount(of, minlength=count)[:, None]
    A, b = np.zeros((count, 3, 3)), np.zeros((count, 3))
    for k in range(3):
        home = of[faces[:, k]]
        off = np.einsum("fi,fi->f", n, corners[:, 0] - mean[home])
        np.add.at(A, home, weight[:, None, None] * n[:, :, None] * n[:, None, :])
        np.add.at(b, home, (weight * off)[:, None] * n)
    trace = np.trace(A, axis1=1, axis2=2)
    A += (STIFFNESS * trace + 1e-300)[:, None, None] * np.eye(3)
    moved = np.clip(np.linalg.solve(A, b[:, :, None])[:, :, 0], -0.5 * cell, 0.5 * cell)
    left = _proper(of[faces])
    if not len(left):  # thinner than a cell everywhere, as a wire is
        smallest = LEAST_CELL * float(np.ptp(vertices, axis=0).max())
        return _clustered(vertices, faces, 0.5 * cell) if cell > smallest else (vertices, faces)
    left = left[np.unique(np.sort(left, axis=1), axis=0, return_index=True)[1]]
    return _used(mean + moved, left)


def _used(vertices: np.ndarray, faces: np.ndarray) -> Surface:
    """Without vertices that no triangle names."""
    kept, of = np.unique(faces, return_inverse=True)
    return vertices[kept], of.reshape(-1, 3)
