"""Scenes: models with a start, one file each, by name in `ALL_SCENES`."""

from __future__ import annotations

from .ball import BALL
from .elbow import ELBOW
from .finger import FINGER
from .helix import HELIX
from .leg import LEG
from .loop import LOOP
from .pendulum import PENDULUM
from .scene import Scene

ALL_SCENES: dict[str, Scene] = {scene.name: scene for scene in (PENDULUM, HELIX, LOOP, BALL, ELBOW, FINGER, LEG)}

__all__ = ["ALL_SCENES", "Scene"]
