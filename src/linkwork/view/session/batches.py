"""Solids that go with bodies: instances of forms, all of one form in one node of the scene."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...spatial.so3 import exp
from ..bones import turned_to
from ..solids import quaternion_rows
from ..triangles import WORLD_COLOR
from .forms import form_of, made

PIN, ROD, BALL, LIMIT = (0.22, 0.24, 0.28), (0.2, 0.5, 0.75), (0.8, 0.3, 0.25), (0.93, 0.68, 0.2)
AXES = ((0.85, 0.25, 0.22), (0.3, 0.65, 0.3), (0.25, 0.45, 0.85))


@dataclass(eq=False)
class Batch:
    """Instances of one form: their bodies (-1 is the world), poses in them, scales and colours."""

    layer: str
    form: Any
    opacity: float | None = None
    bodies: list[int] = field(default_factory=list)
    R: list[np.ndarray] = field(default_factory=list)
    p: list[np.ndarray] = field(default_factory=list)
    scales: list[np.ndarray] = field(default_factory=list)
    colors: list[Any] = field(default_factory=list)
    node: Any = None

    def add(self, body: int, R: np.ndarray, p: np.ndarray, scale: np.ndarray, color: Any) -> None:
        """One more instance."""
        self.bodies.append(body)
        self.R.append(R)
        self.p.append(p)
        self.scales.append(scale)
        self.colors.append(color)


class Solids:
    """All solids of a description as nodes of a viser scene.

    size       of the model, to which marks are drawn
    on_drag    called with the events of a drag at a body: (its index, the event)
    """

    def __init__(self, scene: Any, description: dict[str, Any], size: float, on_drag: Callable[[int, Any], None]) -> None:
        self.description, self.size = description, size
        self._batches: dict[Any, Batch] = {}
        self._add_shapes()
        self._add_marks()
        self.batches = list(self._batches.values())
        for batch in self.batches:
            self._show(scene, batch, on_drag)
        self._bodies = np.concatenate([np.zeros(0, int), *(b.bodies for b in self.batches)]).astype(int)
        self._R = np.concatenate([np.zeros((0, 3, 3)), *(b.R for b in self.batches)])
        self._p = np.concatenate([np.zeros((0, 3)), *(b.p for b in self.batches)])
        self._ends = np.cumsum([len(b.bodies) for b in self.batches])[:-1]

    def place(self, poses: np.ndarray) -> None:
        """Put all instances where the bodies are; poses (bodies, 4, 4)."""
        E = np.concatenate([poses, np.eye(4)[None]])[self._bodies]  # -1 is the world
        R, p = E[:, :3, :3] @ self._R, np.einsum("nij,nj->ni", E[:, :3, :3], self._p) + E[:, :3, 3]
        rows = quaternion_rows(R, p).astype(np.float32) if len(R) else np.zeros((0, 7), np.float32)
        for batch, own in zip(self.batches, np.split(rows, self._ends), strict=True):
            if batch.node.visible and max(batch.bodies) >= 0:
                batch.node.batched_positions, batch.node.batched_wxyzs = own[:, :3], own[:, 3:]

    def corners(self, poses: np.ndarray) -> np.ndarray:
        """Points (n, 3) around all solids of bodies that are seen."""
        found = [poses[:, :3, 3]]
        for batch in self.batches:
            if batch.layer != "shapes":
                continue
            corners = made(batch.form, self.description["meshes"]).corners
            box = np.array([[x, y, z] for x in _ends(corners, 0) for y in _ends(corners, 1) for z in _ends(corners, 2)])
            for body, R, p, scale in zip(batch.bodies, batch.R, batch.p, batch.scales, strict=True):
                if body >= 0:
                    found.append((box * scale @ R.T + p) @ poses[body, :3, :3].T + poses[body, :3, 3])
        return np.concatenate(found)

    def _add_shapes(self) -> None:
        for shape in self.description["shapes"]:
            body, (form, scale) = shape["body"], form_of(shape)
            layer = "shapes" if shape["layer"] == "visual" else "collision"
            color = shape.get("color") or (WORLD_COLOR if body < 0 else self.description["bodies"][body]["color"])
            opacity = 0.35 if layer == "collision" else shape.get("opacity")
            R, p = _pose(shape["pose"])
            self._batch(layer, form, opacity, body < 0).add(body, R, p, scale, color)

    def _add_marks(self) -> None:
        """Axes and limits of joints, points where loops close, frames."""
        scene, size = self.description, self.size
        for joint in scene["joints"]:
            pin = min(joint.get("thick", np.inf), 0.02 * size)
            for axis in joint["axes"]:
                turns = axis["kind"] == "turn"
                scale = pin * np.array([0.6, 0.6, 2.8] if turns else [0.35, 0.35, 7.0])
                turned = turned_to(np.array(axis["axis"]))
                self._batch("joints", "cylinder").add(joint["body"], turned, np.zeros(3), scale, PIN if turns else ROD)
            if "limits" in joint:
                self._add_limits(joint)
        for loop in scene["loops"]:
            scale = np.full(3, 0.016 * size)
            self._batch("joints", "sphere").add(loop["bodies"][0], np.eye(3), np.array(loop["points"][0], float), scale, BALL)
        own = [{"body": i, "pose": [0, 0, 0, 1, 0, 0, 0], "long": 0.08} for i in range(len(scene["bodies"]))]
        for frame in [*({**f, "long": 0.05} for f in scene["frames"]), *own]:
            (R, p), half = _pose(frame["pose"]), 0.5 * frame["long"] * size
            for axis, color in zip(np.eye(3), AXES, strict=True):
                scale = np.array([0.004 * size, 0.004 * size, 2.0 * half])
                self._batch("frames", "cylinder").add(frame["body"], R @ turned_to(axis), p + half * R @ axis, scale, color)

    def _add_limits(self, joint: dict[str, Any]) -> None:
        """The range of a joint that turns: a part of a ring on its parent, and a needle on its body."""
        low, high = joint["limits"]
        if joint["axes"][0]["kind"] != "turn" or high - low > 2.0 * np.pi:
            return
        R, p = _pose(joint["at"])
        turned = turned_about(np.array(joint["axes"][0]["axis"]))
        self._batch("limits", ("sector", low, high, 0.6), 0.6).add(
            joint["parent"], R @ turned, p, np.full(3, 0.06 * self.size), LIMIT
        )
        needle = self.size * np.array([0.06, 0.005, 0.005])
        self._batch("limits", "box").add(joint["body"], turned, turned @ [0.03 * self.size, 0.0, 0.0], needle, PIN)

    def _batch(self, layer: str, form: Any, opacity: float | None = None, still: bool = False) -> Batch:
        return self._batches.setdefault((layer, form, opacity, still), Batch(layer, form, opacity))

    def _show(self, scene: Any, batch: Batch, on_drag: Callable[[int, Any], None]) -> None:
        form = made(batch.form, self.description["meshes"])
        number = len([b for b in self.batches if b.node is not None])
        batch.node = scene.add_batched_meshes_simple(
            f"/{batch.layer}/{number}",
            form.corners.astype(np.float32),
            form.faces.astype(np.uint32),
            np.tile([1.0, 0.0, 0.0, 0.0], (len(batch.bodies), 1)),
            np.array(batch.p),
            batched_scales=np.array(batch.scales),
            batched_colors=(255 * np.array(batch.colors)).round().astype(np.uint8),
            opacity=batch.opacity,
            flat_shading=form.sharp,
            lod="off",
            visible=self.description["layers"][batch.layer],
        )
        if min(batch.bodies) < 0:
            rows = quaternion_rows(np.array(batch.R), np.array(batch.p))
            batch.node.batched_wxyzs = rows[:, 3:]
        elif batch.layer in ("shapes", "collision", "joints"):
            batch.node.on_drag(lambda event: on_drag(batch.bodies[event.instance_index or 0], event))


def turned_about(axis: np.ndarray) -> np.ndarray:
    """The smallest turn that leads z to a unit vector."""
    across = np.cross([0.0, 0.0, 1.0], axis)
    size = float(np.linalg.norm(across))
    way = across / size if size > 1e-12 else np.array([1.0, 0.0, 0.0])
    return np.asarray(exp(np.arctan2(size, axis[2]) * way), float)


def _pose(values: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position of (x, y, z, qw, qx, qy, qz)."""
    from scipy.spatial.transform import Rotation

    x, y, z, qw, qx, qy, qz = values
    return Rotation.from_quat([qx, qy, qz, qw]).as_matrix(), np.array([x, y, z])


def _ends(points: np.ndarray, axis: int) -> tuple[float, float]:
    return points[:, axis].min(), points[:, axis].max()
