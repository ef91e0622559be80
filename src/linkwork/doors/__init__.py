"""Doors to other worlds: the same functions for CasADi, JAX and PyTorch. Each is an extra, imported when asked for."""

from __future__ import annotations

import importlib
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    if name not in ("jax", "torch"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f".{name}", __name__)
