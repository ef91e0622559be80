"""Contact points that others imply: where flat parts of two shapes meet, their outline alone carries them.

Rigid shapes touch along a normal n at points with places x and gaps g. Within a step gaps change linearly in x, so a point whose
gap is not below what those around it have there, g >= sum w_k g_k at x = sum w_k x_k (w_k >= 0, sum w_k = 1), closes only if one
of these does. What is left are the corners of the lower hull of (x, g). Forces on implied points would be forces on the corners
as well, but nearer to the middle: friction could not resist a turn about the normal as the outline does.
"""

from __future__ import annotations

import numpy as np

from .point import ContactPoint

PARALLEL = 1e-9  # sine of the angle of two normals: below, their points belong together
BOWL = 1e-3  # relative to `same`: by how much the outline counts as nearer than the middle: more than rounding
SQUARE = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
WIDE, ABOVE = 4.0, 10.0  # relative to the extent: half the width of the lid that closes the hull, and its height over the points


def without_implied(points: list[ContactPoint], same: float) -> list[ContactPoint]:
    """The points that no others with their normal imply, in their order.

    same   distance (m) below which points are one
    """
    if len(points) < 3:
        return points
    normals = np.array([p.normal for p in points])
    group = np.full(len(points), -1)
    for i, n in enumerate(normals):
        if group[i] < 0:
            group[(group < 0) & (np.linalg.norm(normals - n, axis=1) < PARALLEL)] = i
    kept = np.zeros(len(points), bool)
    for i in np.unique(group):
        members = np.flatnonzero(group == i)
        gaps = np.array([points[k].gap for k in members])
        kept[members[lower_hull(np.array([points[k].point for k in members]), gaps, normals[i], same)]] = True
    return [p for p, keep in zip(points, kept, strict=True) if keep]


def lower_hull(x: np.ndarray, gaps: np.ndarray, n: np.ndarray, same: float) -> np.ndarray:
    """Indices of the corners of the lower hull of points (m, 3) seen along n, with gaps (m,)."""
    if len(x) < 3:
        return np.arange(len(x))
    out = x - x.mean(axis=0)
    out = out - np.outer(out @ n, n)
    _, extents, axes = np.linalg.svd(out, full_matrices=False)
    along = out @ axes[:2].T
    square = (along * along).sum(axis=1)
    size = np.sqrt(square.max())
    if size <= same:
        return np.array([np.argmin(gaps)])
    height = gaps - BOWL * same * square / square.max()
    if extents[1] <= same:
        return _lower_chain(along[:, 0], height)
    from scipy.spatial import ConvexHull, QhullError  # takes long to import

    lid = np.column_stack([WIDE * np.array(SQUARE), np.full(4, height.max() / size + ABOVE)])
    try:
        corners = ConvexHull(np.vstack([np.column_stack([along, height]) / size, lid])).vertices
    except QhullError:
        return np.arange(len(x))
    return corners[corners < len(x)]


def _lower_chain(s: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Indices of the corners of the lower hull of points in a plane."""
    chain: list[int] = []
    for k in np.lexsort((height, s)):
        if chain and s[k] == s[chain[-1]]:
            continue
        while len(chain) > 1:
            i, j = chain[-2:]
            if (height[j] - height[i]) * (s[k] - s[i]) < (height[k] - height[i]) * (s[j] - s[i]):
                break
            chain.pop()
        chain.append(int(k))
    return np.array(chain)
