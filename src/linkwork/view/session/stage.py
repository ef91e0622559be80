"""All that is seen of a session: the description of a model as a viser scene, posed at every frame."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ...constraints.rows import constraint_set
from ...contact import Contact
from ...errors import InputError
from ...geometry import MeshFile
from ...look import Camera, Look
from ...model import Model
from ...simulator import Simulator
from ..description import describe
from ..solids import quaternion_rows
from ..touches import acting_contacts, contact_pushes
from .batches import Solids, turned_about
from .ropes import Lines, Ropes

PULL, PUSH = (219, 64, 51), (242, 191, 26)
MOST_TOUCHES = 64  # that are drawn
VIEW = 0.7  # rad, the angle of the camera
ROOM = 1.7  # around the model as it begins: it moves
GROUND = (232, 234, 237)


class Stage:
    """A scene of viser that shows a model.

    model    as it was given; `running` has laws besides, and is the one whose inputs and forces `place` is told
    layers   what can be shown and hidden, with whether it is at first
    """

    def __init__(
        self,
        server: Any,
        model: Model,
        running: Model,
        poses: np.ndarray,
        title: str,
        look: Look | None,
        on_drag: Callable[[int, Any], None],
    ) -> None:
        self.description, scene = describe(model, title, look), server.scene
        self.size = size = _size(model, poses)
        self.layers: dict[str, bool] = self.description["layers"]
        self.solids = Solids(scene, self.description, size, on_drag)
        points = self.solids.corners(poses)
        self.ropes, self.lines = Ropes(scene, running, self.description, size), Lines(scene, self.description, size)
        thin = {"shaft_radius": 0.0045 * size, "head_radius": 0.012 * size, "head_length": 0.03 * size, "visible": False}
        self._pushes = scene.add_arrows("/contacts", np.zeros((1, 2, 3), np.float32), PUSH, **thin)
        self._pull = scene.add_arrows("/hand", np.zeros((1, 2, 3), np.float32), PULL, **thin)
        self._has_contacts = any(isinstance(law, Contact) for law, _ in constraint_set(running).sizes())
        self._full = 1e-9  # N, drawn at full length
        self._lay_ground(scene, points)
        self._light(scene)
        self._look(server, points, (look or Look()).camera)

    def place(self, sim: Simulator, poses: np.ndarray, inputs: np.ndarray, hand: np.ndarray | None) -> None:
        """Show a moment: poses of the bodies (bodies, 4, 4), inputs of the forces, from where to where a hand pulls (2, 3)."""
        self.solids.place(poses)
        self.ropes.place(poses, sim.t, inputs)
        self.lines.place(poses, sim.t)
        self._pull.visible = hand is not None
        if hand is not None:
            self._pull.points = hand[None].astype(np.float32)
        self._place_contacts(sim, poses)

    def show(self, layer: str, on: bool) -> None:
        """Show a layer, or hide it."""
        self.layers[layer] = on
        for batch in self.solids.batches:
            if batch.layer == layer:
                batch.node.visible = on
        lines = self.lines
        for node in {"paths": (self.ropes.node, lines.wires), "guides": (lines.ways,), "trails": (lines.trails,)}.get(layer, ()):
            if node is not None:
                node.visible = on

    def _place_contacts(self, sim: Simulator, poses: np.ndarray) -> None:
        found, forces = [], None
        if self._has_contacts and self.layers["contacts"]:
            with contextlib.suppress(InputError):  # more act than can be told
                forces = sim.forces
        if forces is not None:
            laws = constraint_set(sim.model).sizes()
            acting = acting_contacts(laws, forces[None])[0]
            found = contact_pushes(sim.model, laws, acting, poses, forces)[:MOST_TOUCHES]
        self._pushes.visible = bool(found)
        if found:
            sizes = [float(np.linalg.norm(f)) for _, f in found]
            self._full = max(self._full, *sizes)
            arrows = [(x, x + f * (0.16 * self.size / self._full)) for x, f in found]
            self._pushes.points = np.array(arrows, np.float32)

    def _lay_ground(self, scene: Any, points: np.ndarray) -> None:
        """The planes of the world, or a floor below the model."""
        low, middle = float(points[:, 2].min()), 0.5 * (points.min(axis=0) + points.max(axis=0))
        floor = 0.0 if -1e-3 * self.size < low < 1.2 * self.size else low - 0.04 * self.size
        still = [p for p in self.description["planes"] if p["body"] < 0]
        for k, plane in enumerate(still or [{"point": (0.0, 0.0, floor), "normal": (0.0, 0.0, 1.0)}]):
            at, normal = np.array(plane["point"], float), np.array(plane["normal"], float)
            at = at + (middle - at) - ((middle - at) @ normal) * normal
            (row,) = quaternion_rows(turned_about(normal)[None], at[None])
            wide, cell = 24.0 * self.size, _round_step(self.size / 8.0)
            scene.add_grid(
                f"/ground/{k}",
                wide,
                wide,
                cell_size=cell,
                section_size=5.0 * cell,
                cell_color=(200, 203, 208),
                section_color=(180, 184, 191),
                plane_color=GROUND,
                plane_opacity=1.0,
                shadow_opacity=0.25,
                fade_distance=wide,
                position=at,
                wxyz=row[3:],
            )

    def _light(self, scene: Any) -> None:
        scene.configure_default_lights(enabled=True, cast_shadow=True)
        scene.configure_environment_map(None)  # pictures of surroundings come from the net
        scene.add_light_hemisphere("/light", sky_color=(255, 255, 255), ground_color=(190, 190, 195), intensity=1.6)
        scene.world_axes.visible = False

    def _look(self, server: Any, points: np.ndarray, camera: Camera) -> None:
        """Look at all of it from the broad side, or as is asked."""
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        flat = points[:, :2] - middle[:2]
        broad = np.linalg.svd(flat, full_matrices=False)[2][0] if np.ptp(flat) > 0 else np.array([1.0, 0.0])
        azimuth = np.arctan2(broad[1], broad[0]) - np.pi / 2 - 0.45 if camera.azimuth is None else np.radians(camera.azimuth)
        elevation = np.radians(camera.elevation)
        toward = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
        target = middle if camera.target is None else np.array(camera.target, float)
        reach = float(np.linalg.norm(points - middle, axis=1).max())
        first = server.initial_camera
        first.position, first.look_at = target + toward * ROOM * reach / np.sin(0.5 * VIEW) / camera.zoom, target
        first.fov, first.near, first.far = VIEW, 1e-3 * self.size, 200.0 * self.size


def _size(model: Model, poses: np.ndarray) -> float:
    """The extent of the model, for what has none of its own."""
    ends = [poses[:, :3, 3]]
    ends += [poses[i, :3, :3] @ (2.0 * b.inertia.com) + poses[i, :3, 3] for i, b in enumerate(model.bodies)]
    points = np.concatenate([np.atleast_2d(x) for x in ends])
    extent = float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
    shapes = [s for b in model.bodies for s in (*b.visuals, *b.shapes) if not isinstance(s, MeshFile) or s.is_readable]
    boxes = [shape.bounding_box() for shape in shapes[:1]]
    widest = [float(np.linalg.norm(np.subtract(high, low))) for low, high in boxes]
    return max(extent, *[x for x in widest if np.isfinite(x)], 1e-3)


def _round_step(x: float) -> float:
    """1, 2 or 5 times a power of ten, near a length."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(power * min((1.0, 2.0, 5.0, 10.0), key=lambda k: abs(k - x / power)))
