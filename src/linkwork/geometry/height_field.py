"""Height fields: uneven ground, given by its heights on a grid."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ..errors import ModelError
from ..spatial.gate import reals, shape_of
from ..spatial.scalar import read_only
from ..spatial.se3 import SE3
from . import checks
from .mesh import Mesh
from .shapes import Attributes
from .solids import Placed


class HeightField(Placed):
    """All points between a floor and the heights over a rectangle, which is centred at the origin of its frame, z up.

    heights   (rows, columns), at least 2 by 2: row i lies at y = (i / (rows - 1) - 1/2) size[1], column j at
              x = (j / (columns - 1) - 1/2) size[0]; between them two triangles a cell
    size      lengths (2,) of the rectangle along x and y
    pose      of its frame
    base      thickness below the lowest height

    >>> hills = lw.HeightField(np.zeros((5, 5)), size=(2.0, 2.0), friction=0.8)
    """

    kind = "height field"

    def __init__(
        self, heights: Any, size: Any, pose: SE3 | None = None, base: float = 1.0, **attributes: Unpack[Attributes]
    ) -> None:
        super().__init__(pose, attributes)
        try:
            z = reals(heights)
        except (TypeError, ValueError):
            z = np.full(0, np.nan)
        if z.ndim != 2 or min(z.shape) < 2:
            raise ModelError(f"{self.name}: heights must be finite numbers on a grid of 2 x 2 at least, not of shape {z.shape}")
        if bad := int(np.sum(~np.isfinite(z))):
            raise ModelError(f"{self.name}: {bad} of its {z.size} heights are not finite")
        if np.abs(z).max() > checks.LARGEST:
            raise ModelError(f"{self.name}: its heights reach {np.abs(z).max():g}, beyond {checks.LARGEST:g} m")
        self.heights = read_only(z)
        if shape_of(size) != (2,):
            raise ModelError(f"{self.name}: the size must be two lengths, not {size!r}")
        self.size = read_only(np.array([checks.length(self.name, "size", x) for x in size]))
        self.base = checks.length(self.name, "base", base)

    @property
    def lowest(self) -> float:
        """The height of its floor."""
        return float(self.heights.min()) - self.base

    @property
    def com(self) -> np.ndarray:
        raise ModelError(f"{self.name}: a HeightField has no inertia; give its body one")

    def local_box(self) -> tuple[np.ndarray, np.ndarray]:
        """Its lowest and highest coordinates in its own frame."""
        half = 0.5 * self.size
        return np.array([*-half, self.lowest]), np.array([*half, float(self.heights.max())])

    def bounding_box(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.local_box()
        center, half = self.R @ (0.5 * (low + high)) + self.p, np.abs(self.R) @ (0.5 * (high - low))
        return center - half, center + half

    def bounding_sphere(self) -> tuple[np.ndarray, float]:
        low, high = self.local_box()
        return self.R @ (0.5 * (low + high)) + self.p, 0.5 * float(np.linalg.norm(high - low))

    def surface(self) -> Mesh:
        """Its upper side as triangles that face up, in the axes of what it is attached to."""
        rows, columns = self.heights.shape
        x, y = (np.linspace(-0.5, 0.5, n) * length for n, length in ((columns, self.size[0]), (rows, self.size[1])))
        grid = np.stack([*np.meshgrid(x, y), self.heights], axis=-1).reshape(-1, 3)
        corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
        right, up, across = corner + 1, corner + columns, corner + columns + 1
        faces = np.concatenate([np.stack([corner, right, across], axis=1), np.stack([corner, across, up], axis=1)])
        return Mesh(grid @ self.R.T + self.p, faces, self.name)

    def __repr__(self) -> str:
        rows, columns = self.heights.shape
        return f"HeightField({rows} x {columns}, size={self.size.tolist()})"
