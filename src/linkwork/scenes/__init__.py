"""Scenes: models with a start, one file each, by name in `ALL_SCENES`."""

from __future__ import annotations

from .assembling import ASSEMBLING
from .ball import BALL
from .chain import CHAIN
from .drag import DRAG
from .elbow import ELBOW
from .finger import FINGER
from .gears import GEARS
from .hair import HAIR
from .hand import HAND
from .helix import HELIX
from .hyper_chain import HYPER_CHAIN
from .leg import LEG
from .loop import LOOP
from .net import NET
from .pendulum import PENDULUM
from .plant import PLANT
from .scene import Scene

_SCENES = (PENDULUM, HELIX, LOOP, BALL, ELBOW, FINGER, LEG, HYPER_CHAIN, NET, CHAIN, HAND, DRAG, HAIR, PLANT, GEARS, ASSEMBLING)
ALL_SCENES: dict[str, Scene] = {scene.name: scene for scene in _SCENES}

__all__ = ["ALL_SCENES", "Scene"]
