"""What the bodies of a compiled MuJoCo model look like: the geoms that its viewer shows, meshes with all their triangles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...geometry import Mesh, Shape
from .bodies import Tree
from .shapes import MESH

SHOWN = 3  # groups of geoms that MuJoCo's viewer shows: those below


def visuals_of(m: Any, tree: Tree, shapes: dict[str, dict[int, Shape]]) -> dict[str, list[Shape]]:
    """The visuals of every body that looks otherwise than its shapes, the world's too."""
    looks: dict[str, list[Shape]] = {}
    other: set[str] = set()
    for g in range(m.ngeom):
        body, pose = tree.place(int(m.geom_bodyid[g]), m.geom_pos[g], m.geom_quat[g])
        if m.geom_group[g] >= SHOWN:
            other.add(body)
            continue
        if int(m.geom_type[g]) == MESH:
            other.add(body)
            R, p = np.asarray(pose.R, float), np.asarray(pose.p, float)
            looks.setdefault(body, []).append(_mesh(m, g, R, p))
        elif g in shapes.get(body, {}):
            looks.setdefault(body, []).append(shapes[body][g])
    return {body: looks[body] for body in other if body in looks}


def _mesh(m: Any, g: int, R: np.ndarray, p: np.ndarray) -> Mesh:
    i = int(m.geom_dataid[g])
    first, count = int(m.mesh_vertadr[i]), int(m.mesh_vertnum[i])
    points = np.array(m.mesh_vert[first : first + count], float) @ R.T + p
    start, faces = int(m.mesh_faceadr[i]), int(m.mesh_facenum[i])
    corners = np.array(m.mesh_face[start : start + faces], dtype=np.int64)
    name = m.geom(g).name or m.mesh(i).name or "mesh"
    return Mesh(points, corners, name, color=tuple(float(x) for x in _rgba(m, g)), group=0, mask=0)


def _rgba(m: Any, g: int) -> np.ndarray:
    """The colour of a geom: its material's, where it has one."""
    material = int(m.geom_matid[g])
    return m.geom_rgba[g] if material < 0 else m.mat_rgba[material]
