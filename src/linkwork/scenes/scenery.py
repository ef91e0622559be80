"""What joints run over, as meshes to look at: nothing touches them."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from ..geometry.charts import as_chart

AROUND = 6


def wire(curve: lw.Curve, radius: float, pieces: int = 120) -> lw.Mesh:
    """A thin tube along a curve."""
    chart = as_chart("wire", curve)
    turns = 2.0 * np.pi / AROUND * np.arange(AROUND)
    ring = np.stack([np.zeros(AROUND), radius * np.cos(turns), radius * np.sin(turns)], axis=1)
    frames = [chart.frame(np.array([u])) for u in np.linspace(*curve.domain, pieces + 1)]
    points = np.array([ring @ np.asarray(F.R, float).T + np.asarray(F.p, float) for F in frames])
    return lw.Mesh(points.reshape(-1, 3), _strips(pieces + 1, AROUND, True), "wire", group=0, mask=0, color=(0.6, 0.6, 0.6))


def sheet(surface: lw.ParametricSurface, pieces: int = 20) -> lw.Mesh:
    """A surface, seen from above and from below."""
    grid = np.stack(np.meshgrid(*(np.linspace(a, b, pieces + 1) for a, b in surface.domain), indexing="ij"), axis=-1)
    points = np.array([surface.patch(u).point for u in grid.reshape(-1, 2)], float)
    faces = _strips(pieces + 1, pieces + 1, False)
    return lw.Mesh(points, np.concatenate([faces, faces[:, ::-1]]), "sheet", group=0, mask=0, color=(0.7, 0.75, 0.85))


def gear(radius: float, thick: float, teeth: int, along: lw.SE3, color: tuple[float, ...], mark: bool = True) -> list[lw.Shape]:
    """A toothed wheel about z of the pose `along`, its pitch circle of this radius; with a hub, and a mark to see it turn."""
    depth = 2.0 * radius / teeth
    profile = []
    for k in range(teeth):
        for at, r in ((0.0, -1.0), (0.22, -1.0), (0.34, 0.9), (0.62, 0.9), (0.74, -1.0)):
            angle = 2.0 * np.pi * (k + at) / teeth
            profile.append(((radius + r * 0.55 * depth) * np.cos(angle), (radius + r * 0.55 * depth) * np.sin(angle)))
    ring = np.array(profile)
    n = len(ring)
    sides = [np.column_stack([ring, np.full(n, z)]) for z in (-0.5 * thick, 0.5 * thick)]
    points = np.concatenate([*sides, [[0, 0, -0.5 * thick], [0, 0, 0.5 * thick]]])
    faces = []
    for i in range(n):
        j = (i + 1) % n
        faces += [(i, j, n + j), (i, n + j, n + i), (j, i, 2 * n), (n + i, n + j, 2 * n + 1)]
    placed = points @ np.asarray(along.R, float).T + np.asarray(along.p, float)
    wheel = lw.Mesh(placed, np.array(faces), "gear", color=color)
    hub = lw.Cylinder(0.18 * radius, 1.5 * thick, along, color=(0.3, 0.32, 0.35))
    spot = lw.Cylinder(0.08 * radius, 1.15 * thick, along @ lw.SE3(p=(0.65 * radius, 0, 0)), color=(0.95, 0.93, 0.88))
    return [wheel, hub, *([spot] if mark else [])]


def _strips(rows: int, columns: int, closed: bool) -> np.ndarray:
    """Triangles (n, 3) between the rows of a grid of points."""
    faces = []
    for i in range(rows - 1):
        for j in range(columns if closed else columns - 1):
            a, b = i * columns + j, i * columns + (j + 1) % columns
            c, d = a + columns, b + columns
            faces += [(a, c, d), (a, d, b)]
    return np.array(faces)
