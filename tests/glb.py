"""A reader of binary glTF, as the format's own text says it: for tests of what linkwork writes."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

TYPES = {5126: np.dtype("<f4"), 5125: np.dtype("<u4")}
SIZES = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


def read_glb(path: Path) -> tuple[dict[str, Any], bytes]:
    """The document and its binary chunk; lengths and magic numbers are checked."""
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    chunks, at = {}, 12
    while at < length:
        size, kind = struct.unpack_from("<I4s", data, at)
        assert size % 4 == 0
        chunks[kind] = data[at + 8 : at + 8 + size]
        at += 8 + size
    return json.loads(chunks[b"JSON"]), chunks[b"BIN\x00"]


def accessor(document: dict[str, Any], binary: bytes, index: int) -> np.ndarray:
    """The numbers of an accessor (count, size); their bounds are checked where the file has some."""
    a = document["accessors"][index]
    view = document["bufferViews"][a["bufferView"]]
    kind, size = TYPES[a["componentType"]], SIZES[a["type"]]
    assert view["byteOffset"] % 4 == 0
    assert view["byteLength"] == a["count"] * size * kind.itemsize
    found = np.frombuffer(binary, kind, a["count"] * size, view["byteOffset"]).reshape(-1, size)
    if "min" in a:
        assert found.min(axis=0).tolist() == single(a["min"])
        assert found.max(axis=0).tolist() == single(a["max"])
    return found


def single(values: list[float]) -> list[float]:
    """As float32 has them."""
    return np.asarray(values, np.float32).tolist()


def animated_poses(document: dict[str, Any], binary: bytes) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The times of the animation, and the poses (frames, 4, 4) of every node that it moves, in the axes of linkwork."""
    (animation,) = document["animations"]
    times, found = np.zeros(0), {}
    for channel in animation["channels"]:
        sampler = animation["samplers"][channel["sampler"]]
        assert sampler["interpolation"] == "LINEAR"
        times = accessor(document, binary, sampler["input"])[:, 0]
        values = accessor(document, binary, sampler["output"])
        assert len(values) == len(times)
        name = document["nodes"][channel["target"]["node"]]["name"]
        E = found.setdefault(name, np.tile(np.eye(4), (len(times), 1, 1)))
        if channel["target"]["path"] == "translation":
            E[:, :3, 3] = values
        else:
            E[:, :3, :3] = Rotation.from_quat(values.astype(float)).as_matrix()
    return times, found
