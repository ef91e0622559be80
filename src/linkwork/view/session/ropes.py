"""What runs from point to point: muscles, cables, springs, the ways of joints, and trails."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from ...elements.collection import collection
from ...forces import Muscle
from ...forces.muscle_path import AlongPath
from ...model import Model
from ..paths import path_forces, path_line, runs_around
from ..solids import quaternion_rows
from ..touches import pose_of
from .forms import made

PIECES = 24  # of a muscle or cable: ellipsoids that overlap
OVERLAP = 1.6  # their half lengths, in pieces
STRESS = 3e5  # N/m^2 of muscle
RAMPS = {"muscle": ((0.72, 0.55, 0.55), (0.86, 0.1, 0.1)), "cable": ((0.5, 0.52, 0.55), (0.93, 0.55, 0.1))}
WIRE, WAY = (0.5, 0.53, 0.58), (0.55, 0.57, 0.6)
TURNS, POINTS = 9, 12  # of a coil, and of each turn
TRAIL = 1.2  # s


class Ropes:
    """Muscles and cables as tubes, coloured by activation or tension.

    model   that runs: its inputs are those that `place` is told
    """

    def __init__(self, scene: Any, model: Model, description: dict[str, Any], size: float) -> None:
        self.forces, self._index = path_forces(model), {b.name: i for i, b in enumerate(model.bodies)}
        self._entries = description["paths"][: len(self.forces)]
        self._largest = np.full(len(self.forces), 1e-12)  # tension of each so far
        self._lengths = np.full(len(self.forces), np.nan)
        self._t = np.nan
        self.node: Any = None
        if not self.forces:
            return
        laws, first = collection(model).forces, 0
        self._places_of_inputs = []
        for law in laws:
            if isinstance(law, AlongPath):
                self._places_of_inputs.append(slice(first, first + law.inputs))
            first += law.inputs
        self._radii = np.concatenate([_radii(entry, size) for entry in self._entries])
        form, count = made("sphere", []), PIECES * len(self.forces)
        self.node = scene.add_batched_meshes_simple(
            "/paths/ropes",
            form.corners.astype(np.float32),
            form.faces.astype(np.uint32),
            np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
            np.zeros((count, 3)),
            batched_scales=np.ones((count, 3)),
            batched_colors=np.zeros((count, 3), np.uint8),
            lod="off",
            visible=description["layers"]["paths"],
        )

    def place(self, poses: np.ndarray, t: float, inputs: np.ndarray) -> None:
        """Lay them where they run, and colour them by what they do."""
        if self.node is None or not self.node.visible:
            return
        lines = [resampled(self._line(k, poses), PIECES + 1) for k in range(len(self.forces))]
        a, b = (np.concatenate([line[part] for line in lines]) for part in (slice(None, -1), slice(1, None)))
        rows, lengths = between(a, b)
        self.node.batched_positions, self.node.batched_wxyzs = rows[:, :3], rows[:, 3:]
        self.node.batched_scales = np.stack([self._radii, self._radii, OVERLAP * lengths], axis=1).astype(np.float32)
        self.node.batched_colors = np.repeat(self._colors(poses, t, inputs), PIECES, axis=0)

    def _line(self, k: int, poses: np.ndarray) -> np.ndarray:
        path = self.forces[k].path
        if runs_around(path):
            return path_line(path, self._places(k, poses))
        points = self._entries[k]["points"]
        return np.array([x if i < 0 else poses[i, :3, :3] @ x + poses[i, :3, 3] for i, x in points])

    def _places(self, k: int, poses: np.ndarray) -> list[Any]:
        names = self.forces[k].path.bodies
        return [pose_of(poses[self._index[name]] if name in self._index else np.eye(4)) for name in names]

    def _colors(self, poses: np.ndarray, t: float, inputs: np.ndarray) -> np.ndarray:
        """Of every rope, by its activation, or by its tension over the largest so far."""
        found = []
        for k, (force, place) in enumerate(zip(self.forces, self._places_of_inputs, strict=True)):
            u = inputs[place]
            if isinstance(force, Muscle):
                level, kind = float(force.activation_at(t, u)), "muscle"
            else:
                length = float(force.length(self._places(k, poses)))
                rate = (length - self._lengths[k]) / (t - self._t) if t > self._t else 0.0
                pull = float(force.tension(length, rate if np.isfinite(rate) else 0.0, t, u))
                self._lengths[k], self._largest[k] = length, max(self._largest[k], pull)
                level, kind = pull / self._largest[k], self._entries[k]["kind"]
            low, high = (np.array(c) for c in RAMPS[kind])
            found.append(low + np.clip(level, 0.0, 1.0) * (high - low))
        self._t = t
        return (255 * np.array(found)).round().astype(np.uint8)


class Lines:
    """Springs as coils or strands, the curves and surfaces that joints run along, and trails of the last bodies."""

    def __init__(self, scene: Any, description: dict[str, Any], size: float) -> None:
        self.springs = [path for path in description["paths"] if path["kind"] in ("spring", "strand")]
        self._wide = 0.018 * size
        self._guides = [guide for guide in description["guides"] if len(guide["points"]) > 1]
        self._trails, self._com = description["trails"], [np.array(b["com"]) for b in description["bodies"]]
        self._past: deque[tuple[float, np.ndarray]] = deque()
        layers = description["layers"]

        def segments(name: str, color: Any, thick: float, visible: bool) -> Any:
            shade = tuple(round(255 * x) for x in color)
            points = np.zeros((1, 2, 3), np.float32)
            return scene.add_line_segments(name, points, shade, thickness=thick * size, visible=visible)

        self.wires = segments("/paths/springs", WIRE, 0.006, layers["paths"]) if self.springs else None
        self.ways = segments("/guides", WAY, 0.005, layers["guides"]) if self._guides else None
        self.trails = segments("/trails", (0.45, 0.5, 0.62), 0.004, layers["trails"]) if self._trails else None

    def place(self, poses: np.ndarray, t: float) -> None:
        """Draw them at a moment."""
        world = np.concatenate([poses, np.eye(4)[None]])
        if self.wires is not None and self.wires.visible:
            lines = []
            for spring in self.springs:
                a, b = (world[i, :3, :3] @ np.array(x) + world[i, :3, 3] for i, x in spring["points"])
                lines.append(coil(a, b, self._wide) if spring["kind"] == "spring" else np.array([a, b]))
            _set(self.wires, lines)
        if self.ways is not None and self.ways.visible:
            _set(self.ways, [np.array(g["points"]) @ world[g["body"], :3, :3].T + world[g["body"], :3, 3] for g in self._guides])
        if self.trails is not None:
            self._trail(self.trails, poses, t)

    def _trail(self, node: Any, poses: np.ndarray, t: float) -> None:
        if self._past and t < self._past[-1][0]:
            self._past.clear()
        if not self._past or t > self._past[-1][0]:
            now = np.array([poses[i, :3, :3] @ self._com[i] + poses[i, :3, 3] for i in self._trails])
            self._past.append((t, now))
        while self._past[0][0] < t - TRAIL:
            self._past.popleft()
        if len(self._past) > 1 and node.visible:
            _set(node, list(np.stack([x for _, x in self._past], axis=1)))


def _set(node: Any, lines: list[np.ndarray]) -> None:
    """All pieces of some lines."""
    pieces = [np.stack([line[:-1], line[1:]], axis=1) for line in lines if len(line) > 1]
    node.points = np.concatenate(pieces).astype(np.float32)


def between(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and quaternions (n, 7) of rods along z from points a to b (n, 3), about their middles, and their lengths."""
    way = b - a
    lengths = np.maximum(np.linalg.norm(way, axis=1), 1e-9)
    z = way / lengths[:, None]
    z[~np.isfinite(z).all(axis=1) | (np.linalg.norm(z, axis=1) < 0.5)] = (0.0, 0.0, 1.0)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z), axis=1)])
    x /= np.linalg.norm(x, axis=1)[:, None]
    R = np.stack([x, np.cross(z, x), z], axis=2)
    return quaternion_rows(R, 0.5 * (a + b)).astype(np.float32), lengths


def coil(a: np.ndarray, b: np.ndarray, wide: float) -> np.ndarray:
    """A helix (n, 3) from a to b, of a width, with straight ends."""
    s = np.linspace(0.0, 1.0, TURNS * POINTS + 1)
    inside = np.clip((s - 0.08) / 0.84, 0.0, 1.0)
    r = wide * np.minimum(1.0, 14.0 * np.minimum(inside, 1.0 - inside))
    way = b - a
    length = max(float(np.linalg.norm(way)), 1e-12)
    z = way / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    phi = 2.0 * np.pi * TURNS * inside
    return a + s[:, None] * way + (r * np.cos(phi))[:, None] * x + (r * np.sin(phi))[:, None] * np.cross(z, x)


def resampled(line: np.ndarray, count: int) -> np.ndarray:
    """A line (n, 3) as so many points, evenly spaced along it."""
    ends = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    at = np.linspace(0.0, ends[-1], count)
    return np.stack([np.interp(at, ends, column) for column in line.T], axis=1)


def _radii(entry: dict[str, Any], size: float) -> np.ndarray:
    """Of the pieces of a rope: muscles have a belly as thick as their strength asks for."""
    if entry["kind"] != "muscle":
        return np.full(PIECES, 0.004 * size)
    belly = 0.55 * np.sqrt(entry.get("strength", 0.0) / STRESS / np.pi)
    along = np.sin(np.pi * (np.arange(PIECES) + 0.5) / PIECES)
    return float(np.clip(belly, 0.008 * size, 0.028 * size)) * (0.32 + 0.68 * along**1.5)
