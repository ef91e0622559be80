"""Pictures of a model without a browser: triangles in the order of their distance, shaded by how they face the light."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..look import Look
from ..model import Model
from ..store.files import whole_file
from .runs import finite_records, first_run, spread
from .triangles import ground, planes, surfaces

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..trajectory import Trajectory

LIGHT = np.array([-0.35, -0.65, 0.67])
TOWARD = np.array([0.45, -1.0, 0.38])  # from what is looked at to the eye
MARGIN = 0.08
GROUND = (0.93, 0.93, 0.94)
MOMENTS = 7  # of a strobe picture


@dataclass(frozen=True, eq=False)
class Painter:
    """A model to be painted at poses, seen so that all of some poses fit into the picture.

    poses   (frames, bodies, 4, 4) that must be seen
    toward  from the middle of what is looked at to the eye
    """

    model: Model
    poses: np.ndarray
    toward: Any = tuple(TOWARD)

    @cached_property
    def axes(self) -> np.ndarray:
        """Right, up and toward the eye, as rows."""
        out = np.asarray(self.toward, float) / np.linalg.norm(self.toward)
        right = np.cross([0.0, 0.0, 1.0], out)
        right = right / np.linalg.norm(right) if np.linalg.norm(right) > 1e-9 else np.array([1.0, 0.0, 0.0])
        return np.stack([right, np.cross(out, right), out])

    @cached_property
    def _surfaces(self) -> list[Any]:
        return surfaces(self.model)

    @cached_property
    def window(self) -> tuple[np.ndarray, float]:
        """The middle of the picture (2,) and half its size, in metres."""
        seen = []
        for s in self._surfaces:
            corners = np.array([s.vertices.min(axis=0), s.vertices.max(axis=0)])
            box = np.array([[x, y, z] for x in corners[:, 0] for y in corners[:, 1] for z in corners[:, 2]])
            E = self.poses[:, s.body] if s.body >= 0 else np.eye(4)[None]
            seen.append((np.einsum("fij,nj->fni", E[:, :3, :3], box) + E[:, None, :3, 3]).reshape(-1, 3))
        points = np.concatenate(seen or [self.poses[..., :3, 3].reshape(-1, 3)]) @ self.axes[:2].T
        low, high = points.min(axis=0), points.max(axis=0)
        return 0.5 * (low + high), float(0.5 * (1.0 + MARGIN) * max((high - low).max(), 1e-3))

    def paint(self, ax: Axes, frames: np.ndarray, strengths: np.ndarray | None = None) -> None:
        """The model at one or several moments of `poses`, the last one on top.

        strengths   opacity of each
        """
        from matplotlib.collections import PolyCollection

        (x, y), half = self.window
        self._paint_ground(ax, half)
        for k, frame in enumerate(frames):
            corners, colors = self._triangles(self.poses[frame], still=k == 0)
            depth = corners[..., 2].mean(axis=1)
            order = np.argsort(depth)
            alpha = 1.0 if strengths is None else float(strengths[k])
            faces = np.concatenate([colors[order], np.full((len(order), 1), alpha)], axis=1)
            edges = "face" if alpha == 1.0 else "none"  # closes the seams between triangles
            ax.add_collection(PolyCollection(list(corners[order, :, :2]), facecolors=faces, edgecolors=edges, linewidths=0.3))
        ax.set_xlim(x - half, x + half)
        ax.set_ylim(y - half, y + half)
        ax.set_aspect("equal")
        ax.set_axis_off()

    def _triangles(self, poses: np.ndarray, still: bool) -> tuple[np.ndarray, np.ndarray]:
        """Corners (n, 3, 3) as seen and colours (n, 3) of all triangles that face the eye."""
        found, colors = [np.zeros((0, 3, 3))], [np.zeros((0, 3))]
        for s in self._surfaces:
            if s.body < 0 and not still:
                continue
            E = poses[s.body] if s.body >= 0 else np.eye(4)
            world = s.vertices @ E[:3, :3].T + E[:3, 3]
            faces = world[s.faces]
            normal = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
            size = np.linalg.norm(normal, axis=1)
            normal = normal / np.maximum(size, 1e-300)[:, None]
            shown = (normal @ self.axes[2] > 0) & (size > 0)
            bright = 0.55 + 0.45 * np.maximum(0.0, normal[shown] @ LIGHT)
            found.append(faces[shown] @ self.axes.T)
            colors.append(np.clip(np.outer(bright, s.color), 0.0, 1.0))
        return np.concatenate(found), np.concatenate(colors)

    def _paint_ground(self, ax: Axes, half: float) -> None:
        from matplotlib.patches import Polygon

        middle = self.poses[..., :3, 3].reshape(-1, 3).mean(axis=0)
        for point, normal in planes(self.model):
            if normal @ self.axes[2] > 0:
                corners = ground(point, normal, middle, 8.0 * half) @ self.axes.T
                ax.add_patch(Polygon(corners[:, :2], facecolor=GROUND, edgecolor="none", zorder=-1))


def painter_of(trajectory: Trajectory, look: Look | None = None) -> Painter:
    """A painter for the records of a run that are finite, seen as a look says; of a batch, of the first run."""
    run = first_run(trajectory)
    return Painter(run.model, run.poses[: max(1, finite_records(run))], eye_of(look))


def eye_of(look: Look | None) -> np.ndarray:
    """From the middle of what is looked at to the eye."""
    if look is None or look.camera.azimuth is None:
        return TOWARD
    azimuth, elevation = np.radians([look.camera.azimuth, look.camera.elevation])
    return np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])


def picture(trajectory: Trajectory, moments: int = MOMENTS, size: float = 6.0, look: Look | None = None) -> Figure:
    """A strobe picture: the model at some moments of a run, earlier ones paler; with one moment, its start."""
    from matplotlib.figure import Figure

    painter = painter_of(trajectory, look)
    frames = spread(len(painter.poses), moments) if moments > 1 else np.array([0])
    figure = Figure(figsize=(size, size))
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    strengths = np.linspace(0.18, 1.0, len(frames)) if len(frames) > 1 else np.ones(1)
    painter.paint(ax, frames, strengths)
    return figure


def write_picture(trajectory: Trajectory, path: Path, look: Look | None = None) -> None:
    """Write `picture` as a PNG."""
    with whole_file(path) as part:
        picture(trajectory, look=look).savefig(part, format="png", dpi=100)
