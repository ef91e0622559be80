"""The run as a glTF animation (`.glb`): bodies as nodes with meshes, moved by one animation; opens in Blender and most viewers.

glTF has y up and quaternions (x, y, z, w): one node at the root turns z up to y up, all below it is in the axes of linkwork.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..store.files import whole_file
from .runs import finite_records, first_run, spread
from .triangles import ground, planes, surfaces

if TYPE_CHECKING:
    from ..trajectory import Trajectory

MAGIC, VERSION, JSON, BIN = 0x46546C67, 2, 0x4E4F534A, 0x004E4942
FLOAT, UINT, ARRAY, ELEMENT = 5126, 5125, 34962, 34963
SIZES = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}
FRAMES = 2000  # key frames of an animation, at most
RATE = 60.0  # key frames a second


def glb(trajectory: Trajectory, title: str = "run") -> bytes:
    """The bytes of the file; of a batch, the first run."""
    run = first_run(trajectory)
    usable = finite_records(run)
    if not usable:
        raise InputError("there is nothing to show: the first state of the run is not finite")
    t = run.t[:usable]
    k = spread(usable, max(2, min(FRAMES, int(RATE * (t[-1] - t[0]) + 1e-9) + 1)))
    return _Document(title, run, k).bytes()


def write_glb(trajectory: Trajectory, path: Path) -> None:
    """Write `glb`, titled after the file."""
    with whole_file(path) as part:
        part.write_bytes(glb(trajectory, path.stem))


class _Document:
    """Nodes, meshes and accessors of one file, and the numbers that they look at."""

    def __init__(self, title: str, run: Trajectory, k: np.ndarray) -> None:
        self.binary = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.materials: dict[tuple[float, ...], int] = {}
        self.meshes: list[dict[str, Any]] = []
        self.nodes: list[dict[str, Any]] = [{"name": title, "rotation": [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]}]
        self._bodies(run, k)
        self._world(run)
        self.nodes[0]["children"] = list(range(1, len(self.nodes)))
        self.animation = self._animation(run, k)

    def bytes(self) -> bytes:
        document = {
            "asset": {"version": "2.0", "generator": "linkwork"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": [_material(c) for c in self.materials],
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": len(self.binary)}],
            "animations": [self.animation],
        }
        text = json.dumps({name: x for name, x in document.items() if x}, separators=(",", ":")).encode()
        chunks = [(JSON, text + b" " * (-len(text) % 4)), (BIN, bytes(self.binary))]
        body = b"".join(struct.pack("<II", len(data), kind) + data for kind, data in chunks)
        return struct.pack("<III", MAGIC, VERSION, 12 + len(body)) + body

    def _bodies(self, run: Trajectory, k: np.ndarray) -> None:
        """One node a body, in the order of the model, where it is at the start."""
        position, turn = poses_of(run.poses[k[:1]])
        pieces: dict[int, list[dict[str, Any]]] = {}
        for surface in surfaces(run.model):
            pieces.setdefault(surface.body, []).append(self._primitive(*surface[1:]))
        for i, body in enumerate(run.model.bodies):
            place = {"translation": position[0, i].tolist(), "rotation": turn[0, i].tolist()}
            self.nodes.append({"name": body.name, **self._mesh(body.name, pieces.get(i, [])), **place})
        if -1 in pieces:
            self.nodes.append({"name": "world", **self._mesh("world", pieces[-1])})

    def _world(self, run: Trajectory) -> None:
        """Planes as squares."""
        at = run.poses[..., :3, 3].reshape(-1, 3)
        at = at[np.isfinite(at).all(axis=1)]
        size = 4.0 * max(1.0, float(np.ptp(at, axis=0).max()))
        for point, normal in planes(run.model):
            corners = ground(point, normal, at.mean(axis=0), size)
            square = self._primitive(corners, np.array([[0, 1, 2], [0, 2, 3]]), (0.9, 0.9, 0.9))
            self.nodes.append({"name": "plane", **self._mesh("plane", [square])})

    def _animation(self, run: Trajectory, k: np.ndarray) -> dict[str, Any]:
        position, turn = poses_of(run.poses[k])
        times = self._accessor(run.t[k] - run.t[0], "SCALAR", bounds=True)
        samplers, channels = [], []
        for i in range(run.model.nb):
            for path, values, kind in (("translation", position[:, i], "VEC3"), ("rotation", turn[:, i], "VEC4")):
                samplers.append({"input": times, "output": self._accessor(values, kind), "interpolation": "LINEAR"})
                channels.append({"sampler": len(samplers) - 1, "target": {"node": 1 + i, "path": path}})
        return {"name": "run", "samplers": samplers, "channels": channels}

    def _mesh(self, name: str, primitives: list[dict[str, Any]]) -> dict[str, int]:
        if not primitives:
            return {}
        self.meshes.append({"name": name, "primitives": primitives})
        return {"mesh": len(self.meshes) - 1}

    def _primitive(self, vertices: np.ndarray, faces: np.ndarray, color: tuple[float, ...]) -> dict[str, Any]:
        material = self.materials.setdefault(tuple(map(float, color)), len(self.materials))
        corners = self._accessor(vertices, "VEC3", ARRAY, bounds=True)
        return {
            "attributes": {"POSITION": corners},
            "indices": self._accessor(faces.reshape(-1), "SCALAR", ELEMENT),
            "material": material,
        }

    def _accessor(self, values: np.ndarray, kind: str, target: int | None = None, bounds: bool = False) -> int:
        numbers = np.ascontiguousarray(values, np.uint32 if target == ELEMENT else np.float32).reshape(-1, SIZES[kind])
        view = {"buffer": 0, "byteOffset": len(self.binary), "byteLength": numbers.nbytes}
        self.views.append(view | ({"target": target} if target else {}))
        self.binary += numbers.tobytes()
        component = UINT if target == ELEMENT else FLOAT
        found = {"bufferView": len(self.views) - 1, "componentType": component, "count": len(numbers), "type": kind}
        if bounds:
            found |= {"min": numbers.min(axis=0).tolist(), "max": numbers.max(axis=0).tolist()}
        self.accessors.append(found)
        return len(self.accessors) - 1


def poses_of(poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions (frames, bodies, 3) and quaternions (x, y, z, w) (frames, bodies, 4) without jumps of sign."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(poses[..., :3, :3].reshape(-1, 3, 3)).as_quat().reshape(*poses.shape[:2], 4)
    flips = np.cumprod(np.where(np.sum(turn[1:] * turn[:-1], axis=-1) < 0, -1.0, 1.0), axis=0)
    turn[1:] *= flips[..., None]
    return poses[..., :3, 3], turn


def _material(color: tuple[float, ...]) -> dict[str, Any]:
    linear = [float(c) ** 2.2 for c in color]  # glTF's colours are linear
    return {"pbrMetallicRoughness": {"baseColorFactor": [*linear, 1.0], "metallicFactor": 0.1, "roughnessFactor": 0.7}}
