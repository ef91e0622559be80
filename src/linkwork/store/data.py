"""Objects as a tree of plain values and arrays, and the attributes of an object."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import Any

import numpy as np


class Data:
    """An object as data: a tree of what JSON knows, and arrays by name.

    tree     numbers, texts, lists, and dictionaries with one key that says what they are
    arrays   that it refers to
    """

    def __init__(self, tree: Any, arrays: dict[str, np.ndarray]) -> None:
        self.tree, self.arrays = tree, arrays

    @property
    def digest(self) -> str:
        """Of everything: objects are equal where it is."""
        h = hashlib.sha256(json.dumps(self.tree, sort_keys=True).encode())
        for name, a in self.arrays.items():
            h.update(f"{name} {a.dtype.str} {a.shape}".encode() + np.ascontiguousarray(a).tobytes())
        return h.hexdigest()


def state_of(x: Any) -> dict[str, Any]:
    """The attributes of an object, but for what it can compute anew."""
    found: dict[str, Any] = {}
    for kind in reversed(type(x).__mro__):
        slots = kind.__dict__.get("__slots__", ())
        found |= {s: getattr(x, s) for s in ((slots,) if isinstance(slots, str) else slots) if hasattr(x, s) and s[:2] != "__"}
    for name, value in getattr(x, "__dict__", {}).items():
        if not isinstance(getattr(type(x), name, None), functools.cached_property):
            found[name] = value
    return found
