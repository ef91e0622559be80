"""Scenes: models with a start, one file each, by name in `ALL_SCENES`."""

from __future__ import annotations

from .ball import BALL
from .helix import HELIX
from .loop import LOOP
from .pendulum import PENDULUM
from .scene import Scene

ALL_SCENES: dict[str, Scene] = {scene.name: scene for scene in (PENDULUM, HELIX, LOOP, BALL)}

__all__ = ["ALL_SCENES", "Scene"]
