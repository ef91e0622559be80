"""Numbers and texts as a page carries them: small, and safe inside a script element."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np

TYPES = {"f4": "f32", "u2": "u16", "u4": "u32", "u1": "u8"}


def packed(a: Any, kind: str = "f4") -> dict[str, Any]:
    """An array as its type, its shape and its bytes (little-endian, base64)."""
    values = np.ascontiguousarray(np.asarray(a), dtype=f"<{kind}")
    return {"type": TYPES[kind], "shape": list(values.shape), "data": base64.b64encode(values.tobytes()).decode("ascii")}


def unpacked(value: dict[str, Any]) -> np.ndarray:
    """The array of `packed`."""
    kind = next(k for k, name in TYPES.items() if name == value["type"])
    return np.frombuffer(base64.b64decode(value["data"]), f"<{kind}").reshape(value["shape"])


def indices(a: Any, count: int) -> dict[str, Any]:
    """Indices below a count, as small as they go."""
    return packed(a, "u2" if count <= 1 << 16 else "u4")


def zipped(content: str | bytes) -> str:
    """A text, or bytes, compressed (gzip, base64); the same content gives the same characters."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")


def unzipped(text: str) -> str:
    """The text of `zipped`."""
    return gzip.decompress(base64.b64decode(text)).decode("utf-8")


def as_json(value: Any) -> str:
    """JSON, without blanks; numbers that are not finite are refused."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def rounded(a: Any, digits: int = 6) -> list[Any]:
    """As lists, to some digits of the largest entry."""
    a = np.asarray(a, float)
    largest = float(np.abs(a).max(initial=0.0))
    decimals = digits - 1 - int(np.floor(np.log10(largest))) if largest > 0 else 0
    return (np.round(a, decimals) + 0.0).tolist()
