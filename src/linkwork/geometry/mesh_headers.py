"""Whether the header of a mesh file says that all of it can be drawn: much sooner known than by reading its triangles."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

STL_HEADER, STL_TRIANGLE = 84, 50  # bytes
FACES = (b"triangles", b"polylist", b"polygons", b"tristrips", b"trifans")
LAST_LINE = 200  # bytes
TRIANGLES, STRIP = 4, 5  # modes of glTF


def is_sound(path: Path) -> bool:
    """True if a file surely has triangles, and nothing that would be left out; False if only reading it can tell."""
    look = LOOKS.get(path.suffix.lower())
    try:
        return look is not None and look(path.read_bytes())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, struct.error):
        return False


def _stl(data: bytes) -> bool:
    if len(data) > STL_HEADER:
        (count,) = struct.unpack("<I", data[80:STL_HEADER])
        if count and len(data) == STL_HEADER + STL_TRIANGLE * count:
            numbers = np.frombuffer(
                data, np.dtype([("normal", "<f4", 3), ("corners", "<f4", 9), ("rest", "<u2")]), count, STL_HEADER
            )
            return bool(np.isfinite(numbers["corners"]).all() and np.ptp(numbers["corners"], axis=1).any())
    return False  # a text, or cut off


def _obj(data: bytes) -> bool:
    if not _has_finite_numbers(data) or any(b"\n" + kind in data for kind in (b"l ", b"p ")):
        return False
    corners = re.findall(rb" (\d+)", b" ".join(re.findall(rb"^f [^-\n]*$", data, re.M)))
    return bool(corners) and max(map(int, corners)) <= data.count(b"\nv ") + data.startswith(b"v ")


def _has_finite_numbers(data: bytes) -> bool:
    """Whether a text can have no number that is not finite."""
    return not any(word in data for word in (b"nan", b"NaN", b"inf", b"INF"))


def _ply(data: bytes) -> bool:
    header = data[: data.index(b"end_header")]
    counts = dict(re.findall(rb"element\s+(\w+)\s+(\d+)", header))
    return int(counts[b"vertex"]) > 2 and int(counts[b"face"]) > 0 and set(counts) == {b"vertex", b"face"}


def _dae(data: bytes) -> bool:
    """Every geometry that stands in the scene is there and has faces, nothing else does, and no reference leads nowhere."""
    if any(
        word in data
        for word in (b"<lines", b"<linestrips", b"instance_controller", b"<spline", b"<convex_mesh", b"='", b"<!DOCTYPE")
    ):
        return False
    if not _has_finite_numbers(data):
        return False
    ids = set(_after(data, b'id="'))  # also those of `sid`
    known = all(ids.issuperset(_after(data, name + b'="#')) for name in (b"url", b"source", b"target"))
    known = known and data.count(b'"POSITION"') >= data.count(b"<geometry ")
    faces = [tag for kind in FACES for tag in _after(data, b"<" + kind + b" ", b">")]
    drawn = any(b'count="' in tag and b'count="0"' not in tag for tag in faces) and b"<instance_geometry" in data
    return known and drawn and b"<instance_visual_scene" in data and b"COLLADA>" in data[-LAST_LINE:]


def _after(data: bytes, start: bytes, end: bytes = b'"') -> list[bytes]:
    """All texts between a start and the next end; much faster than a regular expression."""
    return [part[: part.find(end)] for part in data.split(start)[1:]]


def _glb(data: bytes) -> bool:
    magic, _, size, length, kind = struct.unpack("<4sIII4s", data[:20])
    return magic == b"glTF" and kind == b"JSON" and size == len(data) and _gltf(data[20 : 20 + length])


def _gltf(data: bytes) -> bool:
    tree = json.loads(data)
    pieces = [p for mesh in tree["meshes"] for p in mesh["primitives"]]
    plain = all(p.get("mode", TRIANGLES) in (TRIANGLES, STRIP) and not p.get("extensions") for p in pieces)
    inside = all("uri" not in b or b["uri"].startswith("data:") for b in tree.get("buffers", ()))
    painted = {"materials", "textures", "images"} & tree.keys()  # what refers to nothing may hinder the reader
    return bool(pieces and tree["scenes"]) and plain and inside and not painted and not tree.get("extensionsRequired")


LOOKS: dict[str, Callable[[bytes], bool]] = {
    ".stl": _stl,
    ".obj": _obj,
    ".ply": _ply,
    ".dae": _dae,
    ".glb": _glb,
    ".gltf": _gltf,
}
